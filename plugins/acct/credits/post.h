/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transactions of the ledger: charges and refunds of runs, grants,
 * enrolments and their end.  Each function is one database transaction: all of
 * it or nothing.
 *
 * Errors are those of db.h.  Threads: as the connection.
 */
#ifndef TIDE_ACCT_POST_H
#define TIDE_ACCT_POST_H

#include <stddef.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"
#include "plugins/acct/credits/rates.h"
#include "plugins/acct/credits/run.h"

/*
 * Charge runs, as the poster `holder`; those charged already are passed over.
 * A run that cannot be computed is left for later and counted in *ret_bad, err
 * has the last reason.  EPERM: holder is not the poster.
 */
int tide_post_runs(struct tide_db *db, const char *holder,
		   const struct tide_rates *rates, struct tide_dbrun *runs,
		   size_t n, int64_t now, size_t *ret_posted, size_t *ret_bad,
		   struct tide_err *err);

/*
 * Let an account of Slurm pay, for runs that start from now on.  Returns 1 when
 * it can already.  EINVAL: Slurm has no such account.
 */
int tide_post_enroll(struct tide_db *db, const char *account, const char *by,
		     int64_t now, struct tide_err *err);

/*
 * The account no longer pays, for runs that start from now on; what it has, and
 * every posting, stays.  Returns 1 when it does not pay now.
 */
int tide_post_detach(struct tide_db *db, const char *account, const char *by,
		     int64_t now, struct tide_err *err);

/*
 * Move an amount from the issuing account to an enrolled one; a negative amount
 * takes it back.  Returns 1 when the request was posted before.  EINVAL: an
 * amount of 0, no such enrolled account, or no tide.conf was read yet.
 */
int tide_post_grant(struct tide_db *db, const struct tide_prices *prices,
		    const char *account, int64_t amount, const char *note,
		    const char *request, const char *by, int64_t now,
		    int64_t *ret_txn, struct tide_err *err);

#endif
