/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tensor memory on the host.  A device backend brings its own allocator with
 * the same three functions; nothing here knows what a block holds.
 */
#include "config.h"

#include "launcher/tensor/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

struct tide_alloc_block {
	struct tide_alloc_block *next;
	void *data;
};

void tide_alloc_init(struct tide_alloc *alloc)
{
	alloc->blocks = NULL;
	alloc->bytes = 0;
}

void tide_alloc_release(struct tide_alloc *alloc)
{
	struct tide_alloc_block *block, *next;

	for (block = alloc->blocks; block; block = next) {
		next = block->next;
		free(block->data);
		free(block);
	}
	tide_alloc_init(alloc);
}

int tide_alloc_get(struct tide_alloc *alloc, size_t count, size_t size,
		   const char *what, void *ret_block, struct tide_err *err)
{
	struct tide_alloc_block *block;
	size_t bytes, align = TIDE_ALIGN;
	void *data;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    bytes > SIZE_MAX - HUGE_PAGE)
		return tide_err_set(err, EOVERFLOW,
				    "cannot allocate %s: too large", what);
	if (bytes >= HUGE_PAGE)
		align = HUGE_PAGE;
	bytes = (bytes + align - 1) / align * align;
	block = malloc(sizeof(*block));
	data = bytes ? aligned_alloc(align, bytes) : NULL;
	if (!block || (bytes && !data)) {
		free(block);
		free(data);
		return tide_err_set(
			err, ENOMEM,
			"cannot allocate %zu MiB for %s: out of memory",
			bytes >> 20, what);
	}
	/* Advice only: large tensors cost fewer TLB misses in huge pages. */
	if (align == HUGE_PAGE)
		madvise(data, bytes, MADV_HUGEPAGE);
	if (bytes)
		memset(data, 0, bytes);
	block->data = data;
	block->next = alloc->blocks;
	alloc->blocks = block;
	alloc->bytes += bytes;
	memcpy(ret_block, &data, sizeof(data));
	return 0;
}
