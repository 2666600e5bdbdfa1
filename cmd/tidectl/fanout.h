/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many commands, some at a time, each with a limit of time; what they wrote is
 * kept.  Knows nothing of what they do.
 *
 * For a process of one thread: children are waited for by SIGCHLD.
 */
#ifndef TIDE_FANOUT_H
#define TIDE_FANOUT_H

#include <stddef.h>
#include <sys/types.h>

struct fanout_run {
	char **argv; /* the caller's; ends with NULL */
	/* what came of it */
	char *out, *err;       /* stdout and stderr, cut at a MiB; or NULL */
	int status;	       /* as of waitpid(2); -1: it did not start */
	int timed_out;	       /* it was killed at the limit, or left behind */
	double started, ended; /* seconds since 1970, by our clock */
	/* private */
	pid_t pid;
	int out_fd, err_fd;
	double deadline;
};

enum {
	FANOUT_WIDTH = 16, /* at a time */
};

/* Run all; limit_s for each. */
void fanout_run_all(struct fanout_run *run, size_t n, int limit_s);

void fanout_release(struct fanout_run *run, size_t n);

#endif
