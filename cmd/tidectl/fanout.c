/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs commands side by side.  Their output goes to files in memory, so that
 * none has to be read while it runs.
 */
#include "config.h"

#include "cmd/tidectl/fanout.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_OUTPUT (1 << 20)

/* after the limit, to die in */
#define GRACE_S 2

static double clock_s(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* In the child; does not return. */
static void become(const struct fanout_run *run, const sigset_t *mask,
		   pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	/* Of its own group, so that all that it starts ends with it. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(run->out_fd, STDOUT_FILENO) < 0 ||
	    dup2(run->err_fd, STDERR_FILENO) < 0)
		_exit(127);
	execvp(run->argv[0], run->argv);
	dprintf(STDERR_FILENO, "%s: %s\n", run->argv[0], strerror(errno));
	_exit(127);
}

static void start(struct fanout_run *run, int limit_s, const sigset_t *mask)
{
	pid_t parent = getpid();

	run->status = -1;
	run->pid = -1;
	run->out_fd = memfd_create("out", MFD_CLOEXEC);
	run->err_fd = memfd_create("err", MFD_CLOEXEC);
	run->started = run->ended = clock_s(CLOCK_REALTIME);
	run->deadline = clock_s(CLOCK_MONOTONIC) + limit_s;
	if (run->out_fd >= 0 && run->err_fd >= 0)
		run->pid = fork();
	if (!run->pid)
		become(run, mask, parent);
}

/* What is in the file, which is closed; NULL when there was none. */
static char *take(int fd)
{
	char *text = fd < 0 ? NULL : malloc(MAX_OUTPUT + 1);
	ssize_t n = 0, got;

	if (text)
		lseek(fd, 0, SEEK_SET);
	while (text && n < MAX_OUTPUT &&
	       (got = read(fd, text + n, (size_t)(MAX_OUTPUT - n))) > 0)
		n += got;
	if (text) {
		char *less;

		text[n] = '\0';
		less = realloc(text, (size_t)n + 1);
		text = less ? less : text;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/*
 * Has it ended? Then what it wrote is taken. One that cannot be killed, in the
 * middle of a driver, is left behind.
 */
static int is_over(struct fanout_run *run, double now)
{
	if (run->pid >= 0 && !waitpid(run->pid, &run->status, WNOHANG) &&
	    now < run->deadline + GRACE_S)
		return 0;
	run->ended = clock_s(CLOCK_REALTIME);
	run->out = take(run->out_fd);
	run->err = take(run->err_fd);
	return 1;
}

static void end_late(struct fanout_run *run, double now)
{
	if (run->timed_out || now < run->deadline)
		return;
	run->timed_out = 1;
	kill(-run->pid, SIGKILL);
	kill(run->pid, SIGKILL);
}

void fanout_run_all(struct fanout_run *run, size_t n, int limit_s)
{
	const struct timespec tick = {.tv_sec = 1};
	struct fanout_run *running[FANOUT_WIDTH];
	size_t next = 0, n_running = 0;
	sigset_t child, mask;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &mask);
	while (next < n || n_running) {
		while (next < n && n_running < FANOUT_WIDTH) {
			start(&run[next], limit_s, &mask);
			running[n_running++] = &run[next++];
		}
		for (size_t i = n_running; i-- > 0;) {
			double now = clock_s(CLOCK_MONOTONIC);

			end_late(running[i], now);
			if (is_over(running[i], now))
				running[i] = running[--n_running];
		}
		if (n_running == FANOUT_WIDTH || (n_running && next == n))
			sigtimedwait(&child, NULL, &tick);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

void fanout_release(struct fanout_run *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(run[i].out);
		free(run[i].err);
	}
}
