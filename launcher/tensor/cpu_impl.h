/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the CPU backend only: the element-wise kernels, compiled once for
 * each instruction set, as a table of their own.
 */
#ifndef TIDE_TENSOR_CPU_IMPL_H
#define TIDE_TENSOR_CPU_IMPL_H

#include "launcher/tensor/ops.h"

/* Kernels of one thread; rows of a call may be split between calls. */
struct tide_cpu_kernels {
	void (*bias_set)(real *y, const real *bias, size_t rows, size_t cols);
	void (*bias_add)(real *y, const real *x, const real *bias, size_t rows,
			 size_t cols);
	/* columns [from, to) of matrices that have cols columns */
	void (*bias_grad)(real *db, const real *dy, size_t rows, size_t cols,
			  size_t from, size_t to);
	void (*add)(real *y, const real *x, size_t count);
	double (*sum_squares)(const real *x, size_t count);
	void (*norm)(real *y, real *mean, real *rstd, const real *x,
		     const real *w, const real *b, size_t rows, size_t cols);
	void (*norm_grad_x)(real *dx, const real *dy, const real *x,
			    const real *w, const real *mean, const real *rstd,
			    size_t rows, size_t cols);
	void (*norm_grad_w)(real *dw, real *db, const real *dy, const real *x,
			    const real *mean, const real *rstd, size_t rows,
			    size_t cols, size_t from, size_t to);
	void (*gelu)(real *y, const real *x, size_t count);
	void (*gelu_grad)(real *dx, const real *x, size_t count);
	/* softmax over p[0..used), zero in p[used..keys) */
	void (*attn_softmax)(real *p, size_t used, size_t keys);
	/* dp = p * (dp - sum(p * dp)) over [0..used), zero in [used..keys) */
	void (*attn_softmax_grad)(real *dp, const real *p, size_t used,
				  size_t keys);
	double (*softmax_loss)(real *logits, const int32_t *targets,
			       size_t rows, size_t cols, real scale, bool grad);
	void (*adamw)(real *p, const real *g, real *m, real *v, size_t count,
		      const struct tide_adamw_coef *coef);
};

extern const struct tide_cpu_kernels tide_cpu_kernels_any;
extern const struct tide_cpu_kernels tide_cpu_kernels_avx2;

#endif
