/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dealing the global batch, sums in tree order, and which sample comes when. */
#include "config.h"

#include "launcher/train/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/comm/tree.h"
#include "launcher/data/text.h"
#include "launcher/tensor/random.h"
#include "tests/lib/tap.h"

static const struct {
	int64_t global, batch, accumulation;
	int ranks;
	int want; /* accumulation, -1 refused */
	int64_t want_global;
} plans[] = {
	{0, 8, 1, 4, 1, 32},
	{0, 8, 3, 2, 3, 48},
	{32, 8, 1, 4, 1, 32},
	{32, 8, 1, 2, 2, 32},
	{32, 8, 7, 1, 4, 32},
	{32, 8, 1, 8, -1, 0},
	{32, 8, 1, 3, -1, 0},
	{32, 4, 1, 8, 1, 32},
	{32, 5, 1, 2, -1, 0},
	{32, 64, 1, 1, -1, 0},
	{(int64_t)1 << 32, 1, 1, 1, -1, 0},
	/* a prime: the numbers of ranks are not looked for for ever */
	{4294967311, 1, 1, 2, -1, 0},
	{(int64_t)1 << 62, 1, 1, 3, -1, 0},
	{0, 65536, 65536, 1, 65536, (int64_t)1 << 32},
};

static void test_plans(void)
{
	struct tide_plan p;
	struct tide_err err;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		int rc = tide_plan_make(&p, plans[i].global, plans[i].batch,
					plans[i].accumulation, plans[i].ranks,
					&err);

		if (plans[i].want < 0)
			ok(rc == -1 && errno == EINVAL, "plan %zu: %s", i,
			   err.text);
		else
			ok(!rc && p.accumulation == plans[i].want &&
				   p.global_batch == plans[i].want_global,
			   "plan %zu", i);
	}
	tide_plan_make(&p, 96, 8, 1, 5, &err);
	ok(!!strstr(err.text, ": 1 2 3 4 6 12"), "%s", err.text);
	tide_plan_make(&p, 720720, 1, 1, 17, &err);
	ok(!!strstr(err.text, " ..."), "a long list is cut: %s", err.text);
}

/* Every sample of a step once, whatever the ranks. */
static void test_cover(void)
{
	for (int ranks = 1; ranks <= 12; ranks++) {
		struct tide_plan p;
		int seen[48] = {0}, good = 1;

		if (tide_plan_make(&p, 48, 4, 1, ranks, NULL))
			continue;
		for (int r = 0; r < ranks; r++)
			for (int i = 0; i < p.accumulation; i++)
				for (int b = 0; b < 4; b++)
					seen[tide_plan_sample(&p, 5, r, i) + b -
					     5 * 48]++;
		for (int i = 0; i < 48; i++)
			good = good && seen[i] == 1;
		ok(good, "each sample once on %d ranks", ranks);
	}
}

/* What n terms give on `ranks` ranks: a stack on each, then the tree. */
static float sum_on(const float *terms, int n, int ranks)
{
	float top[64], stack[64];
	int each = n / ranks;

	for (int r = 0; r < ranks; r++) {
		int height = 0, highest = 0;

		for (int i = 0; i < each; i++) {
			stack[height++] = terms[r * each + i];
			highest = height > highest ? height : highest;
			for (int m = tide_tree_merges(i); m; m--, height--)
				stack[height - 2] += stack[height - 1];
		}
		for (; height > 1; height--)
			stack[height - 2] += stack[height - 1];
		if (highest > tide_tree_depth(each))
			return 0;
		top[r] = stack[0];
	}
	tide_tree_sum(top, ranks, 1);
	return top[0];
}

static void test_tree(void)
{
	float terms[64];

	for (int i = 0; i < 64; i++)
		terms[i] = tide_normal(1, i) * (i % 7 ? 1e-3 : 1e3);
	for (int n = 2; n <= 64; n *= 2)
		for (int ranks = 2; ranks <= n; ranks *= 2) {
			float one = sum_on(terms, n, 1);
			float many = sum_on(terms, n, ranks);

			ok(!memcmp(&one, &many, sizeof(one)),
			   "%d terms on %d ranks: the same bits", n, ranks);
		}
	for (int n = 1; n <= 13; n++) {
		float all[64];
		double want = 0;

		for (int i = 0; i < n; i++) {
			all[2 * i] = i + 1;
			all[2 * i + 1] = -i;
			want += i + 1;
		}
		tide_tree_sum(all, n, 2);
		ok(all[0] == want && all[1] == n - want, "a sum of %d", n);
		ok(sum_on(all, 1, 1) == want, "one term is itself");
	}
}

