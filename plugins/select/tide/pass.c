/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One pass over the jobs of the pool: see pass.h. */
#include "plugins/select/tide/pass.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util/file.h"
#include "plugins/select/tide/notes.h"
#include "plugins/select/tide/pick.h"

#define STATE_FILE "tide_state"

/* What is to be done to one job. */
enum deed_kind {
	DEED_LIMIT,   /* set the limit of a run */
	DEED_RESTORE, /* give the user's limit back */
	DEED_WARN,
	DEED_UNWARN,
	DEED_END,
	DEED_REASON,
	DEED_PLANNED, /* move the planned start */
};

struct deed {
	enum deed_kind kind;
	uint32_t id, run;
	uint32_t limit_min;
	int64_t time;
	char text[128];
};

/* One pass; lives on the stack of the thread. */
struct pass {
	const struct tide_plan *plan;
	struct tide_jobs *jobs; /* while looking */
	int64_t now, next;
	uint32_t number;
	struct deed *deeds;
	size_t count, room;
};

static uint32_t pass_number; /* the thread's own */
/* The state file is written by the thread, and by slurmctld as it ends. */
static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;
static char *saved; /* what it holds; guarded by the mutex */

static struct deed *add_deed(struct pass *pass, enum deed_kind kind,
			     const struct tide_job_view *job)
{
	struct deed *deed;

	if (pass->count == pass->room) {
		pass->room = pass->room ? pass->room * 2 : 16;
		xrecalloc(pass->deeds, pass->room, sizeof(*pass->deeds));
	}
	deed = &pass->deeds[pass->count++];
	*deed = (struct deed){.kind = kind, .id = job->id, .run = job->run};
	return deed;
}

/* Look: running jobs */

/*
 * When the run has to be over.  A close that was moved to now or before, by a
 * new tide.conf, leaves the job the time of its own --signal.
 */
static int64_t close_of(const struct pass *pass,
			const struct tide_job_view *job,
			const struct tide_job *note)
{
	int64_t close, known, grace;

	if (!job->nodes)
		return TIDE_NEVER;
	if (pass->plan->closed)
		return note->close ? note->close : TIDE_NEVER;
	close = tide_plan_close(pass->plan, pass->now, job->nodes);
	if (close > pass->now)
		return close;
	/* Closed by now. */
	known = note->close ? note->close : TIDE_NEVER;
	if (!note->known || known <= pass->now ||
	    (job->warned && known == TIDE_NEVER))
		return pass->now;
	grace = job->warned ? known : pass->now + job->warn;
	return grace < known ? grace : known;
}

/* Is this the run that we know, and has somebody else set its limit? */
static void recognise(const struct tide_job_view *job, struct tide_job *note,
		      uint32_t user_min)
{
	if (note->known && note->run == job->run) {
		if (note->set_min != job->limit_min) {
			note->user_min = job->limit_min;
			note->set_min = job->limit_min;
			note->changed = false;
		}
		return;
	}
	if (!note->changed && note->run == job->run && note->set_min &&
	    note->set_min == job->limit_min) {
		/* Of before a restart, as `scontrol reconfigure` is one. */
		note->known = true;
		return;
	}
	if (!note->changed || note->run != job->run) {
		/* A new run: it may be raised towards --time, once. */
		note->changed = false;
		note->close = 0;
		note->known = false;
		/*
		 * Backfill starts at --time-min, and a slurmctld that died
		 * before it saved the end of our last run has what we set for
		 * that one; else --time was changed.
		 */
		if (!job->limit_by_default && job->limit_min != job->time_min &&
		    !(note->set_min && note->run == job->run &&
		      note->set_min == job->limit_min))
			note->user_min = job->limit_min;
	} else {
		/*
		 * Ours, from before a restart: slurmctld has saved the --time
		 * of the user (tide_pass_leave()), or died with what we set,
		 * or with what backfill set: then it is still to be raised.
		 */
		note->known = job->limit_min != job->time_min;
		if (note->set_min && job->limit_min == user_min)
			return;
	}
	note->run = job->run;
	note->set_min = job->limit_min;
}

/* As far as account and plans allow; a run that we know stays as it is. */
static uint32_t grow_min(job_record_t *record, const struct tide_job_view *job,
			 const struct tide_job *note, int64_t close)
{
	uint32_t most;
	int64_t planned;

	if (note->known && (!note->close || close <= note->close))
		return note->set_min;
	most = tide_job_payable_min(record);
	planned = tide_job_planned_behind(record);
	if (planned != INT64_MAX && (planned - job->start) / 60 < (int64_t)most)
		most = (planned - job->start) / 60;
	return most;
}

