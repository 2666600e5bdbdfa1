/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One pass over the jobs of the pool, and what outlives it: see pass.h. */
#include "plugins/select/tide/pass.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/file.h"
#include "plugins/select/tide/deed.h"
#include "plugins/select/tide/notes.h"

#define STATE_FILE "tide_state"

/* The state file is written by the thread, and by slurmctld as it ends. */
static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;
static char *saved; /* what it holds; guarded by the mutex */

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

int64_t tide_pass(int64_t now)
{
	struct tide_deeds deeds = {0};
	struct tide_plan *plan;

	/* slurmctld does not save its state while somebody holds a lock. */
	if (tide_ctld_ending())
		return TIDE_NEVER;
	tide_ctld_lock(TIDE_LOOK);
	/* Not before: a reconfigure that we waited for renumbers the nodes. */
	plan = tide_plan_get();
	if (plan)
		tide_look(plan, now, &deeds);
	tide_ctld_unlock(TIDE_LOOK);
	if (!plan)
		return TIDE_NEVER;
	save();
	tide_act(plan, now, &deeds);
	/* With the limits that were set. */
	save();
	xfree(deeds.deeds);
	tide_plan_put(plan);
	return deeds.next;
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
