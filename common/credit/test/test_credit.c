/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables for the arithmetic of credits, and the worked example of the design:
 * 20 T4 lent 12 hours a night for 30 nights earn exactly 150,000 credits.
 */
#include "config.h"

#include "common/credit/credit.h"
#include "tests/lib/tap.h"

#include <errno.h>

static struct tide_frac frac(int64_t num, int64_t den)
{
	struct tide_frac f = {0, 1};

	ok(!tide_frac_make(num, den, &f), "%" PRId64 "/%" PRId64, num, den);
	return f;
}

/* One result of a call that ought to fail in a given way and write nothing. */
#define FAILS(call, want_errno, out, untouched, name)       \
	do {                                                \
		errno = 0;                                  \
		ok((call) == -1 && errno == (want_errno) && \
			   (out) == (untouched),            \
		   "%s is refused", name);                  \
	} while (0)

static void test_amount_text(void)
{
	static const struct {
		const char *text;
		int64_t amount;
		const char *back;
	} good[] = {
		{"0", 0, "0.000000"},
		{"-0", 0, "0.000000"},
		{"12.5", 12500000, "12.500000"},
		{"+3.000001", 3000001, "3.000001"},
		{"-0.000001", -1, "-0.000001"},
		{"150000", INT64_C(150000000000), "150000.000000"},
		{"9223372036854.775807", INT64_MAX, "9223372036854.775807"},
		{"-9223372036854.775808", INT64_MIN, "-9223372036854.775808"},
	};
	static const struct {
		const char *text;
		int error;
	} bad[] = {
		{"", EINVAL},
		{"-", EINVAL},
		{".5", EINVAL},
		{"5.", EINVAL},
		{"1.0000001", EINVAL},
		{"1e3", EINVAL},
		{" 1", EINVAL},
		{"1 ", EINVAL},
		{"--1", EINVAL},
		{"0x10", EINVAL},
		{"1,5", EINVAL},
		{"nan", EINVAL},
		{"9223372036854.775808", EOVERFLOW},
		{"-9223372036854.775809", EOVERFLOW},
		{"99999999999999999999", EOVERFLOW},
	};
	char buf[TIDE_AMOUNT_LEN];
	struct tide_err err;
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = 77;
		ok(!tide_amount_parse(good[i].text, &v, &err), "read '%s'",
		   good[i].text);
		is_int(v, good[i].amount, good[i].text);
		is_str(tide_amount_format(v, buf), good[i].back, good[i].back);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = 77;
		FAILS(tide_amount_parse(bad[i].text, &v, &err), bad[i].error, v,
		      77, bad[i].text);
	}
	FAILS(tide_amount_parse("x", &v, NULL), EINVAL, v, 77, "no err wanted");
}

static void test_fractions(void)
{
	char buf[TIDE_AMOUNT_LEN];

	is_str(tide_rate_format(frac(100 * 65, 312), buf), "20.833333",
	       "the rate of a T4");
	is_str(tide_rate_format(frac(200, 1), buf), "200", "a whole rate");
	is_str(tide_rate_format(frac(2, 3), buf), "0.666667", "rounded up");
	is_str(tide_rate_format(frac(-1, 2), buf), "-0.5", "negative");
}

static void test_amount_of(void)
{
	static const struct {
		int64_t seconds, num, den, amount;
	} rows[] = {
		{0, 100, 1, 0},
		{3600, 100, 1, 100 * TIDE_CREDIT},
		{1, 100, 1, 27778}, /* 27777.77.. rounds up */
		{1, 1, 1, 278},	    /* 277.77.. */
		{9, 1, 5000, 1},    /* exactly 0.5: half goes up */
		{8, 1, 5000, 0},    /* 0.44.. */
		{80 * 3600, 100, 1, 8000 * TIDE_CREDIT},
		{20 * 12 * 3600, 6500, 312, 5000 * TIDE_CREDIT},
		{INT64_MAX, 1, INT64_MAX, 278}, /* an hour-long 128-bit path */
	};
	struct tide_frac whole = {1, 1}, minus = {-1, 1};
	struct tide_err err;
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v = -7;
		ok(!tide_amount_of(rows[i].seconds,
				   frac(rows[i].num, rows[i].den), &v, &err),
		   "row %zu is computed", i);
		is_int(v, rows[i].amount, "its amount");
	}
	v = -7;
	FAILS(tide_amount_of(-1, whole, &v, &err), EINVAL, v, -7, "-1 s");
	FAILS(tide_amount_of(1, minus, &v, &err), EINVAL, v, -7, "rate -1");
	FAILS(tide_amount_of(INT64_MAX, frac(INT64_MAX, 1), &v, &err),
	      EOVERFLOW, v, -7, "a cost beyond 128 bits");
	FAILS(tide_amount_of(INT64_MAX, frac(3600, 1), &v, &err), EOVERFLOW, v,
	      -7, "a cost beyond 64 bits");
}

