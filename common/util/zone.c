/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time zones on GLib's GTimeZone, which reads zone files with a lock of its own
 * and needs no setenv().  Of GLib only "offset at an instant" is used; the way
 * from local time back is ours, because GLib picks one of two equal local times
 * by the name "standard" or "daylight", which is not always the later or the
 * earlier one (Europe/Dublin, Africa/Casablanca).
 */
#include "config.h"

#include "common/util/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/util/err.h"
#include "common/util/parse.h"

static const char system_root[] = "/usr/share/zoneinfo";

/* No two changes of a zone's clock are nearer than this to one local time. */
enum {
	AROUND = 86400
};

struct tide_zone {
	GTimeZone *gtz;
	char *name;
};

static int zone_name_valid(const char *name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_+-/";

	return *name && *name != '/' && name[strspn(name, allowed)] == '\0' &&
	       strlen(name) < 128;
}

/*
 * GLib complains on stderr about files that are no zone files, so look first:
 * a regular file that begins with "TZif".
 */
static int zone_file_valid(const char *path)
{
	char magic[4];
	struct stat st;
	int valid;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return 0;
	valid = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		read(fd, magic, 4) == 4 && !memcmp(magic, "TZif", 4);
	close(fd);
	return valid;
}

static int zone_open(const char *root, const char *name, GTimeZone **ret_gtz,
		     struct tide_err *err)
{
	char *path;
	GTimeZone *gtz = NULL;

	if (!zone_name_valid(name))
		return tide_err_set(err, EINVAL,
				    "'%s' is no name of a time zone", name);
	if (asprintf(&path, "%s/%s", root ? root : system_root, name) < 0)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (zone_file_valid(path))
		gtz = g_time_zone_new_identifier(path);
	free(path);
	if (!gtz)
		return tide_err_set(err, ENOENT, "unknown time zone '%s'",
				    name);
	*ret_gtz = gtz;
	return 0;
}

/* GLib calls a zone that it found through a link by the path of that link. */
static const char *local_name(GTimeZone *gtz)
{
	const char *name = g_time_zone_get_identifier(gtz);

	return name && *name != '/' && *name != ':' ? name : "local";
}

int tide_zone_create(const char *root, const char *name,
		     struct tide_zone **ret_zone, struct tide_err *err)
{
	struct tide_zone *zone = calloc(1, sizeof(*zone));

	if (!zone)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (name && zone_open(root, name, &zone->gtz, err))
		goto fail;
	if (!name)
		zone->gtz = g_time_zone_new_local();
	zone->name = strdup(name ? name : local_name(zone->gtz));
	if (!zone->name) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto fail;
	}
	*ret_zone = zone;
	return 0;
fail:
	tide_zone_destroy(zone);
	return -1;
}

void tide_zone_destroy(struct tide_zone *zone)
{
	int saved = errno;

	if (!zone)
		return;
	if (zone->gtz)
		g_time_zone_unref(zone->gtz);
	free(zone->name);
	free(zone);
	errno = saved;
}

const char *tide_zone_name(const struct tide_zone *zone)
{
	return zone->name;
}

int32_t tide_zone_offset(const struct tide_zone *zone, int64_t utc)
{
	int interval = g_time_zone_find_interval(zone->gtz,
						 G_TIME_TYPE_UNIVERSAL, utc);

	return interval < 0 ? 0 : g_time_zone_get_offset(zone->gtz, interval);
}

int64_t tide_zone_first(const struct tide_zone *zone, int64_t local)
{
	int64_t before = tide_zone_offset(zone, local - AROUND);
	int64_t after = tide_zone_offset(zone, local + AROUND);
	int64_t low, high;

	/* the clock went back or stood still: the old offset comes first */
	if (tide_zone_offset(zone, local - before) == before)
		return local - before;
	if (tide_zone_offset(zone, local - after) == after)
		return local - after;
	/*
	 * In a gap.  With the new, larger offset the instant lies before the
	 * change, with the old one at or after it: look for the change.
	 */
	low = local - after;
	high = local - before;
	while (high - low > 1) {
		int64_t mid = low + (high - low) / 2;

		if (tide_zone_offset(zone, mid) == before)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static void format_local(int64_t local, char buf[TIDE_TIME_SIZE])
{
	time_t t = (time_t)local;
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    !strftime(buf, TIDE_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(buf, TIDE_TIME_SIZE, "?");
}

void tide_zone_format(const struct tide_zone *zone, int64_t utc,
		      char buf[TIDE_TIME_SIZE])
{
	int32_t offset = tide_zone_offset(zone, utc);
	int minutes = abs(offset) / 60;
	size_t len;

	format_local(utc + offset, buf);
	len = strlen(buf);
	snprintf(buf + len, TIDE_TIME_SIZE - len, "%c%02d:%02d",
		 offset < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
}

void tide_utc_format(int64_t utc, char buf[TIDE_TIME_SIZE])
{
	size_t len;

	format_local(utc, buf);
	len = strlen(buf);
	snprintf(buf + len, TIDE_TIME_SIZE - len, "Z");
}

/* "+08:00", "-0330" or "Z" at the end of an ISO 8601 time */
static int parse_offset(const char *text, int32_t *ret_offset)
{
	char clock[6];

	if (!strcmp(text, "Z") || !strcmp(text, "z")) {
		*ret_offset = 0;
		return 0;
	}
	if (strlen(text) == 6)
		snprintf(clock, sizeof(clock), "%s", text + 1);
	else if (strlen(text) == 5)
		snprintf(clock, sizeof(clock), "%.2s:%.2s", text + 1, text + 3);
	else
		return -1;
	if (tide_parse_clock(clock, ret_offset, NULL))
		return -1;
	if (*text == '-')
		*ret_offset = -*ret_offset;
	return 0;
}

int tide_zone_parse_time(const struct tide_zone *zone, const char *text,
			 int64_t *ret_utc, struct tide_err *err)
{
	/* room for "9999-12-31T23:59:59", which everything longer is cut to */
	char stamp[24];
	size_t len = strcspn(text, "Zz+");
	const char *minus = strchr(text, ':') ? strrchr(text, '-') : NULL;
	int64_t local;
	int32_t offset;

	if (*text == '@')
		return tide_parse_int(text + 1, -(INT64_C(1) << 40),
				      INT64_C(1) << 40, ret_utc, err);
	/* the third dash, behind the clock, is a western offset */
	if (minus && minus > strchr(text, ':'))
		len = (size_t)(minus - text);
	if (len >= sizeof(stamp))
		return tide_err_set(err, EINVAL, "no date and time");
	memcpy(stamp, text, len);
	stamp[len] = '\0';
	if (tide_parse_datetime(stamp, &local, err))
		return -1;
	if (!text[len]) {
		*ret_utc = tide_zone_first(zone, local);
		return 0;
	}
	if (parse_offset(text + len, &offset))
		return tide_err_set(err, EINVAL,
				    "the offset must be Z, +HH:MM or -HH:MM");
	*ret_utc = local - offset;
	return 0;
}
