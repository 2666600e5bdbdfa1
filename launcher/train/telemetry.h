/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a training tells: a line now and then for a person, and one JSON object
 * a step for programs.  Rank 0 only.
 */
#ifndef TIDE_TRAIN_TELEMETRY_H
#define TIDE_TRAIN_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/err.h"

struct tide_step_report {
	int64_t step; /* steps done, this one included */
	int64_t steps;
	double loss; /* mean over the global batch, nats a token */
	double norm; /* of the gradient */
	double rate; /* learning rate */
	int64_t tokens;
	double seconds;
	double comm_seconds;
	int ranks;
	int run; /* how often the job was requeued */
};

struct tide_telemetry {
	FILE *person;
	int log; /* -1: none */
	double last_line;
	double pace; /* seconds of a step, smoothed */
	bool log_broken;
};

/* log may be empty; it is appended to.  Errors: those of open. */
int tide_telemetry_open(struct tide_telemetry *t, FILE *person, const char *log,
			struct tide_err *err);
void tide_telemetry_close(struct tide_telemetry *t);

/*
 * Report one step: always to the log, to the person at most once a second
 * and for the first and the last step.  A log that cannot be written is said
 * once and does not stop the training.
 */
void tide_telemetry_step(struct tide_telemetry *t,
			 const struct tide_step_report *r);

#endif
