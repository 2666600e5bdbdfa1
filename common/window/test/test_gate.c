/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of windows, as tables. */
#include "common/window/gate.h"

#include "tests/lib/tap.h"

#define H 3600
#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct tide_open nights[] = {
	{ 20 * H, 32 * H, "nights" },
	{ 44 * H, 56 * H, "nights" },
	{ 68 * H, 80 * H, "nights" },
};
static const struct tide_open trip[] = {
	{ 40 * H, 100 * H, "trip" },
};
static const struct tide_group night_group = { false, nights, N(nights) };
static const struct tide_group trip_group = { false, trip, N(trip) };
static const struct tide_group no_window = { false, NULL, 0 };
static const struct tide_group ordinary = { true, NULL, 0 };

static void test_until(void)
{
	static const struct {
		const char *name;
		const struct tide_group *group;
		int64_t at, until;
	} rows[] = {
		{ "before the first", &night_group, 0, 0 },
		{ "a second early", &night_group, 20 * H - 1, 0 },
		{ "the first second", &night_group, 20 * H, 32 * H },
		{ "inside", &night_group, 25 * H, 32 * H },
		{ "the last second", &night_group, 32 * H - 1, 32 * H },
		{ "at the close", &night_group, 32 * H, 0 },
		{ "the last stretch", &night_group, 70 * H, 80 * H },
		{ "after the last", &night_group, 90 * H, 0 },
		{ "never lent out", &no_window, 5, 0 },
		{ "nobody's node", &ordinary, 5, TIDE_FOREVER },
	};
	size_t i;

	for (i = 0; i < N(rows); i++)
		is_int(tide_group_until(rows[i].group, rows[i].at),
		       rows[i].until, rows[i].name);
}

static void test_fits(void)
{
	static const struct {
		const char *name;
		const struct tide_group *group;
		int64_t at, need;
		bool fits;
	} rows[] = {
		{ "exactly", &night_group, 20 * H, 12 * H, true },
		{ "a second too long", &night_group, 20 * H, 12 * H + 1, false },
		{ "the rest of it", &night_group, 31 * H, H, true },
		{ "too late", &night_group, 31 * H + 1, H, false },
		{ "closed", &night_group, 33 * H, 1, false },
		{ "no limit in a window", &night_group, 20 * H, TIDE_FOREVER, false },
		{ "no limit where there is no close", &ordinary, 0, TIDE_FOREVER, true },
		{ "no need, closed", &night_group, 33 * H, 0, false },
	};
	size_t i;

	for (i = 0; i < N(rows); i++)
		ok(tide_group_fits(rows[i].group, rows[i].at, rows[i].need) ==
			   rows[i].fits,
		   "fits: %s", rows[i].name);
}

static void test_openings(void)
{
	struct tide_group groups[] = { night_group, trip_group, ordinary,
				       night_group };
	int64_t got[8];
	const struct tide_open *next;

	is_int(tide_openings(groups, N(groups), 0, 200 * H, got, 8), 4,
	       "openings: each once");
	is_int(got[0], 20 * H, "openings: first");
	is_int(got[1], 40 * H, "openings: of another group");
	is_int(got[2], 44 * H, "openings: third");
	is_int(tide_openings(groups, N(groups), 20 * H, 44 * H, got, 8), 2,
	       "openings: from is out, to is in");
	is_int(tide_openings(groups, N(groups), 0, 200 * H, got, 2), 2,
	       "openings: no more than asked for");
	is_int(tide_openings(groups, N(groups), 69 * H, 200 * H, got, 2), 0,
	       "openings: none left");
	next = tide_group_next(&night_group, 20 * H);
	is_int(next ? next->open : 0, 44 * H, "next: after its own first second");
	ok(!tide_group_next(&ordinary, 0), "next: always open never opens");
	ok(!tide_group_next(&night_group, 68 * H), "next: none left");
}

static void test_longest(void)
{
	struct tide_group groups[] = { night_group, trip_group, ordinary };
	static const struct {
		const char *name;
		uint32_t size[3];
		uint32_t nodes;
		int64_t from, longest, at;
	} rows[] = {
		{ "a night", { 4, 0, 0 }, 4, 0, 12 * H, 20 * H },
		{ "more than there are", { 4, 0, 0 }, 5, 0, 0, -1 },
		{ "the trip", { 4, 1, 0 }, 1, 0, 60 * H, 40 * H },
		{ "both, in a night", { 4, 1, 0 }, 5, 0, 12 * H, 44 * H },
		{ "with ordinary nodes", { 4, 1, 2 }, 3, 0, 60 * H, 40 * H },
		{ "ordinary nodes alone", { 4, 1, 2 }, 2, 0, TIDE_FOREVER, 0 },
		{ "the rest of this one", { 4, 0, 0 }, 1, 70 * H, 10 * H, 70 * H },
	};
	size_t i;

	for (i = 0; i < N(rows); i++) {
		int64_t at = -1;

		is_int(tide_longest(groups, rows[i].size, 3, rows[i].nodes,
				    rows[i].from, 400 * H, &at),
		       rows[i].longest, rows[i].name);
		is_int(at, rows[i].at, "... from when");
	}
}

