/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files below a given root: see root.h. */
#include "config.h"

#include "common/device/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TRIES = 1000
};

int tide_root_open(struct tide_root *root, const char *name,
		   struct tide_err *err)
{
	root->name = name;
	root->live = !strcmp(name, "/");
	root->fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return tide_err_set(err, errno, "cannot open folder '%s': %s",
				    name, strerror(errno));
	return 0;
}

void tide_root_close(struct tide_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

static int open_below(const struct tide_root *root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int tries = TRIES;
	long fd;

	if (!*path)
		path = ".";
	if (root->live)
		return openat(root->fd, path, flags | O_CLOEXEC);
	/* EAGAIN: something was renamed, anywhere, while ".." was followed */
	do
		fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && --tries);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return openat(root->fd, path, flags | O_CLOEXEC);
	return (int)fd;
}

int tide_root_stat(const struct tide_root *root, const char *path,
		   struct stat *ret_st)
{
	int fd, rc;

	if (root->live)
		return fstatat(root->fd, path, ret_st, 0);
	fd = open_below(root, path, O_PATH);
	if (fd < 0)
		return -1;
	rc = fstat(fd, ret_st);
	close(fd);
	return rc;
}

/* sysfs and procfs do not say how much there is: read on to the end. */
static ssize_t read_on(int fd, char *text)
{
	size_t done = 0;

	while (done <= TIDE_ROOT_MAX) {
		ssize_t got = read(fd, text + done, TIDE_ROOT_MAX + 1 - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			return (ssize_t)done;
		done += (size_t)got;
	}
	errno = EFBIG;
	return -1;
}

static int read_fd(int fd, char **ret_text)
{
	char *text = malloc(TIDE_ROOT_MAX + 2), *fit;
	ssize_t got = text ? read_on(fd, text) : -1;

	if (got < 0) {
		free(text);
		return -1;
	}
	/* an archiver fills a file of sysfs up to the page it says it has */
	while (got && !text[got - 1])
		got--;
	while (got && text[got - 1] == '\n')
		got--;
	text[got] = '\0';
	if (memchr(text, '\0', (size_t)got)) {
		free(text);
		errno = EINVAL;
		return -1;
	}
	fit = realloc(text, (size_t)got + 1);
	*ret_text = fit ? fit : text;
	return 0;
}

int tide_root_read(const struct tide_root *root, const char *path,
		   char **ret_text, struct tide_err *err)
{
	struct stat st;
	int fd, rc;

	/* look first: opening a device file may wake a driver */
	if (tide_root_stat(root, path, &st))
		goto bad;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return tide_err_set(err, EINVAL,
				    "cannot read '%s': it is not a plain file",
				    path);
	}
	fd = open_below(root, path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		goto bad;
	rc = read_fd(fd, ret_text);
	close(fd);
	if (!rc)
		return 0;
	if (errno == EINVAL)
		return tide_err_set(err, EINVAL,
				    "cannot read '%s': it holds a zero byte",
				    path);
bad:
	return tide_err_set(err, errno, "cannot read '%s': %s", path,
			    strerror(errno));
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static int add_name(char ***names, size_t *count, const char *name)
{
	char **more = realloc(*names, (*count + 1) * sizeof(*more));

	if (!more)
		return -1;
	*names = more;
	more[*count] = strdup(name);
	if (!more[*count])
		return -1;
	(*count)++;
	return 0;
}

/* All names but hidden ones; -1 with errno when the folder cannot be read on.
 */
static int read_names(DIR *dir, char ***names, size_t *count)
{
	struct dirent *entry;

	for (;;) {
		/* else the end and an error look the same */
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return errno ? -1 : 0;
		if (*entry->d_name != '.' &&
		    add_name(names, count, entry->d_name)) {
			errno = ENOMEM;
			return -1;
		}
	}
}

int tide_root_list(const struct tide_root *root, const char *path,
		   char ***ret_names, size_t *ret_count, struct tide_err *err)
{
	int fd = open_below(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char **names = NULL;
	size_t count = 0;
	int bad = dir ? 0 : errno;

	if (!dir && fd >= 0)
		close(fd);
	if (dir && read_names(dir, &names, &count))
		bad = errno;
	if (dir)
		closedir(dir);
	/* not there, or taken away meanwhile */
	if (bad && bad != ENOENT) {
		free_names(names, count);
		return tide_err_set(err, bad, "cannot read folder '%s': %s",
				    path, strerror(bad));
	}
	if (count)
		qsort(names, count, sizeof(*names), name_cmp);
	*ret_names = names;
	*ret_count = count;
	return 0;
}

bool tide_root_has(const struct tide_root *root, const char *path)
{
	int fd = open_below(root, path, O_PATH | O_NOFOLLOW);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

char *tide_root_link(const struct tide_root *root, const char *path)
{
	int fd = open_below(root, path, O_PATH | O_NOFOLLOW);
	char target[PATH_MAX];
	ssize_t len;

	if (fd < 0)
		return NULL;
	len = readlinkat(fd, "", target, sizeof(target) - 1);
	close(fd);
	if (len < 0)
		return NULL;
	target[len] = '\0';
	return strdup(target);
}
