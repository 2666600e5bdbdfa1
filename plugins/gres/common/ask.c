/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs tide-devices: see ask.h. Reads nothing of what it prints. */
#include "plugins/gres/common/ask.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	GRACE_MS = 1000, /* after the limit, to die in */
	MAX_OUTPUT = 1 << 20,
};

/*
 * hwloc is told more than the kernel knows: then tidectl, which asks it, is to
 * look.
 */
static bool wants_hwloc(void)
{
	return getenv("HWLOC_PCI_LOCALITY") || getenv("HWLOC_XMLFILE");
}

/* The program in the folder of this plugin, else where it is installed. */
static char *program(const char *name, const char *folder)
{
	char *path = NULL, *slash;
	Dl_info info;

	if (dladdr((void *)program, &info) && info.dli_fname) {
		path = xstrdup(info.dli_fname);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
		xstrfmtcat(path, "/%s", name);
		/* one that cannot be run is said to be so */
		if (!access(path, X_OK) || errno != ENOENT)
			return path;
		xfree(path);
	}
	return xstrdup_printf("%s/%s", folder, name);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* All that comes until the end; else NULL, at the limit with *ret_why NULL. */
static char *read_output(int fd, int64_t until, const char **ret_why)
{
	char *text = xstrdup(""), part[4096];
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t size = 0;

	while (size < MAX_OUTPUT) {
		int64_t left = until - now_ms();
		ssize_t got;

		*ret_why = NULL;
		if (left <= 0)
			goto bad;
		/* a signal is no answer: read() would wait for ever */
		if (poll(&poll_fd, 1, (int)left) <= 0)
			continue;
		got = read(fd, part, sizeof(part) - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return text;
		*ret_why = "printed what is no text";
		if (memchr(part, '\0', (size_t)got))
			goto bad;
		part[got] = '\0';
		xstrcat(text, part);
		size += (size_t)got;
	}
	*ret_why = "printed without end";
bad:
	xfree(text);
	return NULL;
}

/*
 * Wait for the program, which is killed at the limit: then -1. One that cannot
 * be, in the middle of a driver, is left behind.
 */
static int reap(pid_t pid, int64_t until)
{
	struct timespec pause = {.tv_nsec = 100000};
	bool killed = false;
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_ms() >= until) {
			if (killed)
				return -1;
			kill(pid, SIGKILL);
			killed = true;
			until = now_ms() + GRACE_MS;
		}
		/* it ends in a moment, as a rule: it has closed its output */
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 10000000)
			pause.tv_nsec *= 2;
	}
	return killed ? -1 : status;
}

/* The lines as a file to read from; -1 with errno. */
static int lines_file(const char *lines)
{
	int fd = memfd_create("gres.conf", MFD_CLOEXEC);
	size_t len = strlen(lines);

	if (fd >= 0 &&
	    (write(fd, lines, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

/* tide-devices takes a tenth of the time of tidectl. */
static int start(char *path, const char *name, const char *lines, int out,
		 pid_t *ret_pid)
{
	char *quick[] = {path, (char *)name, NULL};
	char *whole[] = {path,
			 (char *)"devices",
			 (char *)"--gres",
			 (char *)name,
			 (char *)"--gres-conf",
			 (char *)"--compare",
			 (char *)"-",
			 NULL};
	char **argv = wants_hwloc() ? whole : quick;
	int in = lines_file(lines);
	posix_spawn_file_actions_t actions;
	int rc;

	if (in < 0)
		return errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	rc = posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in);
	return rc;
}

/* Why there is no answer: without text it has a reason, or ran to the limit. */
static char *why_not(const char *path, const char *text, const char *reason,
		     int status, int limit_ms)
{
	if (!text && reason)
		return xstrdup_printf("%s %s", path, reason);
	if (!text)
		return xstrdup_printf("%s gave no answer in %d s", path,
				      limit_ms / 1000);
	if (status == -1)
		return xstrdup_printf("%s did not end in %d s", path,
				      limit_ms / 1000);
	if (WIFSIGNALED(status))
		return xstrdup_printf("%s was killed by signal %d", path,
				      WTERMSIG(status));
	return xstrdup_printf("%s failed: %s", path,
			      *text ? text : "it does not say why");
}

char *tide_ask(const char *name, const char *lines, int limit_ms,
	       char **ret_why)
{
	char *path = wants_hwloc() ? program("tidectl", TIDE_BINDIR)
				   : program("tide-devices", TIDE_HELPERDIR);
	const char *reason;
	char *text = NULL;
	int64_t until = now_ms() + limit_ms;
	int fds[2], rc, status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		*ret_why = xstrdup(strerror(errno));
		xfree(path);
		return NULL;
	}
	rc = start(path, name, lines, fds[1], &pid);
	close(fds[1]);
	if (rc) {
		*ret_why =
			xstrdup_printf("cannot run %s: %s", path, strerror(rc));
	} else {
		text = read_output(fds[0], until, &reason);
		status = reap(pid, text ? until : 0);
		if (!text || status)
			*ret_why =
				why_not(path, text, reason, status, limit_ms);
		if (status)
			xfree(text);
	}
	close(fds[0]);
	xfree(path);
	return text;
}
