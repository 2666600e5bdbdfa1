/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Training samples: pieces of a text, one token a byte, or random tokens for
 * measurements.
 *
 * Which sample comes when is a pure function of (seed, step, index in the
 * global batch): there is nothing to save but the step, and the number of
 * ranks does not matter.  The text is cut into pieces of `context` bytes (each
 * with the byte after it as last target); an epoch takes every piece once, in
 * an order of its own.
 */
#ifndef TIDE_DATA_TEXT_H
#define TIDE_DATA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

#define TIDE_DATA_PRINT 65

struct tide_data {
	int fd; /* -1: random tokens */
	int64_t size;
	int64_t pieces; /* samples of one epoch */
	int context;
	int vocabulary;
	uint64_t seed;
	/* What the text is known by: hex SHA-256 over its size and its first
	 * and last MiB. */
	char print[TIDE_DATA_PRINT];
	unsigned char *line; /* one piece and a byte */
};

/*
 * Open a text of at least context + 1 bytes.  Errors: those of open and read;
 * EINVAL for a text that is too short; ENOMEM.
 */
int tide_data_open(struct tide_data *data, const char *path, int context,
		   uint64_t seed, struct tide_err *err);

/* Random tokens, as many as are asked for. */
int tide_data_open_random(struct tide_data *data, int vocabulary, int context,
			  uint64_t seed, struct tide_err *err);

void tide_data_close(struct tide_data *data);

/* The piece that is the number-th sample (from 0) of the whole training. */
int64_t tide_data_piece(const struct tide_data *data, int64_t number);

/*
 * context inputs and, shifted by one, context targets of that sample.
 * Errors: those of read; EIO when the file has become shorter.
 */
int tide_data_sample(struct tide_data *data, int64_t number, int32_t *ret_ids,
		     int32_t *ret_targets, struct tide_err *err);

#endif
