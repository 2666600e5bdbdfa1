/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last two layers: final normalisation, and the head with the loss.
 *
 * The head takes positions in pieces that fit a cache and does the loss and
 * its gradient for a piece at once, in forward: nothing lies between the two,
 * and the full logits need never exist.
 */
#include "config.h"

#include "launcher/model/model.h"

enum {
	WEIGHT,
	BIAS
};
enum {
	STAT
};

int tide_norm_declare(struct tide_layer *l, struct tide_model *m,
		      struct tide_err *err)
{
	l->kind = &tide_norm_kind;
	l->p[WEIGHT] = tide_params_add(&m->params, 0, m->shape.width, 1, err,
				       "norm.weight");
	l->p[BIAS] = tide_params_add(&m->params, 0, m->shape.width, 0, err,
				     "norm.bias");
	return l->p[WEIGHT] < 0 || l->p[BIAS] < 0 ? -1 : 0;
}

static int norm_prepare(struct tide_layer *l, struct tide_model *m,
			struct tide_err *err)
{
	if (tide_model_buffer(m, 2, &l->keep[STAT], err))
		return -1;
	return tide_model_buffer(m, m->shape.width, &l->out, err);
}

static void norm_forward(struct tide_layer *l, struct tide_model *m,
			 const real *in, struct tide_pass *pass)
{
	size_t rows = (size_t)pass->batch * pass->time;

	m->ops->norm(l->out, l->keep[STAT], l->keep[STAT] + rows, in,
		     VALUE(m, l->p[WEIGHT]), VALUE(m, l->p[BIAS]), rows,
		     m->shape.width);
}

static void norm_backward(struct tide_layer *l, struct tide_model *m,
			  const real *in, real *d, struct tide_pass *pass)
{
	size_t rows = (size_t)pass->batch * pass->time, c = m->shape.width;

	m->ops->copy(m->narrow, d, rows * c);
	m->ops->zero(d, rows * c);
	m->ops->norm_grad(d, GRAD(m, l->p[WEIGHT]), GRAD(m, l->p[BIAS]),
			  m->narrow, in, VALUE(m, l->p[WEIGHT]), l->keep[STAT],
			  l->keep[STAT] + rows, rows, c);
}

const struct tide_layer_kind tide_norm_kind = {
	.name = "norm",
	.prepare = norm_prepare,
	.forward = norm_forward,
	.backward = norm_backward,
};

int tide_head_declare(struct tide_layer *l, struct tide_model *m,
		      const struct tide_layer *embedding, struct tide_err *err)
{
	l->kind = &tide_head_kind;
	if (m->shape.tied) {
		l->p[WEIGHT] = embedding->p[0];
		return 0;
	}
	l->p[WEIGHT] =
		tide_params_add(&m->params, m->shape.vocabulary, m->shape.width,
				-0.02, err, "head.weight");
	return l->p[WEIGHT] < 0 ? -1 : 0;
}

static int head_prepare(struct tide_layer *l, struct tide_model *m,
			struct tide_err *err)
{
	return 0;
}

static void piece_logits(struct tide_model *m, int weight, real *logits,
			 const real *in, int rows)
{
	int c = m->shape.width, v = m->shape.vocabulary;

	m->ops->gemm(false, true, rows, v, c, 1, in, c, VALUE(m, weight), c, 0,
		     logits, v);
}

static void head_forward(struct tide_layer *l, struct tide_model *m,
			 const real *in, struct tide_pass *pass)
{
	int rows = pass->batch * pass->time, n;
	int c = m->shape.width, v = m->shape.vocabulary;

	if (!pass->targets)
		return;
	for (int at = 0; at < rows; at += n) {
		const real *x = in + (size_t)at * c;
		real *dx = m->dstream + (size_t)at * c;

		n = rows - at < m->logit_rows ? rows - at : m->logit_rows;
		piece_logits(m, l->p[WEIGHT], m->logits, x, n);
		pass->loss +=
			m->ops->softmax_loss(m->logits, pass->targets + at, n,
					     v, pass->scale, pass->grad);
		if (!pass->grad)
			continue;
		m->ops->gemm(false, false, n, c, v, 1, m->logits, v,
			     VALUE(m, l->p[WEIGHT]), c, 0, dx, c);
		m->ops->gemm(true, false, v, c, n, 1, m->logits, v, x, c, 1,
			     GRAD(m, l->p[WEIGHT]), c);
	}
}

/* All done in forward, see above. */
static void head_backward(struct tide_layer *l, struct tide_model *m,
			  const real *in, real *d, struct tide_pass *pass)
{
}

const struct tide_layer_kind tide_head_kind = {
	.name = "head",
	.prepare = head_prepare,
	.forward = head_forward,
	.backward = head_backward,
};

void tide_model_logits(struct tide_model *m, const int32_t *ids, int batch,
		       int time, real *ret_logits)
{
	struct tide_pass pass = {.ids = ids, .batch = batch, .time = time};
	const struct tide_layer *head = &m->layers[m->n_layers - 1];

	tide_model_run(m, &pass);
	piece_logits(m, head->p[WEIGHT], ret_logits, head[-1].out,
		     batch * time);
}
