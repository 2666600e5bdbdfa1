/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of windows as pure decisions: see gate.h. */
#include "common/window/gate.h"

#include <stdlib.h>

/* The last stretch that opens at or before `at`, or NULL. */
static const struct tide_open *last_opened(const struct tide_group *group,
					   int64_t at)
{
	size_t low = 0, high = group->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (group->opens[mid].open <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &group->opens[low - 1] : NULL;
}

const struct tide_open *tide_group_at(const struct tide_group *group,
				      int64_t at)
{
	const struct tide_open *open = last_opened(group, at);

	return open && open->close > at ? open : NULL;
}

int64_t tide_group_until(const struct tide_group *group, int64_t at)
{
	const struct tide_open *open;

	if (group->always)
		return TIDE_FOREVER;
	open = tide_group_at(group, at);
	return open ? open->close : 0;
}

const struct tide_open *tide_group_next(const struct tide_group *group,
					int64_t after)
{
	const struct tide_open *open;

	if (group->always || !group->count)
		return NULL;
	open = last_opened(group, after);
	open = open ? open + 1 : group->opens;
	return open < group->opens + group->count ? open : NULL;
}

bool tide_group_fits(const struct tide_group *group, int64_t at, int64_t need)
{
	int64_t until = tide_group_until(group, at);

	return until == TIDE_FOREVER || (until && until - at >= need);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The earliest opening of any group after `after`, or TIDE_NEVER. */
static int64_t next_opening(const struct tide_group *groups, size_t count,
			    int64_t after)
{
	int64_t best = TIDE_NEVER;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct tide_open *open =
			tide_group_next(&groups[i], after);

		if (open && open->open < best)
			best = open->open;
	}
	return best;
}

size_t tide_openings(const struct tide_group *groups, size_t count,
		     int64_t from, int64_t to, int64_t *ret, size_t max)
{
	int64_t at = from;
	size_t found = 0;

	while (found < max) {
		at = next_opening(groups, count, at);
		if (at == TIDE_NEVER || at > to)
			break;
		ret[found++] = at;
	}
	return found;
}

/* How long `nodes` nodes stay open together from `at` on. */
static int64_t together(const struct tide_group *groups, const uint32_t *size,
			size_t count, uint32_t nodes, int64_t at,
			int64_t *scratch)
{
	uint64_t have = 0;
	size_t i, j;

	for (i = 0; i < count; i++)
		scratch[i] = size[i] ? tide_group_until(&groups[i], at) : 0;
	qsort(scratch, count, sizeof(*scratch), by_time);
	/* The group that closes last counts first. */
	for (i = count; i-- > 0 && scratch[i];) {
		if (i + 1 < count && scratch[i] == scratch[i + 1])
			continue;
		for (j = 0; j < count; j++)
			if (size[j] &&
			    tide_group_until(&groups[j], at) == scratch[i])
				have += size[j];
		if (have >= nodes)
			return scratch[i] == TIDE_FOREVER ? TIDE_FOREVER
							  : scratch[i] - at;
	}
	return 0;
}

int64_t tide_longest(const struct tide_group *groups, const uint32_t *size,
		     size_t count, uint32_t nodes, int64_t from, int64_t to,
		     int64_t *ret_at)
{
	int64_t *scratch = calloc(count ? count : 1, sizeof(*scratch));
	int64_t best = 0, at = from;

	if (!scratch)
		return TIDE_FOREVER; /* no memory is no reason to refuse */
	while (at != TIDE_NEVER && at <= to) {
		int64_t length =
			together(groups, size, count, nodes, at, scratch);

		if (length > best) {
			best = length;
			*ret_at = at;
		}
		if (best == TIDE_FOREVER)
			break;
		at = next_opening(groups, count, at);
	}
	free(scratch);
	return best;
}

/* Whole minutes from start that end at least TIDE_PAST_CLOSE after close. */
static uint32_t past_close_min(const struct tide_run *run)
{
	int64_t length = run->close - run->start - run->paused;

	if (length < 0)
		length = 0;
	return (length + TIDE_PAST_CLOSE + 59) / 60;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t limit_due(const struct tide_run *run)
{
	uint32_t most = run->user_min;

	if (run->close != TIDE_NEVER)
		most = min_u32(most, past_close_min(run));
	if (run->pay_min)
		most = min_u32(most, run->pay_min);
	if (run->limit_min > most)
		return most;
	most = min_u32(most, run->grow_min);
	return most > run->limit_min ? most : run->limit_min;
}

void tide_run_due(const struct tide_run *run, int64_t now,
		  struct tide_due *ret_due)
{
	int64_t warn_at = TIDE_NEVER;

	*ret_due = (struct tide_due){
		.limit_min = limit_due(run),
		.next = run->close,
	};
	if (run->close == TIDE_NEVER)
		return;
	if (run->warn && !run->warned)
		warn_at = run->close - run->warn;
	ret_due->end = now >= run->close;
	if (ret_due->end)
		ret_due->limit_min = run->limit_min;
	ret_due->warn = now >= warn_at && !ret_due->end;
	if (warn_at < ret_due->next && !ret_due->warn)
		ret_due->next = warn_at;
	if (ret_due->end)
		ret_due->next = TIDE_NEVER;
}
