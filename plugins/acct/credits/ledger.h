/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger in the database: tables tide_*, beside Slurm's own.  Append only:
 * a transaction (tide_txn) with its lines (tide_line) is written once and never
 * changed; tide_head holds the number and hash of the last, and who may post.
 * What can be derived is kept for speed: tide_run (one row a charged run, the
 * guard against charging twice) and tide_account (enrolled accounts, their
 * balance, what Slurm has counted, and the limit that Slurm was given: null
 * when one is due).
 *
 * Kinds of transactions:
 *	prices	no lines; the detail is what tide.conf said from this time on
 *	enroll	no lines; an account may pay from now on
 *	detach	no lines; it may no longer
 *	grant	from the issuing account to another
 *	charge	a run, from the payer to those who lend
 *	refund	the lines of a charge, turned round
 * Each has a reference that is unique in the ledger, so a transaction that is
 * sent twice is posted once.
 *
 * Posting: tide_ledger_lock() starts a database transaction and locks the head
 * row, so posters stand in line; tide_ledger_append() and tide_ledger_add_run()
 * any number of times, which only gather rows; tide_ledger_commit() writes them
 * in a few statements, as slurmdbd's database has other work to do.
 *
 * Errors are those of db.h; includes no Slurm header.  Threads: as the
 * connection.
 */
#ifndef TIDE_ACCT_LEDGER_H
#define TIDE_ACCT_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/credit/chain.h"
#include "plugins/acct/credits/db.h"

struct tide_head {
	int64_t txn; /* number of the last transaction, 0 when there is none */
	char hash[TIDE_HASH_LEN];
};

/* Transactions on their way into the ledger. */
struct tide_posting;

/* A row of tide_run. */
struct tide_run_row {
	const char *cluster;
	int64_t job;
	int64_t submit;
	int64_t start;
	int64_t end;
	const char *account;
	int64_t charge; /* transactions, 0: none */
	int64_t refund;
	int64_t amount; /* what it cost in the end */
	const char *rate;
	const char *earners;
	int64_t billing; /* billing-seconds that Slurm counts for it */
};

/*
 * Make the tables where they are missing.  Returns 1 when they were there.
 * EPROTO: they are of a later release.
 */
int tide_ledger_setup(struct tide_db *db, struct tide_err *err);

/*
 * Become or stay the one poster: true when holder has the lease for the next
 * seconds.  A lease that ran out goes to who asks first; replace names a
 * holder known to be dead, or is NULL.
 */
int tide_ledger_lease(struct tide_db *db, const char *holder,
		      const char *replace, int64_t seconds, bool *ret_mine,
		      struct tide_err *err);
/* Who has the lease (also when it ran out); freed by the caller. */
int tide_ledger_holder(struct tide_db *db, char **ret_holder,
		       struct tide_err *err);

/*
 * Start a database transaction with the head locked.  EPERM: holder is not
 * NULL and has not the lease.  Ended by tide_ledger_commit() or
 * tide_ledger_abandon().
 */
int tide_ledger_lock(struct tide_db *db, const char *holder,
		     struct tide_posting **ret_posting, struct tide_err *err);

/* The number of the last transaction, with those of this posting. */
int64_t tide_ledger_last(const struct tide_posting *posting);

/* Add txn; txn->id is set.  EINVAL: its lines do not sum to zero. */
int tide_ledger_append(struct tide_posting *posting, struct tide_txn *txn,
		       struct tide_err *err);
int tide_ledger_add_run(struct tide_posting *posting,
			const struct tide_run_row *row, struct tide_err *err);

/* Add a statement, after all rows are written; ended by the caller's NUL. */
int tide_ledger_also(struct tide_posting *posting, const char *statement,
		     struct tide_err *err);

/*
 * Write everything, or nothing.  Returns 1, and nothing was written, when one
 * of the references or runs is in the ledger already.  Frees the posting in any
 * case.
 */
int tide_ledger_commit(struct tide_posting *posting, struct tide_err *err);

/* Write nothing.  Takes NULL; keeps errno. */
void tide_ledger_abandon(struct tide_posting *posting);

#endif
