/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AdamW (Loshchilov & Hutter 2019).  Matrices and embeddings decay; biases and
 * normalisation weights do not.  Its whole state is the two moments, in the
 * layout of the parameters, and the number of steps made.
 */
#ifndef TIDE_MODEL_ADAMW_H
#define TIDE_MODEL_ADAMW_H

#include "launcher/model/param.h"
#include "launcher/tensor/ops.h"

struct tide_adamw {
	double beta1, beta2, eps, decay;
	real *m, *v;
};

/* Allocate the moments, zero; the settings are the caller's. */
int tide_adamw_allocate(struct tide_adamw *opt,
			const struct tide_params *params,
			struct tide_alloc *alloc, struct tide_err *err);

/* Step number step (from 1) with the gradients in params. */
void tide_adamw_step(struct tide_adamw *opt, struct tide_params *params,
		     const struct tide_ops *ops, int64_t step, double rate);

#endif
