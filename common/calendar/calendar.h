/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When nodes are open to the pool: the windows of a tide_conf as spans of time.
 *
 * Times are instants, int64_t seconds since the epoch in UTC; spans are half
 * open, [open, close).  Windows of a node that overlap or adjoin count as one
 * span.  Nodes with the same windows share a window set (conf.h), and all
 * questions are asked about a set: once for 5,000 equal nodes.  A node that no
 * owner lends has no set and is always open; the caller knows that.
 *
 * Daylight saving.  Every local time stands for the first instant at which a
 * wall clock there shows it or has passed it.  A time that is skipped opens or
 * closes at the first instant after the gap; one that comes twice means the
 * first.  So a window never lasts longer by the owner's wall clock than
 * written, the owner has his node when his clock first shows End, and a window
 * that ends where another begins joins it on every day of the year.  A window
 * that lies wholly in a gap does not open that day.
 *
 * Two steps.  A struct tide_calendar knows the windows and their zones, and
 * gives the spans of a set; what a daemon asks of them is in common/window.  A
 * struct tide_timeline is the spans of every set within [from, until), for
 * people's questions.  Both are immutable and may be read by any number of
 * threads without a lock.  Neither reads a clock, and neither blocks once the
 * calendar exists.
 */
#ifndef TIDE_CALENDAR_CALENDAR_H
#define TIDE_CALENDAR_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

struct tide_conf;
struct tide_err;
struct tide_window;
struct tide_zone;

/* The longest stretch that can be worked out at once: 20 years. */
#define TIDE_CALENDAR_MAX (INT64_C(20) * 366 * 86400)

struct tide_span {
	int64_t open;
	int64_t close;
	const struct tide_window *window; /* whose opening opens it */
	int beyond; /* still open at the end of what was worked out: the
		       true close is at `close` or later */
};

struct tide_calendar;
struct tide_timeline;

/*
 * A calendar of all windows of conf, which it refers to: conf must live longer.
 * zoneinfo is the folder of zone files, NULL the system's; local_zone the zone
 * of windows that name none, NULL the zone of this process.  Reads zone files.
 * Returns 0, or -1 with errno ENOENT (a zone is missing) or ENOMEM and the
 * error text.
 */
int tide_calendar_create(const struct tide_conf *conf, const char *zoneinfo,
			 const char *local_zone,
			 struct tide_calendar **ret_calendar,
			 struct tide_err *err);
void tide_calendar_destroy(struct tide_calendar *calendar);

/* Number of window sets, as in the configuration. */
int tide_calendar_n_sets(const struct tide_calendar *calendar);

/* The zone of window i of the configuration. */
const struct tide_zone *
tide_calendar_window_zone(const struct tide_calendar *calendar, int window);

/*
 * The spans of a set that meet [from, until), in order and cut to it; a span
 * that was cut at `until` has `beyond` set.  The caller frees *ret_spans.
 * Returns 0, or -1 with errno:
 *	EINVAL	no such set, or until <= from
 *	ERANGE	longer than TIDE_CALENDAR_MAX, or before 1970 or after 9999
 *	ENOMEM
 */
int tide_calendar_spans(const struct tide_calendar *calendar, int set,
			int64_t from, int64_t until,
			struct tide_span **ret_spans, size_t *ret_count,
			struct tide_err *err);

/* The spans of every set within [from, until); errors as above. */
int tide_timeline_create(const struct tide_calendar *calendar, int64_t from,
			 int64_t until, struct tide_timeline **ret_timeline,
			 struct tide_err *err);
void tide_timeline_destroy(struct tide_timeline *timeline);

/*
 * The questions.  Each returns a span that belongs to the timeline, or NULL
 * when there is none; of a set out of range there is none.
 */

/* The span that is open at t. */
const struct tide_span *tide_timeline_at(const struct tide_timeline *timeline,
					 int set, int64_t t);

/* The first span that opens later than t. */
const struct tide_span *
tide_timeline_opening(const struct tide_timeline *timeline, int set, int64_t t);

/* All spans of a set, in order; *ret_count of them. */
const struct tide_span *
tide_timeline_spans(const struct tide_timeline *timeline, int set,
		    size_t *ret_count);

#endif /* TIDE_CALENDAR_CALENDAR_H */
