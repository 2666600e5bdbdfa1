/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to common/site: device files that lines of gres.conf name, and which
 * of them are one device.
 */
#ifndef TIDE_SITE_FILES_H
#define TIDE_SITE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/device/find.h"
#include "common/site/rules.h"
#include "common/util/hostlist.h"

/*
 * A value of File= or MultipleFiles=, "/dev/a[0-3],/dev/b", written out.  The
 * caller frees by tide_names_release().  -1 with errno: EINVAL, E2BIG (that is
 * for Slurm to read), ENOMEM.
 */
int tide_site_files(const char *list, struct tide_names *ret_files);

/* A device file of a line. */
struct tide_site_file {
	const struct tide_slurm_record *record;
	size_t device; /* which of the line's */
	bool own;      /* the first file of its device */
	char *path;    /* as the line has it */
	struct stat st;
	size_t order;
};

/* Starts as {0}. */
struct tide_site_seen {
	struct tide_site_file *file;
	size_t count;
};

/* Remember one, all but its order.  -1 with ENOMEM. */
int tide_site_seen_add(struct tide_site_seen *seen,
		       const struct tide_site_file *file);

/*
 * Say which are a device of another line, or of the same one, by whatever path.
 * A file that parts of a device have beside one of their own is no device of
 * theirs; mps and shard of Slurm have files of gpu.  What tide_compare() says
 * of the devices that were found (NULL: of none) is not said.
 */
void tide_site_seen_say(struct tide_site *site, struct tide_site_seen *seen,
			const struct tide_accels *found);

void tide_site_seen_release(struct tide_site_seen *seen);

#endif
