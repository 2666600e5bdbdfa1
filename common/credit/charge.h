/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The charge of one run of a job: who pays, who earns, how much.
 *
 *   charge = devices x time x rate x UsageFactor of the job's QOS
 *
 * It goes from the job's account to the owners of its nodes, by the devices
 * used there, less the fee, which the pool's account keeps; nodes that nobody
 * lends earn for the pool's account.  Slurm's --gres is per node, so the
 * devices of a run are spread evenly over its nodes.  Time in which the job was
 * suspended is not charged.
 *
 * Functions return 0, or -1 with errno and err written; outputs are untouched
 * on failure.  Threads: no state.
 */
#ifndef TIDE_CREDIT_CHARGE_H
#define TIDE_CREDIT_CHARGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/credit/prices.h"
#include "common/util/err.h"
#include "common/util/frac.h"

/*
 * Devices of one kind in a run.  A name with a type ("mlu:mlu290") counts
 * devices of that type; a bare name ("mlu") counts all of that name, typed or
 * not, as Slurm does; what no type accounts for is priced at the dearest.
 */
struct tide_use {
	const char *device;
	int64_t count;
};

struct tide_run {
	const char *account;
	int64_t start; /* seconds since the epoch */
	int64_t end;
	int64_t suspended; /* seconds of [start, end] */
	struct tide_frac factor;
	const char *const *nodes;
	size_t nnodes;
	const struct tide_use *uses;
	size_t nuses;
};

/* One side of a transaction; the account's name is owned by the charge. */
struct tide_line {
	char *account;
	int64_t amount; /* micro-credits; what an account pays is negative */
};

struct tide_charge {
	int64_t amount;	       /* what the run costs */
	struct tide_frac rate; /* credits an hour of the whole run */
	struct tide_line *lines;
	size_t nlines; /* the payer's first; 0 when the amount is 0 */
	char *to;      /* the earning accounts, "nlp,centre" */
};

/*
 * EINVAL: the run ends before it starts, has no node, or a negative number.
 * EOVERFLOW.  ENOMEM.  Release with tide_charge_release().
 */
int tide_charge_compute(const struct tide_prices *prices,
			const struct tide_run *run, struct tide_charge *ret,
			struct tide_err *err);
void tide_charge_release(struct tide_charge *charge);

/* The name of the QOS of a paying account, "tide_" and the account: its limit
 * is what the account can pay, see limit.  The caller frees it; NULL with
 * ENOMEM. */
char *tide_qos_name(const char *account);

/*
 * The limit of that QOS in billing-minutes: what is left on the account, and
 * what Slurm has counted already (billing_seconds, over all charged runs of
 * the account); never below 0.  Slurm holds a job whose billing would take its
 * count over the limit; so limit - count is the balance, even where the ledger
 * and Slurm's count of the same run differ (rounded billing, refunds).
 * EOVERFLOW.
 */
int tide_limit_minutes(int64_t balance, int64_t billing_seconds,
		       int64_t *ret_minutes, struct tide_err *err);

#endif
