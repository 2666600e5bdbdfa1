/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the list of layers and runs micro-batches through it.  What a layer
 * computes is in embedding.c, block.c and head.c.
 */
#include "config.h"

#include "launcher/model/model.h"

#include <errno.h>
#include <stdlib.h>

/* The head works on about this many logits at once, to stay in cache. */
#define LOGITS_AT_ONCE ((size_t)2 << 20)

int tide_shape_check(const struct tide_shape *s, struct tide_err *err)
{
	if (s->layers < 1 || s->width < 1 || s->heads < 1 || s->context < 1 ||
	    s->vocabulary < 2)
		return tide_err_set(
			err, EINVAL,
			"cannot build a model: every size must be at least 1");
	if (s->width % s->heads)
		return tide_err_set(
			err, EINVAL,
			"cannot build a model: width %d is not a multiple of heads %d",
			s->width, s->heads);
	return 0;
}

int64_t tide_shape_params(const struct tide_shape *s)
{
	int64_t c = s->width, v = s->vocabulary;
	int64_t block = 12 * c * c + 13 * c;

	return v * c * (s->tied ? 1 : 2) + s->context * c + s->layers * block +
	       2 * c;
}

int tide_model_buffer(struct tide_model *model, size_t cols, real **ret_buffer,
		      struct tide_err *err)
{
	size_t rows = (size_t)model->max_batch * model->shape.context;

	return tide_alloc_get(model->alloc, rows * cols, sizeof(real),
			      "activations", ret_buffer, err);
}

static int build_layers(struct tide_model *m, struct tide_err *err)
{
	struct tide_layer *l;

	m->n_layers = m->shape.layers + 3;
	m->layers = calloc(m->n_layers, sizeof(*m->layers));
	if (!m->layers)
		return tide_err_set(err, ENOMEM,
				    "cannot build layers: out of memory");
	l = m->layers;
	if (tide_embedding_declare(l++, m, err))
		return -1;
	for (int i = 0; i < m->shape.layers; i++, l++) {
		l->index = i;
		if (tide_block_declare(l, m, err))
			return -1;
	}
	if (tide_norm_declare(l++, m, err) ||
	    tide_head_declare(l, m, &m->layers[0], err) ||
	    tide_params_allocate(&m->params, m->alloc, err))
		return -1;
	for (int i = 0; i < m->n_layers; i++)
		if (m->layers[i].kind->prepare(&m->layers[i], m, err))
			return -1;
	return 0;
}

static int build_scratch(struct tide_model *m, struct tide_err *err)
{
	struct tide_attn at = {
		.batch = m->max_batch,
		.time = m->shape.context,
		.heads = m->shape.heads,
		.size = m->shape.width / m->shape.heads,
	};
	size_t rows = LOGITS_AT_ONCE / m->shape.vocabulary / 16 * 16;
	size_t all = (size_t)m->max_batch * m->shape.context;

	rows = rows < 16 ? 16 : rows;
	m->logit_rows = rows < all ? rows : all;
	if (tide_model_buffer(m, m->shape.width, &m->dstream, err) ||
	    tide_model_buffer(m, 4 * m->shape.width, &m->wide, err) ||
	    tide_model_buffer(m, m->shape.width, &m->narrow, err))
		return -1;
	if (tide_alloc_get(m->alloc, m->ops->attn_scratch(&at), sizeof(real),
			   "scratch", &m->attn, err))
		return -1;
	return tide_alloc_get(m->alloc,
			      (size_t)m->logit_rows * m->shape.vocabulary,
			      sizeof(real), "logits", &m->logits, err);
}

int tide_model_create(struct tide_model **ret_model,
		      const struct tide_shape *shape,
		      const struct tide_ops *ops, struct tide_alloc *alloc,
		      int max_batch, struct tide_err *err)
{
	struct tide_model *m;

	if (tide_shape_check(shape, err))
		return -1;
	m = calloc(1, sizeof(*m));
	if (!m)
		return tide_err_set(err, ENOMEM,
				    "cannot build a model: out of memory");
	m->shape = *shape;
	m->ops = ops;
	m->alloc = alloc;
	m->max_batch = max_batch;
	if (build_layers(m, err) || build_scratch(m, err)) {
		tide_model_destroy(m);
		return -1;
	}
	*ret_model = m;
	return 0;
}

void tide_model_destroy(struct tide_model *model)
{
	if (!model)
		return;
	tide_params_release(&model->params);
	free(model->layers);
	free(model);
}

void tide_model_zero_grad(struct tide_model *model)
{
	model->ops->zero(model->params.grad, model->params.count);
}

static const real *input_of(struct tide_model *m, int i)
{
	return i ? m->layers[i - 1].out : NULL;
}

void tide_model_run(struct tide_model *m, struct tide_pass *pass)
{
	int i;

	pass->loss = 0;
	for (i = 0; i < m->n_layers; i++)
		m->layers[i].kind->forward(&m->layers[i], m, input_of(m, i),
					   pass);
	if (!pass->grad)
		return;
	for (i = m->n_layers - 1; i >= 0; i--)
		m->layers[i].kind->backward(&m->layers[i], m, input_of(m, i),
					    m->dstream, pass);
}
