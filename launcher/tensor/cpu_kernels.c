/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Element-wise kernels of the CPU backend, for one thread.  Compiled once for
 * each instruction set (TIDE_CPU_TABLE names the result); written so that the
 * compiler vectorises every loop.  No gemm here.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "launcher/tensor/cpu_impl.h"

#define NORM_EPS 1e-5

#ifdef TIDE_REAL_DOUBLE
static inline real exp_real(real x)
{
	return exp(x);
}

static inline real sqrt_real(real x)
{
	return sqrt(x);
}
#else
/*
 * exp by range reduction, x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor
 * series of degree 7 (relative error below 2e-7).  libm's expf would keep the
 * loops around it from being vectorised.  Adding 1.5 * 2^23 rounds to the
 * nearest integer and leaves it in the low bits.
 */
static inline real exp_real(real x)
{
	const float magic = 12582912.0f;
	int32_t bits;
	float k, r, p, pow2;

	x = x < -87.0f ? -87.0f : x;
	x = x > 88.0f ? 88.0f : x;
	k = x * 1.44269504f + magic;
	memcpy(&bits, &k, sizeof(bits));
	k -= magic;
	r = x - k * 0.693359375f;
	r = r + k * 2.12194440e-4f;
	p = 1.0f / 5040;
	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	bits = (int32_t)((uint32_t)(bits + 127) << 23);
	memcpy(&pow2, &bits, sizeof(pow2));
	return p * pow2;
}

static inline real sqrt_real(real x)
{
	return sqrtf(x);
}
#endif

static void bias_set(real *y, const real *bias, size_t rows, size_t cols)
{
	for (size_t r = 0; r < rows; r++)
		memcpy(y + r * cols, bias, cols * sizeof(*y));
}

static void bias_add(real *y, const real *x, const real *bias, size_t rows,
		     size_t cols)
{
	for (size_t r = 0; r < rows; r++) {
#pragma omp simd
		for (size_t c = 0; c < cols; c++)
			y[r * cols + c] = x[r * cols + c] + bias[c];
	}
}

static void bias_grad(real *db, const real *dy, size_t rows, size_t cols,
		      size_t from, size_t to)
{
	for (size_t r = 0; r < rows; r++) {
#pragma omp simd
		for (size_t c = from; c < to; c++)
			db[c] += dy[r * cols + c];
	}
}

static void add(real *y, const real *x, size_t count)
{
#pragma omp simd
	for (size_t i = 0; i < count; i++)
		y[i] += x[i];
}

static double sum_squares(const real *x, size_t count)
{
	double sum = 0;

#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < count; i++)
		sum += (double)x[i] * x[i];
	return sum;
}

static void norm_row(real *y, real *ret_mean, real *ret_rstd, const real *x,
		     const real *w, const real *b, size_t cols)
{
	real sum = 0, var = 0, mean, rstd;

#pragma omp simd reduction(+ : sum)
	for (size_t c = 0; c < cols; c++)
		sum += x[c];
	mean = sum / cols;
#pragma omp simd reduction(+ : var)
	for (size_t c = 0; c < cols; c++)
		var += (x[c] - mean) * (x[c] - mean);
	rstd = 1 / sqrt_real(var / cols + (real)NORM_EPS);
#pragma omp simd
	for (size_t c = 0; c < cols; c++)
		y[c] = (x[c] - mean) * rstd * w[c] + b[c];
	*ret_mean = mean;
	*ret_rstd = rstd;
}

static void norm(real *y, real *mean, real *rstd, const real *x, const real *w,
		 const real *b, size_t rows, size_t cols)
{
	for (size_t r = 0; r < rows; r++)
		norm_row(y + r * cols, mean + r, rstd + r, x + r * cols, w, b,
			 cols);
}

static void norm_grad_x(real *dx, const real *dy, const real *x, const real *w,
			const real *mean, const real *rstd, size_t rows,
			size_t cols)
{
	for (size_t r = 0; r < rows; r++) {
		const real *xr = x + r * cols, *dyr = dy + r * cols;
		real *dxr = dx + r * cols;
		real mu = mean[r], s = rstd[r], sum = 0, dot = 0;

#pragma omp simd reduction(+ : sum, dot)
		for (size_t c = 0; c < cols; c++) {
			real dn = dyr[c] * w[c];

			sum += dn;
			dot += dn * ((xr[c] - mu) * s);
		}
		sum /= cols;
		dot /= cols;
#pragma omp simd
		for (size_t c = 0; c < cols; c++)
			dxr[c] += s * (dyr[c] * w[c] - sum -
				       (xr[c] - mu) * s * dot);
	}
}

