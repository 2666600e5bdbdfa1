/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact arithmetic on amounts and rates.  Intermediate values are 128 bit and
 * checked; results are 64 bit and checked.  Knows no job, node or account.
 */
#include "config.h"

#include "common/credit/credit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

static bool fits(wide v)
{
	return v >= INT64_MIN && v <= INT64_MAX;
}

/* Digits into *ret; the end of them is returned, or NULL with errno. */
static const char *read_digits(const char *p, int64_t *ret, int *ret_count)
{
	int64_t v = 0;
	int n = 0;

	for (; isdigit((unsigned char)*p); p++, n++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v)) {
			errno = EOVERFLOW;
			return NULL;
		}
	}
	errno = n ? 0 : EINVAL;
	*ret = v;
	*ret_count = n;
	return n ? p : NULL;
}

const char *tide_rate_format(struct tide_frac f, char buf[TIDE_AMOUNT_LEN])
{
	bool negative = f.num < 0;
	wide num = negative ? -(wide)f.num : f.num;
	wide micro = (num * TIDE_CREDIT * 2 + f.den) / ((wide)f.den * 2);
	int64_t whole = (int64_t)(micro / TIDE_CREDIT);
	int64_t part = (int64_t)(micro % TIDE_CREDIT);
	size_t len;

	snprintf(buf, TIDE_AMOUNT_LEN, "%s%" PRId64 ".%06" PRId64,
		 negative && micro ? "-" : "", whole, part);
	len = strlen(buf);
	while (buf[len - 1] == '0')
		buf[--len] = '\0';
	if (buf[len - 1] == '.')
		buf[--len] = '\0';
	return buf;
}

int tide_amount_parse(const char *text, int64_t *ret, struct tide_err *err)
{
	bool negative = *text == '-';
	const char *p = text + (*text == '-' || *text == '+');
	int64_t whole, part = 0;
	wide micro;
	int n;

	p = read_digits(p, &whole, &n);
	if (!p)
		goto bad;
	if (*p == '.') {
		p = read_digits(p + 1, &part, &n);
		if (!p || n > 6)
			goto bad;
		for (; n < 6; n++)
			part *= 10;
	}
	if (*p)
		goto bad;
	micro = (wide)whole * TIDE_CREDIT + part;
	if (negative)
		micro = -micro;
	if (!fits(micro))
		return tide_err_set(err, EOVERFLOW,
				    "the amount '%s' is too large", text);
	*ret = (int64_t)micro;
	return 0;
bad:
	if (errno == EOVERFLOW)
		return tide_err_set(err, EOVERFLOW,
				    "the amount '%s' is too large", text);
	return tide_err_set(
		err, EINVAL,
		"'%s' is not an amount (digits, and at most six decimals)",
		text);
}

const char *tide_amount_format(int64_t amount, char buf[TIDE_AMOUNT_LEN])
{
	/* Unsigned, as INT64_MIN has no positive twin. */
	uint64_t v = amount < 0 ? -(uint64_t)amount : (uint64_t)amount;

	snprintf(buf, TIDE_AMOUNT_LEN, "%s%" PRIu64 ".%06" PRIu64,
		 amount < 0 ? "-" : "", v / TIDE_CREDIT, v % TIDE_CREDIT);
	return buf;
}

int tide_amount_add(int64_t a, int64_t b, int64_t *ret, struct tide_err *err)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return tide_err_set(err, EOVERFLOW, "the sum does not fit");
	*ret = sum;
	return 0;
}

int tide_amount_of(int64_t device_seconds, struct tide_frac rate, int64_t *ret,
		   struct tide_err *err)
{
	/* seconds * num / den / 3600 credits, in micro-credits: * 10^6 / 3600
	 * is * 2500 / 9. */
	wide den = (wide)rate.den * 9;
	wide num, amount;

	if (device_seconds < 0 || rate.num < 0)
		return tide_err_set(err, EINVAL, "a negative use or rate");
	if (__builtin_mul_overflow((wide)device_seconds * rate.num, (wide)5000,
				   &num) ||
	    __builtin_add_overflow(num, den, &num))
		goto overflow;
	amount = num / (den * 2);
	if (!fits(amount))
		goto overflow;
	*ret = (int64_t)amount;
	return 0;
overflow:
	return tide_err_set(err, EOVERFLOW, "the amount does not fit");
}

int tide_posting(int64_t total_device_seconds, struct tide_frac rate,
		 int64_t posted_before, int64_t *ret, struct tide_err *err)
{
	int64_t total = 0, posting;

	if (tide_amount_of(total_device_seconds, rate, &total, err))
		return -1;
	if (__builtin_sub_overflow(total, posted_before, &posting))
		return tide_err_set(err, EOVERFLOW, "the posting does not fit");
	*ret = posting;
	return 0;
}

int tide_split(int64_t total, const int64_t *weights, size_t n,
	       int64_t *ret_shares, struct tide_err *err)
{
	int64_t sum = 0, left = total, *rest;
	size_t i, best;

	if (total < 0)
		return tide_err_set(err, EINVAL, "a negative amount to split");
	for (i = 0; i < n; i++) {
		if (weights[i] < 0)
			return tide_err_set(err, EINVAL, "a negative weight");
		if (__builtin_add_overflow(sum, weights[i], &sum))
			return tide_err_set(err, EOVERFLOW,
					    "the weights do not fit");
	}
	if (!sum)
		return tide_err_set(err, EINVAL, "nothing to split by");
	rest = calloc(n, sizeof(*rest));
	if (!rest)
		return tide_err_set(err, ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		wide quota = (wide)total * weights[i];

		ret_shares[i] = (int64_t)(quota / sum);
		rest[i] = (int64_t)(quota % sum);
		left -= ret_shares[i];
	}
	/* Fewer units are left than there are positive remainders. */
	for (; left > 0; left--) {
		for (best = 0, i = 1; i < n; i++)
			if (rest[i] > rest[best])
				best = i;
		ret_shares[best]++;
		rest[best] = -1;
	}
	free(rest);
	return 0;
}
