/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums in the order of a balanced binary tree over numbered terms: ((0+1) +
 * (2+3)) + ((4+5) + ...).  With 2^k terms dealt to 2^j ranks, each rank adds a
 * whole branch and the ranks add the branches: the result has the same bits
 * however many ranks there are.
 */
#ifndef TIDE_COMM_TREE_H
#define TIDE_COMM_TREE_H

#include <stddef.h>

/* terms[0..n) of count floats one after the other; the sum lands in terms[0],
 * the others are spoiled. */
void tide_tree_sum(float *terms, int n, size_t count);

/*
 * The same for terms that come one at a time, as micro-batches do: put each on
 * a stack, then add the topmost to the one below it tide_tree_merges(i) times
 * (i counts from 0); after the last term, until one is left.  n >= 1 terms
 * need a stack of tide_tree_depth(n).
 */
int tide_tree_merges(int i);
int tide_tree_depth(int n);

#endif
