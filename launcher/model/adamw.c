/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AdamW over the list of parameters; the arithmetic is the backend's. */
#include "config.h"

#include "launcher/model/adamw.h"

#include <math.h>

int tide_adamw_allocate(struct tide_adamw *opt,
			const struct tide_params *params,
			struct tide_alloc *alloc, struct tide_err *err)
{
	if (tide_alloc_get(alloc, params->count, sizeof(real), "Adam moments",
			   &opt->m, err) ||
	    tide_alloc_get(alloc, params->count, sizeof(real), "Adam moments",
			   &opt->v, err))
		return -1;
	return 0;
}

void tide_adamw_step(struct tide_adamw *opt, struct tide_params *params,
		     const struct tide_ops *ops, int64_t step, double rate)
{
	struct tide_adamw_coef coef = {
		.rate = rate,
		.beta1 = opt->beta1,
		.beta2 = opt->beta2,
		.eps = opt->eps,
		.fix1 = 1 - pow(opt->beta1, step),
		.fix2 = 1 - pow(opt->beta2, step),
	};

	for (int i = 0; i < params->n; i++) {
		const struct tide_param *p = &params->list[i];

		coef.decay = p->ndim > 1 ? opt->decay : 0;
		ops->adamw(params->value + p->offset, params->grad + p->offset,
			   opt->m + p->offset, opt->v + p->offset, p->count,
			   &coef);
	}
}
