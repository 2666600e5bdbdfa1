/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One optimizer step: gradients of the rank's micro-batches, added up in the
 * order of a tree, summed over the ranks, and AdamW.
 */
#include "config.h"

#include <math.h>

#include "launcher/comm/tree.h"
#include "launcher/train/trainer_impl.h"

static int load_batch(struct tide_trainer *t, int i, struct tide_err *err)
{
	int64_t first = tide_plan_sample(&t->plan, t->step, t->rank, i);
	size_t time = t->model->shape.context;

	for (int b = 0; b < t->plan.batch_size; b++)
		if (tide_data_sample(&t->data, first + b, t->ids + b * time,
				     t->targets + b * time, err))
			return -1;
	return 0;
}

static void swap(real **a, real **b)
{
	real *c = *a;

	*a = *b;
	*b = c;
}

/*
 * The gradient of a micro-batch is in params.grad.  Join it with the branches
 * that it completes, and put it on the stack unless it is the last.
 */
static void join(struct tide_trainer *t, int i, int *height)
{
	struct tide_params *p = &t->model->params;
	bool last = i == t->plan.accumulation - 1;
	int merges = last ? *height : tide_tree_merges(i);

	for (; merges; merges--)
		t->model->ops->add(p->grad, t->branches[--*height], p->count);
	if (!last)
		swap(&p->grad, &t->branches[(*height)++]);
}

static int gradients(struct tide_trainer *t, struct tide_err *err)
{
	struct tide_pass pass = {
		.ids = t->ids,
		.targets = t->targets,
		.batch = t->plan.batch_size,
		.time = t->model->shape.context,
		.grad = true,
	};
	int height = 0;

	pass.scale = 1.0 / ((double)t->plan.global_batch * pass.time);
	for (int i = 0; i < t->plan.accumulation; i++) {
		if (load_batch(t, i, err))
			return -1;
		tide_model_zero_grad(t->model);
		tide_model_run(t->model, &pass);
		t->mine[1 + i] = pass.loss;
		join(t, i, &height);
	}
	return 0;
}

static int asks_of(struct tide_trainer *t)
{
	int asks = tide_signals_seen();

	if (!t->rank &&
	    tide_trainer_now() - t->last_save >= t->settings->every_s)
		asks |= TIDE_ASK_SAVE;
	return asks;
}

/* Everyone learns every micro-batch's loss and what any rank asks for, and
 * adds in the same order. */
static void agree(struct tide_trainer *t, double *ret_loss, int *ret_asks)
{
	int each = 1 + t->plan.accumulation, asks = 0;
	double sum = 0;

	t->mine[0] = asks_of(t);
	tide_group_gather(t->group, t->mine, each, t->all);
	for (int r = 0; r < t->plan.ranks; r++) {
		asks |= (int)t->all[r * each];
		for (int i = 1; i < each; i++)
			sum += t->all[r * each + i];
	}
	*ret_asks = asks;
	*ret_loss =
		sum / ((double)t->plan.global_batch * t->model->shape.context);
}

int tide_trainer_step(struct tide_trainer *t, double *ret_loss,
		      double *ret_norm, int *ret_asks, struct tide_err *err)
{
	struct tide_params *p = &t->model->params;
	double rate = tide_settings_rate(t->settings, t->step);

	if (gradients(t, err))
		return -1;
	tide_group_sum(t->group, p->grad, p->count);
	agree(t, ret_loss, ret_asks);
	*ret_norm = sqrt(t->model->ops->sum_squares(p->grad, p->count));
	if (!isfinite(*ret_loss) || !isfinite(*ret_norm))
		return 1;
	tide_adamw_step(&t->opt, p, t->model->ops, t->step + 1, rate);
	t->step++;
	return 0;
}
