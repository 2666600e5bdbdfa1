/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of a partition and what of their devices is in use, as slurmctld
 * tells, for `tidectl request`.  Stands on public libslurm alone.
 *
 * Threads: as client.h.
 */
#ifndef TIDE_COMPAT_STOCK_H
#define TIDE_COMPAT_STOCK_H

#include <stdbool.h>
#include <stddef.h>

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

#endif /* TIDE_COMPAT_STOCK_H */
