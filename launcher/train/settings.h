/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of a training: its YAML file.  Keys are section.key; one table
 * in settings.c feeds the parser, the defaults and `tiderun train --help`.
 * Unknown, repeated and misplaced keys and bad values are errors that name
 * file, line, key and value.
 */
#ifndef TIDE_TRAIN_SETTINGS_H
#define TIDE_TRAIN_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/err.h"
#include "launcher/model/model.h"

struct tide_settings {
	/* model */
	int64_t layers, width, heads, context, vocabulary;
	bool tied;
	/* data */
	char data[PATH_MAX];
	bool random;
	/* training */
	int64_t batch_size;	       /* sequences a rank takes at once */
	int64_t gradient_accumulation; /* such batches of a rank in a step */
	int64_t steps;
	int64_t seed;
	double learning_rate, weight_decay, beta1, beta2, epsilon;
	/* scheduling */
	int64_t warmup_steps;
	int64_t decay; /* enum tide_decay */
	double final_learning_rate;
	/* checkpoint */
	char directory[PATH_MAX];
	int64_t every_s;
	int64_t keep;
	/* log */
	char log[PATH_MAX];
};

enum tide_decay {
	TIDE_DECAY_COSINE,
	TIDE_DECAY_CONSTANT
};

/*
 * Read and check a file.  Errors: those of opening it; EINVAL with
 * "FILE:LINE: key: ..." for anything wrong in it.
 */
int tide_settings_read(struct tide_settings *ret_settings, const char *path,
		       struct tide_err *err);

/* Of the model that is trained. */
struct tide_shape tide_settings_shape(const struct tide_settings *s);

/* The keys with their meaning and defaults, for --help. */
void tide_settings_help(FILE *to);

/* Learning rate of a step (from 0): linear warm-up, then cosine or constant. */
double tide_settings_rate(const struct tide_settings *s, int64_t step);

#endif
