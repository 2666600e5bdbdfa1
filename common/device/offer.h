/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which types of accelerators a cluster has, and which of them serve who does
 * not care for the type: docs/request.md.  What nodes have comes as Slurm's own
 * texts; asks nobody.
 */
#ifndef TIDE_DEVICE_OFFER_H
#define TIDE_DEVICE_OFFER_H

#include <stdbool.h>

#include "common/device/table.h"

/* What is asked for; of each node. */
struct tide_wish {
	uint64_t count;		 /* devices */
	uint64_t nodes;		 /* 1 at least */
	int memory;		 /* GB of a device at least; 0: any */
	struct tide_frac tflops; /* at least; 0: any */
	const char *gres;	 /* of this GRES alone; NULL: any */
};

/* A type; "" are devices without one. */
struct tide_offer {
	char *gres, *type;
	struct tide_frac tflops; /* 0: not known */
	int memory;		 /* GB; 0: not known */
	struct tide_frac rate;	 /* credits for a device-hour; 0: no price */
	uint64_t devices;	 /* in all */
	uint64_t free;		 /* on nodes that take jobs */
	uint64_t most;		 /* of one node */
	uint64_t nodes;		 /* that have as many as are wanted */
	uint64_t nodes_free;	 /* that have them free now */
	int64_t start;		 /* by Slurm's plan; 0: it was not asked */
	bool now;		 /* that is now */
	bool fits;
	const char *why; /* it does not fit, in words */
	char *refused;	 /* the same in words of Slurm, or NULL */
};

/* Starts as {0}. */
struct tide_offers {
	struct tide_offer *offer;
	size_t count;
};

/*
 * A node: its Gres and GresUsed as slurmctld tells them; takes_jobs: it is
 * neither down nor drained.  Only GRES that the table knows count.  -1 with
 * ENOMEM.
 */
int tide_offers_node(struct tide_offers *offers, const struct tide_table *table,
		     const struct tide_wish *wish, const char *gres,
		     const char *used, bool takes_jobs);

/* The partition's TRESBillingWeights: rates x scale. */
void tide_offers_rates(struct tide_offers *offers, const char *weights,
		       int64_t scale);

/*
 * Say which fit, and order them: those that fit first, of these those that are
 * free now, then the cheapest (without a price: last), then those of which most
 * are free, then by name.  How many fit.
 */
size_t tide_offers_choose(struct tide_offers *offers,
			  const struct tide_wish *wish);

/*
 * What Slurm says of one that fits: when it would start, at the time `now`; or
 * that it would not, and why.  tide_offers_order() is due then.  -1 with
 * ENOMEM.
 */
void tide_offer_starts(struct tide_offer *offer, int64_t start, int64_t now);
int tide_offer_refused(struct tide_offer *offer, const char *why);

/*
 * As tide_offers_choose(), but of those that fit first those that start now,
 * then the others by their start, then those that Slurm was not asked about.
 */
size_t tide_offers_order(struct tide_offers *offers);

/*
 * The best that there is of what is wished for, for who wished for more than
 * any has: "the fastest is npu:ascend910c with 376 TFLOPS"; else "", and where
 * nobody knows.
 */
void tide_offers_best(const struct tide_offers *offers,
		      const struct tide_wish *wish, char *text, size_t size);

void tide_offers_release(struct tide_offers *offers);

/*
 * What a type can do by the table, a part its share of the whole: 0 where
 * nobody tells.
 */
void tide_table_able(const struct tide_table *table, const char *gres,
		     const char *type, struct tide_frac *ret_tflops,
		     int *ret_memory);

#endif
