/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The training's state as a checkpoint sees it: a list of tensors over the
 * memory of model and optimizer, and what describes them.
 */
#ifndef TIDE_TRAIN_STATE_H
#define TIDE_TRAIN_STATE_H

#include "launcher/checkpoint/checkpoint.h"
#include "launcher/model/adamw.h"
#include "launcher/model/model.h"

struct tide_state {
	struct tide_ckpt_tensor *tensors;
	int n;
};

/* The tensors stay the model's and the optimizer's. */
int tide_state_create(struct tide_state *ret_state,
		      const struct tide_model *model,
		      const struct tide_adamw *opt, struct tide_err *err);
void tide_state_release(struct tide_state *state);

/* "gpt layers=4 width=128 ..." for an owner file; room for 256. */
void tide_state_model_line(const struct tide_shape *shape, uint64_t seed,
			   char *ret_line, size_t room);

/*
 * Refuse a checkpoint that another model, text or seed wrote: EINVAL, naming
 * what differs.
 */
int tide_state_match(const struct tide_ckpt_meta *have,
		     const struct tide_ckpt_meta *want, const char *name,
		     struct tide_err *err);

#endif
