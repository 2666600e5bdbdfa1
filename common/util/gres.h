/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What nodes have, as Slurm writes it in Gres= and GresUsed:
 * "gpu:a100:4(S:0-1),mlu:2".  No state; safe from any thread.
 */
#ifndef TIDE_UTIL_GRES_H
#define TIDE_UTIL_GRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One item; its texts are parts of the list, and not ended. */
struct tide_gres {
	const char *name, *type; /* a type of length 0 is none */
	size_t name_len, type_len;
	int64_t count; /* 1 where none is given */
};

/*
 * The next item of the list at *cursor, which moves on and may be NULL; false
 * at its end.  What is no item is passed over.
 */
bool tide_gres_next(const char **cursor, struct tide_gres *ret_gres);

/* The same GRES; a type of length 0 in `wanted` stands for any. */
bool tide_gres_is(const struct tide_gres *gres, const struct tide_gres *wanted);

#endif /* TIDE_UTIL_GRES_H */
