/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layer's notes about pool jobs: see notes.h. */
#include "plugins/select/tide/notes.h"

#include <pthread.h>
#include <stdio.h>

#include "src/common/macros.h"

static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tide_jobs *notes; /* guarded by the mutex */

int tide_notes_init(void)
{
	if (!notes)
		notes = tide_jobs_create();
	return notes ? 0 : -1;
}

void tide_notes_fini(void)
{
	tide_jobs_destroy(notes);
	notes = NULL;
}

struct tide_jobs *tide_notes_get(void)
{
	slurm_mutex_lock(&notes_lock);
	return notes;
}

void tide_notes_put(void)
{
	slurm_mutex_unlock(&notes_lock);
}

/* A task of an array has what its array was submitted with. */
static uint32_t first_limit(struct tide_jobs *jobs,
			    const struct tide_job_view *job)
{
	struct tide_job *array = NULL;

	if (job->array_id && job->array_id != job->id)
		array = tide_jobs_find(jobs, job->array_id);
	return array ? array->user_min : job->limit_min;
}

struct tide_job *tide_notes_see(struct tide_jobs *jobs,
				const struct tide_job_view *job)
{
	struct tide_job *note = tide_jobs_find(jobs, job->id);
	uint32_t user_min;

	if (note)
		return note;
	user_min = first_limit(jobs, job);
	note = tide_jobs_add(jobs, job->id);
	if (note) {
		note->user_min = user_min;
		note->keep = job->time_min != 0;
	}
	return note;
}

/* It was seen, or its array, or can be without a mistake about --time. */
static bool is_plain(struct tide_jobs *jobs, const struct tide_job_view *job)
{
	return !job->time_min || job->limit_min != job->time_min ||
	       tide_jobs_find(jobs, job->id) ||
	       (job->array_id && tide_jobs_find(jobs, job->array_id));
}

bool tide_notes_user_min(const struct tide_job_view *job, uint32_t *ret_min)
{
	struct tide_jobs *jobs = tide_notes_get();
	bool plain = is_plain(jobs, job);
	struct tide_job *note = plain ? tide_notes_see(jobs, job) : NULL;

	*ret_min = note ? note->user_min : job->limit_min;
	tide_notes_put();
	return plain;
}

void tide_notes_seed(const struct tide_job_view *job)
{
	(void)tide_notes_see(tide_notes_get(), job);
	tide_notes_put();
}

void tide_notes_waits(uint32_t id, int64_t opening, const char *window)
{
	struct tide_job *note = tide_jobs_find(tide_notes_get(), id);

	if (note) {
		note->waits = true;
		note->opening = opening;
		snprintf(note->window, sizeof(note->window), "%s",
			 window ? window : "");
	}
	tide_notes_put();
}

void tide_notes_free(uint32_t id)
{
	struct tide_job *note = tide_jobs_find(tide_notes_get(), id);

	if (note)
		note->waits = false;
	tide_notes_put();
}