static void norm_grad_w(real *dw, real *db, const real *dy, const real *x,
			const real *mean, const real *rstd, size_t rows,
			size_t cols, size_t from, size_t to)
{
	for (size_t r = 0; r < rows; r++) {
		const real *xr = x + r * cols, *dyr = dy + r * cols;
		real mu = mean[r], s = rstd[r];

#pragma omp simd
		for (size_t c = from; c < to; c++) {
			dw[c] += dyr[c] * ((xr[c] - mu) * s);
			db[c] += dyr[c];
		}
	}
}

/* 2 sqrt(2/pi): 0.5 (1 + tanh(u)) is the logistic function of 2u. */
#define GELU_A ((real)1.5957691216057308)
#define GELU_B ((real)0.044715)

static void gelu(real *y, const real *x, size_t count)
{
#pragma omp simd
	for (size_t i = 0; i < count; i++) {
		real v = x[i];
		real u = GELU_A * v * (1 + GELU_B * v * v);

		y[i] = v / (1 + exp_real(-u));
	}
}

static void gelu_grad(real *dx, const real *x, size_t count)
{
#pragma omp simd
	for (size_t i = 0; i < count; i++) {
		real v = x[i];
		real u = GELU_A * v * (1 + GELU_B * v * v);
		real du = GELU_A * (1 + 3 * GELU_B * v * v);
		real s = 1 / (1 + exp_real(-u));

		dx[i] *= s + v * s * (1 - s) * du;
	}
}

static real row_max(const real *x, size_t count)
{
	real max = x[0];

#pragma omp simd reduction(max : max)
	for (size_t i = 1; i < count; i++)
		max = x[i] > max ? x[i] : max;
	return max;
}

/* x = exp(x - max); returns the sum. */
static real row_exp(real *x, size_t count, real max)
{
	real sum = 0;

#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < count; i++) {
		x[i] = exp_real(x[i] - max);
		sum += x[i];
	}
	return sum;
}

static void attn_softmax(real *p, size_t used, size_t keys)
{
	real scale = 1 / row_exp(p, used, row_max(p, used));

#pragma omp simd
	for (size_t i = 0; i < used; i++)
		p[i] *= scale;
	if (keys > used)
		memset(p + used, 0, (keys - used) * sizeof(*p));
}

static void attn_softmax_grad(real *dp, const real *p, size_t used, size_t keys)
{
	real dot = 0;

#pragma omp simd reduction(+ : dot)
	for (size_t i = 0; i < used; i++)
		dot += p[i] * dp[i];
#pragma omp simd
	for (size_t i = 0; i < used; i++)
		dp[i] = p[i] * (dp[i] - dot);
	if (keys > used)
		memset(dp + used, 0, (keys - used) * sizeof(*dp));
}

static double softmax_loss(real *logits, const int32_t *targets, size_t rows,
			   size_t cols, real scale, bool grad)
{
	double loss = 0;

	for (size_t r = 0; r < rows; r++) {
		real *row = logits + r * cols;
		real max = row_max(row, cols);
		double hit = (double)row[targets[r]] - (double)max;
		real sum = row_exp(row, cols, max);
		real k = scale / sum;

		loss += log((double)sum) - hit;
		if (!grad)
			continue;
#pragma omp simd
		for (size_t c = 0; c < cols; c++)
			row[c] *= k;
		row[targets[r]] -= scale;
	}
	return loss;
}

static void adamw(real *p, const real *g, real *m, real *v, size_t count,
		  const struct tide_adamw_coef *coef)
{
	const real b1 = coef->beta1, b2 = coef->beta2;
	const real c1 = 1 - coef->beta1, c2 = 1 - coef->beta2;
	const real keep = 1 - coef->rate * coef->decay;
	const real rate = coef->rate / coef->fix1;
	const real fix2 = 1 / sqrt(coef->fix2), eps = coef->eps;

#pragma omp simd
	for (size_t i = 0; i < count; i++) {
		real mi = b1 * m[i] + c1 * g[i];
		real vi = b2 * v[i] + c2 * g[i] * g[i];

		m[i] = mi;
		v[i] = vi;
		p[i] = keep * p[i] - rate * mi / (sqrt_real(vi) * fix2 + eps);
	}
}

const struct tide_cpu_kernels TIDE_CPU_TABLE = {
	.bias_set = bias_set,
	.bias_add = bias_add,
	.bias_grad = bias_grad,
	.add = add,
	.sum_squares = sum_squares,
	.norm = norm,
	.norm_grad_x = norm_grad_x,
	.norm_grad_w = norm_grad_w,
	.gelu = gelu,
	.gelu_grad = gelu_grad,
	.attn_softmax = attn_softmax,
	.attn_softmax_grad = attn_softmax_grad,
	.softmax_loss = softmax_loss,
	.adamw = adamw,
};
