/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every parameter tensor's gradient against central differences, in the double
 * build, for a tied and an untied head, and over two accumulated micro-batches.
 */
#include "config.h"

#include "launcher/model/model.h"

#include <math.h>
#include <string.h>

#include "launcher/tensor/random.h"
#include "tests/lib/tap.h"

enum {
	BATCH = 2,
	TIME = 70,
	VOCABULARY = 11,
	PROBES = 12
};

static int32_t ids[2][BATCH * TIME], targets[2][BATCH * TIME];

static double loss_of(struct tide_model *m, bool grad)
{
	double loss = 0;

	if (grad)
		tide_model_zero_grad(m);
	for (int i = 0; i < 2; i++) {
		struct tide_pass pass = {
			.ids = ids[i],
			.targets = targets[i],
			.batch = BATCH,
			.time = TIME,
			.grad = grad,
			.scale = 1.0 / (2 * BATCH * TIME),
		};

		tide_model_run(m, &pass);
		loss += pass.loss;
	}
	return loss / (2 * BATCH * TIME);
}

/* The largest relative error over some entries of one tensor. */
static double worst(struct tide_model *m, const struct tide_param *p)
{
	const double h = 1e-4;
	real *value = m->params.value + p->offset;
	const real *grad = m->params.grad + p->offset;
	double worst = 0;

	for (int i = 0; i < PROBES; i++) {
		size_t at = tide_mix(i, p->offset) % p->count;
		real saved = value[at];
		double up, down, diff, error;

		value[at] = saved + h;
		up = loss_of(m, false);
		value[at] = saved - h;
		down = loss_of(m, false);
		value[at] = saved;
		diff = (up - down) / (2 * h);
		error = fabs(diff - grad[at]) /
			(fabs(diff) + fabs(grad[at]) + 1e-5);
		worst = error > worst ? error : worst;
	}
	return worst;
}

static void check(bool tied)
{
	const struct tide_shape shape = {
		.layers = 2,
		.width = 12,
		.heads = 3,
		.context = TIME,
		.vocabulary = VOCABULARY,
		.tied = tied,
	};
	struct tide_alloc alloc;
	struct tide_model *m = NULL;
	struct tide_err err;
	double error;

	tide_alloc_init(&alloc);
	if (!ok(!tide_model_create(&m, &shape, tide_cpu_ops(0), &alloc, BATCH,
				   &err),
		"model with %s head", tied ? "tied" : "its own"))
		goto out;
	tide_params_init(&m->params, 7);
	/* Away from the start, so that no gradient is tiny. */
	for (size_t i = 0; i < m->params.count; i++)
		m->params.value[i] += 0.2 * tide_normal(3, i);
	loss_of(m, true);
	for (int i = 0; i < m->params.n; i++) {
		error = worst(m, &m->params.list[i]);
		ok(error < 1e-5, "gradient of %s (relative error %.1e)",
		   m->params.list[i].name, error);
	}
out:
	tide_model_destroy(m);
	tide_alloc_release(&alloc);
}

int main(void)
{
	is_int(sizeof(real), sizeof(double), "this is the double build");
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < BATCH * TIME; j++) {
			ids[i][j] = tide_mix(i, j) % VOCABULARY;
			targets[i][j] = tide_mix(i + 10, j) % VOCABULARY;
		}
	check(true);
	check(false);
	return tap_done();
}
