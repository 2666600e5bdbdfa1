/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a timeline, against answers worked out by hand, and against a
 * walk over all spans for every minute of two weeks.
 */
#include "config.h"

#include "common/calendar/calendar.h"

#include <errno.h>
#include <stdlib.h>

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/util/zone.h"
#include "tests/lib/tap.h"

static const char text[] =
	"PoolPartition=p\n"
	"OwnerAccount=o Nodes=n,m,never,always\n"
	"WindowName=nights  Nodes=n Days=Mon-Fri Start=20:00 End=08:00\n"
	"WindowName=lunch   Nodes=m Days=Tue Start=12:00 End=13:00\n"
	"WindowName=dinner  Nodes=m Days=Wed Start=18:00 End=21:00\n"
	"WindowName=forever Nodes=always Days=Mon-Sun\n";

/* Tuesday 2026-12-01T00:00:00Z, and the horizon of two weeks */
#define T0 INT64_C(1796083200)
#define HOUR INT64_C(3600)
#define END (T0 + 14 * 24 * HOUR)

enum question { AT, NEXT, OPENING, LONGEST };

static const struct {
	enum question question;
	const char *node;
	int64_t t, need;
	int64_t open, close;	/* in hours from T0; -1: none */
	const char *what;
} cases[] = {
	{AT, "n", T0, 0, 0, 8, "open at the beginning"},
	{AT, "n", T0 + 8 * HOUR - 1, 0, 0, 8, "the last second"},
	{AT, "n", T0 + 8 * HOUR, 0, -1, -1, "closed at the close"},
	{AT, "n", T0 + 20 * HOUR, 0, 20, 32, "open at the opening"},
	{AT, "never", T0, 0, -1, -1, "a node without windows"},
	{AT, "always", T0 + 5, 0, 0, 336, "a node that is always open"},
	{AT, "n", END, 0, -1, -1, "nothing is known at the end"},
	{AT, "n", T0 - HOUR, 0, -1, -1, "nor before the beginning"},
	{NEXT, "n", T0, 8 * HOUR, 0, 8, "the rest is just enough"},
	{NEXT, "n", T0 + 1, 8 * HOUR, 20, 32, "a second short: the next"},
	{NEXT, "n", T0 + 9 * HOUR, 12 * HOUR, 20, 32, "a whole night"},
	{NEXT, "n", T0 + 9 * HOUR, 12 * HOUR + 1, 332, 336,
	 "more than a night: only one whose end is unknown"},
	{NEXT, "m", T0, 2 * HOUR, 42, 45, "dinner, for lunch is too short"},
	{NEXT, "m", T0, 4 * HOUR, -1, -1, "longer than all windows"},
	{NEXT, "m", T0 + 12 * HOUR + 1, HOUR, 42, 45, "late for lunch"},
	{NEXT, "never", T0, 1, -1, -1, "never"},
	{NEXT, "always", T0 + HOUR, 1000 * HOUR, 0, 336, "always"},
	{NEXT, "n", T0 + 8 * HOUR, 0, 20, 32, "no need, but closed"},
	{OPENING, "n", T0, 0, 20, 32, "the opening after this one"},
	{OPENING, "m", T0, 0, 12, 13, "the first opening"},
	{OPENING, "m", T0 + 12 * HOUR, 0, 42, 45, "later than now"},
	{OPENING, "always", T0, 0, -1, -1, "no further opening"},
	{LONGEST, "m", T0, 0, 42, 45, "dinner is longest"},
	{LONGEST, "m", T0 + 44 * HOUR + 1, 0, 210, 213,
	 "an hour of dinner is left: next week's"},
	{LONGEST, "n", T0 + 1, 0, 332, 336, "an end that is unknown"},
	{LONGEST, "never", T0, 0, -1, -1, "none"},
};

