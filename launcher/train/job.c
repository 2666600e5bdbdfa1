/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who we are in Slurm, how we are warned, and how we ask for a requeue. */
#include "config.h"

#include "launcher/train/job.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util/parse.h"

/* scontrol itself retries for some time when slurmctld does not answer. */
#define REQUEUE_S 60

static volatile sig_atomic_t seen;

static void on_signal(int sig)
{
	seen |= sig == SIGTERM ? TIDE_ENDING : TIDE_WARNED;
}

void tide_signals_catch(void)
{
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A file over a limit is an error of write, and no reason to die. */
	signal(SIGXFSZ, SIG_IGN);
	/* Nor is a reader of the log or the output that has gone. */
	signal(SIGPIPE, SIG_IGN);
}

int tide_signals_seen(void)
{
	return seen;
}

/* One line of printable text. */
static void put_clean(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
	for (; *to; to++)
		if (iscntrl((unsigned char)*to))
			*to = '?';
}

void tide_job_init(struct tide_job *job)
{
	const char *id = getenv("SLURM_JOB_ID");
	const char *name = getenv("SLURM_JOB_NAME");
	const char *restarts = getenv("SLURM_RESTART_COUNT");
	int64_t n = 0;

	memset(job, 0, sizeof(*job));
	put_clean(job->id, sizeof(job->id), id ? id : "");
	put_clean(job->name, sizeof(job->name), name && *name ? name : "local");
	if (restarts)
		tide_parse_int(restarts, 0, 1000000, &n, NULL);
	job->restarts = n;
	gethostname(job->host, sizeof(job->host) - 1);
	if (id) {
		snprintf(job->same, sizeof(job->same), "job %s run ", job->id);
		snprintf(job->holder, sizeof(job->holder),
			 "%s%d on %s, process %d", job->same, job->restarts,
			 job->host, (int)getpid());
	} else {
		snprintf(job->holder, sizeof(job->holder), "process %d on %s",
			 (int)getpid(), job->host);
	}
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* -1 if it takes too long. */
static int wait_for(pid_t pid, int *ret_status)
{
	const struct timespec pause = {.tv_nsec = 100000000};

	/* By the clock: a signal cuts a pause short. */
	for (time_t end = now() + REQUEUE_S; now() < end;) {
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return 0;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, ret_status, 0);
	return -1;
}

/* A requeue ends this step too, and scontrol in it may go first. */
static bool ended_with_us(int status)
{
	return WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
}

static void read_line(int fd, char *to, size_t room)
{
	ssize_t n = read(fd, to, room - 1);

	to[n > 0 ? n : 0] = '\0';
	to[strcspn(to, "\n")] = '\0';
}

static int start_scontrol(const struct tide_job *job, int out, pid_t *ret_pid)
{
	extern char **environ;
	char *argv[] = {"scontrol", "requeue", (char *)job->id, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, out, 2);
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(ret_pid, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int tide_job_requeue(const struct tide_job *job, struct tide_err *err)
{
	char said[256];
	int out[2], status, rc;
	pid_t pid;

	if (!job->id[0])
		return tide_err_set(err, ENOTSUP,
				    "cannot requeue: not in a Slurm job");
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK))
		return tide_err_set(err, errno, "cannot requeue job %s: %s",
				    job->id, strerror(errno));
	rc = start_scontrol(job, out[1], &pid);
	close(out[1]);
	if (rc) {
		close(out[0]);
		return tide_err_set(
			err, rc,
			"cannot requeue job %s: cannot run scontrol: %s",
			job->id, strerror(rc));
	}
	rc = wait_for(pid, &status);
	read_line(out[0], said, sizeof(said));
	close(out[0]);
	if (rc)
		return tide_err_set(
			err, ETIMEDOUT,
			"cannot requeue job %s: scontrol did not answer within a minute",
			job->id);
	if (status && !ended_with_us(status))
		return tide_err_set(err, EPERM,
				    "cannot requeue job %s: scontrol said: %s",
				    job->id, said[0] ? said : "nothing");
	return 0;
}
