/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time zones: between instants (int64_t seconds since the epoch, UTC) and local
 * times ("local": the seconds from 1970-01-01T00:00:00 that a wall clock there
 * shows).  GLib reads the zone files (tzfile(5)); nothing here touches TZ, so
 * every function may be called from any thread of a daemon at any time.
 *
 * A zone is immutable; it may be used by many threads at once.
 */
#ifndef TIDE_UTIL_ZONE_H
#define TIDE_UTIL_ZONE_H

#include <stddef.h>
#include <stdint.h>

struct tide_err;
struct tide_zone;

enum {
	TIDE_TIME_SIZE = 32
}; /* bytes for the longest formatted time */

/*
 * The zone of that name (such as Europe/Berlin) below the folder root of zone
 * files; root NULL is the system's.  name NULL is the zone of this process: the
 * environment's TZ, else /etc/localtime.  Returns 0, or -1 with errno and the
 * error text:
 *	EINVAL	no name of a zone
 *	ENOENT	no such zone there, or its file is not a zone file
 *	ENOMEM
 * The caller ends it with tide_zone_destroy().
 */
int tide_zone_create(const char *root, const char *name,
		     struct tide_zone **ret_zone, struct tide_err *err);
void tide_zone_destroy(struct tide_zone *zone);

/* Its name; for the zone of this process the name that was found, or "local".
 */
const char *tide_zone_name(const struct tide_zone *zone);

/* Seconds east of UTC at that instant. */
int32_t tide_zone_offset(const struct tide_zone *zone, int64_t utc);

/*
 * The first instant at which the local clock shows `local` or has passed it.
 * So a time that the clock skips (daylight saving begins) is the first instant
 * after the gap, and one that comes twice (it ends) is the first of the two.
 * The result never decreases when `local` grows: windows cannot turn around.
 */
int64_t tide_zone_first(const struct tide_zone *zone, int64_t local);

/* What a clock there shows: "2026-12-01T20:00:00+08:00". */
void tide_zone_format(const struct tide_zone *zone, int64_t utc,
		      char buf[TIDE_TIME_SIZE]);

/* "2026-12-01T12:00:00Z" */
void tide_utc_format(int64_t utc, char buf[TIDE_TIME_SIZE]);

/*
 * An instant as a user writes it: "@1796126400" (epoch), or an ISO 8601 date
 * and time with "Z" or an offset such as +08:00, or, without one, a local time
 * in `zone`.  Returns 0, or -1 with errno EINVAL or ERANGE and the error text.
 */
int tide_zone_parse_time(const struct tide_zone *zone, const char *text,
			 int64_t *ret_utc, struct tide_err *err);

#endif /* TIDE_UTIL_ZONE_H */
