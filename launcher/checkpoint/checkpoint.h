/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One checkpoint is one file, step-NNNNNNNNNN.h5: HDF5 with a dataset for every
 * parameter (/parameter/NAME) and Adam moment (/adam_m/NAME, /adam_v/NAME), in
 * 32-bit little-endian floats under global names and shapes, and attributes of
 * the root for the rest.  After the HDF5 part follows one line with the
 * SHA-256 of every byte before it, so any change of any byte is seen; HDF5
 * tools read the file all the same.
 *
 * A file of that name is complete: it is written under a temporary name,
 * synced, renamed, and the folder is synced.  What survives a crash, a killed
 * rank or a full disk is the last complete one.
 *
 * Shards: offsets of all tensors are fixed before the first byte of a tensor
 * is written, so that later several ranks can write their parts of one file.
 *
 * Threads: HDF5 is not thread-safe here; one thread of one rank calls this.
 */
#ifndef TIDE_CHECKPOINT_CHECKPOINT_H
#define TIDE_CHECKPOINT_CHECKPOINT_H

#include <stdint.h>

#include "common/util/err.h"
#include "launcher/model/model.h"

#define TIDE_CKPT_SCHEMA 1
#define TIDE_CKPT_NAME 32

/* All of a training's state that is not a tensor. */
struct tide_ckpt_meta {
	int64_t step;	      /* steps done */
	int64_t samples;      /* data cursor: samples taken */
	int64_t global_batch; /* sequences of a step */
	uint64_t seed;	      /* of first values and order; all randomness */
	struct tide_shape shape;
	char data_print[80]; /* of the text, see data/text.h */
};

/* One tensor, the caller's memory; C order. */
struct tide_ckpt_tensor {
	const char *group; /* parameter, adam_m, adam_v */
	const char *name;
	int ndim;
	int64_t shape[2];
	float *data;
};

/* "step-0000000120.h5" into a buffer of TIDE_CKPT_NAME. */
void tide_ckpt_name(char *ret_name, int64_t step);

/*
 * Write a checkpoint into the folder dirfd and make it durable; an older file
 * of the same step is replaced.  On failure nothing of it is left.
 * Errors: those of open, write, fsync and rename (ENOSPC, EDQUOT, EROFS, EIO,
 * EFBIG); ENOMEM; EIO with the text "HDF5 ..." when that library fails.
 */
int tide_ckpt_write(int dirfd, const struct tide_ckpt_meta *meta,
		    const struct tide_ckpt_tensor *tensors, int n,
		    struct tide_err *err);

/*
 * Check every byte of a file against its digest.  Errors: EBADMSG (damaged or
 * cut short); those of open and read.
 */
int tide_ckpt_verify(int dirfd, const char *name, struct tide_err *err);

/*
 * Read the attributes of a verified file.  Errors: EINVAL for another
 * schema, a missing or impossible attribute, or a name of another step; those
 * of open.
 */
int tide_ckpt_read_meta(int dirfd, const char *name,
			struct tide_ckpt_meta *ret_meta, struct tide_err *err);

/*
 * Read tensors of a verified file into tensors[i].data.  Errors: EINVAL for a
 * missing tensor or one of another shape.
 */
int tide_ckpt_read(int dirfd, const char *name,
		   const struct tide_ckpt_tensor *tensors, int n,
		   struct tide_err *err);

#endif
