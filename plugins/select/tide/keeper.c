/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that keeps pool jobs within their windows: see keeper.h. */
#include "plugins/select/tide/keeper.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugins/select/tide/notes.h"
#include "plugins/select/tide/pass.h"
#include "plugins/select/tide/plan.h"

/* A pass every so often even if nothing is due: users change limits. */
#define TICK 5
/* Pokes within this time are answered by one pass. */
#define CALM_NS 200000000
#define NS INT64_C(1000000000)
#define LAG_NS 20000000
/* How often to look whether slurmctld is ending, where nobody tells. */
#define LOOK_NS 50000000
/* Stretches are worked out far ahead, and again once a day. */
#define RENEW 86400

static struct {
	pthread_mutex_t lock; /* guards the flags */
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop, poked, reread;
	/*
	 * What plans are made from.  Changed with slurmctld's locks held, read
	 * lock enough: only the thread and reconfigure do, and the latter
	 * holds the write locks.
	 */
	struct tide_source *source;
	struct tide_source *good; /* to fall back on at the start */
	bool adopted;		  /* source has proved right */
} keeper = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER, /* by the monotonic clock: init */
};

/* The folder tide.conf is in: that of slurm.conf. */
static void conf_dir(char *dir, size_t size)
{
	char *slash;

	snprintf(dir, size, "%s", tide_ctld_conf_file());
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	else
		snprintf(dir, size, ".");
}

static struct tide_source *closed_source(void)
{
	char dir[PATH_MAX];

	conf_dir(dir, sizeof(dir));
	return tide_source_closed(dir);
}

static void say_closed(void)
{
	error("tide: there is no last good tide.conf: no pool job starts until it is right and `scontrol reconfigure` was run");
}

/* tide.conf, else the last good copy, else nothing. */
static void read_first(void)
{
	struct tide_err err, good_err;
	char dir[PATH_MAX];

	conf_dir(dir, sizeof(dir));
	if (tide_source_read_good(tide_ctld_state_dir(), time(NULL),
				  &keeper.good, &good_err) < 0) {
		if (errno != ENOENT)
			error("tide: %s", good_err.text);
		keeper.good = NULL;
	}
	if (tide_source_read(dir, time(NULL), &keeper.source, &err) == 0)
		return;
	error("tide: %s", err.text);
	if (keeper.good) {
		error("tide: running on the last good tide.conf");
		keeper.source = keeper.good;
		keeper.good = NULL;
		return;
	}
	say_closed();
	keeper.source = tide_source_closed(dir);
}

void tide_keeper_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&keeper.wake, &attr);
	pthread_condattr_destroy(&attr);
	if (tide_notes_init() < 0)
		return;
	tide_pass_restore();
	read_first();
}

/* Make a plan of this source the present one.  TIDE_LOOK. */
static int lay(struct tide_source *source, bool strict, struct tide_err *err)
{
	struct tide_plan *plan;

	if (tide_plan_create(source, strict, &plan, err) < 0)
		return -1;
	tide_plan_set(plan);
	return 0;
}

/*
 * The source we started with names what Slurm does not have.  At a start only,
 * so that a look into tide.conf, under Slurm's locks, keeps nobody waiting.
 */
static void fall_back(void)
{
	struct tide_source *next = keeper.good;
	struct tide_err err;

	if (next) {
		error("tide: running on the last good tide.conf");
	} else {
		say_closed();
		next = closed_source();
	}
	keeper.good = NULL;
	tide_source_unref(keeper.source);
	keeper.source = next;
	if (next && lay(next, false, &err) < 0)
		error("tide: %s", err.text);
}

/* Have the thread read tide.conf again. */
static void reread(void)
{
	slurm_mutex_lock(&keeper.lock);
	keeper.reread = true;
	pthread_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
}

void tide_keeper_replan(void)
{
	struct tide_plan *plan;
	struct tide_err err;
	bool strict, again = keeper.adopted;

	if (!keeper.source)
		return;
	strict = !keeper.adopted && !keeper.source->last_good;
	if (lay(keeper.source, strict, &err) < 0) {
		error("tide: %s", err.text);
		fall_back();
	} else if (strict && keeper.source->conf) {
		info("tide: tide.conf was read");
	}
	keeper.adopted = true;
	plan = tide_plan_get();
	if (plan)
		tide_pass_seed(plan);
	tide_plan_put(plan);
	/*
	 * Slurm does not say whether this is `scontrol reconfigure` or a change
	 * of a partition or a node; reading once too often does no harm.
	 */
	if (again)
		reread();
	else
		tide_keeper_poke();
}

/* tide.conf again; what is in force stays if it is not right. */
static void read_again(void)
{
	struct tide_source *source;
	struct tide_err err;
	char dir[PATH_MAX];
	int rc;

	conf_dir(dir, sizeof(dir));
	if (tide_source_read(dir, time(NULL), &source, &err) < 0) {
		error("tide: %s", err.text);
		error("tide: going on with the windows that are in force");
		return;
	}
	tide_ctld_lock(TIDE_LOOK);
	rc = lay(source, true, &err);
	if (rc == 0) {
		tide_source_unref(keeper.source);
		keeper.source = source;
	}
	tide_ctld_unlock(TIDE_LOOK);
	if (rc < 0) {
		error("tide: %s", err.text);
		error("tide: going on with the windows that are in force");
		tide_source_unref(source);
		return;
	}
	info("tide: tide.conf was read");
	tide_ctld_wake();
}

/*
 * Keep a copy of what has proved right.  False: try again, as the next start
 * may need it; the disk may be full for now.
 */
