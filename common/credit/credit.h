/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic of credits: amounts, rates, postings and shares.  Pure
 * functions of integers; no floating point, no clock, no database.
 *
 * An amount is an int64_t in micro-credits (TIDE_CREDIT of them are one
 * credit).  A rate is an exact fraction of credits for one device-hour.  Use is
 * counted in device-seconds.  An operation that would overflow fails with
 * EOVERFLOW and changes nothing; it never wraps.
 *
 * Every function returns 0, or -1 with errno and err written (err may be
 * NULL); outputs named ret_x are untouched on failure.
 *
 * Threads: no state.
 */
#ifndef TIDE_CREDIT_CREDIT_H
#define TIDE_CREDIT_CREDIT_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"
#include "common/util/frac.h"

#define TIDE_CREDIT INT64_C(1000000) /* micro-credits of one credit */

/*
 * TRESBillingWeights are the rates times this, as Slurm truncates the billing
 * of a job to an integer.  So one credit is 60,000 billing-minutes.
 */
#define TIDE_BILLING_SCALE 1000
#define TIDE_BILLING_MINUTES (60 * TIDE_BILLING_SCALE)

#define TIDE_AMOUNT_LEN 32 /* holds any formatted amount or rate */

/*
 * A rate for people: at most six decimals, rounded half up, no zeros at the
 * end: "20.833333", "100".
 */
const char *tide_rate_format(struct tide_frac f, char buf[TIDE_AMOUNT_LEN]);

/*
 * "-12", "0.5", "+3.000001": an optional sign, digits, at most six decimals.
 * EINVAL: anything else.  EOVERFLOW.
 */
int tide_amount_parse(const char *text, int64_t *ret, struct tide_err *err);
/* Always six decimals: "12.500000", "-0.000001". */
const char *tide_amount_format(int64_t amount, char buf[TIDE_AMOUNT_LEN]);
int tide_amount_add(int64_t a, int64_t b, int64_t *ret, struct tide_err *err);

/*
 * What device_seconds cost at rate (credits an hour), rounded half up to a
 * micro-credit.  EINVAL: negative use or rate.  EOVERFLOW.
 */
int tide_amount_of(int64_t device_seconds, struct tide_frac rate, int64_t *ret,
		   struct tide_err *err);

/*
 * The next posting of a use that is posted in pieces: the rounded cost of all
 * of it so far, less what was posted before; so the pieces always add up to
 * the rounded whole, in whatever pieces it came.
 */
int tide_posting(int64_t total_device_seconds, struct tide_frac rate,
		 int64_t posted_before, int64_t *ret, struct tide_err *err);

/*
 * Split total (not negative) by weights (not negative, not all 0) by the method
 * of the largest remainder: every share is its exact quota rounded down, and
 * the units left over go one each to the largest remainders, ties to the lower
 * index.  The shares sum to total exactly.  EINVAL.  EOVERFLOW.
 */
int tide_split(int64_t total, const int64_t *weights, size_t n,
	       int64_t *ret_shares, struct tide_err *err);

#endif
