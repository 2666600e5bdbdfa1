/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole small files: read one, replace one; and whether two are the same.
 *
 * The first two block on the disk; a daemon calls them in a thread that holds
 * no lock.
 */
#ifndef TIDE_UTIL_FILE_H
#define TIDE_UTIL_FILE_H

#include <sys/stat.h>

#include "common/util/err.h"

/* More than any file of ours; a bigger one is refused with EFBIG. */
#define TIDE_FILE_MAX (64 * 1024 * 1024)

/*
 * The content with a NUL after it; the caller frees it.  -1 with errno of
 * open() or read() (ENOENT: there is no such file), EFBIG, EISDIR or ENOMEM;
 * EINVAL: it is a pipe or a device, or holds a zero byte, as files do that a
 * power failure hit.
 */
int tide_file_read(const char *path, char **ret_text, struct tide_err *err);

/*
 * For who opens a file by other means: is it a plain one, so that opening it
 * waits for nobody?  -1 with errno of stat(), EISDIR, or EINVAL: it is a pipe
 * or a device.
 */
int tide_file_plain(const char *path, struct tide_err *err);

/*
 * Replace the file by this text, mode 0600, so that a crash leaves the old or
 * the new one and never half of either: written beside it, synced, renamed,
 * folder synced.  -1 with errno; the old one is then still there.
 */
int tide_file_replace(const char *path, const char *text, struct tide_err *err);

/*
 * An order of files by what they are, whatever their paths: 0 when both are one
 * device, by its kind and number, or else one file.
 */
int tide_file_cmp(const struct stat *a, const struct stat *b);

#endif
