/* SPDX-License-Identifier: GPL-2.0-or-later */
/* First layer: token and learned position embeddings. */
#include "config.h"

#include "launcher/model/model.h"

enum {
	TOKEN,
	POSITION
};

int tide_embedding_declare(struct tide_layer *l, struct tide_model *m,
			   struct tide_err *err)
{
	l->kind = &tide_embedding_kind;
	l->p[TOKEN] =
		tide_params_add(&m->params, m->shape.vocabulary, m->shape.width,
				-0.02, err, "embedding.token");
	l->p[POSITION] =
		tide_params_add(&m->params, m->shape.context, m->shape.width,
				-0.02, err, "embedding.position");
	return l->p[TOKEN] < 0 || l->p[POSITION] < 0 ? -1 : 0;
}

static int prepare(struct tide_layer *l, struct tide_model *m,
		   struct tide_err *err)
{
	return tide_model_buffer(m, m->shape.width, &l->out, err);
}

static void forward(struct tide_layer *l, struct tide_model *m, const real *in,
		    struct tide_pass *pass)
{
	m->ops->embed(l->out, VALUE(m, l->p[TOKEN]), VALUE(m, l->p[POSITION]),
		      pass->ids, pass->batch, pass->time, m->shape.width);
}

static void backward(struct tide_layer *l, struct tide_model *m, const real *in,
		     real *dstream, struct tide_pass *pass)
{
	m->ops->embed_grad(GRAD(m, l->p[TOKEN]), GRAD(m, l->p[POSITION]),
			   dstream, pass->ids, pass->batch, pass->time,
			   m->shape.width);
}

const struct tide_layer_kind tide_embedding_kind = {
	.name = "embedding",
	.prepare = prepare,
	.forward = forward,
	.backward = backward,
};
