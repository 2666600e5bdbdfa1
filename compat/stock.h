/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of a partition, what of their devices is in use, and when a job
 * could start there, as slurmctld tells, for `tidectl request`.  Stands on
 * public libslurm alone.
 *
 * Threads: as client.h.
 */
#ifndef TIDE_COMPAT_STOCK_H
#define TIDE_COMPAT_STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

struct tide_stock_node {
	char *gres, *used; /* "npu:ascend910b:8", or "" */
	bool takes_jobs;   /* neither down nor drained */
};

/* Starts as {0}; ended by tide_stock_release(). */
struct tide_stock {
	char *partition;
	char *weights; /* TRESBillingWeights, or "" */
	struct tide_stock_node *node;
	size_t n_nodes;
};

/*
 * Ask for that partition; NULL: the default one.  0, or -1 with errno and text:
 * ENOENT: there is none; ENOTCONN: slurmctld does not tell; ENOMEM.
 */
int tide_stock_ask(const char *partition, struct tide_stock *stock,
		   struct tide_err *err);

void tide_stock_release(struct tide_stock *stock);

/* A batch job that is not submitted; NULL and 0 are Slurm's defaults. */
struct tide_trial {
	const char *partition, *account;
	const char *gres; /* of each node, as of --gres */
	uint32_t nodes;
	uint32_t limit_min; /* TIDE_NO_LIMIT: for as long as it likes */
	uint32_t time_min;  /* the same */
};

/*
 * When it would start, by what runs, windows and reservations; jobs that wait
 * do not count.  0, or -1 with errno and text:
 *	EPERM		Slurm would not take it, and why
 *	EACCES		nor anything else of that account
 *	ENOTCONN	slurmctld does not tell
 *	ENOMEM
 */
int tide_stock_start(const struct tide_trial *trial, int64_t *ret_start,
		     struct tide_err *err);

#endif /* TIDE_COMPAT_STOCK_H */