static bool keep_good(bool say)
{
	struct tide_plan *plan = tide_plan_get();
	struct tide_err err;
	int rc = 0;

	if (plan)
		rc = tide_source_keep(plan->source, tide_ctld_state_dir(),
				      &err);
	if (rc < 0 && say)
		error("tide: could not keep a copy of tide.conf, will try again: %s",
		      err.text);
	tide_plan_put(plan);
	return rc >= 0;
}

/* Work the stretches out again before they run short. */
static void renew(int64_t now)
{
	struct tide_plan *plan = tide_plan_get();
	bool old = plan && !plan->closed && now - plan->stretches->made > RENEW;
	struct tide_stretches *stretches;
	struct tide_err err;

	tide_plan_put(plan);
	if (!old)
		return;
	if (tide_source_work_out(keeper.source, now, &stretches, &err) < 0) {
		error("tide: %s", err.text);
		return;
	}
	tide_ctld_lock(TIDE_LOOK);
	tide_stretches_unref(keeper.source->stretches);
	keeper.source->stretches = stretches;
	if (lay(keeper.source, false, &err) < 0)
		error("tide: %s", err.text);
	tide_ctld_unlock(TIDE_LOOK);
}

/* Has anything opened since the last pass? */
static bool opened(const struct tide_plan *plan, int64_t since, int64_t now)
{
	int64_t at;

	return since &&
	       tide_openings(plan->groups, plan->count, since, now, &at, 1);
}

/* One round; returns when to come again at the latest. */
static int64_t once(int64_t last)
{
	int64_t now = time(NULL), next;
	struct tide_plan *plan;

	renew(now);
	next = tide_pass(now);
	plan = tide_plan_get();
	if (plan && opened(plan, last, now))
		tide_ctld_wake();
	tide_plan_put(plan);
	return next;
}

/* Nanoseconds from now until `next`, or a tick. */
static int64_t wait_ns(int64_t next)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	if (next > now.tv_sec + TICK)
		return TICK * NS;
	/* time() may lag behind this clock by a few milliseconds. */
	ns = (next - now.tv_sec) * NS - now.tv_nsec + LAG_NS;
	return ns > 0 ? ns : 0;
}

/*
 * Sleep for so long, or until somebody signals.  By a clock that nobody sets:
 * were the time of day put back by an hour, a wait for it would last that
 * long.  The lock is held.
 */
static void nap(int64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += until.tv_nsec;
	until.tv_sec += ns / NS;
	until.tv_nsec = ns % NS;
	pthread_cond_timedwait(&keeper.wake, &keeper.lock, &until);
}

/*
 * Wait until `next`, a poke, or a tick; where nobody else tells, look often
 * whether slurmctld is ending.  The lock is held.
 */
static void wait_for(int64_t next)
{
	int64_t ns = wait_ns(next);

	while (!keeper.stop && !keeper.poked && !keeper.reread &&
	       !tide_ctld_ending() && ns > 0) {
		int64_t part = TIDE_SELECT_SAVES || ns < LOOK_NS ? ns : LOOK_NS;

		nap(part);
		ns -= part;
	}
}

/*
 * slurmctld is ending, or has started another in its place at a reconfigure
 * and goes on if that one fails: nothing is done to jobs meanwhile.  Where
 * Slurm does not ask a select plugin to save its state (select_tide.c), what
 * is to be left behind is left now.  The lock is held.
 */
static void rest(void)
{
	if (!TIDE_SELECT_SAVES && !keeper.stop) {
		slurm_mutex_unlock(&keeper.lock);
		tide_pass_leave();
		slurm_mutex_lock(&keeper.lock);
	}
	while (tide_ctld_ending() && !keeper.stop)
		nap(LOOK_NS);
}

/* Also here the end may come, and the state is saved at once. */
static void calm_down(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int i;

	for (i = 0; i < CALM_NS / LOOK_NS && !tide_ctld_ending(); i++)
		nanosleep(&look, NULL);
}

static void *keep(void *arg)
{
	int64_t last = 0, next = 0, began;
	bool again, first = true, kept = false;

	(void)arg;
	for (;;) {
		slurm_mutex_lock(&keeper.lock);
		if (!first)
			wait_for(next);
		if (tide_ctld_ending())
			rest();
		if (keeper.stop) {
			slurm_mutex_unlock(&keeper.lock);
			break;
		}
		again = keeper.reread;
		keeper.reread = keeper.poked = false;
		slurm_mutex_unlock(&keeper.lock);
		if (again)
			read_again();
		if (again || !kept)
			kept = keep_good(again || first);
		first = false;
		/* Taken before the pass: it may wait for locks. */
		began = time(NULL);
		next = once(last);
		last = began;
		calm_down();
	}
	return NULL;
}

void tide_keeper_start(void)
{
	slurm_mutex_lock(&keeper.lock);
	if (!keeper.running && !keeper.stop) {
		errno = pthread_create(&keeper.thread, NULL, keep, NULL);
		keeper.running = !errno;
		if (errno)
			error("tide: no thread for closes, runs go on over them: %m; scontrol reconfigure tries again");
	}
	slurm_mutex_unlock(&keeper.lock);
}

void tide_keeper_stop(void)
{
	bool running;

	slurm_mutex_lock(&keeper.lock);
	keeper.stop = true;
	running = keeper.running;
	keeper.running = false;
	pthread_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
	if (running)
		pthread_join(keeper.thread, NULL);
	tide_plan_set(NULL);
	tide_source_unref(keeper.source);
	tide_source_unref(keeper.good);
	keeper.source = keeper.good = NULL;
	keeper.adopted = keeper.stop = false;
	tide_notes_fini();
}

void tide_keeper_poke(void)
{
	slurm_mutex_lock(&keeper.lock);
	keeper.poked = true;
	pthread_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
}
