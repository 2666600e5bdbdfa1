/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside checkpoint/ only: the HDF5 side.  A layout is a complete HDF5 file in
 * memory whose tensors are holes: it says where each tensor's bytes belong.
 */
#ifndef TIDE_CHECKPOINT_LAYOUT_H
#define TIDE_CHECKPOINT_LAYOUT_H

#include "launcher/checkpoint/checkpoint.h"

struct tide_ckpt_layout {
	int fd; /* sparse file in memory */
	int64_t size;
	int64_t *at; /* offset of each tensor's first byte */
};

/* Errors: EIO for what HDF5 reports, ENOMEM. */
int tide_ckpt_layout_create(struct tide_ckpt_layout *layout,
			    const struct tide_ckpt_meta *meta,
			    const struct tide_ckpt_tensor *tensors, int n,
			    struct tide_err *err);
void tide_ckpt_layout_release(struct tide_ckpt_layout *layout);

/* Bytes of one tensor */
int64_t tide_ckpt_bytes(const struct tide_ckpt_tensor *tensor);

#endif
