/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact fractions of 64-bit integers, for rates, prices and fees.
 *
 * A fraction is always kept reduced and with a positive denominator, so two
 * equal fractions have equal fields.  Nothing here rounds and nothing here is
 * floating point; what does not fit 64 bits is an error.
 *
 * Every function returns 0, or -1 with errno:
 *	EINVAL	the text is no decimal number, or a denominator is zero
 *	EOVERFLOW	the reduced result does not fit 64 bits
 * and leaves ret_frac untouched on failure.  No state, no locks; safe from any
 * thread.
 */
#ifndef TIDE_UTIL_FRAC_H
#define TIDE_UTIL_FRAC_H

#include <stddef.h>
#include <stdint.h>

struct tide_frac {
	int64_t num;
	int64_t den; /* > 0; num and den have no common divisor */
};

/* num/den, reduced */
int tide_frac_make(int64_t num, int64_t den, struct tide_frac *ret_frac);

/*
 * A plain decimal such as "312", "19.5" or "-0.30" (no exponent, no sign of
 * plus, no blanks), taken digit by digit: "0.30" is exactly 3/10.
 */
int tide_frac_parse(const char *text, struct tide_frac *ret_frac);

/* The same, or a ratio of two whole numbers such as "4/30". */
int tide_frac_parse_ratio(const char *text, struct tide_frac *ret_frac);

int tide_frac_add(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac);
int tide_frac_mul(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac);
int tide_frac_div(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac);

/* <0, 0 or >0 as a is less than, equal to or greater than b; never overflows */
int tide_frac_cmp(struct tide_frac a, struct tide_frac b);

/*
 * "19.5" when the decimal is finite and fits, else "1300/3".  Writes at most
 * size bytes with the closing NUL; 48 bytes are always enough.
 */
void tide_frac_format(struct tide_frac frac, char *buf, size_t size);

#endif /* TIDE_UTIL_FRAC_H */
