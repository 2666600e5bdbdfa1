/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which floats are added; see tree.h. */
#include "config.h"

#include "launcher/comm/tree.h"

static void add(float *to, const float *from, size_t count)
{
#pragma omp simd
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

/*
 * Branches of equal height are joined as soon as both are there; what is left
 * of an uneven number is joined from the last branch to the first.  A branch
 * begins where the bits of n below its own are cleared.
 */
void tide_tree_sum(float *terms, int n, size_t count)
{
	for (int height = 1; height < n; height *= 2)
		for (int base = 0; base + 2 * height <= n; base += 2 * height)
			add(terms + base * count,
			    terms + (base + height) * count, count);
	for (int last = n & (n - 1); last; last &= last - 1)
		add(terms + (last & (last - 1)) * count, terms + last * count,
		    count);
}

int tide_tree_merges(int i)
{
	return __builtin_ctz(~(unsigned)i);
}

int tide_tree_depth(int n)
{
	return 32 - __builtin_clz((unsigned)n);
}
