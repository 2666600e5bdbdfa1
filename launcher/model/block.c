/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One transformer block:
 *   h = x + proj(attention(norm1(x)));  out = h + down(gelu(up(norm2(h)))).
 * Weights are [outputs][inputs], so y = x W^T + b.
 */
#include "config.h"

#include "launcher/model/model.h"

#include <math.h>

enum {
	NORM1_W,
	NORM1_B,
	QKV_W,
	QKV_B,
	PROJ_W,
	PROJ_B,
	NORM2_W,
	NORM2_B,
	UP_W,
	UP_B,
	DOWN_W,
	DOWN_B,
	PARAMS
};

enum {
	A1,    /* norm1(x) */
	STAT1, /* its mean and rstd */
	QKV,
	PROB, /* attention probabilities */
	ATT,  /* attention output before proj */
	H,    /* after the first residual */
	A2,
	STAT2,
	UP,  /* before gelu */
	ACT, /* after gelu */
};

int tide_block_declare(struct tide_layer *l, struct tide_model *m,
		       struct tide_err *err)
{
	int c = m->shape.width;
	/* Residual branches start smaller the deeper the model (GPT-2). */
	double out_std = -0.02 / sqrt(2.0 * m->shape.layers);
	const struct {
		const char *name;
		int rows, cols;
		double init;
	} table[PARAMS] = {
		[NORM1_W] = {"norm1.weight", 0, c, 1},
		[NORM1_B] = {"norm1.bias", 0, c, 0},
		[QKV_W] = {"attention.qkv.weight", 3 * c, c, -0.02},
		[QKV_B] = {"attention.qkv.bias", 0, 3 * c, 0},
		[PROJ_W] = {"attention.proj.weight", c, c, out_std},
		[PROJ_B] = {"attention.proj.bias", 0, c, 0},
		[NORM2_W] = {"norm2.weight", 0, c, 1},
		[NORM2_B] = {"norm2.bias", 0, c, 0},
		[UP_W] = {"mlp.up.weight", 4 * c, c, -0.02},
		[UP_B] = {"mlp.up.bias", 0, 4 * c, 0},
		[DOWN_W] = {"mlp.down.weight", c, 4 * c, out_std},
		[DOWN_B] = {"mlp.down.bias", 0, c, 0},
	};

	l->kind = &tide_block_kind;
	for (int i = 0; i < PARAMS; i++) {
		l->p[i] =
			tide_params_add(&m->params, table[i].rows,
					table[i].cols, table[i].init, err,
					"block%d.%s", l->index, table[i].name);
		if (l->p[i] < 0)
			return -1;
	}
	return 0;
}

static int prepare(struct tide_layer *l, struct tide_model *m,
		   struct tide_err *err)
{
	size_t c = m->shape.width, t = m->shape.context;
	const struct {
		real **buffer;
		size_t cols;
	} table[] = {
		{&l->keep[A1], c},	{&l->keep[STAT1], 2},
		{&l->keep[QKV], 3 * c}, {&l->keep[PROB], m->shape.heads * t},
		{&l->keep[ATT], c},	{&l->keep[H], c},
		{&l->keep[A2], c},	{&l->keep[STAT2], 2},
		{&l->keep[UP], 4 * c},	{&l->keep[ACT], 4 * c},
		{&l->out, c},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (tide_model_buffer(m, table[i].cols, table[i].buffer, err))
			return -1;
	return 0;
}

/* y[rows][outputs] += x[rows][inputs] W^T */
static void apply(struct tide_model *m, real *y, const real *x, int weight,
		  int rows)
{
	const struct tide_param *w = &m->params.list[weight];
	int outputs = w->shape[0], inputs = w->shape[1];

	m->ops->gemm(false, true, rows, outputs, inputs, 1, x, inputs,
		     VALUE(m, weight), inputs, 1, y, outputs);
}

/* Gradients of y = x W^T + b: dW += dy^T x, db += sum(dy), dx = dy W. */
static void apply_grad(struct tide_model *m, real *dx, const real *dy,
		       const real *x, int weight, int bias, int rows)
{
	const struct tide_param *w = &m->params.list[weight];
	int outputs = w->shape[0], inputs = w->shape[1];

	m->ops->bias_grad(GRAD(m, bias), dy, rows, outputs);
	m->ops->gemm(true, false, outputs, inputs, rows, 1, dy, outputs, x,
		     inputs, 1, GRAD(m, weight), inputs);
	m->ops->gemm(false, false, rows, inputs, outputs, 1, dy, outputs,
		     VALUE(m, weight), inputs, 0, dx, inputs);
}

static struct tide_attn geometry(const struct tide_model *m,
				 const struct tide_pass *pass)
{
	struct tide_attn at = {
		.batch = pass->batch,
		.time = pass->time,
		.heads = m->shape.heads,
		.size = m->shape.width / m->shape.heads,
	};

	return at;
}

static void forward(struct tide_layer *l, struct tide_model *m, const real *x,
		    struct tide_pass *pass)
{
	const struct tide_ops *ops = m->ops;
	struct tide_attn at = geometry(m, pass);
	size_t rows = (size_t)pass->batch * pass->time, c = m->shape.width;
	real **k = l->keep;

