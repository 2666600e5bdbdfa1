/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists, chooses and prunes the checkpoints of a folder.  Who may use it is in
 * owner.c; what a file holds is checkpoint.h's.
 */
#include "config.h"

#include "launcher/checkpoint/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind {
	OTHER,
	GOOD,
	BAD,
	TEMP
};

struct names {
	char (*list)[TIDE_CKPT_NAME];
	int n;
	int bad; /* files set aside as damaged */
};

int tide_folder_open(struct tide_folder *folder, const char *path,
		     struct tide_err *err)
{
	folder->fd = -1;
	folder->owner_fd = -1;
	if ((size_t)snprintf(folder->path, sizeof(folder->path), "%s", path) >=
	    sizeof(folder->path))
		return tide_err_set(
			err, ENAMETOOLONG,
			"cannot open checkpoint folder: name too long");
	if (mkdir(path, 0777) && errno != EEXIST)
		return tide_err_set(err, errno,
				    "cannot make checkpoint folder '%s': %s",
				    path, strerror(errno));
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return tide_err_set(err, errno,
				    "cannot open checkpoint folder '%s': %s",
				    path, strerror(errno));
	return 0;
}

void tide_folder_close(struct tide_folder *folder)
{
	if (folder->owner_fd >= 0)
		close(folder->owner_fd);
	if (folder->fd >= 0)
		close(folder->fd);
	folder->owner_fd = -1;
	folder->fd = -1;
}

/* "step-" ten or more digits ".h5", and what follows */
static enum kind kind_of(const char *name)
{
	size_t digits;

	if (strncmp(name, "step-", 5))
		return OTHER;
	digits = strspn(name + 5, "0123456789");
	if (digits < 10 || strncmp(name + 5 + digits, ".h5", 3))
		return OTHER;
	name += 5 + digits + 3;
	if (!*name)
		return GOOD;
	if (!strcmp(name, ".bad"))
		return BAD;
	return strcmp(name, ".tmp") ? OTHER : TEMP;
}

/* Newest first: more digits are a later step. */
static int newest_first(const void *a, const void *b)
{
	size_t la = strlen(a), lb = strlen(b);

	if (la != lb)
		return la > lb ? -1 : 1;
	return strcmp(b, a);
}

static int add_name(struct names *names, const char *name)
{
	char(*list)[TIDE_CKPT_NAME];

	if (strlen(name) >= TIDE_CKPT_NAME)
		return 0;
	list = realloc(names->list, (names->n + 1) * sizeof(*list));
	if (!list)
		return -1;
	names->list = list;
	snprintf(list[names->n++], sizeof(*list), "%s", name);
	return 0;
}

static int list_names(struct tide_folder *folder, struct names *names,
		      bool remove_temp, struct tide_err *err)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	memset(names, 0, sizeof(*names));
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return tide_err_set(err, errno,
				    "cannot read checkpoint folder '%s': %s",
				    folder->path, strerror(errno));
	}
	while (!rc && (entry = readdir(dir))) {
		enum kind kind = kind_of(entry->d_name);

		if (kind == GOOD)
			rc = add_name(names, entry->d_name);
		else if (kind == BAD)
			names->bad++;
		else if (kind == TEMP && remove_temp)
			unlinkat(folder->fd, entry->d_name, 0);
	}
	closedir(dir);
	if (rc) {
		free(names->list);
		names->list = NULL;
		return tide_err_set(err, ENOMEM,
				    "cannot list checkpoints: out of memory");
	}
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list),
		      newest_first);
	return 0;
}

/* Returns whether it can be used; a damaged one is set aside if that is
 * allowed. */
static bool judge(struct tide_folder *folder, const char *name, bool set_aside,
		  tide_folder_report *report, void *arg)
{
	char bad[TIDE_CKPT_NAME + 8];
	struct tide_err err;

	if (!tide_ckpt_verify(folder->fd, name, &err))
		return true;
	if (errno == EBADMSG && set_aside) {
		snprintf(bad, sizeof(bad), "%s.bad", name);
		renameat(folder->fd, name, folder->fd, bad);
	}
	report(arg, err.text);
	return false;
}

static int choose(struct tide_folder *folder, char *ret_name, bool set_aside,
		  tide_folder_report *report, void *arg, struct tide_err *err)
{
	struct names names;
	int i, total;

	if (list_names(folder, &names, false, err))
		return -1;
	for (i = 0; i < names.n; i++)
		if (judge(folder, names.list[i], set_aside, report, arg))
			break;
	if (i < names.n)
		memcpy(ret_name, names.list[i], TIDE_CKPT_NAME);
	free(names.list);
	total = names.n + names.bad;
	if (i < names.n)
		return 0;
	if (!total)
		return 1;
	return tide_err_set(
		err, ENODATA,
		"cannot resume: no good checkpoint is left in '%s' (%d damaged or unreadable); move them away to start at step 0",
		folder->path, total);
}

int tide_folder_newest(struct tide_folder *folder, char *ret_name,
		       tide_folder_report *report, void *arg,
		       struct tide_err *err)
{
	return choose(folder, ret_name, true, report, arg, err);
}

static void say_nothing(void *arg, const char *text)
{
	(void)arg, (void)text;
}

int tide_folder_peek(struct tide_folder *folder, char *ret_name,
		     struct tide_err *err)
{
	return choose(folder, ret_name, false, say_nothing, NULL, err);
}

int tide_folder_prune(struct tide_folder *folder, int keep,
		      struct tide_err *err)
{
	struct names names;
	int rc = 0;

	if (list_names(folder, &names, false, err))
		return -1;
	for (int i = keep; i < names.n; i++)
		if (unlinkat(folder->fd, names.list[i], 0) && errno != ENOENT)
			rc = tide_err_set(
				err, errno,
				"cannot remove old checkpoint '%s': %s",
				names.list[i], strerror(errno));
	free(names.list);
	return rc;
}

void tide_folder_clean(struct tide_folder *folder)
{
	struct names names;

	(void)list_names(folder, &names, true, NULL);
	free(names.list);
}
