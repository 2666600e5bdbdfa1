/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU backend: gemm by OpenBLAS, attention from gemm and kernels, and the
 * split of kernels over threads.  The one file that calls BLAS.
 *
 * Rows are dealt to threads where rows are independent; where a sum runs over
 * the rows, columns are dealt instead, so that the order of a sum never
 * depends on the number of threads.
 */
#include "config.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "launcher/tensor/cpu_impl.h"

/* Attention works on this many query rows at once, and only on the keys they
 * may see: most of the upper triangle is never computed. */
#define QUERY_BLOCK 64

/* The double build is for checking: one instruction set is enough. */
#if TIDE_CPU_AVX2 && !defined(TIDE_REAL_DOUBLE)
#define HAVE_AVX2 1
#else
#define HAVE_AVX2 0
#endif

/* Below this many elements a second thread costs more than it gives. */
#define SPLIT_MIN ((size_t)1 << 17)

/* The kernels in use and the number of threads: set once by the owner of the
 * table, read by its operations. */
static const struct tide_cpu_kernels *kernels = &tide_cpu_kernels_any;
static int nthreads = 1;

static void set_threads(int threads)
{
	nthreads = threads > 1 ? threads : 1;
	openblas_set_num_threads(nthreads);
}

static void zero(real *y, size_t count)
{
	memset(y, 0, count * sizeof(*y));
}

static void copy(real *y, const real *x, size_t count)
{
	memcpy(y, x, count * sizeof(*y));
}

static void gemm(bool trans_a, bool trans_b, int m, int n, int k, real alpha,
		 const real *a, int lda, const real *b, int ldb, real beta,
		 real *c, int ldc)
{
	enum CBLAS_TRANSPOSE ta = trans_a ? CblasTrans : CblasNoTrans;
	enum CBLAS_TRANSPOSE tb = trans_b ? CblasTrans : CblasNoTrans;

#ifdef TIDE_REAL_DOUBLE
	cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta,
		    c, ldc);
#else
	cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta,
		    c, ldc);
#endif
}

/* The parts that `total` is dealt into, and the i-th part's bounds; parts
 * begin at multiples of 16 elements so that threads share no cache line. */
static int parts(size_t elements)
{
	return elements < SPLIT_MIN ? 1 : nthreads;
}

static size_t bound(size_t total, int i, int n)
{
	size_t each = (total + n - 1) / n;
	size_t at;

	each = (each + 15) / 16 * 16;
	at = each * i;
	return at < total ? at : total;
}

static void bias_set(real *y, const real *bias, size_t rows, size_t cols)
{
	int n = parts(rows * cols);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(rows, i, n), b = bound(rows, i + 1, n);

		kernels->bias_set(y + a * cols, bias, b - a, cols);
	}
}

static void bias_add(real *y, const real *x, const real *bias, size_t rows,
		     size_t cols)
{
	int n = parts(rows * cols);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(rows, i, n), b = bound(rows, i + 1, n);

		kernels->bias_add(y + a * cols, x + a * cols, bias, b - a,
				  cols);
	}
}

static void bias_grad(real *db, const real *dy, size_t rows, size_t cols)
{
	int n = parts(rows * cols);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++)
		kernels->bias_grad(db, dy, rows, cols, bound(cols, i, n),
				   bound(cols, i + 1, n));
}

static void add(real *y, const real *x, size_t count)
{
	int n = parts(count);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(count, i, n), b = bound(count, i + 1, n);

		kernels->add(y + a, x + a, b - a);
	}
}

static void norm(real *y, real *mean, real *rstd, const real *x, const real *w,
		 const real *b, size_t rows, size_t cols)
{
	int n = parts(rows * cols);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t from = bound(rows, i, n), to = bound(rows, i + 1, n);

		kernels->norm(y + from * cols, mean + from, rstd + from,
			      x + from * cols, w, b, to - from, cols);
	}
}

static void norm_grad(real *dx, real *dw, real *db, const real *dy,
		      const real *x, const real *w, const real *mean,
		      const real *rstd, size_t rows, size_t cols)
{
	int n = parts(rows * cols);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t from = bound(rows, i, n), to = bound(rows, i + 1, n);

		kernels->norm_grad_w(dw, db, dy, x, mean, rstd, rows, cols,
				     bound(cols, i, n), bound(cols, i + 1, n));
		kernels->norm_grad_x(dx + from * cols, dy + from * cols,
				     x + from * cols, w, mean + from,
				     rstd + from, to - from, cols);
	}
}

