/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a job as Slurm's job table has it: as the ledger keeps it (the
 * detail of a charge, in JSON), and as charge.h charges it.  Reading the table
 * is not here (plugins/acct/credits/run.h).
 *
 * Functions return 0, or -1 with errno and err written; outputs are untouched
 * on failure.  Threads: no state.
 */
#ifndef TIDE_CREDIT_DBRUN_H
#define TIDE_CREDIT_DBRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/credit/charge.h"
#include "common/util/err.h"

/* Strings are owned by the record; released by tide_dbrun_release(). */
struct tide_dbrun {
	char *cluster;
	uint64_t row; /* in the job table; 0 when read from the ledger */
	int64_t job;
	int64_t submit;
	int64_t start;
	int64_t end;
	int64_t suspended;
	char *account;
	char *nodes;	 /* in Slurm's notation */
	char *devices;	 /* "mlu=4,mlu:mlu290=4": every GRES of the run */
	int64_t billing; /* Slurm's billing of the run, truncated */
	struct tide_frac factor; /* UsageFactor of its QOS */
	bool node_failed;	 /* it ended because a node did */
	bool counted;	/* by the QOS that its account has now; not in JSON */
	int64_t prices; /* transaction with the prices, 0: not yet */
};

/*
 * The next pair of a list of TRES such as "1=4,5=200000,1001=2"; *text begins
 * as the list and moves on.  Returns 1 with a pair, 0 at the end, or -1 when
 * the rest is no such list.
 */
int tide_tres_pair(const char **text, int64_t *ret_id, int64_t *ret_count);

void tide_dbrun_release(struct tide_dbrun *run);
void tide_dbruns_free(struct tide_dbrun *runs, size_t n);

/* "run CLUSTER JOB SUBMIT START": the reference of its charge. */
void tide_dbrun_ref(const struct tide_dbrun *run, const char *kind, char *buf,
		    size_t size);

/*
 * The detail of a charge and back.  The text is the caller's, NULL with ENOMEM;
 * EINVAL: a text that is no detail, or of a run that cannot be.
 */
char *tide_dbrun_write(const struct tide_dbrun *run);
int tide_dbrun_read(const char *text, struct tide_dbrun *ret_run,
		    struct tide_err *err);

/*
 * What the run costs at these prices.  EINVAL: its nodes or devices are none.
 * Other errors as of tide_charge_compute().
 */
int tide_dbrun_charge(const struct tide_dbrun *run,
		      const struct tide_prices *prices,
		      struct tide_charge *ret_charge, struct tide_err *err);

/*
 * What Slurm counts for it in its QOS: billing-seconds, INT64_MAX at the most.
 */
int64_t tide_dbrun_billing(const struct tide_dbrun *run);

#endif
