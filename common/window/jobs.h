/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the layer must remember of pool jobs, because Slurm does not: the
 * --time its user asked for, whether the limit it has now was set by us, and
 * what it waits for.
 *
 * A table by job id.  Its first half survives a restart as a small text; the
 * text is written before a limit is changed, so that a crash in between loses
 * nothing.
 *
 * Threads: none of its own; the caller serialises.
 */
#ifndef TIDE_WINDOW_JOBS_H
#define TIDE_WINDOW_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

struct tide_job {
	uint32_t id;
	/* Survive a restart: */
	uint32_t user_min; /* --time in Slurm's own form, NO_VAL included */
	bool changed;	   /* the limit of this run is ours */
	uint32_t run;	   /* which run: number of restarts */
	int64_t close;	   /* of that run, as last planned; 0: not yet */
	uint32_t set_min;  /* its limit then, to notice a change by others;
			    * 0: it has not run yet */
	bool keep;	   /* there is something worth saving */
	/* Do not: */
	bool known;	 /* this run was seen before */
	bool waits;	 /* for a window */
	int64_t opening; /* which one; 0: none in sight */
	char window[64]; /* its name */
	int64_t planned; /* the planned start that was looked at last */
	uint32_t pass;	 /* mark for tide_jobs_sweep() */
};

struct tide_jobs;

/* NULL without memory. */
struct tide_jobs *tide_jobs_create(void);
void tide_jobs_destroy(struct tide_jobs *jobs);

/* The record, valid until it is swept; NULL if there is none. */
struct tide_job *tide_jobs_find(struct tide_jobs *jobs, uint32_t id);

/* The record; a new one is all zero but its id.  NULL without memory. */
struct tide_job *tide_jobs_add(struct tide_jobs *jobs, uint32_t id);

/* Drop every record whose mark is not `pass`. */
void tide_jobs_sweep(struct tide_jobs *jobs, uint32_t pass);

/*
 * What is to survive, as text, in the order of ids.  The caller frees it; NULL
 * without memory.
 */
char *tide_jobs_text(struct tide_jobs *jobs);

/*
 * Take in such a text.  EINVAL names the line and leaves the table as it was;
 * an empty text is right.
 */
int tide_jobs_parse(struct tide_jobs *jobs, const char *text,
		    struct tide_err *err);

#endif
