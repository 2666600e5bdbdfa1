/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tensor operations against plain loops in double, at awkward sizes, for every
 * instruction set that this CPU has, on one and on three threads.
 */
#include "config.h"

#include "launcher/tensor/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/tensor/random.h"
#include "launcher/tensor/alloc.h"
#include "tests/lib/tap.h"

static struct tide_alloc alloc;
static const struct tide_ops *ops;
static const char *label;

static real *numbers(size_t count, uint64_t key, double scale)
{
	real *x = NULL;

	if (tide_alloc_get(&alloc, count, sizeof(*x), "test", &x, NULL))
		exit(1);
	for (size_t i = 0; i < count; i++)
		x[i] = scale * tide_normal(key, i);
	return x;
}

static real *copy(const real *from, size_t count)
{
	real *x = numbers(count, 0, 0);

	memcpy(x, from, count * sizeof(*x));
	return x;
}

static void near(const real *got, const double *want, size_t count, double tol,
		 const char *name)
{
	double worst = 0;

	for (size_t i = 0; i < count; i++) {
		double d = fabs(got[i] - want[i]) / (1 + fabs(want[i]));

		/* a NaN is the worst */
		worst = d <= worst ? worst : d;
	}
	ok(worst < tol, "%s: %s (error %.1e)", label, name, worst);
}

static double *doubles(size_t count)
{
	double *x = NULL;

	if (tide_alloc_get(&alloc, count, sizeof(*x), "test", &x, NULL))
		exit(1);
	return x;
}

static void test_gemm(void)
{
	enum {
		M = 19,
		N = 23,
		K = 31
	};
	real *a = numbers(M * K, 1, 1), *b = numbers(K * N, 2, 1);
	double *want = doubles(M * N);
	char name[64];

	for (int mode = 0; mode < 4; mode++) {
		bool ta = mode & 1, tb = mode & 2;
		real *c = numbers(M * N, 3, 1);

		for (int i = 0; i < M * N; i++) {
			int r = i / N, col = i % N;

			want[i] = 0.5 * c[i];
			for (int k = 0; k < K; k++)
				want[i] += 2.0 * a[ta ? k * M + r : r * K + k] *
					   b[tb ? col * K + k : k * N + col];
		}
		ops->gemm(ta, tb, M, N, K, 2, a, ta ? M : K, b, tb ? K : N, 0.5,
			  c, N);
		snprintf(name, sizeof(name), "gemm, transposed %d %d", ta, tb);
		near(c, want, M * N, 1e-5, name);
	}
}

static void test_bias(size_t rows, size_t cols)
{
	real *x = numbers(rows * cols, 1, 1), *b = numbers(cols, 2, 1);
	real *y = numbers(rows * cols, 3, 1), *db = numbers(cols, 4, 1);
	double *want = doubles(rows * cols), *sum = doubles(cols);

	for (size_t i = 0; i < rows * cols; i++)
		want[i] = b[i % cols];
	ops->bias_set(y, b, rows, cols);
	near(y, want, rows * cols, 1e-9, "bias_set");
	for (size_t i = 0; i < rows * cols; i++)
		want[i] = (double)x[i] + b[i % cols];
	ops->bias_add(y, x, b, rows, cols);
	near(y, want, rows * cols, 1e-6, "bias_add");
	for (size_t c = 0; c < cols; c++)
		sum[c] = db[c];
	for (size_t i = 0; i < rows * cols; i++)
		sum[i % cols] += x[i];
	ops->bias_grad(db, x, rows, cols);
	near(db, sum, cols, 1e-5, "bias_grad");
	for (size_t i = 0; i < rows * cols; i++)
		want[i] = (double)x[i] + y[i];
	ops->add(y, x, rows * cols);
	near(y, want, rows * cols, 1e-6, "add");
}

static void test_sum_squares(void)
{
	enum {
		COUNT = 1001
	};
	real *x = numbers(COUNT, 1, 3);
	double want = 0, got = ops->sum_squares(x, COUNT);

	for (int i = 0; i < COUNT; i++)
		want += (double)x[i] * x[i];
	ok(fabs(got - want) < 1e-9 * want, "%s: sum_squares", label);
	x[7] = NAN;
	ok(isnan(ops->sum_squares(x, COUNT)), "%s: and a NaN is seen", label);
}

