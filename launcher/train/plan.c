/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deals the global batch to ranks; pure arithmetic. */
#include "config.h"

#include "launcher/train/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/util/plural.h"

enum {
	MAX_RANKS = 1000000
};

/* "1 2 4 8", cut with "..." where it gets long. */
static void list_counts(char *to, size_t room, int64_t micro)
{
	size_t len = 0;

	to[0] = '\0';
	for (int64_t n = 1; n <= micro && n <= MAX_RANKS; n++) {
		if (micro % n)
			continue;
		if (len + 24 > room) {
			snprintf(to + len, room - len, " ...");
			return;
		}
		len += snprintf(to + len, room - len, "%s%lld", len ? " " : "",
				(long long)n);
	}
}

int tide_plan_make(struct tide_plan *ret_plan, int64_t global_batch,
		   int64_t batch_size, int64_t accumulation, int ranks,
		   struct tide_err *err)
{
	int64_t micro;
	char counts[160];

	if (!global_batch)
		global_batch = batch_size * accumulation * ranks;
	micro = global_batch / batch_size;
	if (global_batch % batch_size)
		return tide_err_set(
			err, EINVAL,
			"cannot go on with training.batch_size %lld: the checkpoint's global batch of %lld sequence%s is not a multiple of it",
			(long long)batch_size, (long long)global_batch,
			tide_plural(global_batch));
	if (micro % ranks) {
		list_counts(counts, sizeof(counts), micro);
		return tide_err_set(
			err, EINVAL,
			"cannot go on with %d ranks: the global batch of %lld sequence%s, taken %lld at a time, can be dealt to these numbers of ranks: %s",
			ranks, (long long)global_batch,
			tide_plural(global_batch), (long long)batch_size,
			counts);
	}
	if (micro / ranks >= INT_MAX)
		return tide_err_set(
			err, EINVAL,
			"cannot go on with %d rank%s: the global batch of %lld sequence%s, taken %lld at a time, is too much for each",
			ranks, tide_plural(ranks), (long long)global_batch,
			tide_plural(global_batch), (long long)batch_size);
	*ret_plan = (struct tide_plan){
		.global_batch = global_batch,
		.ranks = ranks,
		.batch_size = batch_size,
		.accumulation = micro / ranks,
	};
	return 0;
}

int64_t tide_plan_sample(const struct tide_plan *plan, int64_t step, int rank,
			 int i)
{
	int64_t micro = (int64_t)rank * plan->accumulation + i;

	return step * plan->global_batch + micro * plan->batch_size;
}