/*
 * Slurm 25.05 and later start a job by --time-min and then give it --time,
 * which its account may not be able to pay: a run that is new to us is looked
 * at.
 */
static uint32_t pay_min(job_record_t *record, const struct tide_job_view *job,
			const struct tide_job *note)
{
	uint32_t most;

	if (note->known || !job->time_min)
		return 0;
	most = tide_job_payable_min(record);
	return most > job->time_min ? most : job->time_min;
}

static void look_running(struct pass *pass, job_record_t *record,
			 const struct tide_job_view *job, struct tide_job *note)
{
	struct tide_run run = {
		.start = job->start,
		.paused = job->paused,
		.warn = job->warn,
		.warned = job->warned || job->configuring,
	};
	struct tide_due due;

	recognise(job, note, tide_job_limit(record, note->user_min));
	run.limit_min = note->set_min;
	run.close = close_of(pass, job, note);
	run.user_min = tide_job_limit(record, note->user_min);
	run.grow_min = grow_min(record, job, note, run.close);
	run.pay_min = pay_min(record, job, note);
	tide_run_due(&run, pass->now, &due);
	if (due.next < pass->next)
		pass->next = due.next;
	if (due.end) {
		add_deed(pass, DEED_END, job)->time = job->end;
	} else if (due.limit_min != job->limit_min && job->running) {
		add_deed(pass, DEED_LIMIT, job)->limit_min = due.limit_min;
		note->changed = note->keep = true;
	}
	if (job->warned && note->close && run.close > note->close &&
	    pass->now < run.close - job->warn)
		add_deed(pass, DEED_UNWARN, job);
	if (due.warn && job->running)
		add_deed(pass, DEED_WARN, job);
	if (note->user_min != note->set_min)
		note->changed = note->keep = true;
	/* A close moved to now leaves it this time, also over a restart. */
	if (job->warn)
		note->keep = true;
	note->close = run.close == TIDE_NEVER ? 0 : run.close;
	note->known = true;
	note->waits = false;
}

/* Look: pending jobs */

static void write_time(char *text, size_t size, int64_t at)
{
	time_t t = at;
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return;
	strftime(text, size, tm.tm_sec ? "%FT%T" : "%FT%R", &tm);
}

static void write_reason(const struct pass *pass, const struct tide_job *note,
			 char *text, size_t size)
{
	char when[32] = "";

	if (pass->plan->closed) {
		snprintf(text, size,
			 "next window unknown, tide.conf is not usable");
	} else if (!note->opening) {
		snprintf(text, size, "next window none within %d days",
			 TIDE_HORIZON / 86400);
	} else {
		write_time(when, sizeof(when), note->opening);
		snprintf(text, size, "next window %s %s", note->window, when);
	}
}

static void look_reason(struct pass *pass, const job_record_t *record,
			const struct tide_job_view *job, struct tide_job *note)
{
	char text[sizeof(((struct deed *)NULL)->text)] = "";
	struct deed *deed;

	if (note->waits && note->opening && note->opening <= pass->now)
		note->waits = false;
	if (note->waits)
		write_reason(pass, note, text, sizeof(text));
	if (!tide_job_would_set_reason(record, note->waits ? text : NULL))
		return;
	deed = add_deed(pass, DEED_REASON, job);
	if (note->waits)
		memcpy(deed->text, text, sizeof(text));
}

/*
 * Backfill puts a job after others without asking again which nodes are open
 * then: move such a start on to where they are, or to where nobody knows.
 */
static void look_planned(struct pass *pass, const job_record_t *record,
			 const struct tide_job_view *job, struct tide_job *note)
{
	int64_t need, at = job->start;
	bitstr_t *nodes;

	if (job->start <= pass->now || job->start == note->planned ||
	    pass->plan->closed)
		return;
	nodes = tide_job_planned_nodes(record);
	if (!nodes)
		return;
	need = tide_pick_need(record, job, note->user_min);
	while (!tide_plan_fits(pass->plan, at, need, nodes)) {
		at = tide_plan_next(pass->plan, at);
		if (at > pass->now + TIDE_HORIZON) {
			at = 0;
			break;
		}
	}
	FREE_NULL_BITMAP(nodes);
	note->planned = at;
	if (at != job->start)
		add_deed(pass, DEED_PLANNED, job)->time = at;
}

