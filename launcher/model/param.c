/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of parameters and their first values.  Does not know what a layer
 * computes with them.
 */
#include "config.h"

#include "launcher/model/param.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/tensor/random.h"

void tide_params_release(struct tide_params *params)
{
	free(params->list);
	memset(params, 0, sizeof(*params));
}

static int make_room(struct tide_params *params, struct tide_err *err)
{
	int room = params->room ? 2 * params->room : 32;
	struct tide_param *list;

	if (params->n < params->room)
		return 0;
	list = realloc(params->list, room * sizeof(*list));
	if (!list)
		return tide_err_set(err, ENOMEM,
				    "cannot list parameters: out of memory");
	params->list = list;
	params->room = room;
	return 0;
}

int tide_params_add(struct tide_params *params, int64_t rows, int64_t cols,
		    double init, struct tide_err *err, const char *fmt, ...)
{
	struct tide_param *p;
	va_list ap;
	int len;

	if (make_room(params, err))
		return -1;
	p = &params->list[params->n];
	memset(p, 0, sizeof(*p));
	va_start(ap, fmt);
	len = vsnprintf(p->name, sizeof(p->name), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(p->name))
		return tide_err_set(
			err, ENAMETOOLONG,
			"cannot declare parameter '%s': name too long",
			p->name);
	p->ndim = rows ? 2 : 1;
	p->shape[0] = rows ? rows : cols;
	p->shape[1] = rows ? cols : 1;
	p->to[0] = p->shape[0];
	p->to[1] = p->shape[1];
	p->init = init;
	p->count = p->shape[0] * p->shape[1];
	p->offset = params->count;
	/* Tensors begin at cache lines; the gaps stay zero. */
	params->count += (p->count + 15) / 16 * 16;
	return params->n++;
}

int tide_params_allocate(struct tide_params *params, struct tide_alloc *alloc,
			 struct tide_err *err)
{
	if (tide_alloc_get(alloc, params->count, sizeof(real), "parameters",
			   &params->value, err) ||
	    tide_alloc_get(alloc, params->count, sizeof(real), "gradients",
			   &params->grad, err))
		return -1;
	return 0;
}

static void init_one(const struct tide_param *p, real *value, uint64_t seed)
{
	uint64_t key = tide_mix(seed, tide_hash_name(p->name));

	for (size_t i = 0; i < p->count; i++) {
		/* the index in the whole tensor, not in the part held here */
		int64_t row = p->from[0] + i / (p->to[1] - p->from[1]);
		int64_t col = p->from[1] + i % (p->to[1] - p->from[1]);

		value[i] = p->init >= 0
				   ? p->init
				   : -p->init * tide_normal(key,
							    row * p->shape[1] +
								    col);
	}
}

void tide_params_init(struct tide_params *params, uint64_t seed)
{
	for (int i = 0; i < params->n; i++)
		init_one(&params->list[i],
			 params->value + params->list[i].offset, seed);
}
