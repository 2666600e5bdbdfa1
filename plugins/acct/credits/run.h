/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a job as Slurm's job table has it, as the ledger keeps it (the
 * detail of a charge, in JSON), and as common/credit charges it.
 *
 * Errors are those of db.h, and EINVAL: what the row says is not understood.
 * Threads: one at a time.
 */
#ifndef TIDE_ACCT_RUN_H
#define TIDE_ACCT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/credit/charge.h"
#include "plugins/acct/credits/db.h"
#include "plugins/acct/credits/rates.h"

/* Strings are owned by the record; released by tide_dbrun_release(). */
struct tide_dbrun {
	char *cluster;
	int64_t row; /* in the job table; 0 when read from the ledger */
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

/* Which rows of the job table to look at. */
struct tide_scan {
	const char *cluster;
	const char *partition;
	const char *accounts; /* SQL condition on account and time_start */
	const char *rows;     /* "1,2,3": these alone; or NULL */
	int64_t after;	      /* else those after this row, in order */
	int limit;	      /* rows a page */
};

/* GRES of Slurm's tres_table: number to name; loaded as needed. */
struct tide_tres;
struct tide_tres *tide_tres_create(void);
void tide_tres_destroy(struct tide_tres *tres);

/*
 * The next page of ended runs that have no row in tide_run; scan->after is
 * moved on.  ret_runs has *ret_n records; the array is the caller's.  Rows that
 * cannot be understood are left out and counted in *ret_bad, err has the last
 * reason.
 */
int tide_run_scan(struct tide_db *db, struct tide_tres *tres,
		  struct tide_scan *scan, struct tide_dbrun **ret_runs,
		  size_t *ret_n, size_t *ret_rows, size_t *ret_bad,
		  struct tide_err *err);

void tide_dbrun_release(struct tide_dbrun *run);
void tide_dbruns_free(struct tide_dbrun *runs, size_t n);

/* "run CLUSTER JOB SUBMIT START": the reference of its charge. */
void tide_dbrun_ref(const struct tide_dbrun *run, const char *kind, char *buf,
		    size_t size);

/* The detail of a charge and back.  The text is the caller's. */
char *tide_dbrun_write(const struct tide_dbrun *run);
int tide_dbrun_read(const char *text, struct tide_dbrun *ret_run,
		    struct tide_err *err);

/* What the run costs at these prices. */
int tide_dbrun_charge(const struct tide_dbrun *run,
		      const struct tide_prices *prices,
		      struct tide_charge *ret_charge, struct tide_err *err);

/* What Slurm counts for it in its QOS: billing-seconds. */
int64_t tide_dbrun_billing(const struct tide_dbrun *run);

#endif