static void test_limit(void)
{
	static const struct {
		const char *name;
		int64_t start, paused, close;
		uint32_t user, now, grow, want, pay;
	} rows[] = {
		{ "--time ends first", 0, 0, 10 * H, 60, 60, 999, 60, 0 },
		{ "cut to past the close", 0, 0, H, 1440, 1440, 9999, 61, 0 },
		{ "odd seconds round up", 0, 0, H + 1, 1440, 1440, 9999, 62, 0 },
		{ "59 seconds round up", 0, 0, H + 59, 1440, 1440, 9999, 62, 0 },
		{ "raised from time-min", 0, 0, 2 * H, 1440, 30, 9999, 121, 0 },
		{ "raised to --time", 0, 0, 2 * H, 40, 30, 9999, 40, 0 },
		{ "raised as far as can be paid", 0, 0, 2 * H, 1440, 30, 45, 45, 0 },
		{ "not lowered to what can be paid", 0, 0, 2 * H, 1440, 30, 30, 30, 0 },
		{ "no close", 0, 0, TIDE_NEVER, 1440, 1440, 9999, 1440, 0 },
		{ "no close, raised", 0, 0, TIDE_NEVER, 1440, 30, 9999, 1440, 0 },
		{ "no --time, a close", 0, 0, H, TIDE_UNLIMITED_MIN, TIDE_UNLIMITED_MIN, 9999, 61, 0 },
		{ "no --time, no close", 0, 0, TIDE_NEVER, TIDE_UNLIMITED_MIN, TIDE_UNLIMITED_MIN, 9999, TIDE_UNLIMITED_MIN, 0 },
		{ "suspended time does not count", 0, 600, H, 1440, 1440, 9999, 51, 0 },
		{ "at its end a limit stays", 5 * H, 0, H, 1440, 1440, 9999, 1440, 0 },
		{ "the close was moved out", 0, 0, 3 * H, 1440, 61, 9999, 181, 0 },
		{ "lowered to what can be paid, at a start", 0, 0, 2 * H, 1440, 60, 12, 12, 12 },
		{ "a start that can be paid", 0, 0, 2 * H, 1440, 60, 999, 121, 999 },
	};
	size_t i;

	for (i = 0; i < N(rows); i++) {
		struct tide_run run = {
			.start = rows[i].start,
			.paused = rows[i].paused,
			.close = rows[i].close,
			.user_min = rows[i].user,
			.limit_min = rows[i].now,
			.grow_min = rows[i].grow,
			.pay_min = rows[i].pay,
		};
		struct tide_due due;

		tide_run_due(&run, rows[i].start, &due);
		is_int(due.limit_min, rows[i].want, rows[i].name);
		/* Neither the user nor the account set the end. */
		if (run.close != TIDE_NEVER && due.limit_min < run.user_min &&
		    due.limit_min < run.grow_min)
			ok(run.start + run.paused + due.limit_min * 60LL >=
				   run.close + TIDE_PAST_CLOSE,
			   "... and the close comes first");
	}
}

static void test_due(void)
{
	static const struct {
		const char *name;
		int64_t close;
		uint32_t warn;
		bool warned;
		int64_t now;
		bool due_warn, due_end;
		int64_t next;
	} rows[] = {
		{ "long before", 1000, 120, false, 500, false, false, 880 },
		{ "a second before the warning", 1000, 120, false, 879, false, false, 880 },
		{ "warning due", 1000, 120, false, 880, true, false, 1000 },
		{ "warning late", 1000, 120, false, 950, true, false, 1000 },
		{ "warned already", 1000, 120, true, 950, false, false, 1000 },
		{ "wants none", 1000, 0, false, 950, false, false, 1000 },
		{ "the close", 1000, 120, true, 1000, false, true, TIDE_NEVER },
		{ "the close, never warned", 1000, 120, false, 1000, false, true, TIDE_NEVER },
		{ "past the close", 1000, 0, false, 1100, false, true, TIDE_NEVER },
		{ "no close", TIDE_NEVER, 120, false, 1100, false, false, TIDE_NEVER },
	};
	size_t i;

	for (i = 0; i < N(rows); i++) {
		struct tide_run run = {
			.start = 0,
			.close = rows[i].close,
			.user_min = 60,
			.limit_min = 60,
			.warn = rows[i].warn,
			.warned = rows[i].warned,
		};
		struct tide_due due;

		tide_run_due(&run, rows[i].now, &due);
		ok(due.warn == rows[i].due_warn, "%s: warn", rows[i].name);
		ok(due.end == rows[i].due_end, "%s: end", rows[i].name);
		is_int(due.next, rows[i].next, rows[i].name);
	}
}

int main(void)
{
	test_until();
	test_fits();
	test_openings();
	test_longest();
	test_limit();
	test_due();
	return tap_done();
}
