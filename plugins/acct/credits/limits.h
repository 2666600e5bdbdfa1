/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QOS of a paying account and its limit, made through slurmdbd's own
 * storage functions as sacctmgr would, in short transactions of their own on a
 * connection of their own.  slurmdbd tells every slurmctld at once.
 *
 * Threads: the poster's only.  No lock of Slurm may be held.
 */
#ifndef TIDE_ACCT_LIMITS_H
#define TIDE_ACCT_LIMITS_H

#include <stdint.h>

#include "plugins/acct/credits/db.h"

/*
 * See that the QOS of the account exists, and that the account's association
 * has it in every cluster that knows the account.  A QOS that is made has the
 * flags NoDecay and UsageFactorSafe.  ret_minutes is the limit that it has, -1
 * for none.  db is read only.
 */
int tide_limits_ensure(struct tide_db *db, const char *account,
		       int64_t *ret_minutes, struct tide_err *err);

/* Set the limit, in billing-minutes. */
int tide_limits_set(const char *account, int64_t minutes, struct tide_err *err);

/*
 * Take the QOS of the account from every association that has it, and delete
 * it.  slurmctld holds pending jobs that still have it, and forgets what it
 * counted.  Returns 1 when there is none, 2 when jobs have it and Slurm (25.05
 * and later) keeps it for them: nobody else may use it then.
 */
int tide_limits_remove(struct tide_db *db, const char *account,
		       struct tide_err *err);

/* Give the connection to Slurm's storage back; one is taken when needed. */
void tide_limits_close(void);

#endif
