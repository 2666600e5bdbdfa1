/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To whom a checkpoint folder belongs, and who uses it now: the file `owner`
 * and the lock on it.
 */
#include "config.h"

#include "launcher/checkpoint/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TITLE "tideflow checkpoints 1\n"
#define ROOM 2048

struct owner {
	char text[ROOM];
	char job[512], model[512], holder[512];
};

static void field(const char *text, const char *key, char *to, size_t room)
{
	size_t len = strlen(key);
	const char *at = text;

	to[0] = '\0';
	while (at && strncmp(at, key, len)) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (at)
		snprintf(to, room, "%.*s", (int)strcspn(at + len, "\n"),
			 at + len);
}

/* An empty file reads as a folder that nobody claimed yet. */
static int read_owner(int fd, struct owner *o)
{
	ssize_t n = pread(fd, o->text, sizeof(o->text) - 1, 0);

	if (n < 0)
		return -1;
	o->text[n] = '\0';
	field(o->text, "job ", o->job, sizeof(o->job));
	field(o->text, "model ", o->model, sizeof(o->model));
	field(o->text, "holder ", o->holder, sizeof(o->holder));
	return 0;
}

static int write_owner(int fd, const struct tide_claim *c)
{
	char text[ROOM];
	int len = snprintf(text, sizeof(text),
			   TITLE "job %s\nmodel %s\nholder %s\n", c->job,
			   c->model, c->holder);

	if (len >= (int)sizeof(text)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (pwrite(fd, text, len, 0) != len || ftruncate(fd, len))
		return -1;
	return fsync(fd);
}

static int try_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLK, &lock);
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static int lock_owner(struct tide_folder *f, int fd, const struct tide_claim *c,
		      struct tide_err *err)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	/* by the clock: a signal cuts a pause short */
	time_t end = now() + c->wait_s;
	struct owner o;

	while (try_lock(fd)) {
		if (errno != EAGAIN && errno != EACCES)
			return tide_err_set(
				err, errno,
				"cannot lock '%s/owner': %s (its file system must support locks)",
				f->path, strerror(errno));
		if (read_owner(fd, &o))
			o.holder[0] = '\0';
		if (!c->same || strncmp(o.holder, c->same, strlen(c->same)) ||
		    now() >= end)
			return tide_err_set(
				err, EBUSY,
				"cannot use checkpoint folder '%s': in use by %s",
				f->path,
				o.holder[0] ? o.holder : "another process");
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int check_owner(struct tide_folder *f, const struct owner *o,
		       const struct tide_claim *c, struct tide_err *err)
{
	if (!o->text[0])
		return 0;
	if (strncmp(o->text, TITLE, strlen(TITLE)))
		return tide_err_set(
			err, EPERM,
			"cannot use checkpoint folder '%s': its file 'owner' is not tiderun's",
			f->path);
	if (strcmp(o->job, c->job))
		return tide_err_set(
			err, EPERM,
			"cannot use checkpoint folder '%s': it belongs to job name '%s', this is '%s'; go on with it under --job-name=%s, or give this job a checkpoint.directory of its own",
			f->path, o->job, c->job, o->job);
	if (strcmp(o->model, c->model))
		return tide_err_set(
			err, EPERM,
			"cannot use checkpoint folder '%s': it belongs to model '%s', this is '%s'; give each model its own checkpoint.directory",
			f->path, o->model, c->model);
	return 0;
}

int tide_folder_claim(struct tide_folder *folder,
		      const struct tide_claim *claim, struct tide_err *err)
{
	struct owner o;
	int fd, saved;

	fd = openat(folder->fd, "owner", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return tide_err_set(err, errno, "cannot open '%s/owner': %s",
				    folder->path, strerror(errno));
	if (lock_owner(folder, fd, claim, err))
		goto fail;
	if (read_owner(fd, &o)) {
		tide_err_set(err, errno, "cannot read '%s/owner': %s",
			     folder->path, strerror(errno));
		goto fail;
	}
	if (check_owner(folder, &o, claim, err))
		goto fail;
	if (write_owner(fd, claim)) {
		tide_err_set(err, errno, "cannot write '%s/owner': %s",
			     folder->path, strerror(errno));
		goto fail;
	}
	folder->owner_fd = fd;
	tide_folder_clean(folder);
	return 0;
fail:
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}