static void look_pending(struct pass *pass, const job_record_t *record,
			 const struct tide_job_view *job, struct tide_job *note,
			 bool is_pool)
{
	if (note->changed || (job->array_id && job->time_min &&
			      job->limit_min == job->time_min &&
			      job->limit_min != note->user_min))
		/* What a run, or backfill on an array, left behind. */
		add_deed(pass, DEED_RESTORE, job)->limit_min = note->user_min;
	else
		note->user_min = job->limit_min;
	note->changed = false;
	note->known = false;
	note->close = 0;
	note->keep = job->time_min ||
		     (note->set_min && note->set_min != note->user_min);
	/* It may be in another partition of its list at the moment. */
	if (!is_pool)
		return;
	look_reason(pass, record, job, note);
	look_planned(pass, record, job, note);
}

static int look_at(void *x, void *arg)
{
	struct pass *pass = arg;
	struct tide_job_view job;
	struct tide_job *note;
	bool is_pool;

	tide_job_view(x, &job);
	is_pool = tide_plan_is_pool(pass->plan, &job);
	if (job.finished ||
	    (!is_pool && !tide_plan_wants_pool(pass->plan, &job)))
		return 0;
	note = tide_notes_see(pass->jobs, &job);
	if (!note)
		return 0;
	note->pass = pass->number;
	if (job.pending)
		look_pending(pass, x, &job, note, is_pool);
	else if (job.running || job.suspended)
		look_running(pass, x, &job, note);
	return 0;
}

/* Save */

static void state_path(char *path, size_t size)
{
	snprintf(path, size, "%s/%s", tide_ctld_state_dir(), STATE_FILE);
}

static void save_locked(void)
{
	char path[PATH_MAX], *text;
	struct tide_err err;

	text = tide_jobs_text(tide_notes_get());
	tide_notes_put();
	if (!text || !xstrcmp(text, saved)) {
		free(text);
		return;
	}
	state_path(path, sizeof(path));
	if (tide_file_replace(path, text, &err) < 0) {
		/* The next pass tries again; the windows go on. */
		error("tide: %s: a crash of slurmctld now would lose the --time of running jobs",
		      err.text);
		free(text);
		return;
	}
	free(saved);
	saved = text;
}

static void save(void)
{
	slurm_mutex_lock(&save_lock);
	save_locked();
	slurm_mutex_unlock(&save_lock);
}

void tide_pass_restore(void)
{
	char path[PATH_MAX], *text;
	struct tide_err err;
	int rc;

	state_path(path, sizeof(path));
	if (tide_file_read(path, &text, &err) < 0) {
		if (errno != ENOENT)
			error("tide: %s", err.text);
		return;
	}
	rc = tide_jobs_parse(tide_notes_get(), text, &err);
	tide_notes_put();
	if (rc < 0)
		error("tide: ignoring %s: %s", path, err.text);
	free(text);
}

/* Act */

/* The job of a deed, if it is still the run that was looked at. */
static job_record_t *still(const struct deed *deed, struct tide_job_view *job)
{
	job_record_t *record = tide_ctld_job(deed->id);

	if (!record)
		return NULL;
	tide_job_view(record, job);
	if (job->run != deed->run)
		return NULL;
	switch (deed->kind) {
	case DEED_RESTORE:
	case DEED_REASON:
	case DEED_PLANNED:
		return job->pending ? record : NULL;
	case DEED_END:
		return job->running || job->suspended ? record : NULL;
	default:
		return job->running ? record : NULL;
	}
}

static void act_limit(job_record_t *record, const struct deed *deed)
{
	struct tide_job_view job;
	struct tide_job *note;

	tide_job_set_limit(record, deed->limit_min);
	tide_job_view(record, &job);
	debug("tide: job %u: limit set to %u minutes", deed->id, job.limit_min);
	note = tide_jobs_find(tide_notes_get(), deed->id);
	if (note)
		note->set_min = job.limit_min;
	tide_notes_put();
}

/* A run that has reached its own limit ends by it, if Slurm agrees. */
static void act_end(job_record_t *record, const struct deed *deed, int64_t now)
{
	struct tide_job_view job;
	int rc;

	if (deed->time <= now) {
		tide_ctld_check_limits();
		if (!still(deed, &job))
			return;
	}
	info("tide: job %u: its window has closed", deed->id);
	rc = tide_job_end(record);
	if (rc)
		error("tide: could not end job %u at the close: %s", deed->id,
		      slurm_strerror(rc));
}

static void act(job_record_t *record, const struct deed *deed, int64_t now)
{
	switch (deed->kind) {
	case DEED_LIMIT:
		act_limit(record, deed);
		break;
	case DEED_RESTORE:
		tide_job_restore_limit(record, deed->limit_min);
		break;
	case DEED_WARN:
		info("tide: job %u: its window closes soon, sending its --signal",
		     deed->id);
		tide_job_warn(record);
		break;
	case DEED_UNWARN:
		tide_job_unwarn(record);
		break;
	case DEED_END:
		act_end(record, deed, now);
		break;
	case DEED_REASON:
		tide_job_set_reason(record, deed->text[0] ? deed->text : NULL);
		break;
	case DEED_PLANNED:
		tide_job_set_planned(record, deed->time);
		tide_ctld_touch();
		break;
	}
}

