/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spans of every window set within a stretch of time, and the questions
 * about them.  Nothing is worked out here but once, at creation.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/calendar/calendar.h"
#include "common/util/err.h"

struct line {
	struct tide_span *span;
	size_t count;
};

struct tide_timeline {
	int n_sets;
	struct line set[];
};

int tide_timeline_create(const struct tide_calendar *calendar, int64_t from,
			 int64_t until, struct tide_timeline **ret_timeline,
			 struct tide_err *err)
{
	int n_sets = tide_calendar_n_sets(calendar);
	struct tide_timeline *timeline =
		calloc(1, sizeof(*timeline) +
				  (size_t)n_sets * sizeof(timeline->set[0]));

	if (!timeline)
		return tide_err_set(err, ENOMEM, "out of memory");
	timeline->n_sets = n_sets;
	for (int i = 0; i < n_sets; i++)
		if (tide_calendar_spans(calendar, i, from, until,
					&timeline->set[i].span,
					&timeline->set[i].count, err)) {
			tide_timeline_destroy(timeline);
			return -1;
		}
	*ret_timeline = timeline;
	return 0;
}

void tide_timeline_destroy(struct tide_timeline *timeline)
{
	int saved = errno;

	if (!timeline)
		return;
	for (int i = 0; i < timeline->n_sets; i++)
		free(timeline->set[i].span);
	free(timeline);
	errno = saved;
}

const struct tide_span *
tide_timeline_spans(const struct tide_timeline *timeline, int set,
		    size_t *ret_count)
{
	if (set < 0 || set >= timeline->n_sets) {
		*ret_count = 0;
		return NULL;
	}
	*ret_count = timeline->set[set].count;
	return timeline->set[set].span;
}

/* The spans that close after t, *ret_count of them. */
static const struct tide_span *spans_after(const struct tide_timeline *timeline,
					   int set, int64_t t,
					   size_t *ret_count)
{
	size_t low = 0, high, count;
	const struct tide_span *span =
		tide_timeline_spans(timeline, set, &count);

	high = count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (span[mid].close > t)
			high = mid;
		else
			low = mid + 1;
	}
	*ret_count = count - low;
	return count > low ? span + low : NULL;
}

const struct tide_span *tide_timeline_at(const struct tide_timeline *timeline,
					 int set, int64_t t)
{
	size_t count;
	const struct tide_span *span = spans_after(timeline, set, t, &count);

	return span && span->open <= t ? span : NULL;
}

const struct tide_span *
tide_timeline_opening(const struct tide_timeline *timeline, int set, int64_t t)
{
	size_t count;
	const struct tide_span *span = spans_after(timeline, set, t, &count);

	/* at most the first of them is open already */
	if (count && span->open <= t) {
		span++;
		count--;
	}
	return count ? span : NULL;
}