static void gelu(real *y, const real *x, size_t count)
{
	int n = parts(count);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(count, i, n), b = bound(count, i + 1, n);

		kernels->gelu(y + a, x + a, b - a);
	}
}

static void gelu_grad(real *dx, const real *x, size_t count)
{
	int n = parts(count);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(count, i, n), b = bound(count, i + 1, n);

		kernels->gelu_grad(dx + a, x + a, b - a);
	}
}

static size_t attn_scratch(const struct tide_attn *at)
{
	return (size_t)nthreads * QUERY_BLOCK * at->time;
}

static int block_rows(const struct tide_attn *at, int from)
{
	return at->time - from < QUERY_BLOCK ? at->time - from : QUERY_BLOCK;
}

/* One head of one sequence; q, k and v have ld columns between rows. */
static void head_forward(real *out, real *prob, const real *q,
			 const struct tide_attn *at)
{
	int t = at->time, hs = at->size, c = at->heads * hs, ld = 3 * c;
	const real *k = q + c, *v = q + 2 * c;
	real scale = 1 / sqrt((double)hs);

	for (int i = 0; i < t; i += QUERY_BLOCK) {
		int rows = block_rows(at, i), keys = i + rows;
		real *p = prob + (size_t)i * t;

		gemm(false, true, rows, keys, hs, scale, q + (size_t)i * ld, ld,
		     k, ld, 0, p, t);
		for (int r = 0; r < rows; r++)
			kernels->attn_softmax(p + (size_t)r * t, i + r + 1,
					      keys);
		gemm(false, false, rows, hs, keys, 1, p, t, v, ld, 0,
		     out + (size_t)i * c, c);
	}
}

static void head_backward(real *dq, const real *dout, const real *prob,
			  const real *q, real *dp, const struct tide_attn *at)
{
	int t = at->time, hs = at->size, c = at->heads * hs, ld = 3 * c;
	const real *k = q + c, *v = q + 2 * c;
	real *dk = dq + c, *dv = dq + 2 * c;
	real scale = 1 / sqrt((double)hs);

	/* The last block sees every key: it sets dk and dv, others add. */
	for (int i = (t - 1) / QUERY_BLOCK * QUERY_BLOCK; i >= 0;
	     i -= QUERY_BLOCK) {
		int rows = block_rows(at, i), keys = i + rows;
		const real *p = prob + (size_t)i * t;
		const real *d = dout + (size_t)i * c;
		real beta = keys == t ? 0 : 1;

		gemm(false, true, rows, keys, hs, 1, d, c, v, ld, 0, dp, t);
		for (int r = 0; r < rows; r++)
			kernels->attn_softmax_grad(dp + (size_t)r * t,
						   p + (size_t)r * t, i + r + 1,
						   keys);
		gemm(true, false, keys, hs, rows, 1, p, t, d, c, beta, dv, ld);
		gemm(false, false, rows, hs, keys, scale, dp, t, k, ld, 0,
		     dq + (size_t)i * ld, ld);
		gemm(true, false, keys, hs, rows, scale, dp, t,
		     q + (size_t)i * ld, ld, beta, dk, ld);
	}
}

static size_t qkv_at(const struct tide_attn *at, int i, size_t width)
{
	return (size_t)(i / at->heads) * at->time * width +
	       (size_t)(i % at->heads) * at->size;
}

/* Heads are dealt to threads; their small gemms run on one thread each. */
static void attn(real *out, real *prob, const real *qkv,
		 const struct tide_attn *at)
{
	int n = at->batch * at->heads;
	size_t c = (size_t)at->heads * at->size;

	if (nthreads > 1)
		openblas_set_num_threads(1);
#pragma omp parallel for schedule(static) \
	num_threads(nthreads) if (nthreads > 1)
	for (int i = 0; i < n; i++)
		head_forward(out + qkv_at(at, i, c),
			     prob + (size_t)i * at->time * at->time,
			     qkv + qkv_at(at, i, 3 * c), at);
	if (nthreads > 1)
		openblas_set_num_threads(nthreads);
}

