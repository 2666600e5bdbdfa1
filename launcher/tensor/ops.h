/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of tensor operations: all that a device backend has to offer, and
 * all that model code may use.  Matrices are row major; "rows" are positions
 * (batch x time), "cols" features.  Gradients are added to what is there
 * unless said otherwise, so that shared weights and accumulation need nothing
 * special.  No operation allocates or fails.
 *
 * A result depends on the inputs, the backend and its number of threads only:
 * sums are taken in one fixed order.  Operations of one table are called from
 * one thread; the backend may use its own threads inside.
 */
#ifndef TIDE_TENSOR_OPS_H
#define TIDE_TENSOR_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/tensor/real.h"

/* Geometry of an attention call; qkv is [batch*time][3*heads*size]. */
struct tide_attn {
	int batch;
	int time;
	int heads;
	int size; /* features of one head */
};

/*
 * One AdamW step (Loshchilov & Hutter 2019, algorithm 2):
 *   p -= rate*decay*p;  m, v: moving averages;
 *   p -= rate * (m/fix1) / (sqrt(v/fix2) + eps)
 */
struct tide_adamw_coef {
	double rate;
	double decay;
	double beta1;
	double beta2;
	double eps;
	double fix1; /* 1 - beta1^t */
	double fix2; /* 1 - beta2^t */
};

struct tide_ops {
	const char *name;

	/* How many threads the operations may use from now on; at least 1. */
	void (*set_threads)(int threads);

	void (*zero)(real *y, size_t count);
	void (*copy)(real *y, const real *x, size_t count);

	/* c[m][n] = alpha * op(a) * op(b) + beta * c; op transposes if true */
	void (*gemm)(bool trans_a, bool trans_b, int m, int n, int k,
		     real alpha, const real *a, int lda, const real *b, int ldb,
		     real beta, real *c, int ldc);

	/* y[r][c] = bias[c] */
	void (*bias_set)(real *y, const real *bias, size_t rows, size_t cols);

	/* y[r][c] = x[r][c] + bias[c] */
	void (*bias_add)(real *y, const real *x, const real *bias, size_t rows,
			 size_t cols);

	/* db[c] += sum over r of dy[r][c] */
	void (*bias_grad)(real *db, const real *dy, size_t rows, size_t cols);

	/* y += x */
	void (*add)(real *y, const real *x, size_t count);

	/* Sum of squares, in double */
	double (*sum_squares)(const real *x, size_t count);

	/* Layer normalisation, eps 1e-5; keeps mean[r] and rstd[r]. */
	void (*norm)(real *y, real *mean, real *rstd, const real *x,
		     const real *w, const real *b, size_t rows, size_t cols);

	/* dx, dw and db are added to. */
	void (*norm_grad)(real *dx, real *dw, real *db, const real *dy,
			  const real *x, const real *w, const real *mean,
			  const real *rstd, size_t rows, size_t cols);

	/* GELU in the tanh form (Hendrycks & Gimpel 2016) */
	void (*gelu)(real *y, const real *x, size_t count);

	/* dx *= gelu'(x) */
	void (*gelu_grad)(real *dx, const real *x, size_t count);

	/* How many reals attention_grad wants as scratch. */
	size_t (*attn_scratch)(const struct tide_attn *at);

	/*
	 * Causal attention.  out [batch*time][heads*size] and prob
	 * [batch][heads][time][time] (below the diagonal; above it undefined)
	 * are set.
	 */
	void (*attn)(real *out, real *prob, const real *qkv,
		     const struct tide_attn *at);

	/* dqkv is set, not added to. */
	void (*attn_grad)(real *dqkv, const real *dout, const real *prob,
			  const real *qkv, real *scratch,
			  const struct tide_attn *at);

	/* x[b*time+t] = token[id] + position[t] */
	void (*embed)(real *x, const real *token, const real *position,
		      const int32_t *ids, int batch, int time, size_t cols);
	void (*embed_grad)(real *dtoken, real *dposition, const real *dx,
			   const int32_t *ids, int batch, int time,
			   size_t cols);

	/*
	 * Cross entropy: returns the sum over rows of -log softmax(row)[target]
	 * in nats and, with grad, puts scale * (softmax - onehot) in the place
	 * of the logits.
	 */
	double (*softmax_loss)(real *logits, const int32_t *targets,
			       size_t rows, size_t cols, real scale, bool grad);

	/* One AdamW step over count parameters. */
	void (*adamw)(real *p, const real *g, real *m, real *v, size_t count,
		      const struct tide_adamw_coef *coef);
};

/*
 * The CPU backend: OpenBLAS for gemm, loops the compiler vectorises for the
 * rest.  level picks the instruction set: 0 any, 1 AVX2 with FMA; ranks of one
 * job must use one level, or their parameters drift apart by rounding.
 */
int tide_cpu_level(void); /* the highest that this CPU has */
const struct tide_ops *tide_cpu_ops(int level);

#endif
