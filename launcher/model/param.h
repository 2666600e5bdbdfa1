/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameters of a model: each has a global name, a global shape and the
 * index range that this rank holds (today all of it; a tensor-parallel rank
 * holds a part).  Values and gradients lie in two flat arrays in the order of
 * the list, so that one reduction or one optimizer pass covers them all.
 */
#ifndef TIDE_MODEL_PARAM_H
#define TIDE_MODEL_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"
#include "launcher/tensor/alloc.h"
#include "launcher/tensor/real.h"

#define TIDE_PARAM_NAME 64

struct tide_param {
	char name[TIDE_PARAM_NAME]; /* e.g. block0.attention.qkv.weight */
	int ndim;		    /* 1 or 2 */
	int64_t shape[2];	    /* global */
	int64_t from[2], to[2];	    /* held here: [from, to) of each axis */
	double init;	      /* <0: normal with std -init; else constant */
	size_t offset, count; /* where in the flat arrays, and how many */
};

struct tide_params {
	struct tide_param *list;
	int n, room;
	size_t count; /* of all parameters held here */
	real *value;
	real *grad;
};

void tide_params_release(struct tide_params *params);

/*
 * Declare one parameter of rows x cols (rows 0: a vector of cols); returns its
 * index, or -1 with ENOMEM or ENAMETOOLONG.
 */
int tide_params_add(struct tide_params *params, int64_t rows, int64_t cols,
		    double init, struct tide_err *err, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Allocate the flat arrays once all are declared. */
int tide_params_allocate(struct tide_params *params, struct tide_alloc *alloc,
			 struct tide_err *err);

/*
 * Set the first values: a function of seed, name and global index only, so the
 * same on every layout.
 */
void tide_params_init(struct tide_params *params, uint64_t seed);

#endif
