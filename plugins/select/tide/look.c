/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is due for the jobs of the pool: see deed.h.  Changes no job. */
#include "plugins/select/tide/deed.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugins/select/tide/notes.h"
#include "plugins/select/tide/pick.h"

/* One look; lives on the stack of the thread. */
struct look {
	const struct tide_plan *plan;
	struct tide_jobs *jobs;
	int64_t now;
	uint32_t number;
	struct tide_deeds *ret;
};

static uint32_t last_number; /* the thread's own */

static struct tide_deed *add_deed(struct look *look, enum tide_deed_kind kind,
				  const struct tide_job_view *job)
{
	struct tide_deeds *deeds = look->ret;
	struct tide_deed *deed;

	if (deeds->count == deeds->room) {
		deeds->room = deeds->room ? deeds->room * 2 : 16;
		xrecalloc(deeds->deeds, deeds->room, sizeof(*deeds->deeds));
	}
	deed = &deeds->deeds[deeds->count++];
	*deed = (struct tide_deed){
		.kind = kind, .id = job->id, .run = job->run};
	return deed;
}

/* Running jobs */

/*
 * When the run has to be over.  A close that was moved to now or before, by a
 * new tide.conf, leaves the job the time of its own --signal.
 */
static int64_t close_of(const struct look *look,
			const struct tide_job_view *job,
			const struct tide_job *note)
{
	int64_t close, known, grace;

	if (!job->nodes)
		return TIDE_NEVER;
	if (look->plan->closed)
		return note->close ? note->close : TIDE_NEVER;
	close = tide_plan_close(look->plan, look->now, job->nodes);
	if (close > look->now)
		return close;
	/* Closed by now. */
	known = note->close ? note->close : TIDE_NEVER;
	if (!note->known || known <= look->now ||
	    (job->warned && known == TIDE_NEVER))
		return look->now;
	grace = job->warned ? known : look->now + job->warn;
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

static void look_running(struct look *look, job_record_t *record,
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
	run.close = close_of(look, job, note);
	run.user_min = tide_job_limit(record, note->user_min);
	run.grow_min = grow_min(record, job, note, run.close);
	run.pay_min = pay_min(record, job, note);
	tide_run_due(&run, look->now, &due);
	if (due.next < look->ret->next)
		look->ret->next = due.next;
	if (due.end) {
		add_deed(look, TIDE_DEED_END, job)->time = job->end;
	} else if (due.limit_min != job->limit_min && job->running) {
		add_deed(look, TIDE_DEED_LIMIT, job)->limit_min = due.limit_min;
		note->changed = note->keep = true;
	}
	if (job->warned && note->close && run.close > note->close &&
	    look->now < run.close - job->warn)
		add_deed(look, TIDE_DEED_UNWARN, job);
	if (due.warn && job->running)
		add_deed(look, TIDE_DEED_WARN, job);
	if (note->user_min != note->set_min)
		note->changed = note->keep = true;
	/* A close moved to now leaves it this time, also over a restart. */
	if (job->warn)
		note->keep = true;
	note->close = run.close == TIDE_NEVER ? 0 : run.close;
	note->known = true;
	note->waits = false;
}

/* Pending jobs */

static void write_time(char *text, size_t size, int64_t at)
{
	time_t t = at;
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return;
	strftime(text, size, tm.tm_sec ? "%FT%T" : "%FT%R", &tm);
}

static void write_reason(const struct look *look, const struct tide_job *note,
			 char *text, size_t size)
{
	char when[32] = "";

	if (look->plan->closed) {
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

static void look_reason(struct look *look, const job_record_t *record,
			const struct tide_job_view *job, struct tide_job *note)
{
	char text[sizeof(((struct tide_deed *)NULL)->text)] = "";
	struct tide_deed *deed;

	if (note->waits && note->opening && note->opening <= look->now)
		note->waits = false;
	if (note->waits)
		write_reason(look, note, text, sizeof(text));
	if (!tide_job_would_set_reason(record, note->waits ? text : NULL))
		return;
	deed = add_deed(look, TIDE_DEED_REASON, job);
	if (note->waits)
		memcpy(deed->text, text, sizeof(text));
}

/*
 * Backfill puts a job after others without asking again which nodes are open
 * then: move such a start on to where they are, or to where nobody knows.
 */
static void look_planned(struct look *look, const job_record_t *record,
			 const struct tide_job_view *job, struct tide_job *note)
{
	int64_t need, at = job->start;
	bitstr_t *nodes;

	if (job->start <= look->now || job->start == note->planned ||
	    look->plan->closed)
		return;
	nodes = tide_job_planned_nodes(record);
	if (!nodes)
		return;
	need = tide_pick_need(record, job, note->user_min);
	while (!tide_plan_fits(look->plan, at, need, nodes)) {
		at = tide_plan_next(look->plan, at);
		if (at > look->now + TIDE_HORIZON) {
			at = 0;
			break;
		}
	}
	FREE_NULL_BITMAP(nodes);
	note->planned = at;
	if (at != job->start)
		add_deed(look, TIDE_DEED_PLANNED, job)->time = at;
}

static void look_pending(struct look *look, const job_record_t *record,
			 const struct tide_job_view *job, struct tide_job *note,
			 bool is_pool)
{
	if (note->changed || (job->array_id && job->time_min &&
			      job->limit_min == job->time_min &&
			      job->limit_min != note->user_min))
		/* What a run, or backfill on an array, left behind. */
		add_deed(look, TIDE_DEED_RESTORE, job)->limit_min =
			note->user_min;
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
	look_reason(look, record, job, note);
	look_planned(look, record, job, note);
}

static int look_at(void *x, void *arg)
{
	struct look *look = arg;
	struct tide_job_view job;
	struct tide_job *note;
	bool is_pool;

	tide_job_view(x, &job);
	is_pool = tide_plan_is_pool(look->plan, &job);
	if (job.finished ||
	    (!is_pool && !tide_plan_wants_pool(look->plan, &job)))
		return 0;
	note = tide_notes_see(look->jobs, &job);
	if (!note)
		return 0;
	note->pass = look->number;
	if (job.pending)
		look_pending(look, x, &job, note, is_pool);
	else if (job.running || job.suspended)
		look_running(look, x, &job, note);
	return 0;
}

void tide_look(const struct tide_plan *plan, int64_t now,
	       struct tide_deeds *ret_deeds)
{
	struct look look = {
		.plan = plan,
		.now = now,
		.number = ++last_number,
		.ret = ret_deeds,
	};

	*ret_deeds = (struct tide_deeds){.next = tide_plan_next(plan, now)};
	look.jobs = tide_notes_get();
	tide_ctld_each_job(look_at, &look);
	tide_jobs_sweep(look.jobs, look.number);
	tide_notes_put();
}
