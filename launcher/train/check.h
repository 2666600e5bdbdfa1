/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `tiderun train` would do with a file and a number of ranks, found out
 * without MPI and without changing anything.  Checkpoints are read, as at
 * a start, until a good one is found.
 */
#ifndef TIDE_TRAIN_CHECK_H
#define TIDE_TRAIN_CHECK_H

#include <stdint.h>
#include <stdio.h>

#include "common/util/err.h"
#include "launcher/checkpoint/checkpoint.h"
#include "launcher/train/settings.h"

struct tide_check {
	int64_t parameters;
	int64_t checkpoint_bytes;
	int64_t data_bytes, data_pieces; /* 0: random tokens */
	int ranks, accumulation;
	int64_t global_batch, tokens_per_step;
	int64_t step, steps;
	char checkpoint[TIDE_CKPT_NAME]; /* empty: none */
};

int tide_check_make(struct tide_check *ret_check,
		    const struct tide_settings *settings, int ranks,
		    struct tide_err *err);
void tide_check_print(const struct tide_check *check, FILE *to);
void tide_check_print_json(const struct tide_check *check, FILE *to);

#endif
