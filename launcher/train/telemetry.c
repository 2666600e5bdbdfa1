/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats and writes the report of a step. */
#include "config.h"

#include "launcher/train/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

int tide_telemetry_open(struct tide_telemetry *t, FILE *person, const char *log,
			struct tide_err *err)
{
	memset(t, 0, sizeof(*t));
	t->person = person;
	t->log = -1;
	if (!log[0])
		return 0;
	/* Opening a FIFO must not wait for its reader. */
	t->log = open(log,
		      O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC,
		      0666);
	if (t->log < 0)
		return tide_err_set(err, errno, "cannot open log '%s': %s", log,
				    strerror(errno));
	return 0;
}

void tide_telemetry_close(struct tide_telemetry *t)
{
	if (t->log >= 0)
		close(t->log);
	t->log = -1;
}

/* A line or nothing: half of one would spoil the next, and every reader. */
static int append(int fd, const char *line, ssize_t len)
{
	ssize_t n = write(fd, line, len);
	int saved = n < 0 ? errno : ENOSPC;
	struct stat st;

	if (n == len)
		return 0;
	if (n > 0 && (fstat(fd, &st) || ftruncate(fd, st.st_size - n)))
		saved = errno;
	errno = saved;
	return -1;
}

static void put_json(struct tide_telemetry *t, const struct tide_step_report *r)
{
	char line[512];
	int len;

	if (t->log < 0)
		return;
	len = snprintf(
		line, sizeof(line),
		"{\"step\":%lld,\"loss\":%.9g,\"tokens_per_s\":%.6g,\"comm_share\":%.6g,\"gradient_norm\":%.6g,\"learning_rate\":%.9g,\"tokens\":%lld,\"seconds\":%.6g,\"ranks\":%d,\"run\":%d,\"time\":%.3f}\n",
		(long long)r->step, r->loss, r->tokens / r->seconds,
		r->comm_seconds / r->seconds, r->norm, r->rate,
		(long long)r->tokens, r->seconds, r->ranks, r->run,
		seconds(CLOCK_REALTIME));
	if (append(t->log, line, len) && !t->log_broken) {
		t->log_broken = true;
		fprintf(t->person,
			"tiderun: cannot write the log: %s; training goes on\n",
			strerror(errno));
	}
}

static void put_eta(char *to, size_t room, double left)
{
	long s = lround(left);

	if (s >= 3600)
		snprintf(to, room, "%ldh%02ldm", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(to, room, "%ldm%02lds", s / 60, s % 60);
	else
		snprintf(to, room, "%lds", s);
}

void tide_telemetry_step(struct tide_telemetry *t,
			 const struct tide_step_report *r)
{
	double at = seconds(CLOCK_MONOTONIC);
	char eta[32];

	put_json(t, r);
	t->pace = t->pace > 0 ? 0.9 * t->pace + 0.1 * r->seconds : r->seconds;
	if (t->last_line > 0 && at - t->last_line < 1 && r->step < r->steps)
		return;
	t->last_line = at;
	put_eta(eta, sizeof(eta), t->pace * (r->steps - r->step));
	fprintf(t->person,
		"step %lld/%lld  loss %.4f  %.0f tokens/s  comm %.1f%%  left %s\n",
		(long long)r->step, (long long)r->steps, r->loss,
		r->tokens / r->seconds, 100 * r->comm_seconds / r->seconds,
		eta);
	fflush(t->person);
}
