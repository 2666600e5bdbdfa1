/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The windows of tide.conf laid over Slurm's nodes: which nodes are open, until
 * when, as bitmaps.
 *
 * A plan is immutable and counted; the present one is swapped under a mutex.
 * It is made under slurmctld's locks from what is in memory and reads no file.
 * Nothing of it survives a restart.
 */
#ifndef TIDE_SELECT_PLAN_H
#define TIDE_SELECT_PLAN_H

#include "compat/ctld.h"

#include "common/util/err.h"
#include "common/window/gate.h"
#include "plugins/select/tide/source.h"

/* How far ahead planned starts look. */
#define TIDE_HORIZON (14 * 86400)
struct tide_plan {
	unsigned int refs;	    /* plan.c's own */
	struct tide_source *source; /* windows' names live there */
	bool observe;		    /* Mode=observe */
	bool closed;		    /* no usable tide.conf: nothing is open */
	/* PoolPartition; NULL if it is unknown to us, or to Slurm. */
	const char *pool;
	struct tide_stretches *stretches;
	const struct tide_group *groups; /* its own */
	size_t count; /* of them; the last is nobody's nodes */
	int node_count;
	bitstr_t **nodes; /* of each group */
};

/*
 * Make a plan from a source and its stretches.  With `strict`, EINVAL names a
 * node or a partition of tide.conf that Slurm does not know; without, they are
 * passed over: the source was right once.  TIDE_LOOK.
 */
int tide_plan_create(struct tide_source *source, bool strict,
		     struct tide_plan **ret_plan, struct tide_err *err);

/* When anything opens or closes next after `after`, or TIDE_NEVER. */
int64_t tide_plan_next(const struct tide_plan *plan, int64_t after);

/* The present plan, counted; NULL before there is one.  Any thread. */
struct tide_plan *tide_plan_get(void);
void tide_plan_put(struct tide_plan *plan);

/* Make it the present one; the count is handed over. */
void tide_plan_set(struct tide_plan *plan);

/* Is it a pool job that windows are about?  TIDE_LOOK. */
bool tide_plan_is_pool(const struct tide_plan *plan,
		       const struct tide_job_view *job);

/*
 * Does a pending job name the pool's partition among others, whichever it is
 * in at the moment?  TIDE_LOOK.
 */
bool tide_plan_wants_pool(const struct tide_plan *plan,
			  const struct tide_job_view *job);

/* Take away the nodes that are not open at `at` for `need` seconds. */
void tide_plan_mask(const struct tide_plan *plan, int64_t at, int64_t need,
		    bitstr_t *nodes);

/* Are all of these nodes open at `at` for `need` seconds? */
bool tide_plan_fits(const struct tide_plan *plan, int64_t at, int64_t need,
		    const bitstr_t *nodes);

/* The earliest close among these nodes; `at` or before: closed now. */
int64_t tide_plan_close(const struct tide_plan *plan, int64_t at,
			const bitstr_t *nodes);

/*
 * Of the open stretches that these nodes are in at `at` the one that opens
 * last, or NULL.
 */
const struct tide_open *tide_plan_window(const struct tide_plan *plan,
					 int64_t at, const bitstr_t *nodes);

/* How many of these nodes are in each group; size has room for count. */
void tide_plan_sizes(const struct tide_plan *plan, const bitstr_t *nodes,
		     uint32_t *size);

#endif
