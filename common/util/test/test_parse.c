/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text into numbers, durations, times of day and dates. */
#include "config.h"

#include "common/util/parse.h"

#include <errno.h>
#include <string.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

struct parse_case {
	const char *text;
	int errnum;
	int64_t value;
};

static const struct parse_case ints[] = {
	{"0", 0, 0},	    {"-5", 0, -5},
	{"100", 0, 100},    {"101", ERANGE, 0},
	{"-6", ERANGE, 0},  {"", EINVAL, 0},
	{"-", EINVAL, 0},   {"+1", EINVAL, 0},
	{"1 ", EINVAL, 0},  {"1.0", EINVAL, 0},
	{"0x1", EINVAL, 0}, {"99999999999999999999", ERANGE, 0},
};

static const struct parse_case durations[] = {
	{"0", 0, 0},
	{"90", 0, 90},
	{"15m", 0, 900},
	{"1h30m", 0, 5400},
	{"2d", 0, 172800},
	{"1w1d1h1m1s", 0, 694861},
	{"", EINVAL, 0},
	{"m", EINVAL, 0},
	{"5x", EINVAL, 0},
	{"1m1h", EINVAL, 0},
	{"1h1h", EINVAL, 0},
	{"1h30", EINVAL, 0},
	{"-5", EINVAL, 0},
	{"1 h", EINVAL, 0},
	{"9999999999999", EINVAL, 0},
};

static const struct parse_case limits[] = {
	{"90", 0, 90},		{"90:30", 0, 91},	{"1:30:00", 0, 90},
	{"0:0:1", 0, 1},	{"2-12", 0, 3600},	{"2-12:30", 0, 3630},
	{"2-12:30:01", 0, 3631}, {"0:01", 0, 1},	{"24855-0", 0, 35791200},
	{"0", 0, TIDE_NO_LIMIT}, {"0:00", 0, TIDE_NO_LIMIT},
	{"0-0", 0, TIDE_NO_LIMIT}, {"-1", 0, TIDE_NO_LIMIT},
	{"INFINITE", 0, TIDE_NO_LIMIT}, {"unlimited", 0, TIDE_NO_LIMIT},
	{"", EINVAL, 0},	{"5:", EINVAL, 0},	{"1:2:3:4", EINVAL, 0},
	{"1-", EINVAL, 0},	{"-5", EINVAL, 0},	{"5m", EINVAL, 0},
	{"NONE", EINVAL, 0},	{"9999999999", EINVAL, 0}, {" 5", EINVAL, 0},
	{"1-2-3", EINVAL, 0},	{"1:2-3", EINVAL, 0},	{"24856-0", ERANGE, 0},
};

static const struct {
	const char *text;
	int is_count;
} counts[] = {
	{"8", 1}, {"2K", 1}, {"310p", 1}, {"8x", 0}, {"310pp", 0},
	{"p", 0}, {"", 0},   {"a100", 0}, {"t4", 0}, {"3090", 1},
};

static const struct parse_case clocks[] = {
	{"00:00", 0, 0},	{"08:30", 0, 30600},
	{"23:59:59", 0, 86399}, {"24:00", 0, 86400},
	{"24:00:00", 0, 86400}, {"24:01", ERANGE, 0},
	{"25:00", ERANGE, 0},	{"08:60", ERANGE, 0},
	{"08:00:60", ERANGE, 0}, {"8:00", EINVAL, 0},
	{"0800", EINVAL, 0},	{"", EINVAL, 0},
	{"08:00:", EINVAL, 0},	{"08:00pm", EINVAL, 0},
};

static const struct parse_case dates[] = {
	{"1970-01-01", 0, 0},
	{"2026-12-20T18:00", 0, 1797789600},
	{"2026-12-20 18:00:01", 0, 1797789601},
	{"2028-02-29T00:00", 0, 1835395200},
	{"2026-02-29", ERANGE, 0},
	{"2100-02-29", ERANGE, 0},
	{"2026-13-01", ERANGE, 0},
	{"2026-00-10", ERANGE, 0},
	{"2026-04-31", ERANGE, 0},
	{"1969-12-31", ERANGE, 0},
	{"2026-12-20T24:00", 0, 1797811200},
	{"2026-12-20T25:00", ERANGE, 0},
	{"2026-12-20T", EINVAL, 0},
	{"2026-12-20X18:00", EINVAL, 0},
	{"26-12-20", EINVAL, 0},
	{"", EINVAL, 0},
};

static int as_int(const char *text, int64_t *ret, struct tide_err *err)
{
	return tide_parse_int(text, -5, 100, ret, err);
}

static int as_clock(const char *text, int64_t *ret, struct tide_err *err)
{
	int32_t value;

	if (tide_parse_clock(text, &value, err))
		return -1;
	*ret = value;
	return 0;
}

static void run(const char *what, const struct parse_case *cases, size_t count,
		int (*parse)(const char *, int64_t *, struct tide_err *))
{
	for (size_t i = 0; i < count; i++) {
		struct tide_err err = {""};
		int64_t value = 4711;
		int rc = parse(cases[i].text, &value, &err);

		if (cases[i].errnum)
			ok(rc == -1 && errno == cases[i].errnum &&
				   value == 4711 && err.text[0],
			   "%s '%s' is refused: %s", what, cases[i].text,
			   err.text);
		else if (!ok(!rc && value == cases[i].value, "%s '%s'", what,
			     cases[i].text))
			diag("got %lld", (long long)value);
	}
}

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

int main(void)
{
	int64_t value;

	run("int", ints, COUNT(ints), as_int);
	run("duration", durations, COUNT(durations), tide_parse_duration);
	run("limit", limits, COUNT(limits), tide_parse_limit);
	for (size_t i = 0; i < COUNT(counts); i++)
		ok(tide_parse_is_count(counts[i].text,
				       strlen(counts[i].text)) ==
			   counts[i].is_count,
		   "'%s' is %s count", counts[i].text,
		   counts[i].is_count ? "a" : "no");
	run("clock", clocks, COUNT(clocks), as_clock);
	run("date", dates, COUNT(dates), tide_parse_datetime);
	ok(!tide_parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &value,
			   NULL) &&
		   value == INT64_MIN,
	   "the least 64-bit integer");
	return tap_done();
}