static void attn_grad(real *dqkv, const real *dout, const real *prob,
		      const real *qkv, real *scratch,
		      const struct tide_attn *at)
{
	int n = at->batch * at->heads, per = (n + nthreads - 1) / nthreads;
	size_t c = (size_t)at->heads * at->size;

	if (nthreads > 1)
		openblas_set_num_threads(1);
#pragma omp parallel for num_threads(nthreads) if (nthreads > 1)
	for (int th = 0; th < nthreads; th++) {
		int to = (th + 1) * per < n ? (th + 1) * per : n;

		for (int i = th * per; i < to; i++)
			head_backward(dqkv + qkv_at(at, i, 3 * c),
				      dout + qkv_at(at, i, c),
				      prob + (size_t)i * at->time * at->time,
				      qkv + qkv_at(at, i, 3 * c),
				      scratch + (size_t)th * QUERY_BLOCK *
							at->time,
				      at);
	}
	if (nthreads > 1)
		openblas_set_num_threads(nthreads);
}

static void embed(real *x, const real *token, const real *position,
		  const int32_t *ids, int batch, int time, size_t cols)
{
	for (int i = 0; i < batch * time; i++)
		kernels->bias_add(x + (size_t)i * cols,
				  token + (size_t)ids[i] * cols,
				  position + (size_t)(i % time) * cols, 1,
				  cols);
}

/* One thread: the same token comes many times, and order is to be kept. */
static void embed_grad(real *dtoken, real *dposition, const real *dx,
		       const int32_t *ids, int batch, int time, size_t cols)
{
	for (int i = 0; i < batch * time; i++) {
		const real *d = dx + (size_t)i * cols;

		kernels->add(dtoken + (size_t)ids[i] * cols, d, cols);
		kernels->add(dposition + (size_t)(i % time) * cols, d, cols);
	}
}

/* One thread: it is a single pass over memory. */
static double sum_squares(const real *x, size_t count)
{
	return kernels->sum_squares(x, count);
}

static double softmax_loss(real *logits, const int32_t *targets, size_t rows,
			   size_t cols, real scale, bool grad)
{
	enum {
		MAX_PARTS = 64
	};
	int n = parts(rows * cols) < MAX_PARTS ? parts(rows * cols) : MAX_PARTS;
	double part[MAX_PARTS] = {0}, loss = 0;

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(rows, i, n), b = bound(rows, i + 1, n);

		part[i] = kernels->softmax_loss(logits + a * cols, targets + a,
						b - a, cols, scale, grad);
	}
	for (int i = 0; i < n; i++)
		loss += part[i];
	return loss;
}

static void adamw(real *p, const real *g, real *m, real *v, size_t count,
		  const struct tide_adamw_coef *coef)
{
	int n = parts(count);

#pragma omp parallel for num_threads(n) if (n > 1)
	for (int i = 0; i < n; i++) {
		size_t a = bound(count, i, n), b = bound(count, i + 1, n);

		kernels->adamw(p + a, g + a, m + a, v + a, b - a, coef);
	}
}

static const struct tide_ops cpu_ops = {
	.name = "cpu",
	.set_threads = set_threads,
	.zero = zero,
	.copy = copy,
	.gemm = gemm,
	.bias_set = bias_set,
	.bias_add = bias_add,
	.bias_grad = bias_grad,
	.add = add,
	.sum_squares = sum_squares,
	.norm = norm,
	.norm_grad = norm_grad,
	.gelu = gelu,
	.gelu_grad = gelu_grad,
	.attn_scratch = attn_scratch,
	.attn = attn,
	.attn_grad = attn_grad,
	.embed = embed,
	.embed_grad = embed_grad,
	.softmax_loss = softmax_loss,
	.adamw = adamw,
};

int tide_cpu_level(void)
{
#if HAVE_AVX2
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return 1;
#endif
	return 0;
}

const struct tide_ops *tide_cpu_ops(int level)
{
	kernels = &tide_cpu_kernels_any;
#if HAVE_AVX2
	if (level > 0)
		kernels = &tide_cpu_kernels_avx2;
#endif
	set_threads(nthreads);
	return &cpu_ops;
}
