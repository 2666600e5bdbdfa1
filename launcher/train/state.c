/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the tensors of a checkpoint and compares descriptions. */
#include "config.h"

#include "launcher/train/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tide_state_create(struct tide_state *ret_state,
		      const struct tide_model *model,
		      const struct tide_adamw *opt, struct tide_err *err)
{
	const struct tide_params *params = &model->params;
	const struct {
		const char *group;
		float *base;
	} groups[] = {
		{"parameter", params->value},
		{"adam_m", opt->m},
		{"adam_v", opt->v},
	};
	struct tide_ckpt_tensor *t = calloc(3 * params->n, sizeof(*t));

	if (!t)
		return tide_err_set(err, ENOMEM,
				    "cannot list tensors: out of memory");
	ret_state->tensors = t;
	ret_state->n = 3 * params->n;
	for (int g = 0; g < 3; g++)
		for (int i = 0; i < params->n; i++, t++) {
			const struct tide_param *p = &params->list[i];

			t->group = groups[g].group;
			t->name = p->name;
			t->ndim = p->ndim;
			memcpy(t->shape, p->shape, sizeof(t->shape));
			t->data = groups[g].base + p->offset;
		}
	return 0;
}

void tide_state_release(struct tide_state *state)
{
	free(state->tensors);
	state->tensors = NULL;
	state->n = 0;
}

void tide_state_model_line(const struct tide_shape *s, uint64_t seed,
			   char *ret_line, size_t room)
{
	snprintf(
		ret_line, room,
		"gpt layers=%d width=%d heads=%d context=%d vocabulary=%d tied=%s seed=%llu",
		s->layers, s->width, s->heads, s->context, s->vocabulary,
		s->tied ? "true" : "false", (unsigned long long)seed);
}

int tide_state_match(const struct tide_ckpt_meta *have,
		     const struct tide_ckpt_meta *want, const char *name,
		     struct tide_err *err)
{
	char a[256], b[256];

	tide_state_model_line(&have->shape, have->seed, a, sizeof(a));
	tide_state_model_line(&want->shape, want->seed, b, sizeof(b));
	if (strcmp(a, b))
		return tide_err_set(
			err, EINVAL,
			"cannot resume from '%s': it was written by model '%s', this is '%s'",
			name, a, b);
	if (strcmp(have->data_print, want->data_print))
		return tide_err_set(
			err, EINVAL,
			"cannot resume from '%s': it was trained on another text than data.file is now; give the new text a checkpoint.directory of its own",
			name);
	return 0;
}
