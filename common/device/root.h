/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files of /sys, /proc and /dev below a given root, which may be that of
 * this machine or a folder that somebody recorded.  Links never lead out of
 * the root (where the kernel knows openat2(2), Linux 5.6).  Nothing is waited
 * for: what is no plain file is not opened.
 *
 * Paths are relative to the root, without a slash at the beginning.
 */
#ifndef TIDE_DEVICE_ROOT_H
#define TIDE_DEVICE_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/util/err.h"

/* The most that is read of a file; more is EFBIG. */
#define TIDE_ROOT_MAX 65536

struct tide_root {
	int fd;
	const char *name; /* as it was given, for messages */
	bool live;	  /* it is that of this machine */
};

/* Open the folder; name must outlive it.  -1 with errno of open(2). */
int tide_root_open(struct tide_root *root, const char *name,
		   struct tide_err *err);

void tide_root_close(struct tide_root *root);

/*
 * The content without the line end, and zero bytes, after it; the caller frees
 * it.  -1 with errno: ENOENT, EINVAL (no plain file, or a zero byte in it),
 * EFBIG, ...
 */
int tide_root_read(const struct tide_root *root, const char *path,
		   char **ret_text, struct tide_err *err);

/*
 * Names in a folder but those that begin with a dot, in order of bytes; the
 * caller frees each and the list.  No such folder: none.
 */
int tide_root_list(const struct tide_root *root, const char *path,
		   char ***ret_names, size_t *ret_count, struct tide_err *err);

/* Is there a file, folder or link (which is not followed)? */
bool tide_root_has(const struct tide_root *root, const char *path);

/* What the path is, links followed inside the root.  -1 with errno. */
int tide_root_stat(const struct tide_root *root, const char *path,
		   struct stat *ret_st);

/* Where a link points, as it says; NULL when it is none.  The caller frees. */
char *tide_root_link(const struct tide_root *root, const char *path);

#endif
