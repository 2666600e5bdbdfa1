/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole small files: see file.h. */
#include "config.h"

#include "common/util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct tide_err *err, const char *what, const char *path)
{
	return tide_err_set(err, errno, "could not %s %s: %s", what, path,
			    strerror(errno));
}

/* -1 unless it is a plain file. */
static int check_kind(const struct stat *st, const char *path,
		      struct tide_err *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (!S_ISDIR(st->st_mode))
		return tide_err_set(err, EINVAL,
				    "could not read %s: it is not a plain file",
				    path);
	errno = EISDIR;
	return fail(err, "read", path);
}

int tide_file_plain(const char *path, struct tide_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return fail(err, "read", path);
	return check_kind(&st, path, err);
}

/* All of the file into text, which has room for size bytes. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, text + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += got;
	}
	return done;
}

int tide_file_read(const char *path, char **ret_text, struct tide_err *err)
{
	/* Opening a pipe would wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
	char *text = NULL;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return fail(err, "open", path);
	if (fstat(fd, &st) < 0) {
		fail(err, "read", path);
		goto out;
	}
	if (check_kind(&st, path, err))
		goto out;
	if (st.st_size > TIDE_FILE_MAX) {
		errno = EFBIG;
		fail(err, "read", path);
		goto out;
	}
	text = malloc(st.st_size + 1);
	got = text ? read_all(fd, text, st.st_size) : -1;
	if (got < 0) {
		fail(err, "read", path);
		goto out;
	}
	text[got] = '\0';
	if (strlen(text) != (size_t)got) {
		tide_err_set(err, EINVAL,
			     "could not read %s: it holds a zero byte", path);
		goto out;
	}
	*ret_text = text;
	text = NULL;
	rc = 0;
out:
	free(text);
	close(fd);
	return rc;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t put = write(fd, text, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		text += put;
		length -= put;
	}
	return 0;
}

/* Make the new name itself survive a crash. */
static int sync_folder(const char *path)
{
	char copy[PATH_MAX];
	int fd, rc;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

int tide_file_replace(const char *path, const char *text, struct tide_err *err)
{
	char beside[PATH_MAX];
	int fd, rc;

	if (snprintf(beside, sizeof(beside), "%s.new", path) >=
	    (int)sizeof(beside))
		return tide_err_set(err, ENAMETOOLONG,
				    "could not write %s: name too long", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(err, "write", beside);
	rc = write_all(fd, text, strlen(text)) || fsync(fd);
	if (close(fd) || rc || rename(beside, path) || sync_folder(path)) {
		fail(err, "write", path);
		unlink(beside);
		return -1;
	}
	return 0;
}

static int order(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

int tide_file_cmp(const struct stat *a, const struct stat *b)
{
	bool device = S_ISCHR(a->st_mode) || S_ISBLK(a->st_mode);
	int cmp = order(a->st_mode & S_IFMT, b->st_mode & S_IFMT);

	if (!cmp && device)
		return order(a->st_rdev, b->st_rdev);
	if (!cmp)
		cmp = order(a->st_dev, b->st_dev);
	return cmp ? cmp : order(a->st_ino, b->st_ino);
}
