/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does to the jobs of the pool what was found to be due: see deed.h.  Decides
 * nothing, but leaves alone what is no longer as it was seen.
 */
#include "plugins/select/tide/deed.h"

#include "plugins/select/tide/notes.h"

/* The job of a deed, if it is still the run that was looked at. */
static job_record_t *still(const struct tide_deed *deed,
			   struct tide_job_view *job)
{
	job_record_t *record = tide_ctld_job(deed->id);

	if (!record)
		return NULL;
	tide_job_view(record, job);
	if (job->run != deed->run)
		return NULL;
	switch (deed->kind) {
	case TIDE_DEED_RESTORE:
	case TIDE_DEED_REASON:
	case TIDE_DEED_PLANNED:
		return job->pending ? record : NULL;
	case TIDE_DEED_END:
		return job->running || job->suspended ? record : NULL;
	default:
		return job->running ? record : NULL;
	}
}

static void act_limit(job_record_t *record, const struct tide_deed *deed)
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
static void act_end(job_record_t *record, const struct tide_deed *deed,
		    int64_t now)
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

static void act(job_record_t *record, const struct tide_deed *deed, int64_t now)
{
	switch (deed->kind) {
	case TIDE_DEED_LIMIT:
		act_limit(record, deed);
		break;
	case TIDE_DEED_RESTORE:
		tide_job_restore_limit(record, deed->limit_min);
		break;
	case TIDE_DEED_WARN:
		info("tide: job %u: its window closes soon, sending its --signal",
		     deed->id);
		tide_job_warn(record);
		break;
	case TIDE_DEED_UNWARN:
		tide_job_unwarn(record);
		break;
	case TIDE_DEED_END:
		act_end(record, deed, now);
		break;
	case TIDE_DEED_REASON:
		tide_job_set_reason(record, deed->text[0] ? deed->text : NULL);
		break;
	case TIDE_DEED_PLANNED:
		tide_job_set_planned(record, deed->time);
		tide_ctld_touch();
		break;
	}
}

static void observe(const struct tide_deed *deed)
{
	switch (deed->kind) {
	case TIDE_DEED_LIMIT:
		verbose("tide: observe: job %u: would set its limit to %u minutes",
			deed->id, deed->limit_min);
		break;
	case TIDE_DEED_WARN:
		verbose("tide: observe: job %u: would send its --signal",
			deed->id);
		break;
	case TIDE_DEED_END:
		verbose("tide: observe: job %u: would end at the close",
			deed->id);
		break;
	default:
		break;
	}
}

void tide_act(const struct tide_plan *plan, int64_t now,
	      const struct tide_deeds *deeds)
{
	struct tide_job_view job;
	bool ended = false;
	size_t i;

	if (!deeds->count || tide_ctld_ending())
		return;
	tide_ctld_lock(TIDE_ACT);
	for (i = 0; i < deeds->count && !tide_ctld_ending(); i++) {
		const struct tide_deed *deed = &deeds->deeds[i];
		job_record_t *record = still(deed, &job);

		if (!record)
			continue;
		if (plan->observe && deed->kind != TIDE_DEED_RESTORE) {
			observe(deed);
			continue;
		}
		act(record, deed, now);
		ended = ended || deed->kind == TIDE_DEED_END;
	}
	tide_ctld_unlock(TIDE_ACT);
	if (ended)
		tide_ctld_wake();
}