static const struct tide_span *ask(const struct tide_timeline *timeline,
				   enum question question, int set, int64_t t,
				   int64_t need)
{
	switch (question) {
	case AT:
		return tide_timeline_at(timeline, set, t);
	case NEXT:
		return tide_timeline_next(timeline, set, t, need);
	case OPENING:
		return tide_timeline_opening(timeline, set, t);
	case LONGEST:
		break;
	}
	return tide_timeline_longest(timeline, set, t);
}

static void test_questions(const struct tide_conf *conf,
			   const struct tide_timeline *timeline)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int set = tide_conf_node(conf, cases[i].node)->set;
		const struct tide_span *span = ask(
			timeline, cases[i].question, set, cases[i].t,
			cases[i].need);

		if (cases[i].open < 0)
			ok(!span, "%s", cases[i].what);
		else if (!ok(span && span->open == T0 + cases[i].open * HOUR &&
				     span->close == T0 + cases[i].close * HOUR &&
				     span->beyond == (span->close == END),
			     "%s", cases[i].what) &&
			 span)
			diag("got %lld to %lld",
			     (long long)((span->open - T0) / HOUR),
			     (long long)((span->close - T0) / HOUR));
	}
	ok(!tide_timeline_at(timeline, -1, T0) &&
		   !tide_timeline_next(timeline, 99, T0, 1),
	   "a set out of range has no span");
}

/* The same by looking at each span. */
static const struct tide_span *slow_next(const struct tide_span *span,
					 size_t count, int64_t t, int64_t need)
{
	for (size_t i = 0; i < count; i++) {
		int64_t begin = span[i].open > t ? span[i].open : t;

		if (span[i].close > t &&
		    (span[i].beyond || span[i].close - begin >= need))
			return &span[i];
	}
	return NULL;
}

static void test_walk(const struct tide_timeline *timeline, int n_sets)
{
	int64_t asked = 0, different = 0;

	for (int set = 0; set < n_sets; set++) {
		size_t count;
		const struct tide_span *span =
			tide_timeline_spans(timeline, set, &count);

		for (int64_t t = T0; t < END; t += 60)
			for (int64_t need = 0; need <= 13 * HOUR;
			     need += HOUR) {
				asked++;
				different += tide_timeline_next(timeline, set,
								t, need) !=
					     slow_next(span, count, t, need);
			}
	}
	ok(asked > 1000000 && !different,
	   "%lld questions, %lld answers differ from a walk",
	   (long long)asked, (long long)different);
}

static void test_changes(const struct tide_timeline *timeline)
{
	static const int64_t hours[] = {0, 8, 12, 13, 20, 32, 42, 44, 45};
	int64_t t = T0 - 1;

	for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++) {
		t = tide_timeline_next_change(timeline, t);
		is_int((t - T0) / HOUR, hours[i], "the next change");
	}
	is_int(tide_timeline_next_change(timeline, END - 1), END,
	       "the end is a change");
}

int main(void)
{
	struct tide_conf *conf = NULL;
	struct tide_calendar *calendar = NULL;
	struct tide_timeline *timeline = NULL;
	struct tide_err err = {""};

	if (tide_conf_parse(text, "t", NULL, &conf, NULL, &err) ||
	    tide_calendar_create(conf, NULL, "UTC", &calendar, &err) ||
	    tide_timeline_create(calendar, T0, END, &timeline, &err)) {
		ok(0, "%s", err.text);
		return tap_done();
	}
	is_int(tide_timeline_from(timeline), T0, "from");
	is_int(tide_timeline_until(timeline), END, "until");
	test_questions(conf, timeline);
	test_walk(timeline, conf->n_sets);
	test_changes(timeline);
	tide_timeline_destroy(timeline);
	timeline = NULL;
	ok(tide_timeline_create(calendar, T0, T0, &timeline, &err) == -1 &&
		   errno == EINVAL && !timeline,
	   "an empty stretch is refused");
	tide_timeline_destroy(NULL);
	tide_calendar_destroy(calendar);
	tide_conf_destroy(conf);
	return tap_done();
}