static void observe(const struct deed *deed)
{
	switch (deed->kind) {
	case DEED_LIMIT:
		verbose("tide: observe: job %u: would set its limit to %u minutes",
			deed->id, deed->limit_min);
		break;
	case DEED_WARN:
		verbose("tide: observe: job %u: would send its --signal",
			deed->id);
		break;
	case DEED_END:
		verbose("tide: observe: job %u: would end at the close",
			deed->id);
		break;
	default:
		break;
	}
}

static void act_all(struct pass *pass)
{
	struct tide_job_view job;
	bool ended = false;
	size_t i;

	if (!pass->count || tide_ctld_ending())
		return;
	tide_ctld_lock(TIDE_ACT);
	for (i = 0; i < pass->count && !tide_ctld_ending(); i++) {
		job_record_t *record = still(&pass->deeds[i], &job);

		if (!record)
			continue;
		if (pass->plan->observe &&
		    pass->deeds[i].kind != DEED_RESTORE) {
			observe(&pass->deeds[i]);
			continue;
		}
		act(record, &pass->deeds[i], pass->now);
		ended = ended || pass->deeds[i].kind == DEED_END;
	}
	tide_ctld_unlock(TIDE_ACT);
	if (ended)
		tide_ctld_wake();
}

/* Look at every pool job. */
static void look(struct pass *pass)
{
	pass->next = tide_plan_next(pass->plan, pass->now);
	pass->jobs = tide_notes_get();
	tide_ctld_each_job(look_at, pass);
	tide_jobs_sweep(pass->jobs, pass->number);
	tide_notes_put();
}

int64_t tide_pass(int64_t now)
{
	struct pass pass = {
		.now = now,
		.next = TIDE_NEVER,
		.number = ++pass_number,
	};
	struct tide_plan *plan;

	/* slurmctld does not save its state while somebody holds a lock. */
	if (tide_ctld_ending())
		return TIDE_NEVER;
	tide_ctld_lock(TIDE_LOOK);
	/* Not before: a reconfigure that we waited for renumbers the nodes. */
	plan = tide_plan_get();
	pass.plan = plan;
	if (plan)
		look(&pass);
	tide_ctld_unlock(TIDE_LOOK);
	if (!plan)
		return TIDE_NEVER;
	save();
	act_all(&pass);
	/* With the limits that were set. */
	save();
	xfree(pass.deeds);
	tide_plan_put(plan);
	return pass.next;
}

/* Beside the thread */

static int seed(void *x, void *arg)
{
	const struct tide_plan *plan = arg;
	struct tide_job_view job;

	tide_job_view(x, &job);
	if (job.pending &&
	    (tide_plan_is_pool(plan, &job) || tide_plan_wants_pool(plan, &job)))
		tide_notes_seed(&job);
	return 0;
}

void tide_pass_seed(const struct tide_plan *plan)
{
	tide_ctld_each_job(seed, (void *)plan);
}

static int leave(void *x, void *arg)
{
	struct tide_jobs *jobs = arg;
	struct tide_job_view job;
	struct tide_job *note;

	tide_job_view(x, &job);
	note = tide_jobs_find(jobs, job.id);
	if (note && note->changed && note->run == job.run &&
	    (job.running || job.suspended)) {
		tide_job_leave_limit(x, tide_job_limit(x, note->user_min));
		/* Should this slurmctld go on, it is as after a restart. */
		note->known = false;
	}
	return 0;
}

void tide_pass_leave(void)
{
	tide_ctld_lock(TIDE_ACT);
	tide_ctld_each_job(leave, tide_notes_get());
	tide_notes_put();
	tide_ctld_unlock(TIDE_ACT);
	save();
	tide_ctld_save_jobs();
}

void tide_pass_run_over(job_record_t *job)
{
	struct tide_job_view view;
	struct tide_job *note;
	uint32_t user_min = 0;
	bool changed = false;

	tide_job_view(job, &view);
	note = tide_jobs_find(tide_notes_get(), view.id);
	if (note) {
		changed = note->changed || (view.time_min && !note->known);
		user_min = note->user_min;
		note->changed = false;
		note->known = false;
		note->close = 0;
	}
	tide_notes_put();
	/* A limit that Slurm chose, it takes back itself. */
	if (changed && !view.limit_by_default && user_min != view.limit_min)
		tide_job_restore_limit(job, user_min);
}
