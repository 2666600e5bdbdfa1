/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text into numbers, durations, times of day and dates.  Knows nothing of time
 * zones (zone.c) and of keys (common/conf).
 */
#include "config.h"

#include "common/util/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/util/err.h"

enum {
	DAY_SECONDS = 86400
};

/* All digits, 1 to max_digits of them: their value; *text moves behind. */
static int digits(const char **text, int max_digits, int64_t *ret_value)
{
	int64_t value = 0;
	int count = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++) {
		if (++count > max_digits)
			return -1;
		value = value * 10 + (**text - '0');
	}
	if (!count)
		return -1;
	*ret_value = value;
	return 0;
}

/* Exactly two digits. */
static int two(const char **text, int *ret_value)
{
	const char *p = *text;

	if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
		return -1;
	*ret_value = (p[0] - '0') * 10 + (p[1] - '0');
	*text += 2;
	return 0;
}

int tide_parse_int(const char *text, int64_t min, int64_t max,
		   int64_t *ret_value, struct tide_err *err)
{
	int negative = *text == '-', overflow = 0;
	const char *p = text + negative;
	int64_t value = 0;

	if (!*p)
		return tide_err_set(err, EINVAL, "a whole number is wanted");
	for (; *p; p++) {
		int digit = *p - '0';

		if (*p < '0' || *p > '9')
			return tide_err_set(err, EINVAL,
					    "a whole number is wanted");
		overflow |= __builtin_mul_overflow(value, 10, &value);
		overflow |= __builtin_add_overflow(
			value, negative ? -digit : digit, &value);
	}
	if (overflow || value < min || value > max)
		return tide_err_set(err, ERANGE,
				    "must be from %" PRId64 " to %" PRId64, min,
				    max);
	*ret_value = value;
	return 0;
}

static int64_t unit_seconds(char unit)
{
	switch (unit) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return DAY_SECONDS;
	case 'w':
		return 7 * DAY_SECONDS;
	default:
		return 0;
	}
}

int tide_parse_duration(const char *text, int64_t *ret_seconds,
			struct tide_err *err)
{
	static const char wanted[] =
		"a duration is wanted: seconds, or numbers with the units s, m, h, d, w as in 1h30m";
	int64_t total = 0, last = INT64_MAX;

	if (!*text)
		return tide_err_set(err, EINVAL, "%s", wanted);
	while (*text) {
		int64_t value, unit;

		if (digits(&text, 12, &value))
			return tide_err_set(err, EINVAL, "%s", wanted);
		/* no unit: seconds, and nothing before or behind */
		unit = *text || last != INT64_MAX ? unit_seconds(*text) : 1;
		if (!unit || unit >= last)
			return tide_err_set(err, EINVAL, "%s", wanted);
		last = unit;
		text += *text != '\0';
		/* 12 digits of weeks fit 64 bits, and so does the sum */
		total += value * unit;
	}
	*ret_seconds = total;
	return 0;
}

int tide_parse_is_count(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= '0' && text[n] <= '9')
		n++;
	return n &&
	       (n == len || (n + 1 == len && strchr("kKmMgGtTpP", text[n])));
}

int tide_parse_limit(const char *text, int64_t *ret_min, struct tide_err *err)
{
	static const char wanted[] =
		"a time limit is wanted: minutes, as 1:30:00 or 2-12:00, or UNLIMITED";
	int64_t days = 0, part[3] = {0}, seconds;
	int dash, count = 0;

	if (!strcmp(text, "-1") || !strcasecmp(text, "INFINITE") ||
	    !strcasecmp(text, "UNLIMITED")) {
		*ret_min = TIDE_NO_LIMIT;
		return 0;
	}
	dash = strchr(text, '-') != NULL;
	if (dash && (digits(&text, 6, &days) || *text++ != '-'))
		return tide_err_set(err, EINVAL, "%s", wanted);
	do {
		if (count == 3 || digits(&text, 9, &part[count++]))
			return tide_err_set(err, EINVAL, "%s", wanted);
	} while (*text == ':' && text++);
	if (*text)
		return tide_err_set(err, EINVAL, "%s", wanted);
	if (dash || count == 3)
		seconds = (part[0] * 60 + part[1]) * 60 + part[2];
	else
		seconds = part[0] * 60 + part[1];
	seconds += days * DAY_SECONDS;
	/* Slurm has 32 bits, with a sign */
	if (seconds > INT32_MAX - 59)
		return tide_err_set(err, ERANGE, "must be less than 68 years");
	*ret_min = seconds ? (seconds + 59) / 60 : TIDE_NO_LIMIT;
	return 0;
}

int tide_parse_clock(const char *text, int32_t *ret_seconds,
		     struct tide_err *err)
{
	int hour, minute, second = 0;

	if (two(&text, &hour) || *text++ != ':' || two(&text, &minute))
		goto bad;
	if (*text == ':') {
		text++;
		if (two(&text, &second))
			goto bad;
	}
	if (*text)
		goto bad;
	if (minute > 59 || second > 59 || hour > 24 ||
	    (hour == 24 && (minute || second)))
		return tide_err_set(err, ERANGE,
				    "a time from 00:00 to 24:00 is wanted");
	*ret_seconds = hour * 3600 + minute * 60 + second;
	return 0;
bad:
	return tide_err_set(err, EINVAL,
			    "a time of day HH:MM or HH:MM:SS is wanted");
}

int tide_parse_datetime(const char *text, int64_t *ret_local,
			struct tide_err *err)
{
	static const char wanted[] =
		"a date YYYY-MM-DD or date and time YYYY-MM-DDTHH:MM[:SS] is wanted";
	int century, year, month, day;
	int32_t clock = 0;
	struct tm tm = {0}, back;
	time_t local;

	if (two(&text, &century) || two(&text, &year) || *text++ != '-' ||
	    two(&text, &month) || *text++ != '-' || two(&text, &day))
		return tide_err_set(err, EINVAL, "%s", wanted);
	if (*text == 'T' || *text == ' ') {
		if (tide_parse_clock(text + 1, &clock, NULL))
			return tide_err_set(err, errno, "%s", wanted);
	} else if (*text) {
		return tide_err_set(err, EINVAL, "%s", wanted);
	}
	tm.tm_year = century * 100 + year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	local = timegm(&tm);
	if (tm.tm_year < 70 || !gmtime_r(&local, &back) ||
	    back.tm_mon != month - 1 || back.tm_mday != day)
		return tide_err_set(err, ERANGE,
				    "no such day in the years 1970 to 9999");
	*ret_local = (int64_t)local + clock;
	return 0;
}
