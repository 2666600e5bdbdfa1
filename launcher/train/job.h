/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Slurm job around the trainer, seen through its environment and through
 * scontrol; no Slurm header.  And the signals by which it warns.
 */
#ifndef TIDE_TRAIN_JOB_H
#define TIDE_TRAIN_JOB_H

#include <stdbool.h>

#include "common/util/err.h"

struct tide_job {
	char id[32];	/* empty outside Slurm */
	char name[128]; /* SLURM_JOB_NAME, else "local" */
	char host[128];
	int restarts;	  /* SLURM_RESTART_COUNT */
	char holder[512]; /* who holds a checkpoint folder, for a person */
	char same[64];	  /* how holder begins for other runs of this job */
};

void tide_job_init(struct tide_job *job);

/*
 * Ask Slurm to requeue this job: `scontrol requeue ID`, found by PATH, no
 * shell.  Errors: what scontrol said; ETIMEDOUT after a minute; ENOTSUP
 * outside a job.
 */
int tide_job_requeue(const struct tide_job *job, struct tide_err *err);

/*
 * What the signals asked for.  USR1 and USR2 (--signal) are the warning: save,
 * then give the nodes back by a requeue.  TERM means that the job is being
 * ended already (a requeue, a cancellation or its time limit): save only.
 */
enum tide_stop {
	TIDE_GO_ON = 0,
	TIDE_WARNED = 1,
	TIDE_ENDING = 2
};

/* Install the handlers; from now on these signals only set flags. */
void tide_signals_catch(void);
int tide_signals_seen(void); /* of enum tide_stop, or-ed */

#endif
