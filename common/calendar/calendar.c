/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows into spans: every occurrence of every window of a set within a
 * stretch of time, joined where they overlap or adjoin.  Reads no clock.
 */
#include "config.h"

#include "common/calendar/calendar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/util/zone.h"

enum {
	DAY = 86400,
	/*
	 * An occurrence lasts at most two days less a second, and local time
	 * is at most a day off: look back that far.
	 */
	LOOK_BACK_DAYS = 4,
};

/* 9999-12-31T00:00:00Z */
#define LAST_INSTANT INT64_C(253402214400)

struct tide_calendar {
	const struct tide_conf *conf;
	struct tide_zone *local;
	struct tide_zone **zone; /* of each window; NULL: local */
};

/* Spans as they are collected. */
struct spans {
	struct tide_span *span;
	size_t count;
	size_t room;
};

int tide_calendar_create(const struct tide_conf *conf, const char *zoneinfo,
			 const char *local_zone,
			 struct tide_calendar **ret_calendar,
			 struct tide_err *err)
{
	struct tide_calendar *calendar = calloc(1, sizeof(*calendar));

	if (!calendar)
		return tide_err_set(err, ENOMEM, "out of memory");
	calendar->conf = conf;
	calendar->zone =
		calloc((size_t)conf->n_windows + 1, sizeof(*calendar->zone));
	if (!calendar->zone) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto fail;
	}
	if (tide_zone_create(zoneinfo, local_zone, &calendar->local, err))
		goto fail;
	for (int i = 0; i < conf->n_windows; i++)
		if (conf->window[i].zone &&
		    tide_zone_create(zoneinfo, conf->window[i].zone,
				     &calendar->zone[i], err)) {
			tide_err_prefix(err, "%s:%d: WindowName=%s",
					conf->window[i].file,
					conf->window[i].line,
					conf->window[i].name);
			goto fail;
		}
	*ret_calendar = calendar;
	return 0;
fail:
	tide_calendar_destroy(calendar);
	return -1;
}

void tide_calendar_destroy(struct tide_calendar *calendar)
{
	int saved = errno;

	if (!calendar)
		return;
	if (calendar->zone)
		for (int i = 0; i < calendar->conf->n_windows; i++)
			tide_zone_destroy(calendar->zone[i]);
	free(calendar->zone);
	tide_zone_destroy(calendar->local);
	free(calendar);
	errno = saved;
}

int tide_calendar_n_sets(const struct tide_calendar *calendar)
{
	return calendar->conf->n_sets;
}

const struct tide_zone *
tide_calendar_window_zone(const struct tide_calendar *calendar, int window)
{
	return calendar->zone[window] ? calendar->zone[window]
				      : calendar->local;
}

/*
 * Add what of [open, close) lies in [from, until].  The second at `until` is
 * kept for now, to see whether a span goes on there; cut_spans() takes it off.
 */
static int add_span(struct spans *spans, const struct tide_window *window,
		    int64_t open, int64_t close, int64_t from, int64_t until)
{
	struct tide_span span = {open, close, window, 0};

	if (span.open < from)
		span.open = from;
	if (span.close > until + 1)
		span.close = until + 1;
	if (span.open >= span.close)
		return 0;
	if (spans->count == spans->room) {
		size_t room = spans->room ? 2 * spans->room : 16;
		struct tide_span *more =
			realloc(spans->span, room * sizeof(*more));

		if (!more)
			return -1;
		spans->span = more;
		spans->room = room;
	}
	spans->span[spans->count++] = span;
	return 0;
}

static int64_t floor_day(int64_t t)
{
	return t >= 0 ? t / DAY : -((-t + DAY - 1) / DAY);
}

/* 1970-01-01 was a Thursday. */
static unsigned int day_bit(int64_t day)
{
	return 1u << ((day % 7 + 7 + 4) % 7);
}

static int add_weekly(struct spans *spans, const struct tide_window *window,
		      const struct tide_zone *zone, int64_t from, int64_t until)
{
	int64_t first = floor_day(from) - LOOK_BACK_DAYS;
	int64_t last = floor_day(until) + 1;
	int64_t end = window->end;

	if (end <= window->start)
		end += DAY;
	for (int64_t day = first; day <= last; day++) {
		int64_t open, close;

		if (!(window->days & day_bit(day)))
			continue;
		open = tide_zone_first(zone, day * DAY + window->start);
		close = tide_zone_first(zone, day * DAY + end);
		if (add_span(spans, window, open, close, from, until))
			return -1;
	}
	return 0;
}

static int add_window(struct spans *spans, const struct tide_window *window,
		      const struct tide_zone *zone, int64_t from, int64_t until)
{
	if (window->days)
		return add_weekly(spans, window, zone, from, until);
	return add_span(spans, window, tide_zone_first(zone, window->from),
			tide_zone_first(zone, window->until), from, until);
}

static int span_cmp(const void *a, const void *b)
{
	const struct tide_span *x = a, *y = b;

	if (x->open != y->open)
		return x->open < y->open ? -1 : 1;
	/* of two that open together, the one written first names the span */
	return x->window < y->window ? -1 : x->window > y->window;
}

static void join_spans(struct spans *spans)
{
	struct tide_span *span = spans->span;
	size_t kept = 0;

	if (!spans->count)
		return;
	qsort(span, spans->count, sizeof(*span), span_cmp);
	for (size_t i = 1; i < spans->count; i++) {
		if (span[i].open > span[kept].close) {
			span[++kept] = span[i];
			continue;
		}
		if (span[i].close > span[kept].close)
			span[kept].close = span[i].close;
	}
	spans->count = kept + 1;
}

/* Cut the last of the joined spans at `until`. */
static void cut_spans(struct spans *spans, int64_t until)
{
	struct tide_span *last;

	if (!spans->count)
		return;
	last = &spans->span[spans->count - 1];
	if (last->open == until) {
		spans->count--;
	} else if (last->close > until) {
		last->close = until;
		last->beyond = 1;
	}
}

int tide_calendar_spans(const struct tide_calendar *calendar, int set,
			int64_t from, int64_t until,
			struct tide_span **ret_spans, size_t *ret_count,
			struct tide_err *err)
{
	const struct tide_conf *conf = calendar->conf;
	struct spans spans = {0};

	if (set < 0 || set >= conf->n_sets)
		return tide_err_set(err, EINVAL, "no window set %d", set);
	if (until <= from)
		return tide_err_set(
			err, EINVAL,
			"the stretch of time ends before it begins");
	if (from < 0 || until > LAST_INSTANT ||
	    until - from > TIDE_CALENDAR_MAX)
		return tide_err_set(
			err, ERANGE,
			"windows are known for 20 years at once, from 1970 to 9999");
	for (int i = 0; i < conf->set[set].n_windows; i++) {
		int window = conf->set[set].window[i];

		if (add_window(&spans, &conf->window[window],
			       tide_calendar_window_zone(calendar, window),
			       from, until)) {
			free(spans.span);
			return tide_err_set(err, ENOMEM, "out of memory");
		}
	}
	join_spans(&spans);
	cut_spans(&spans, until);
	*ret_spans = spans.span;
	*ret_count = spans.count;
	return 0;
}
