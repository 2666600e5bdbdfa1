/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact fractions of 64-bit integers.  Products are taken in 128 bits and
 * reduced before they are narrowed, so only a result that really does not fit
 * is an overflow.  Does no rounding.
 */
#include "config.h"

#include "common/util/frac.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* gcc and clang have it on every 64-bit system; -Wpedantic wants the marker */
__extension__ typedef __int128 wide;

static wide gcd(wide a, wide b)
{
	while (b) {
		wide rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

static int narrow(wide num, wide den, struct tide_frac *ret_frac)
{
	wide div;

	if (!den) {
		errno = EINVAL;
		return -1;
	}
	div = gcd(num, den);
	if (den < 0)
		div = -div;
	num /= div;
	den /= div;
	if (num > INT64_MAX || num < INT64_MIN || den > INT64_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	ret_frac->num = (int64_t)num;
	ret_frac->den = (int64_t)den;
	return 0;
}

int tide_frac_make(int64_t num, int64_t den, struct tide_frac *ret_frac)
{
	return narrow(num, den, ret_frac);
}

int tide_frac_parse(const char *text, struct tide_frac *ret_frac)
{
	/* 36 digits fit 128 bits with room to spare */
	enum {
		MAX_DIGITS = 36
	};
	int digits = 0, significant = 0;
	int negative = *text == '-', point = 0;
	wide num = 0, den = 1;

	for (text += negative; *text; text++) {
		if (*text == '.' && !point && digits) {
			point = 1;
			digits = 0;
			continue;
		}
		if (*text < '0' || *text > '9') {
			errno = EINVAL;
			return -1;
		}
		digits++;
		if (num || *text != '0' || point)
			significant++;
		if (significant > MAX_DIGITS) {
			errno = EOVERFLOW;
			return -1;
		}
		num = num * 10 + (*text - '0');
		if (point)
			den *= 10;
	}
	if (!digits) {
		errno = EINVAL;
		return -1;
	}
	return narrow(negative ? -num : num, den, ret_frac);
}

int tide_frac_parse_ratio(const char *text, struct tide_frac *ret_frac)
{
	const char *slash = strchr(text, '/');
	struct tide_frac num, den;
	char left[40];

	if (!slash)
		return tide_frac_parse(text, ret_frac);
	if (slash - text >= (long)sizeof(left) ||
	    strspn(text, "0123456789/") != strlen(text)) {
		errno = EINVAL;
		return -1;
	}
	snprintf(left, sizeof(left), "%.*s", (int)(slash - text), text);
	if (tide_frac_parse(left, &num) || tide_frac_parse(slash + 1, &den))
		return -1;
	return tide_frac_div(num, den, ret_frac);
}

int tide_frac_add(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac)
{
	/* each product is at most 2^126 in size, their sum 2^127 */
	return narrow((wide)a.num * b.den + (wide)b.num * a.den,
		      (wide)a.den * b.den, ret_frac);
}

int tide_frac_mul(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac)
{
	return narrow((wide)a.num * b.num, (wide)a.den * b.den, ret_frac);
}

int tide_frac_div(struct tide_frac a, struct tide_frac b,
		  struct tide_frac *ret_frac)
{
	return narrow((wide)a.num * b.den, (wide)a.den * b.num, ret_frac);
}

int tide_frac_cmp(struct tide_frac a, struct tide_frac b)
{
	wide left = (wide)a.num * b.den, right = (wide)b.num * a.den;

	return (left > right) - (left < right);
}

void tide_frac_format(struct tide_frac frac, char *buf, size_t size)
{
	uint64_t whole, rest, den = (uint64_t)frac.den;
	int places = 0;
	char digits[20];

	whole = frac.num < 0 ? -(uint64_t)frac.num : (uint64_t)frac.num;
	rest = whole % den;
	whole /= den;
	while (rest && places < 18) {
		wide next = (wide)rest * 10;

		digits[places++] = (char)('0' + (int)(next / den));
		rest = (uint64_t)(next % den);
	}
	if (rest)
		snprintf(buf, size, "%" PRId64 "/%" PRId64, frac.num, frac.den);
	else
		snprintf(buf, size, "%s%" PRIu64 "%s%.*s",
			 frac.num < 0 ? "-" : "", whole, places ? "." : "",
			 places, digits);
}