static void norm_naive(double *y, double *mean, double *rstd, const real *x,
		       const real *w, const real *b, size_t rows, size_t cols)
{
	for (size_t r = 0; r < rows; r++) {
		double sum = 0, var = 0;

		for (size_t c = 0; c < cols; c++)
			sum += x[r * cols + c];
		mean[r] = sum / cols;
		for (size_t c = 0; c < cols; c++)
			var += pow(x[r * cols + c] - mean[r], 2);
		rstd[r] = 1 / sqrt(var / cols + 1e-5);
		for (size_t c = 0; c < cols; c++)
			y[r * cols + c] =
				(x[r * cols + c] - mean[r]) * rstd[r] * w[c] +
				b[c];
	}
}

static void test_norm(size_t rows, size_t cols)
{
	real *x = numbers(rows * cols, 1, 2), *w = numbers(cols, 2, 1);
	real *b = numbers(cols, 3, 1), *y = numbers(rows * cols, 4, 1);
	real *dy = numbers(rows * cols, 5, 1), *dx = numbers(rows * cols, 6, 1);
	real *dw = numbers(cols, 7, 1), *db = numbers(cols, 8, 1);
	real *mean = numbers(rows, 0, 0), *rstd = numbers(rows, 0, 0);
	double *wy = doubles(rows * cols), *wm = doubles(rows);
	double *ws = doubles(rows), *wdx = doubles(rows * cols);
	double *wdw = doubles(cols), *wdb = doubles(cols);

	norm_naive(wy, wm, ws, x, w, b, rows, cols);
	ops->norm(y, mean, rstd, x, w, b, rows, cols);
	near(y, wy, rows * cols, 1e-5, "norm");
	near(mean, wm, rows, 1e-5, "norm, mean");
	near(rstd, ws, rows, 1e-5, "norm, rstd");
	for (size_t c = 0; c < cols; c++) {
		wdw[c] = dw[c];
		wdb[c] = db[c];
	}
	for (size_t r = 0; r < rows; r++) {
		double s1 = 0, s2 = 0;

		for (size_t c = 0; c < cols; c++) {
			size_t i = r * cols + c;
			double xh = (x[i] - wm[r]) * ws[r];

			s1 += (double)dy[i] * w[c] / cols;
			s2 += (double)dy[i] * w[c] * xh / cols;
			wdw[c] += dy[i] * xh;
			wdb[c] += dy[i];
		}
		for (size_t c = 0; c < cols; c++) {
			size_t i = r * cols + c;
			double xh = (x[i] - wm[r]) * ws[r];

			wdx[i] = dx[i] +
				 ws[r] * ((double)dy[i] * w[c] - s1 - xh * s2);
		}
	}
	ops->norm_grad(dx, dw, db, dy, x, w, mean, rstd, rows, cols);
	near(dx, wdx, rows * cols, 1e-4, "norm_grad, x");
	near(dw, wdw, cols, 1e-4, "norm_grad, w");
	near(db, wdb, cols, 1e-4, "norm_grad, b");
}