static void test_samples(void)
{
	char path[] = "/tmp/tide-text-XXXXXX";
	enum {
		CONTEXT = 7,
		PIECES = 100
	};
	int fd = mkstemp(path), seen[PIECES] = {0}, good = 1, moved = 0;
	int32_t ids[CONTEXT], targets[CONTEXT];
	unsigned char text[CONTEXT * PIECES + 1];
	struct tide_data d, other;
	struct tide_err err;
	char print[TIDE_DATA_PRINT];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = tide_mix(1, i);
	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text))
		exit(1);
	ok(!tide_data_open(&d, path, CONTEXT, 3, &err), "a text opens");
	is_int(d.pieces, PIECES, "pieces of an epoch");
	for (int i = 0; i < PIECES; i++)
		seen[tide_data_piece(&d, 5 * PIECES + i)]++;
	for (int i = 0; i < PIECES; i++) {
		good = good && seen[i] == 1;
		moved += tide_data_piece(&d, i) !=
			 tide_data_piece(&d, PIECES + i);
	}
	ok(good, "an epoch takes each piece once");
	ok(moved > PIECES / 2, "each epoch has an order of its own");
	ok(!tide_data_sample(&d, 42, ids, targets, &err), "a sample");
	good = 1;
	for (int i = 0; i < CONTEXT; i++) {
		size_t at = tide_data_piece(&d, 42) * CONTEXT + i;

		good = good && ids[i] == text[at] && targets[i] == text[at + 1];
	}
	ok(good, "inputs, and targets one later");
	ok(!tide_data_open(&other, path, CONTEXT, 4, &err) &&
		   tide_data_piece(&other, 0) + tide_data_piece(&other, 1) !=
			   tide_data_piece(&d, 0) + tide_data_piece(&d, 1),
	   "another seed, another order");
	tide_data_close(&other);
	snprintf(print, sizeof(print), "%s", d.print);
	if (pwrite(fd, "x", 1, 300) != 1)
		exit(1);
	ok(!tide_data_open(&other, path, CONTEXT, 3, &err) &&
		   strcmp(other.print, print),
	   "another text has another print");
	tide_data_close(&other);
	if (ftruncate(fd, 3))
		exit(1);
	ok(tide_data_sample(&d, 42, ids, targets, &err) == -1 && errno == EIO,
	   "a text that has shrunk: %s", err.text);
	tide_data_close(&d);
	is_int(tide_data_open(&d, path, CONTEXT, 3, &err), -1, "too short");
	ok(errno == EINVAL, "%s", err.text);
	is_int(tide_data_open(&d, "/nonexistent/x", 1, 3, &err), -1, "no file");
	is_int(errno, ENOENT, "ENOENT");
	is_int(tide_data_open(&d, "/tmp", 1, 3, &err), -1, "a folder");
	is_int(errno, EINVAL, "EINVAL");
	unlink(path);
	close(fd);
	if (mkfifo(path, 0600))
		exit(1);
	is_int(tide_data_open(&d, path, 1, 3, &err), -1,
	       "a FIFO is not waited for");
	is_int(errno, EINVAL, "EINVAL");
	unlink(path);
}

static void test_random(void)
{
	int32_t a[16], b[16], t[16];
	struct tide_data d;
	int good = 1;

	ok(!tide_data_open_random(&d, 8192, 16, 1, NULL), "random tokens");
	tide_data_sample(&d, 9, a, t, NULL);
	tide_data_sample(&d, 9, b, t, NULL);
	for (int i = 0; i < 15; i++)
		good = good && a[i] == b[i] && t[i] == a[i + 1] && a[i] >= 0 &&
		       a[i] < 8192;
	ok(good, "the same each time, in range, targets one later");
	tide_data_close(&d);
}

int main(void)
{
	test_plans();
	test_cover();
	test_tree();
	test_samples();
	test_random();
	return tap_done();
}
