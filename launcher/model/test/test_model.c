/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts that hold for any right model: the loss of equal logits, the causal
 * mask, batches that add up, the first values, counting, and that it learns.
 */
#include "config.h"

#include "launcher/model/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/model/adamw.h"
#include "launcher/tensor/random.h"
#include "tests/lib/tap.h"

enum {
	BATCH = 4,
	TIME = 80,
	VOCABULARY = 50
};

static const struct tide_shape shape = {
	.layers = 2,
	.width = 32,
	.heads = 4,
	.context = TIME,
	.vocabulary = VOCABULARY,
	.tied = false,
};
static struct tide_alloc alloc;
static int32_t ids[BATCH * TIME], targets[BATCH * TIME];

static struct tide_model *create(const struct tide_shape *s)
{
	struct tide_model *m;
	struct tide_err err;

	if (tide_model_create(&m, s, tide_cpu_ops(tide_cpu_level()), &alloc,
			      BATCH, &err)) {
		diag("%s", err.text);
		exit(1);
	}
	tide_params_init(&m->params, 1);
	return m;
}

static double run(struct tide_model *m, int from, int batch, bool grad)
{
	struct tide_pass pass = {
		.ids = ids + from * TIME,
		.targets = targets + from * TIME,
		.batch = batch,
		.time = TIME,
		.grad = grad,
		.scale = 1.0 / (BATCH * TIME),
	};

	tide_model_run(m, &pass);
	return pass.loss;
}

static void test_zero_head(void)
{
	struct tide_model *m = create(&shape);
	const struct tide_param *head = &m->params.list[m->params.n - 1];
	double loss;

	is_str(head->name, "head.weight", "an untied head has weights");
	memset(m->params.value + head->offset, 0, head->count * sizeof(real));
	loss = run(m, 0, BATCH, false) / (BATCH * TIME);
	ok(fabs(loss - log(VOCABULARY)) < 1e-6, "zero head loses ln V (%.9f)",
	   loss);
	tide_model_destroy(m);
}

static void test_causal(void)
{
	enum {
		CHANGED = 37
	};
	struct tide_model *m = create(&shape);
	size_t row = VOCABULARY * sizeof(real);
	real *a = malloc(TIME * row), *b = malloc(TIME * row);
	int32_t saved = ids[CHANGED];

	if (!a || !b)
		exit(1);
	tide_model_logits(m, ids, 1, TIME, a);
	ids[CHANGED] = (saved + 1) % VOCABULARY;
	tide_model_logits(m, ids, 1, TIME, b);
	ids[CHANGED] = saved;
	ok(!memcmp(a, b, CHANGED * row),
	   "logits before a changed token are bit-identical");
	ok(memcmp(a + CHANGED * VOCABULARY, b + CHANGED * VOCABULARY, row),
	   "its own logits change");
	ok(memcmp(a + (TIME - 1) * VOCABULARY, b + (TIME - 1) * VOCABULARY,
		  row),
	   "later logits change");
	free(a);
	free(b);
	tide_model_destroy(m);
}

static void test_batches_add_up(void)
{
	struct tide_model *m = create(&shape);
	size_t count = m->params.count;
	real *whole = malloc(count * sizeof(*whole));
	double loss, parts, worst = 0, size = 0;

	if (!whole)
		exit(1);
	tide_model_zero_grad(m);
	loss = run(m, 0, BATCH, true);
	memcpy(whole, m->params.grad, count * sizeof(*whole));
	tide_model_zero_grad(m);
	parts = run(m, 0, 1, true) + run(m, 1, 3, true);
	ok(fabs(loss - parts) < 1e-6 * loss, "losses of parts add up");
	for (size_t i = 0; i < count; i++) {
		worst = fmax(worst, fabs(whole[i] - m->params.grad[i]));
		size = fmax(size, fabs(whole[i]));
	}
	ok(worst < 1e-6 * size + 1e-8,
	   "gradients of parts add up (%.1e of %.1e)", worst, size);
	tide_model_zero_grad(m);
	run(m, 0, BATCH, true);
	ok(!memcmp(whole, m->params.grad, count * sizeof(*whole)),
	   "the same batch twice gives the same bits");
	free(whole);
	tide_model_destroy(m);
}

static void test_counting(void)
{
	struct tide_shape s = shape;
	int64_t sum;

	for (int tied = 0; tied < 2; tied++) {
		struct tide_model *m;

		s.tied = tied;
		m = create(&s);
		sum = 0;
		for (int i = 0; i < m->params.n; i++)
			sum += m->params.list[i].count;
		is_int(sum, tide_shape_params(&s),
		       tied ? "parameters, tied" : "parameters, untied");
		tide_model_destroy(m);
	}
}

static void test_first_values(void)
{
	struct tide_model *m = create(&shape);
	const struct tide_param *p = &m->params.list[0];
	double sum = 0, square = 0, loss;

	is_str(p->name, "embedding.token", "first parameter");
	for (size_t i = 0; i < p->count; i++) {
		sum += m->params.value[i];
		square += m->params.value[i] * m->params.value[i];
	}
	ok(fabs(sum / p->count) < 0.002, "mean of the first values is 0");
	ok(fabs(sqrt(square / p->count) - 0.02) < 0.002, "deviation is 0.02");
	loss = run(m, 0, BATCH, false) / (BATCH * TIME);
	ok(loss > log(VOCABULARY) - 0.05 && loss < log(VOCABULARY) + 0.05,
	   "a fresh model loses about ln V (%.4f)", loss);
	tide_model_destroy(m);
}

static void test_memorises(void)
{
	struct tide_model *m = create(&shape);
	struct tide_adamw opt = {0.9, 0.95, 1e-8, 0, NULL, NULL};
	double loss = 0;

	if (tide_adamw_allocate(&opt, &m->params, &alloc, NULL))
		exit(1);
	for (int i = 1; i <= 300; i++) {
		tide_model_zero_grad(m);
		loss = run(m, 0, 1, true) / TIME;
		/* run() scales by the whole batch: fine for Adam */
		tide_adamw_step(&opt, &m->params, m->ops, i, 0.01);
	}
	ok(loss < 0.05, "300 steps memorise random tokens (loss %.4f)", loss);
	tide_model_destroy(m);
}

static void test_refusals(void)
{
	struct tide_shape s = shape;
	struct tide_model *m;
	struct tide_err err;

	s.heads = 3;
	is_int(tide_model_create(&m, &s, tide_cpu_ops(0), &alloc, 1, &err), -1,
	       "width must be a multiple of heads");
	is_int(errno, EINVAL, "EINVAL");
	ok(strstr(err.text, "32") && strstr(err.text, "3"), "%s", err.text);
}

int main(void)
{
	tide_alloc_init(&alloc);
	for (int i = 0; i < BATCH * TIME; i++) {
		ids[i] = tide_mix(1, i) % VOCABULARY;
		targets[i] = tide_mix(2, i) % VOCABULARY;
	}
	test_zero_head();
	test_causal();
	test_batches_add_up();
	test_counting();
	test_first_values();
	test_memorises();
	test_refusals();
	tide_alloc_release(&alloc);
	return tap_done();
}
