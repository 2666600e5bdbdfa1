/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a timeline, against answers worked out by hand, and against a
 * walk over all spans for every minute of two weeks.
 */
#include "config.h"

#include "common/calendar/calendar.h"

#include <errno.h>
#include <stdlib.h>

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/util/zone.h"
#include "tests/lib/tap.h"

static const char text[] =
	"PoolPartition=p\n"
	"OwnerAccount=o Nodes=n,m,never,always\n"
	"WindowName=nights  Nodes=n Days=Mon-Fri Start=20:00 End=08:00\n"
	"WindowName=lunch   Nodes=m Days=Tue Start=12:00 End=13:00\n"
	"WindowName=dinner  Nodes=m Days=Wed Start=18:00 End=21:00\n"
	"WindowName=forever Nodes=always Days=Mon-Sun\n";

/* Tuesday 2026-12-01T00:00:00Z, and the horizon of two weeks */
#define T0 INT64_C(1796083200)
#define HOUR INT64_C(3600)
#define END (T0 + 14 * 24 * HOUR)

enum question { AT, OPENING };

static const struct {
	enum question question;
	const char *node;
	int64_t t;
	int64_t open, close;	/* in hours from T0; -1: none */
	const char *what;
} cases[] = {
	{AT, "n", T0, 0, 8, "open at the beginning"},
	{AT, "n", T0 + 8 * HOUR - 1, 0, 8, "the last second"},
	{AT, "n", T0 + 8 * HOUR, -1, -1, "closed at the close"},
	{AT, "n", T0 + 20 * HOUR, 20, 32, "open at the opening"},
	{AT, "never", T0, -1, -1, "a node without windows"},
	{AT, "always", T0 + 5, 0, 336, "a node that is always open"},
	{AT, "n", END, -1, -1, "nothing is known at the end"},
	{AT, "n", T0 - HOUR, -1, -1, "nor before the beginning"},
	{OPENING, "n", T0, 20, 32, "the opening after this one"},
	{OPENING, "m", T0, 12, 13, "the first opening"},
	{OPENING, "m", T0 + 12 * HOUR, 42, 45, "later than now"},
	{OPENING, "always", T0, -1, -1, "no further opening"},
};

static const struct tide_span *ask(const struct tide_timeline *timeline,
				   enum question question, int set, int64_t t)
{
	return question == AT ? tide_timeline_at(timeline, set, t) :
				tide_timeline_opening(timeline, set, t);
}

static void test_questions(const struct tide_conf *conf,
			   const struct tide_timeline *timeline)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int set = tide_conf_node(conf, cases[i].node)->set;
		const struct tide_span *span =
			ask(timeline, cases[i].question, set, cases[i].t);

		if (cases[i].open < 0)
			ok(!span, "%s", cases[i].what);
		else if (!ok(span && span->open == T0 + cases[i].open * HOUR &&
				     span->close == T0 + cases[i].close * HOUR &&
				     span->beyond == (span->close == END),
			     "%s", cases[i].what) &&
			 span)
			diag("got %lld to %lld",
			     (long long)((span->open - T0) / HOUR),
			     (long long)((span->close - T0) / HOUR));
	}
	ok(!tide_timeline_at(timeline, -1, T0) &&
		   !tide_timeline_opening(timeline, 99, T0),
	   "a set out of range has no span");
}

/* The same by looking at each span. */
static const struct tide_span *slow(const struct tide_span *span, size_t count,
				    enum question question, int64_t t)
{
	for (size_t i = 0; i < count; i++)
		if (question == AT ? span[i].open <= t && span[i].close > t :
				     span[i].open > t)
			return &span[i];
	return NULL;
}

static void test_walk(const struct tide_timeline *timeline, int n_sets)
{
	int64_t asked = 0, different = 0;

	for (int set = 0; set < n_sets; set++) {
		size_t n;
		const struct tide_span *span =
			tide_timeline_spans(timeline, set, &n);

		for (int64_t t = T0 - 60; t <= END + 60; t += 30) {
			asked += 2;
			different += ask(timeline, AT, set, t) !=
				     slow(span, n, AT, t);
			different += ask(timeline, OPENING, set, t) !=
				     slow(span, n, OPENING, t);
		}
	}
	ok(asked > 300000 && !different,
	   "%lld questions, %lld answers differ from a walk",
	   (long long)asked, (long long)different);
}

int main(void)
{
	struct tide_conf *conf = NULL;
	struct tide_calendar *calendar = NULL;
	struct tide_timeline *timeline = NULL;
	struct tide_err err = {""};

	if (tide_conf_parse(text, "t", NULL, &conf, NULL, &err) ||
	    tide_calendar_create(conf, NULL, "UTC", &calendar, &err) ||
	    tide_timeline_create(calendar, T0, END, &timeline, &err)) {
		ok(0, "%s", err.text);
		return tap_done();
	}
	test_questions(conf, timeline);
	test_walk(timeline, conf->n_sets);
	tide_timeline_destroy(timeline);
	timeline = NULL;
	ok(tide_timeline_create(calendar, T0, T0, &timeline, &err) == -1 &&
		   errno == EINVAL && !timeline,
	   "an empty stretch is refused");
	tide_timeline_destroy(NULL);
	tide_calendar_destroy(calendar);
	tide_conf_destroy(conf);
	return tap_done();
}
