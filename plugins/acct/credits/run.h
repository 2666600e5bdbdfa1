/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of jobs out of Slurm's job table, as records of common/credit/dbrun.h.
 *
 * Errors are those of db.h, and EINVAL: what the row says is not understood.
 * Threads: one at a time.
 */
#ifndef TIDE_ACCT_RUN_H
#define TIDE_ACCT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/credit/dbrun.h"
#include "plugins/acct/credits/db.h"
#include "plugins/acct/credits/rates.h"

/* Which rows of the job table to look at. */
struct tide_scan {
	const char *cluster;
	const char *partition;
	const char *accounts; /* SQL condition on account and time_start */
	const char *rows;     /* "1,2,3": these alone; or NULL */
	uint64_t after;	      /* else those after this row, in order */
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

#endif
