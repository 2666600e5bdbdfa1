/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows as spans: a table of windows over one node, a stretch of time, and
 * the spans that must come out, in UTC.
 */
#include "config.h"

#include "common/calendar/calendar.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/util/zone.h"
#include "tests/lib/tap.h"

#define NIGHTS "WindowName=nights Nodes=n Days=Mon-Fri Start=20:00 End=08:00"

static const struct {
	const char *what;
	const char *zone;	/* of the server */
	const char *windows;	/* '|' between lines */
	const char *from, *until;
	const char *spans;	/* "open/close name", ", " between; + beyond */
} cases[] = {
	/* 2026-12-01 is a Tuesday */
	{"over midnight", "UTC", NIGHTS, "2026-12-01", "2026-12-03",
	 "2026-12-01T00:00/2026-12-01T08:00 nights, "
	 "2026-12-01T20:00/2026-12-02T08:00 nights, "
	 "2026-12-02T20:00/2026-12-03T00:00+ nights"},
	{"Friday's night reaches into Saturday, none opens then", "UTC", NIGHTS,
	 "2026-12-04T12:00", "2026-12-08T00:00",
	 "2026-12-04T20:00/2026-12-05T08:00 nights, "
	 "2026-12-07T20:00/2026-12-08T00:00+ nights"},
	{"in the zone of the window", "UTC", NIGHTS " TimeZone=Asia/Shanghai",
	 "2026-12-01", "2026-12-02",
	 "2026-12-01T12:00/2026-12-02T00:00 nights"},
	{"in the zone of the server", "Asia/Shanghai", NIGHTS,
	 "2026-12-01T06:00", "2026-12-02T06:00",
	 "2026-12-01T12:00/2026-12-02T00:00 nights"},
	{"whole days join over midnight", "UTC",
	 "WindowName=weekend Nodes=n Days=Sat,Sun", "2026-12-01", "2026-12-12",
	 "2026-12-05T00:00/2026-12-07T00:00 weekend"},
	{"nights and weekend count as one", "UTC",
	 NIGHTS "|WindowName=weekend Nodes=n Days=Sat,Sun",
	 "2026-12-04T12:00", "2026-12-07T12:00",
	 "2026-12-04T20:00/2026-12-07T00:00 nights"},
	{"adjoining windows join", "UTC",
	 "WindowName=a Nodes=n Start=20:00 End=24:00|"
	 "WindowName=b Nodes=n Start=00:00 End=06:00",
	 "2026-12-01T12:00", "2026-12-02T12:00",
	 "2026-12-01T20:00/2026-12-02T06:00 a"},
	{"windows a second apart do not", "UTC",
	 "WindowName=a Nodes=n Start=20:00 End=23:59:59|"
	 "WindowName=b Nodes=n Start=00:00 End=06:00",
	 "2026-12-01T12:00", "2026-12-02T12:00",
	 "2026-12-01T20:00/2026-12-01T23:59:59 a, "
	 "2026-12-02T00:00/2026-12-02T06:00 b"},
	{"one within another", "UTC",
	 "WindowName=a Nodes=n Start=08:00 End=20:00|"
	 "WindowName=b Nodes=n Start=10:00 End=11:00",
	 "2026-12-01", "2026-12-02", "2026-12-01T08:00/2026-12-01T20:00 a"},
	{"of two that open together the first names the span", "UTC",
	 "WindowName=a Nodes=n Start=08:00 End=10:00|"
	 "WindowName=b Nodes=n Start=08:00 End=11:00",
	 "2026-12-01", "2026-12-02", "2026-12-01T08:00/2026-12-01T11:00 a"},
	{"End=24:00", "UTC", "WindowName=a Nodes=n Days=Tue Start=18:00 End=24:00",
	 "2026-12-01", "2026-12-03", "2026-12-01T18:00/2026-12-02T00:00 a"},
	{"End=00:00 is the next midnight", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=18:00 End=00:00",
	 "2026-12-01", "2026-12-03", "2026-12-01T18:00/2026-12-02T00:00 a"},
	{"End before Start by a minute: nearly a day", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=18:00 End=17:59",
	 "2026-12-01", "2026-12-03", "2026-12-01T18:00/2026-12-02T17:59 a"},
	{"always open: beyond the horizon", "UTC", "WindowName=a Nodes=n Days=Mon-Sun",
	 "2026-12-01T10:00", "2026-12-31T10:00",
	 "2026-12-01T10:00/2026-12-31T10:00+ a"},
	{"always, from two windows", "UTC",
	 "WindowName=a Nodes=n Start=08:00 End=20:00|"
	 "WindowName=b Nodes=n Start=20:00 End=08:00",
	 "2026-12-01T10:00", "2026-12-31T10:00",
	 "2026-12-01T10:00/2026-12-31T10:00+ a"},
	{"always, and a horizon at midnight", "UTC",
	 "WindowName=a Nodes=n Days=Mon-Sun", "2026-12-01", "2026-12-31",
	 "2026-12-01T00:00/2026-12-31T00:00+ a"},
	{"a close at the horizon is no close beyond it", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=08:00 End=20:00",
	 "2026-12-01", "2026-12-01T20:00", "2026-12-01T08:00/2026-12-01T20:00 a"},
	{"an opening at the horizon is outside", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=08:00 End=20:00",
	 "2026-12-01", "2026-12-01T08:00", ""},
	{"a close at the beginning is outside", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=08:00 End=20:00",
	 "2026-12-01T20:00", "2026-12-02", ""},
	{"over the end of the year", "UTC", NIGHTS, "2026-12-31T12:00",
	 "2027-01-01T12:00", "2026-12-31T20:00/2027-01-01T08:00 nights"},
	{"over 29 February", "UTC", "WindowName=a Nodes=n Days=Tue Start=12:00 End=06:00",
	 "2028-02-28", "2028-03-02", "2028-02-29T12:00/2028-03-01T06:00 a"},
	{"a year without one", "UTC", "WindowName=a Nodes=n Days=Sun Start=12:00 End=06:00",
	 "2027-02-27", "2027-03-02", "2027-02-28T12:00/2027-03-01T06:00 a"},
	{"once", "Asia/Shanghai",
	 "WindowName=trip Nodes=n From=2026-12-20T18:00 Until=2027-01-04T08:00",
	 "2026-12-01", "2027-02-01",
	 "2026-12-20T10:00/2027-01-04T00:00 trip"},
	{"once, long over", "UTC",
	 "WindowName=trip Nodes=n From=2026-12-20T18:00 Until=2027-01-04T08:00",
	 "2027-01-04T08:00", "2028-01-01", ""},
	{"once joins a weekly one", "UTC",
	 "WindowName=trip Nodes=n From=2026-12-02T08:00 Until=2026-12-02T20:00|" NIGHTS,
	 "2026-12-01T12:00", "2026-12-03T12:00",
	 "2026-12-01T20:00/2026-12-03T08:00 nights"},
	{"two zones adjoin", "UTC",
	 "WindowName=a Nodes=n Days=Tue Start=20:00 End=24:00 TimeZone=Asia/Shanghai|"
	 "WindowName=b Nodes=n Days=Tue Start=17:00 End=18:00 TimeZone=Europe/Berlin",
	 "2026-12-01", "2026-12-03", "2026-12-01T12:00/2026-12-01T17:00 a"},

	/* Berlin: 2026-03-29 02:00 -> 03:00, 2026-10-25 03:00 -> 02:00 */
	{"the clock goes forward: an hour less", "Europe/Berlin",
	 "WindowName=a Nodes=n Start=20:00 End=08:00",
	 "2026-03-28T12:00", "2026-03-29T12:00",
	 "2026-03-28T19:00/2026-03-29T06:00 a"},
	{"the clock goes back: an hour more", "Europe/Berlin",
	 "WindowName=a Nodes=n Start=20:00 End=08:00",
	 "2026-10-24T12:00", "2026-10-25T12:00",
	 "2026-10-24T18:00/2026-10-25T07:00 a"},
	{"opens in the gap: after it", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sun Start=02:30 End=08:00",
	 "2026-03-29", "2026-03-30", "2026-03-29T01:00/2026-03-29T06:00 a"},
	{"closes in the gap: after it", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=02:30",
	 "2026-03-28T12:00", "2026-03-30", "2026-03-28T19:00/2026-03-29T01:00 a"},
	{"wholly in the gap: not that day", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sun Start=02:10 End=02:50",
	 "2026-03-29", "2026-04-06", "2026-04-05T00:10/2026-04-05T00:50 a"},
	{"opens at a time that comes twice: the first", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sun Start=02:30 End=08:00",
	 "2026-10-24T12:00", "2026-10-26", "2026-10-25T00:30/2026-10-25T07:00 a"},
	{"closes at a time that comes twice: the first", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=02:30",
	 "2026-10-24T12:00", "2026-10-26", "2026-10-24T18:00/2026-10-25T00:30 a"},
	{"wholly in the hour that comes twice: once", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sun Start=02:10 End=02:50",
	 "2026-10-25", "2026-10-26", "2026-10-25T00:10/2026-10-25T00:50 a"},
	{"windows that adjoin in the hour that comes twice", "Europe/Berlin",
	 "WindowName=a Nodes=n Start=20:00 End=02:30|"
	 "WindowName=b Nodes=n Start=02:30 End=08:00",
	 "2026-10-24T12:00", "2026-10-25T12:00",
	 "2026-10-24T18:00/2026-10-25T07:00 a"},
	{"whole days join over both changes", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Mon-Sun", "2026-03-01", "2026-11-30",
	 "2026-03-01T00:00/2026-11-30T00:00+ a"},

	{"New York, forward", "America/New_York",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2027-03-13T12:00", "2027-03-15", "2027-03-14T01:00/2027-03-14T12:00 a"},
	{"New York, back", "America/New_York",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2026-10-31T12:00", "2026-11-02", "2026-11-01T00:00/2026-11-01T13:00 a"},
	/* Lord Howe: half an hour; 2026-10-04 02:00 -> 02:30 (+10:30 -> +11) */
	{"Lord Howe, forward by 30 minutes", "Australia/Lord_Howe",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2026-10-03", "2026-10-05", "2026-10-03T09:30/2026-10-03T21:00 a"},
	{"Lord Howe, opens in the gap", "Australia/Lord_Howe",
	 "WindowName=a Nodes=n Days=Sun Start=02:15 End=03:00",
	 "2026-10-03", "2026-10-05", "2026-10-03T15:30/2026-10-03T16:00 a"},
	{"Lord Howe, back by 30 minutes", "Australia/Lord_Howe",
	 "WindowName=a Nodes=n Days=Sun Start=01:45 End=02:00",
	 "2027-04-03", "2027-04-05", "2027-04-03T14:45/2027-04-03T15:30 a"},
	/*
	 * Casablanca: +01 all year but Ramadan; back 2024-03-10 03:00 -> 02:00.
	 * In the past: governments change what lies ahead.
	 */
	{"Casablanca, Ramadan begins", "Africa/Casablanca",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2024-03-09T12:00", "2024-03-11", "2024-03-09T19:00/2024-03-10T08:00 a"},
	{"Casablanca, Ramadan ends", "Africa/Casablanca",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2024-04-13T12:00", "2024-04-15", "2024-04-13T20:00/2024-04-14T07:00 a"},
	{"Tehran has no summer time any more", "Asia/Tehran",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2026-07-04T12:00", "2026-07-06", "2026-07-04T16:30/2026-07-05T04:30 a"},
	{"Shanghai never changes", "Asia/Shanghai",
	 "WindowName=a Nodes=n Days=Sun Start=02:00 End=03:00",
	 "2026-03-28", "2026-03-30", "2026-03-28T18:00/2026-03-28T19:00 a"},
	{"Apia left out a Friday", "Pacific/Apia",
	 "WindowName=a Nodes=n Days=Thu-Sat Start=12:00 End=13:00",
	 "2011-12-29", "2012-01-01",
	 "2011-12-29T22:00/2011-12-29T23:00 a, "
	 "2011-12-30T22:00/2011-12-30T23:00 a"},
	{"beyond 2038", "Europe/Berlin",
	 "WindowName=a Nodes=n Days=Sat Start=20:00 End=08:00",
	 "2060-07-03", "2060-07-05", "2060-07-03T18:00/2060-07-04T06:00 a"},
	{"the first days of 1970", "UTC",
	 "WindowName=a Nodes=n Days=Thu", "1970-01-01", "1970-01-03",
	 "1970-01-01T00:00/1970-01-02T00:00 a"},
};

static int64_t at(const char *text)
{
	struct tide_zone *utc = NULL;
	int64_t t = -1;

	if (tide_zone_create(NULL, "UTC", &utc, NULL) ||
	    tide_zone_parse_time(utc, text, &t, NULL))
		diag("bad time %s", text);
	tide_zone_destroy(utc);
	return t;
}

/* A configuration with those windows over the node n. */
static struct tide_conf *conf_of(const char *windows)
{
	char text[1024];
	struct tide_conf *conf = NULL;
	struct tide_err err = {""};

	snprintf(text, sizeof(text),
		 "PoolPartition=p\nOwnerAccount=o Nodes=n,never\n%s", windows);
	for (char *p = text; *p; p++)
		if (*p == '|')
			*p = '\n';
	if (tide_conf_parse(text, "t", NULL, &conf, NULL, &err))
		diag("%s", err.text);
	return conf;
}

/* "2026-12-01T20:00", seconds only when there are any */
static int short_time(char *buf, size_t size, int64_t t)
{
	char text[TIDE_TIME_SIZE];

	tide_utc_format(t, text);
	return snprintf(buf, size, "%.*s", t % 60 ? 19 : 16, text);
}

static void print_spans(const struct tide_span *span, size_t count, char *buf,
			size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && n + 100 < size; i++) {
		n += (size_t)snprintf(buf + n, size - n, "%s", i ? ", " : "");
		n += (size_t)short_time(buf + n, size - n, span[i].open);
		n += (size_t)snprintf(buf + n, size - n, "/");
		n += (size_t)short_time(buf + n, size - n, span[i].close);
		n += (size_t)snprintf(buf + n, size - n, "%s %s",
				      span[i].beyond ? "+" : "",
				      span[i].window->name);
	}
}

/* The spans of a case as text; -1 with the error text. */
static int spans_of(size_t i, char *buf, size_t size, struct tide_err *err)
{
	struct tide_conf *conf = conf_of(cases[i].windows);
	struct tide_calendar *calendar = NULL;
	struct tide_span *span = NULL;
	size_t count = 0;
	int rc = -1;

	if (conf &&
	    !tide_calendar_create(conf, NULL, cases[i].zone, &calendar, err) &&
	    !tide_calendar_spans(calendar, tide_conf_node(conf, "n")->set,
				 at(cases[i].from), at(cases[i].until), &span,
				 &count, err)) {
		print_spans(span, count, buf, size);
		rc = 0;
	}
	free(span);
	tide_calendar_destroy(calendar);
	tide_conf_destroy(conf);
	return rc;
}

static void test_case(size_t i)
{
	struct tide_err err = {""};
	char buf[1024];

	if (spans_of(i, buf, sizeof(buf), &err))
		ok(0, "%s: %s", cases[i].what, err.text);
	else
		is_str(buf, cases[i].spans, cases[i].what);
}

static void test_errors(void)
{
	static const struct {
		int set;
		int64_t from, until;
		int errnum;
		const char *what;
	} bad[] = {
		{-1, 0, 1, EINVAL, "no set -1"},
		{2, 0, 1, EINVAL, "no such set"},
		{1, 5, 5, EINVAL, "an empty stretch"},
		{1, 5, 4, EINVAL, "a stretch backwards"},
		{1, -1, 5, ERANGE, "before 1970"},
		{1, 0, TIDE_CALENDAR_MAX + 1, ERANGE, "too long"},
		{1, INT64_C(253402214400), INT64_C(253402214401), ERANGE,
		 "after 9999"},
		{1, INT64_MIN, INT64_MAX, ERANGE, "all of time"},
	};
	struct tide_conf *conf = conf_of(NIGHTS);
	struct tide_calendar *calendar = NULL;
	struct tide_span *span = NULL;
	struct tide_err err = {""};
	size_t count = 77;

	ok(tide_calendar_create(conf, "/nowhere", "UTC", &calendar, &err) ==
			   -1 &&
		   errno == ENOENT && !calendar,
	   "no zone files: %s", err.text);
	tide_calendar_create(conf, NULL, "UTC", &calendar, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(tide_calendar_spans(calendar, bad[i].set, bad[i].from,
				       bad[i].until, &span, &count, &err) ==
				   -1 &&
			   errno == bad[i].errnum && !span && count == 77,
		   "%s: %s", bad[i].what, err.text);
	ok(!tide_calendar_spans(calendar, 0, 0, 86400, &span, &count, &err) &&
		   !count,
	   "a node without a window has no span");
	free(span);
	tide_calendar_destroy(calendar);
	tide_calendar_destroy(NULL);
	tide_conf_destroy(conf);
}

/* Calendars made and asked by many threads at once, each case in its turn. */
static void *many(void *arg)
{
	intptr_t wrong = 0;

	(void)arg;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char buf[1024] = "";

		spans_of(i, buf, sizeof(buf), NULL);
		wrong += strcmp(buf, cases[i].spans) != 0;
	}
	return (void *)wrong;
}

static void test_threads(void)
{
	enum { THREADS = 8 };
	pthread_t thread[THREADS];
	int started = 0;
	intptr_t wrong = 0;

	while (started < THREADS &&
	       !pthread_create(&thread[started], NULL, many, NULL))
		started++;
	for (int i = 0; i < started; i++) {
		void *result;

		pthread_join(thread[i], &result);
		wrong += (intptr_t)result;
	}
	ok(started == THREADS && !wrong,
	   "%d threads at once, %ld wrong answers", started, (long)wrong);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(i);
	test_threads();
	test_errors();
	return tap_done();
}