static double gelu_naive(double x)
{
	return 0.5 * x *
	       (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void test_gelu(size_t count)
{
	real *x = numbers(count, 1, 4), *y = numbers(count, 0, 0);
	real *dx = numbers(count, 2, 1);
	double *want = doubles(count);
	const double h = 1e-5;

	x[0] = 0;
	x[1] = 200;
	x[2] = -200;
	for (size_t i = 0; i < count; i++)
		want[i] = gelu_naive(x[i]);
	ops->gelu(y, x, count);
	near(y, want, count, 2e-6, "gelu");
	for (size_t i = 0; i < count; i++)
		want[i] = dx[i] *
			  (gelu_naive(x[i] + h) - gelu_naive(x[i] - h)) /
			  (2 * h);
	ops->gelu_grad(dx, x, count);
	near(dx, want, count, 1e-5, "gelu_grad");
}

/* Attention of one head in plain loops, in double. */
static void attn_naive(double *out, double *prob, const real *qkv,
		       const struct tide_attn *at, int b, int h)
{
	int t = at->time, hs = at->size, c = at->heads * hs;
	const real *q = qkv + (size_t)b * t * 3 * c + h * hs;
	const real *k = q + c, *v = q + 2 * c;

	for (int i = 0; i < t; i++) {
		double *p = prob + ((size_t)(b * at->heads + h) * t + i) * t;
		double sum = 0;

		for (int j = 0; j <= i; j++) {
			p[j] = 0;
			for (int x = 0; x < hs; x++)
				p[j] += (double)q[i * 3 * c + x] *
					k[j * 3 * c + x];
			p[j] = exp(p[j] / sqrt(hs));
			sum += p[j];
		}
		for (int j = 0; j <= i; j++)
			p[j] /= sum;
		for (int x = 0; x < hs; x++) {
			double *o = &out[(size_t)(b * t + i) * c + h * hs + x];

			*o = 0;
			for (int j = 0; j <= i; j++)
				*o += p[j] * v[j * 3 * c + x];
		}
	}
}

/* The gradient is a linear map J^T: <J e, w> by differences = <e, J^T w>. */
static void test_attn(int time)
{
	const struct tide_attn at = {2, time, 3, 5};
	size_t rows = 2 * time, c = 15, probs = 2 * 3 * (size_t)time * time;
	real *qkv = numbers(rows * 3 * c, 1, 1), *out = numbers(rows * c, 0, 0);
	real *prob = numbers(probs, 0, 0), *dout = numbers(rows * c, 2, 1);
	real *dqkv = numbers(rows * 3 * c, 9, 1), *moved;
	real *scratch = numbers(ops->attn_scratch(&at), 0, 0);
	double *want = doubles(rows * c), *wprob = doubles(probs);
	double *back = doubles(rows * c), lhs = 0, rhs = 0;
	const double h = 1e-3;

	for (int i = 0; i < 6; i++)
		attn_naive(want, wprob, qkv, &at, i / 3, i % 3);
	ops->attn(out, prob, qkv, &at);
	near(out, want, rows * c, 1e-5, "attn");
	ops->attn_grad(dqkv, dout, prob, qkv, scratch, &at);
	moved = copy(qkv, rows * 3 * c);
	for (size_t i = 0; i < rows * 3 * c; i++) {
		double e = tide_normal(5, i);

		rhs += e * dqkv[i];
		moved[i] = qkv[i] + h * e;
	}
	for (int i = 0; i < 6; i++)
		attn_naive(want, wprob, moved, &at, i / 3, i % 3);
	for (size_t i = 0; i < rows * 3 * c; i++)
		moved[i] = qkv[i] - h * tide_normal(5, i);
	for (int i = 0; i < 6; i++)
		attn_naive(back, wprob, moved, &at, i / 3, i % 3);
	for (size_t i = 0; i < rows * c; i++)
		lhs += (want[i] - back[i]) / (2 * h) * dout[i];
	ok(fabs(lhs - rhs) < 1e-3 * (1 + fabs(lhs)),
	   "%s: attn_grad at time %d (%.6f, %.6f)", label, time, lhs, rhs);
}

static void test_softmax_loss(size_t rows, size_t cols)
{
	real *x = numbers(rows * cols, 1, 3),
	     *zero = numbers(rows * cols, 0, 0);
	double *want = doubles(rows * cols), loss = 0, got;
	int32_t *targets = calloc(rows, sizeof(*targets));

	if (!targets)
		exit(1);
	for (size_t r = 0; r < rows; r++) {
		double sum = exp(x[r * cols]);

		targets[r] = tide_mix(1, r) % cols;
		for (size_t c = 1; c < cols; c++)
			sum += exp(x[r * cols + c]);
		loss -= x[r * cols + targets[r]] - log(sum);
		for (size_t c = 0; c < cols; c++)
			want[r * cols + c] =
				0.25 * (exp(x[r * cols + c]) / sum -
					(c == (size_t)targets[r]));
	}
	got = ops->softmax_loss(x, targets, rows, cols, 0.25, true);
	ok(fabs(got - loss) < 1e-5 * loss, "%s: softmax_loss", label);
	near(x, want, rows * cols, 1e-6, "softmax_loss, gradient");
	got = ops->softmax_loss(zero, targets, rows, cols, 1, false);
	ok(fabs(got / rows - log(cols)) < 1e-6, "%s: equal logits lose ln %zu",
	   label, cols);
	free(targets);
}

static void test_embed(void)
{
	enum {
		B = 2,
		T = 5,
		C = 7,
		V = 4
	};
	real *tok = numbers(V * C, 1, 1), *pos = numbers(T * C, 2, 1);
	real *x = numbers(B * T * C, 0, 0), *dx = numbers(B * T * C, 3, 1);
	real *dtok = numbers(V * C, 0, 0), *dpos = numbers(T * C, 0, 0);
	double want[B * T * C], wtok[V * C] = {0}, wpos[T * C] = {0};
	int32_t ids[B * T];

	for (int i = 0; i < B * T * C; i++) {
		int r = i / C;

		ids[r] = tide_mix(1, r) % V;
		want[i] = (double)tok[ids[r] * C + i % C] +
			  pos[r % T * C + i % C];
		wtok[ids[r] * C + i % C] += dx[i];
		wpos[r % T * C + i % C] += dx[i];
	}
	ops->embed(x, tok, pos, ids, B, T, C);
	near(x, want, B * T * C, 1e-6, "embed");
	ops->embed_grad(dtok, dpos, dx, ids, B, T, C);
	near(dtok, wtok, V * C, 1e-5, "embed_grad, token");
	near(dpos, wpos, T * C, 1e-5, "embed_grad, position");
}

/* Closed forms of AdamW. */
static void test_adamw(size_t count)
{
	real *p = numbers(count, 1, 1), *g = numbers(count, 2, 1);
	real *m = numbers(count, 0, 0), *v = numbers(count, 0, 0);
	real *zero = numbers(count, 0, 0);
	double *want = doubles(count), *wm = doubles(count);
	struct tide_adamw_coef coef = {
		.rate = 0.01,
		.beta1 = 0.9,
		.beta2 = 0.95,
		.eps = 1e-12,
	};

	for (size_t i = 0; i < count; i++)
		want[i] = p[i] - 0.01 * (g[i] > 0 ? 1 : -1);
	coef.fix1 = 1 - 0.9;
	coef.fix2 = 1 - 0.95;
	ops->adamw(p, g, m, v, count, &coef);
	near(p, want, count, 1e-6, "first AdamW step is rate * sign(gradient)");
	for (int t = 2; t <= 5; t++) {
		coef.fix1 = 1 - pow(0.9, t);
		coef.fix2 = 1 - pow(0.95, t);
		ops->adamw(p, g, m, v, count, &coef);
	}
	for (size_t i = 0; i < count; i++) {
		want[i] = coef.fix1 * g[i];
		wm[i] = coef.fix2 * g[i] * g[i];
	}
	near(m, want, count, 1e-5, "constant gradient keeps m");
	near(v, wm, count, 1e-5, "constant gradient keeps v");
	memset(m, 0, count * sizeof(*m));
	memset(v, 0, count * sizeof(*v));
	coef.decay = 0.1;
	for (size_t i = 0; i < count; i++)
		want[i] = p[i] * (1 - 0.01 * 0.1);
	ops->adamw(p, zero, m, v, count, &coef);
	near(p, want, count, 1e-6, "zero gradient only decays");
}

static void test_all(void)
{
	test_gemm();
	test_bias(5, 7);
	test_bias(1100, 129);
	test_sum_squares();
	test_norm(3, 13);
	test_norm(1100, 130);
	test_gelu(37);
	test_gelu(140000);
	test_attn(1);
	test_attn(63);
	test_attn(64);
	test_attn(130);
	test_softmax_loss(3, 5);
	test_softmax_loss(467, 300);
	test_embed();
	test_adamw(140001);
	tide_alloc_release(&alloc);
}

int main(void)
{
	char name[32];

	label = name;
	for (int level = 0; level <= tide_cpu_level(); level++)
		for (int threads = 1; threads <= 3; threads += 2) {
			ops = tide_cpu_ops(level);
			ops->set_threads(threads);
			snprintf(name, sizeof(name), "level %d, %d threads",
				 level, threads);
			test_all();
		}
	return tap_done();
}
