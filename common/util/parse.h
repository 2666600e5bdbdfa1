/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place where text becomes numbers, durations and times of day.
 *
 * Every function takes the whole string (no blanks around it) and returns 0, or
 * -1 with errno EINVAL (not of this form) or ERANGE (of this form, but out of
 * range) and an error text that says what was expected; it does not repeat the
 * value, because the caller knows which key or option it came from.  ret_x is
 * untouched on failure.  No state, no locks; safe from any thread.
 */
#ifndef TIDE_UTIL_PARSE_H
#define TIDE_UTIL_PARSE_H

#include <stddef.h>
#include <stdint.h>

struct tide_err;

/* A decimal integer from min to max. */
int tide_parse_int(const char *text, int64_t min, int64_t max,
		   int64_t *ret_value, struct tide_err *err);

/*
 * A duration in seconds: "90", or a number with a unit s, m, h, d or w, such as
 * "15m" or "2d"; several may follow each other from large to small ("1h30m").
 */
int tide_parse_duration(const char *text, int64_t *ret_seconds,
			struct tide_err *err);

/*
 * Would Slurm take these letters for a number of devices: "8", "2K", or "310p"
 * for 310 peta?
 */
int tide_parse_is_count(const char *text, size_t len);

/* What Slurm calls INFINITE. */
#define TIDE_NO_LIMIT UINT32_MAX

/*
 * A time limit as Slurm's commands take it, in minutes, a part of one counting
 * as one: M, M:S, H:M:S, D-H, D-H:M or D-H:M:S; TIDE_NO_LIMIT for UNLIMITED,
 * INFINITE, -1 and whatever is no time at all, as 0.  ERANGE: so many that
 * Slurm counts wrong.
 */
int tide_parse_limit(const char *text, int64_t *ret_min, struct tide_err *err);

/* "HH:MM" or "HH:MM:SS" from 00:00 to 24:00, as seconds since midnight. */
int tide_parse_clock(const char *text, int32_t *ret_seconds,
		     struct tide_err *err);

/*
 * "YYYY-MM-DD" or "YYYY-MM-DDTHH:MM[:SS]" (a blank may stand for the T), as the
 * seconds from 1970-01-01T00:00:00 on a clock that knows no time zone; see
 * zone.h for the instant.  The years 1970 to 9999; dates that the calendar
 * does not have are errors.
 */
int tide_parse_datetime(const char *text, int64_t *ret_local,
			struct tide_err *err);

#endif /* TIDE_UTIL_PARSE_H */
