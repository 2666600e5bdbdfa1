/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one allocator of tensor memory: every block is zeroed, aligned to a
 * cache line, counted, and freed with the allocator.  Blocks are made before
 * training begins and never during a step.
 *
 * Threads: one thread at a time.
 */
#ifndef TIDE_TENSOR_ALLOC_H
#define TIDE_TENSOR_ALLOC_H

#include <stddef.h>

#include "common/util/err.h"

#define TIDE_ALIGN 64

struct tide_alloc_block;

struct tide_alloc {
	struct tide_alloc_block *blocks;
	size_t bytes; /* handed out and not freed */
};

/* An empty allocator; needs no memory until it is used. */
void tide_alloc_init(struct tide_alloc *alloc);

/* Free every block. */
void tide_alloc_release(struct tide_alloc *alloc);

/*
 * count elements of size bytes, zeroed, into *ret_block; `what` says what for
 * in the error text.  The allocator owns the block.
 * Errors: ENOMEM; EOVERFLOW when count x size does not fit.
 */
int tide_alloc_get(struct tide_alloc *alloc, size_t count, size_t size,
		   const char *what, void *ret_block, struct tide_err *err);

#endif