	ops->norm(k[A1], k[STAT1], k[STAT1] + rows, x, VALUE(m, l->p[NORM1_W]),
		  VALUE(m, l->p[NORM1_B]), rows, c);
	ops->bias_set(k[QKV], VALUE(m, l->p[QKV_B]), rows, 3 * c);
	apply(m, k[QKV], k[A1], l->p[QKV_W], rows);
	ops->attn(k[ATT], k[PROB], k[QKV], &at);
	ops->bias_add(k[H], x, VALUE(m, l->p[PROJ_B]), rows, c);
	apply(m, k[H], k[ATT], l->p[PROJ_W], rows);

	ops->norm(k[A2], k[STAT2], k[STAT2] + rows, k[H],
		  VALUE(m, l->p[NORM2_W]), VALUE(m, l->p[NORM2_B]), rows, c);
	ops->bias_set(k[UP], VALUE(m, l->p[UP_B]), rows, 4 * c);
	apply(m, k[UP], k[A2], l->p[UP_W], rows);
	ops->gelu(k[ACT], k[UP], rows * 4 * c);
	ops->bias_add(l->out, k[H], VALUE(m, l->p[DOWN_B]), rows, c);
	apply(m, l->out, k[ACT], l->p[DOWN_W], rows);
}

static void backward(struct tide_layer *l, struct tide_model *m, const real *x,
		     real *d, struct tide_pass *pass)
{
	const struct tide_ops *ops = m->ops;
	struct tide_attn at = geometry(m, pass);
	size_t rows = (size_t)pass->batch * pass->time, c = m->shape.width;
	real **k = l->keep;

	apply_grad(m, m->wide, d, k[ACT], l->p[DOWN_W], l->p[DOWN_B], rows);
	ops->gelu_grad(m->wide, k[UP], rows * 4 * c);
	apply_grad(m, m->narrow, m->wide, k[A2], l->p[UP_W], l->p[UP_B], rows);
	ops->norm_grad(d, GRAD(m, l->p[NORM2_W]), GRAD(m, l->p[NORM2_B]),
		       m->narrow, k[H], VALUE(m, l->p[NORM2_W]), k[STAT2],
		       k[STAT2] + rows, rows, c);

	apply_grad(m, m->narrow, d, k[ATT], l->p[PROJ_W], l->p[PROJ_B], rows);
	ops->attn_grad(m->wide, m->narrow, k[PROB], k[QKV], m->attn, &at);
	apply_grad(m, m->narrow, m->wide, k[A1], l->p[QKV_W], l->p[QKV_B],
		   rows);
	ops->norm_grad(d, GRAD(m, l->p[NORM1_W]), GRAD(m, l->p[NORM1_B]),
		       m->narrow, x, VALUE(m, l->p[NORM1_W]), k[STAT1],
		       k[STAT1] + rows, rows, c);
}

const struct tide_layer_kind tide_block_kind = {
	.name = "block",
	.prepare = prepare,
	.forward = forward,
	.backward = backward,
};
