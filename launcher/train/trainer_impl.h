/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside train/ only: the trainer's parts, shared by its three files. */
#ifndef TIDE_TRAIN_TRAINER_IMPL_H
#define TIDE_TRAIN_TRAINER_IMPL_H

#include "launcher/checkpoint/folder.h"
#include "launcher/data/text.h"
#include "launcher/model/adamw.h"
#include "launcher/train/plan.h"
#include "launcher/train/state.h"
#include "launcher/train/telemetry.h"
#include "launcher/train/trainer.h"

struct tide_trainer {
	const struct tide_settings *settings;
	const struct tide_job *job;
	struct tide_comm *comm;
	struct tide_group *group; /* data parallel */
	int rank;
	int threads; /* of this rank */
	FILE *person;

	struct tide_alloc alloc;
	struct tide_model *model;
	struct tide_adamw opt;
	struct tide_data data;
	struct tide_plan plan;
	int32_t *ids, *targets; /* of a micro-batch */
	real **branches;    /* gradients waiting in the tree, see comm/tree.h */
	double *mine, *all; /* what ranks tell each other at a step's end */

	int64_t step; /* steps done */
	struct tide_ckpt_meta
		meta; /* step and samples are filled in at a save */

	/* rank 0 only */
	struct tide_folder folder;
	struct tide_state state;
	struct tide_telemetry telemetry;
	double last_save;   /* monotonic seconds */
	int64_t saved_step; /* newest in the folder, -1 none */
	int64_t first_step; /* where this run began */
};

double tide_trainer_now(void);

/* "tiderun: ..." to the person, from rank 0. */
void tide_trainer_say(struct tide_trainer *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* setup.c: build everything, and begin at step 0 or resume. */
int tide_trainer_setup(struct tide_trainer *t, struct tide_err *err);
void tide_trainer_release(struct tide_trainer *t);

/* setup.c: save now; rank 0.  A failure is said, and training goes on. */
int tide_trainer_save(struct tide_trainer *t);

/*
 * step.c: one optimizer step.  ret_asks: enum tide_stop of all ranks and
 * TIDE_ASK_SAVE of rank 0, or-ed.  Mean loss in ret_loss, norm of the gradient
 * in ret_norm.  Returns 0; 1 if one of these is no number, on every rank, with
 * nothing changed; -1 for an error that this rank alone met.
 */
enum {
	TIDE_ASK_SAVE = 256
};
int tide_trainer_step(struct tide_trainer *t, double *ret_loss,
		      double *ret_norm, int *ret_asks, struct tide_err *err);

#endif
