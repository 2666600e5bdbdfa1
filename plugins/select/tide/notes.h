/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layer's notes about pool jobs (common/window/jobs.h), shared between the
 * select operations and the thread.
 *
 * One mutex, held for a moment and never while slurmctld's locks are taken;
 * the operations come here with slurmctld's locks held, so the order is always
 * slurmctld first.
 */
#ifndef TIDE_SELECT_NOTES_H
#define TIDE_SELECT_NOTES_H

#include "compat/ctld.h"

#include "common/window/jobs.h"

/* Returns -1 without memory. */
int tide_notes_init(void);
void tide_notes_fini(void);

/* Lock and reach the table; every get is followed by a put. */
struct tide_jobs *tide_notes_get(void);
void tide_notes_put(void);

/*
 * The job's note, in a table that was got.  A job that was never seen is noted
 * with the limit it has now, which is its user's but while backfill tests it:
 * then it is --time-min, and may be left so in an array.  NULL without memory.
 */
struct tide_job *tide_notes_see(struct tide_jobs *jobs,
				const struct tide_job_view *job);

/*
 * The --time of the job's user, as noted; a job that was never seen is noted.
 * False, and the limit it has now, if that may be backfill's: mostly a job is
 * tested when it is submitted, but not while slurmctld, just started, waits
 * for its nodes.
 */
bool tide_notes_user_min(const struct tide_job_view *job, uint32_t *ret_min);

/* Note a job that is not being tested, unless it was. */
void tide_notes_seed(const struct tide_job_view *job);

/* It waits for a window: the opening (0: none in sight) and its name. */
void tide_notes_waits(uint32_t id, int64_t opening, const char *window);

/* It does not, or not any more. */
void tide_notes_free(uint32_t id);

#endif
