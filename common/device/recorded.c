/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hwloc would not survive: see recorded.h.  Knows nothing of hwloc. */
#include "config.h"

#include "common/device/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LIMIT_S = 10,
};

/* What the path leads to is a file or a folder, or nothing. */
static bool is_plain(const FTSENT *entry)
{
	struct stat st;

	if (entry->fts_info == FTS_DEFAULT)
		return false;
	return entry->fts_info != FTS_SL || stat(entry->fts_accpath, &st) ||
	       S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

int tide_recorded_plain(const struct tide_root *root, struct tide_err *err)
{
	char sys[PATH_MAX], proc[PATH_MAX], *folders[] = {sys, proc, NULL};
	FTSENT *entry;
	int rc = 0;
	FTS *fts;

	if (snprintf(sys, sizeof(sys), "%s/sys", root->name) >= PATH_MAX ||
	    snprintf(proc, sizeof(proc), "%s/proc", root->name) >= PATH_MAX)
		return tide_err_set(err, ENAMETOOLONG, "name too long");
	fts = fts_open(folders, FTS_PHYSICAL, NULL);
	if (!fts)
		return tide_err_set(err, errno, "cannot read '%s': %s", sys,
				    strerror(errno));
	while (!rc && (entry = fts_read(fts)))
		if (!is_plain(entry))
			rc = tide_err_set(
				err, EINVAL,
				"the processors are not looked at: '%s' is neither a file nor a folder",
				entry->fts_path + strlen(root->name) + 1);
	fts_close(fts);
	return rc;
}

/* In the child: quietly, and not for longer than the limit. */
static void try_and_exit(int (*load)(void *arg), void *arg)
{
	const struct rlimit none = {0, 0};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGALRM, SIG_DFL);
	alarm(LIMIT_S);
	_exit(load(arg) ? EXIT_FAILURE : EXIT_SUCCESS);
}

int tide_recorded_try(int (*load)(void *arg), void *arg, const char **ret_why)
{
	pid_t pid = fork();
	int status;

	*ret_why = NULL;
	if (!pid)
		try_and_exit(load, arg);
	if (pid < 0) {
		*ret_why = "no process can be had to try it";
		errno = EINVAL;
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			*ret_why = "the process that tried it is lost";
			errno = EINVAL;
			return -1;
		}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFSIGNALED(status))
		*ret_why = WTERMSIG(status) == SIGALRM
				   ? "hwloc comes to no end with it"
				   : "hwloc crashes with it";
	errno = EINVAL;
	return -1;
}
