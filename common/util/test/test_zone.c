/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time zones: offsets, local times that do not exist or come twice, formats.
 * The instants wanted come from GNU date -d with TZ set.
 */
#include "config.h"

#include "common/util/zone.h"

#include <errno.h>

#include "common/util/err.h"
#include "common/util/parse.h"
#include "tests/lib/tap.h"

static void test_first(void)
{
	static const struct {
		const char *zone, *local, *utc, *what;
	} cases[] = {
		{"Asia/Shanghai", "2026-12-01T20:00", "2026-12-01T12:00:00Z", ""},
		{"UTC", "2026-12-01T20:00", "2026-12-01T20:00:00Z", ""},
		{"Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z",
		 "before the gap"},
		{"Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00:00Z",
		 "first of the gap"},
		{"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z",
		 "in the gap"},
		{"Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z",
		 "after the gap"},
		{"Europe/Berlin", "2026-10-25T02:00", "2026-10-25T00:00:00Z",
		 "comes twice"},
		{"Europe/Berlin", "2026-10-25T02:59:59", "2026-10-25T00:59:59Z",
		 "comes twice"},
		{"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z",
		 "after"},
		{"America/New_York", "2027-03-14T02:15", "2027-03-14T07:00:00Z",
		 "in the gap"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z",
		 "comes twice"},
		{"Australia/Lord_Howe", "2026-10-04T02:10",
		 "2026-10-03T15:30:00Z", "in a gap of 30 minutes"},
		{"Australia/Lord_Howe", "2027-04-04T01:45",
		 "2027-04-03T14:45:00Z", "comes twice, 30 minutes apart"},
		{"Africa/Casablanca", "2024-03-10T02:30", "2024-03-10T01:30:00Z",
		 "comes twice, 'daylight' is the later"},
		{"Europe/Dublin", "2026-10-25T01:30", "2026-10-25T00:30:00Z",
		 "comes twice, winter is the 'daylight' time"},
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00Z",
		 "a day that was left out"},
		{"Europe/Berlin", "2060-07-01T12:00", "2060-07-01T10:00:00Z",
		 "beyond the table in the zone file"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_zone *zone = NULL;
		int64_t local = 0;
		char buf[TIDE_TIME_SIZE] = "";
		char name[128];

		tide_parse_datetime(cases[i].local, &local, NULL);
		if (!tide_zone_create(NULL, cases[i].zone, &zone, NULL))
			tide_utc_format(tide_zone_first(zone, local), buf);
		snprintf(name, sizeof(name), "%s %s %s", cases[i].zone,
			 cases[i].local, cases[i].what);
		is_str(buf, cases[i].utc, name);
		tide_zone_destroy(zone);
	}
}

static void test_monotone(void)
{
	static const char *const zones[] = {
		"Europe/Berlin",   "America/New_York", "Australia/Lord_Howe",
		"Africa/Casablanca", "Asia/Tehran",    "Europe/Dublin",
		"Pacific/Apia",
	};

	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++) {
		struct tide_zone *zone = NULL;
		int64_t last = INT64_MIN, from = 1293840000;
		int bad = 0;

		if (tide_zone_create(NULL, zones[i], &zone, NULL)) {
			ok(0, "%s", zones[i]);
			continue;
		}
		/* 2011, 2026 and 2027 in steps of 10 minutes */
		for (int64_t t = from; t < 1830297600; t += 600) {
			int64_t utc;

			if (t == from + 31536000)
				t = 1767225600;
			utc = tide_zone_first(zone, t);
			bad += utc < last;
			bad += utc + tide_zone_offset(zone, utc) < t;
			last = utc;
		}
		is_int(bad, 0, zones[i]);
		tide_zone_destroy(zone);
	}
}

static void test_create(void)
{
	static const struct {
		const char *root, *name;
		int errnum;
	} cases[] = {
		{NULL, "Mars/Olympus", ENOENT}, {NULL, "", EINVAL},
		{NULL, "../passwd", EINVAL},	{NULL, "/etc/passwd", EINVAL},
		{NULL, "Europe", ENOENT},	{NULL, "zone.tab", EINVAL},
		{NULL, "leapseconds", ENOENT},	{"/nowhere", "UTC", ENOENT},
	};
	struct tide_zone *zone = (struct tide_zone *)1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_err err = {""};

		ok(tide_zone_create(cases[i].root, cases[i].name, &zone, &err) ==
				   -1 &&
			   errno == cases[i].errnum &&
			   zone == (struct tide_zone *)1,
		   "'%s' is refused: %s", cases[i].name, err.text);
	}
	tide_zone_destroy(NULL);
	zone = NULL;
	ok(!tide_zone_create(NULL, NULL, &zone, NULL) &&
		   tide_zone_name(zone)[0],
	   "the zone of this process has a name");
	tide_zone_destroy(zone);
}

static void test_text(void)
{
	static const struct {
		const char *text, *utc;
	} cases[] = {
		{"@0", "1970-01-01T00:00:00Z"},
		{"@1796126400", "2026-12-01T12:00:00Z"},
		{"2026-12-01T20:00", "2026-12-01T12:00:00Z"},
		{"2026-12-01", "2026-11-30T16:00:00Z"},
		{"2026-12-01T20:00:30Z", "2026-12-01T20:00:30Z"},
		{"2026-12-01T20:00+05:30", "2026-12-01T14:30:00Z"},
		{"2026-12-01T20:00:00-0330", "2026-12-01T23:30:00Z"},
		{"2026-12-01 20:00", "2026-12-01T12:00:00Z"},
		{"tomorrow", NULL},
		{"@", NULL},
		{"@1x", NULL},
		{"2026-12-01T20:00+8", NULL},
		{"2026-12-01T20:00ZZ", NULL},
		{"2026-12-01T20:00:00.0000000000000", NULL},
		{"", NULL},
	};
	struct tide_zone *zone = NULL;
	char buf[TIDE_TIME_SIZE];

	tide_zone_create(NULL, "Asia/Shanghai", &zone, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t utc;
		int rc = tide_zone_parse_time(zone, cases[i].text, &utc, NULL);

		if (!cases[i].utc) {
			ok(rc == -1, "time '%s' is refused", cases[i].text);
			continue;
		}
		tide_utc_format(rc ? -1 : utc, buf);
		is_str(buf, cases[i].utc, cases[i].text);
	}
	tide_zone_format(zone, 1796126400, buf);
	is_str(buf, "2026-12-01T20:00:00+08:00", "local with offset");
	tide_zone_destroy(zone);
	tide_zone_create(NULL, "America/St_Johns", &zone, NULL);
	tide_zone_format(zone, 1796126400, buf);
	is_str(buf, "2026-12-01T08:30:00-03:30", "an offset of half an hour");
	tide_zone_destroy(zone);
}

int main(void)
{
	test_create();
	test_first();
	test_monotone();
	test_text();
	return tap_done();
}
