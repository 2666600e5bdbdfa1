/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoder-only transformer (GPT-2's shape: learned positions, layer
 * normalisation before each part, GELU, causal attention) as a list of layers.
 *
 * Between two layers runs one tensor, [batch*time][width] forward and its
 * gradient backward: all that a pipeline would have to send where it cuts the
 * list.  Model code knows no BLAS, MPI or HDF5: arithmetic goes through struct
 * tide_ops, memory through struct tide_alloc.
 *
 * Threads: a model belongs to one thread.
 */
#ifndef TIDE_MODEL_MODEL_H
#define TIDE_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/err.h"
#include "launcher/model/param.h"
#include "launcher/tensor/alloc.h"
#include "launcher/tensor/ops.h"

struct tide_shape {
	int layers;
	int width;
	int heads;
	int context; /* longest sequence */
	int vocabulary;
	bool tied; /* the head uses the token embedding */
};

/* What one micro-batch brings along the list. */
struct tide_pass {
	const int32_t *ids;	/* [batch*time] */
	const int32_t *targets; /* [batch*time]; NULL: no loss wanted */
	int batch, time;
	bool grad;  /* gradients are wanted */
	real scale; /* of d(sum of losses): 1 / positions in the global batch */
	double loss; /* out: sum over positions, nats */
};

struct tide_model;
struct tide_layer;

/* What a kind of layer does; in and dstream are [batch*time][width]. */
struct tide_layer_kind {
	const char *name;
	/* allocate what it keeps from forward to backward */
	int (*prepare)(struct tide_layer *, struct tide_model *,
		       struct tide_err *);
	/* from in (NULL for the first layer) to layer->out */
	void (*forward)(struct tide_layer *, struct tide_model *,
			const real *in, struct tide_pass *);
	/* turn d(out) in dstream into d(in), in place; add to gradients */
	void (*backward)(struct tide_layer *, struct tide_model *,
			 const real *in, real *dstream, struct tide_pass *);
};

struct tide_layer {
	const struct tide_layer_kind *kind;
	int index; /* block number */
	int p[12]; /* indices of its parameters */
	real *out; /* [batch*time][width]; NULL if it has none */
	real *keep[12];
};

struct tide_model {
	struct tide_shape shape;
	const struct tide_ops *ops;
	struct tide_alloc *alloc;
	struct tide_params params;
	struct tide_layer *layers;
	int n_layers;
	int max_batch;
	real *dstream; /* gradient of the tensor between layers */
	real *wide;    /* scratch [batch*time][4*width] */
	real *narrow;  /* scratch [batch*time][width] */
	real *attn;    /* scratch of the attention gradient */
	real *logits;  /* scratch [logit_rows][vocabulary] */
	int logit_rows;
};

/* Refuse a shape that cannot be: EINVAL. */
int tide_shape_check(const struct tide_shape *shape, struct tide_err *err);

/* Parameters of a model of this shape, each counted once. */
int64_t tide_shape_params(const struct tide_shape *shape);

/*
 * Build a model for micro-batches of up to max_batch sequences of
 * shape->context; parameters are allocated and zero (tide_params_init).
 * Errors: EINVAL, ENOMEM.  The allocator must outlive the model.
 */
int tide_model_create(struct tide_model **ret_model,
		      const struct tide_shape *shape,
		      const struct tide_ops *ops, struct tide_alloc *alloc,
		      int max_batch, struct tide_err *err);
void tide_model_destroy(struct tide_model *model);

/*
 * One micro-batch: sets pass->loss and, with pass->grad, adds to the
 * gradients (tide_model_zero_grad sets them to zero).
 */
void tide_model_run(struct tide_model *model, struct tide_pass *pass);
void tide_model_zero_grad(struct tide_model *model);

/* Logits of every position, [batch*time][vocabulary], the caller's buffer. */
void tide_model_logits(struct tide_model *model, const int32_t *ids, int batch,
		       int time, real *ret_logits);

/* Short forms for layers */
#define VALUE(model, i) ((model)->params.value + (model)->params.list[i].offset)
#define GRAD(model, i) ((model)->params.grad + (model)->params.list[i].offset)

/* The kinds of layers; *_declare adds the parameters of one. */
extern const struct tide_layer_kind tide_embedding_kind;
extern const struct tide_layer_kind tide_block_kind;
extern const struct tide_layer_kind tide_norm_kind;
extern const struct tide_layer_kind tide_head_kind;
int tide_embedding_declare(struct tide_layer *, struct tide_model *,
			   struct tide_err *);
int tide_block_declare(struct tide_layer *, struct tide_model *,
		       struct tide_err *);
int tide_norm_declare(struct tide_layer *, struct tide_model *,
		      struct tide_err *);
int tide_head_declare(struct tide_layer *, struct tide_model *,
		      const struct tide_layer *embedding, struct tide_err *);

/* One buffer of rows x cols for a layer, rows being batch*time. */
int tide_model_buffer(struct tide_model *model, size_t cols, real **ret_buffer,
		      struct tide_err *err);

#endif
