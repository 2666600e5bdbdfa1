/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A training from start (or resume) to its end or an early stop.  Collective
 * over the ranks of comm; only rank 0 talks and touches the checkpoint folder.
 */
#ifndef TIDE_TRAIN_TRAINER_H
#define TIDE_TRAIN_TRAINER_H

#include <stdio.h>

#include "common/util/err.h"
#include "launcher/comm/group.h"
#include "launcher/train/job.h"
#include "launcher/train/settings.h"

/* How it ended; the values are tiderun's exit status. */
enum tide_outcome {
	TIDE_FINISHED = 0,
	TIDE_FAILED = 1,
	/* EX_TEMPFAIL of sysexits.h: stopped early, saved, work is left */
	TIDE_STOPPED = 75,
};

/*
 * Train; tide_signals_catch was called before.  Messages go to `person`.
 * Returns enum tide_outcome, the same on every rank; an error that only one
 * rank meets ends all by tide_comm_abort.
 */
int tide_train(const struct tide_settings *settings, struct tide_comm *comm,
	       const struct tide_job *job, FILE *person);

#endif