/*
 * A month of nights, posted hour by hour and device by device: no hour of a T4
 * is a whole number of micro-credits, but the month is exact.
 */
static void test_t4_example(void)
{
	const int devices = 20, hours = 12, nights = 30;
	struct tide_frac rate = frac(100 * 65, 312);
	int64_t owner = 0, device, piece, all;
	struct tide_err err;
	int d, h;

	for (d = 0; d < devices; d++) {
		device = 0;
		for (h = 1; h <= hours * nights; h++) {
			if (tide_posting(h * 3600, rate, device, &piece,
					 &err) ||
			    tide_amount_add(device, piece, &device, &err))
				ok(0, "posting %d of device %d", h, d);
		}
		owner += device;
	}
	is_int(owner, 150000 * TIDE_CREDIT,
	       "20 T4 x 12 h x 30 nights, hour by hour, earn 150,000 credits");
	ok(!tide_amount_of((int64_t)devices * hours * nights * 3600, rate, &all,
			   &err),
	   "the whole at once");
	is_int(all, 150000 * TIDE_CREDIT, "is the same");
}

static void test_posting(void)
{
	struct tide_frac rate = frac(100, 1);
	int64_t v = -7, posted = 0, all = 0;
	struct tide_err err;
	int s, wrong = 0;

	for (s = 1; s <= 7200; s++) {
		if (tide_posting(s, rate, posted, &v, &err))
			wrong++;
		posted += v;
	}
	is_int(wrong, 0, "7,200 postings of a second each");
	ok(!tide_amount_of(7200, rate, &all, &err), "two hours at once");
	is_int(posted, all, "are worth the same");
	v = -7;
	FAILS(tide_posting(0, rate, INT64_MIN, &v, &err), EOVERFLOW, v, -7,
	      "a posting beyond 64 bits");
	ok(!tide_posting(0, rate, 5, &v, &err) && v == -5,
	   "a use that shrank is posted back");
}

static void test_split(void)
{
	static const struct {
		int64_t total, weight[4];
		size_t n;
		int64_t share[4];
	} rows[] = {
		{10, {1}, 1, {10}},
		{10, {1, 1, 1}, 3, {4, 3, 3}},
		{11, {1, 1, 1}, 3, {4, 4, 3}},
		{100, {1, 2, 0, 4}, 4, {14, 29, 0, 57}},
		{1, {1, 3}, 2, {0, 1}},
		{0, {1, 3}, 2, {0, 0}},
		{2, {0, 5, 5}, 3, {0, 1, 1}},
		{INT64_MAX, {1, 1}, 2, {INT64_MAX / 2 + 1, INT64_MAX / 2}},
	};
	static const int64_t none[2], minus[2] = {1, -1};
	static const int64_t huge[2] = {INT64_MAX, 1};
	int64_t share[4], sum;
	struct tide_err err;
	size_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ok(!tide_split(rows[i].total, rows[i].weight, rows[i].n, share,
			       &err),
		   "split %" PRId64 " by %zu", rows[i].total, rows[i].n);
		for (sum = 0, k = 0; k < rows[i].n; k++) {
			is_int(share[k], rows[i].share[k], "a share");
			sum += share[k];
		}
		is_int(sum, rows[i].total, "nothing is lost");
	}
	share[0] = -7;
	FAILS(tide_split(1, none, 2, share, &err), EINVAL, share[0], -7,
	      "no weight");
	FAILS(tide_split(1, minus, 2, share, &err), EINVAL, share[0], -7,
	      "a negative weight");
	FAILS(tide_split(-1, huge, 1, share, &err), EINVAL, share[0], -7,
	      "a negative total");
	FAILS(tide_split(1, huge, 2, share, &err), EOVERFLOW, share[0], -7,
	      "weights beyond 64 bits");
}

int main(void)
{
	test_amount_text();
	test_fractions();
	test_amount_of();
	test_t4_example();
	test_posting();
	test_split();
	return tap_done();
}
