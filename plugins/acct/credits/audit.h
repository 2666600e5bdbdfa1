/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the whole ledger: numbers without a gap, the hash chain, every
 * transaction balanced, every charge computed anew from the prices of its time
 * and compared with its job row, every refund with its charge, the derived
 * tables, and a seal exported earlier.  Reads only.
 *
 * What the job row may do without harm: be gone (Slurm purges old rows), or end
 * later than what was charged, or not at all any more.  Slurm moves the end
 * when a completed job is requeued, and when a slurmctld that was killed comes
 * back with a state in which the job still ran; the first end it told holds.
 * Both are counted.
 *
 * Errors are those of db.h; what is wrong with the ledger is not an error of
 * the function.  Threads: as the connection.
 */
#ifndef TIDE_ACCT_AUDIT_H
#define TIDE_ACCT_AUDIT_H

#include <jansson.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"

/* A seal to compare with; id 0: none. */
struct tide_seal {
	int64_t id;
	const char *hash;
};

/*
 * The report: {"ok": bool, "transactions": n, "charges": n, "refunds": n,
 * "grants": n, "purged": n, "moved": n, "sum": "0.000000", "seal": {"id": n,
 * "hash": "..."}, "problems": ["...", ...]}; at most 100 problems are told.
 * The caller drops the reference.
 */
int tide_audit(struct tide_db *db, const struct tide_seal *seal,
	       json_t **ret_report, struct tide_err *err);

#endif
