/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a step is dealt to the ranks.  The global batch is fixed at the first
 * start (batch_size x gradient_accumulation x ranks) and kept in every
 * checkpoint; on another number of ranks the accumulation follows.
 *
 * Micro-batch number i of a step holds samples [i, i+1) x batch_size of the
 * global batch; a rank takes `accumulation` of them, one after the other.
 */
#ifndef TIDE_TRAIN_PLAN_H
#define TIDE_TRAIN_PLAN_H

#include <stdint.h>

#include "common/util/err.h"

struct tide_plan {
	int64_t global_batch;
	int ranks;
	int batch_size;
	int accumulation;
};

/*
 * global_batch 0: a first start.  Errors: EINVAL when the ranks do not divide
 * a kept global batch; the text lists the counts that do.
 */
int tide_plan_make(struct tide_plan *ret_plan, int64_t global_batch,
		   int64_t batch_size, int64_t accumulation, int ranks,
		   struct tide_err *err);

/* First sample of the rank's i-th micro-batch of a step (from 0). */
int64_t tide_plan_sample(const struct tide_plan *plan, int64_t step, int rank,
			 int i);

#endif
