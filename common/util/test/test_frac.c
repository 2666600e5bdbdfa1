/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact fractions: parsing, arithmetic, the edge of 64 bits, and printing. */
#include "config.h"

#include "common/util/frac.h"

#include <errno.h>

#include "tests/lib/tap.h"

static const struct {
	const char *text;
	int errnum;
	int64_t num, den;
} parse_cases[] = {
	{"0", 0, 0, 1},
	{"312", 0, 312, 1},
	{"19.5", 0, 39, 2},
	{"0.30", 0, 3, 10},
	{"-0.25", 0, -1, 4},
	{"007", 0, 7, 1},
	{"9223372036854775807", 0, INT64_MAX, 1},
	{"9223372036854775808", EOVERFLOW, 0, 0},
	{"0.000000000000000001", 0, 1, 1000000000000000000},
	{"0.1234567890123456789012345678901234567", EOVERFLOW, 0, 0},
	{"99999999999999999999999999999999999999999", EOVERFLOW, 0, 0},
	{"1.50000000000000000000", 0, 3, 2},
	{"", EINVAL, 0, 0},
	{"-", EINVAL, 0, 0},
	{".5", EINVAL, 0, 0},
	{"5.", EINVAL, 0, 0},
	{"1.2.3", EINVAL, 0, 0},
	{"+1", EINVAL, 0, 0},
	{" 1", EINVAL, 0, 0},
	{"1e3", EINVAL, 0, 0},
	{"0x10", EINVAL, 0, 0},
};

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof(parse_cases) / sizeof(*parse_cases);
	     i++) {
		struct tide_frac f = {77, 78};
		int rc = tide_frac_parse(parse_cases[i].text, &f);

		if (parse_cases[i].errnum)
			ok(rc == -1 && errno == parse_cases[i].errnum &&
				   f.num == 77 && f.den == 78,
			   "'%s' is refused", parse_cases[i].text);
		else
			ok(!rc && f.num == parse_cases[i].num &&
				   f.den == parse_cases[i].den,
			   "'%s' is read", parse_cases[i].text);
	}
}

static void test_ratio(void)
{
	static const char *const bad[] = {"1/0",  "/2",	 "1/",	  "1/2/3",
					  "-1/2", "1/x", "1.5/2", ""};
	struct tide_frac f = {0, 1};

	ok(!tide_frac_parse_ratio("4/30", &f) && f.num == 2 && f.den == 15,
	   "a ratio");
	ok(!tide_frac_parse_ratio("0.25", &f) && f.num == 1 && f.den == 4,
	   "a decimal is one");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(tide_frac_parse_ratio(bad[i], &f) && errno == EINVAL,
		   "'%s' is none", bad[i]);
}

static void test_arithmetic(void)
{
	struct tide_frac a, b, c = {5, 7};

	ok(!tide_frac_make(6, -4, &a) && a.num == -3 && a.den == 2,
	   "6/-4 is reduced to -3/2");
	ok(tide_frac_make(1, 0, &c) == -1 && errno == EINVAL && c.num == 5,
	   "a denominator of zero is refused");
	tide_frac_make(100, 1, &a);
	tide_frac_make(65, 312, &b);
	ok(!tide_frac_mul(a, b, &c) && c.num == 125 && c.den == 6,
	   "100 x 65/312 = 125/6, the rate of a T4");
	ok(!tide_frac_div(a, b, &c) && c.num == 480 && c.den == 1,
	   "100 / (65/312) = 480");
	ok(!tide_frac_add((struct tide_frac){1, 3}, (struct tide_frac){1, 6},
			  &c) &&
		   c.num == 1 && c.den == 2,
	   "1/3 + 1/6 = 1/2");
	ok(tide_frac_add((struct tide_frac){INT64_MIN, 1},
			 (struct tide_frac){-1, 1}, &c) == -1 &&
		   c.num == 1,
	   "a sum that does not fit is refused");
	tide_frac_make(INT64_MAX, 3, &a);
	tide_frac_make(3, INT64_MAX, &b);
	ok(!tide_frac_mul(a, b, &c) && c.num == 1 && c.den == 1,
	   "a product that fits only when it is reduced");
	tide_frac_make(INT64_MAX, 1, &a);
	ok(tide_frac_mul(a, a, &c) == -1 && errno == EOVERFLOW && c.num == 1,
	   "a product that does not fit is refused");
	ok(tide_frac_div(a, (struct tide_frac){0, 1}, &c) == -1 &&
		   errno == EINVAL,
	   "division by zero is refused");
	ok(tide_frac_make(INT64_MIN, -1, &c) == -1 && errno == EOVERFLOW,
	   "INT64_MIN / -1 is refused");
	ok(tide_frac_cmp((struct tide_frac){INT64_MAX, 2},
			 (struct tide_frac){INT64_MAX, 3}) > 0 &&
		   tide_frac_cmp((struct tide_frac){-1, 3},
				 (struct tide_frac){-1, 4}) < 0 &&
		   !tide_frac_cmp(b, b),
	   "comparison, also of large ones");
}

static void test_format(void)
{
	static const struct {
		struct tide_frac frac;
		const char *text;
	} cases[] = {
		{{39, 2}, "19.5"},    {{0, 1}, "0"},
		{{-1, 4}, "-0.25"},   {{125, 6}, "125/6"},
		{{100, 1}, "100"},    {{-1, 3}, "-1/3"},
		{{3, 1000}, "0.003"}, {{INT64_MIN, 1}, "-9223372036854775808"},
	};
	char buf[48];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tide_frac_format(cases[i].frac, buf, sizeof(buf));
		is_str(buf, cases[i].text, "a fraction is printed");
	}
}

int main(void)
{
	test_parse();
	test_ratio();
	test_arithmetic();
	test_format();
	return tap_done();
}
