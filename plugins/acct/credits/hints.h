/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of the job table may just have become those of ended runs: told by
 * starts and completions, taken by the poster, so that it need not look through
 * the table for them.  Only hints: what is lost of them is found by the next
 * look at everything.
 *
 * Threads: any; a lock is held for moments.  Nothing survives a restart.
 */
#ifndef TIDE_ACCT_HINTS_H
#define TIDE_ACCT_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tide_hint {
	char cluster[64];
	uint64_t row; /* job_db_inx */
	int64_t told; /* when, seconds */
};

/*
 * Remember a row.  Returns true when there was none before.  Beyond a bound
 * none is remembered, and tide_hints_take() tells.
 */
bool tide_hints_add(const char *cluster, uint64_t row, int64_t now);

/*
 * All hints, for the caller to free; *ret_n may be 0.  *ret_lost is set when
 * some were not remembered; else it is untouched.
 */
struct tide_hint *tide_hints_take(size_t *ret_n, bool *ret_lost);

/* Give one back, to be taken again: its row was not there yet. */
void tide_hints_return(const struct tide_hint *hint);

bool tide_hints_any(void);

#endif
