/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pass finds to be done to jobs, and does: look.c writes deeds under
 * read locks, act.c does them under write locks.  The layer's thread only.
 */
#ifndef TIDE_SELECT_DEED_H
#define TIDE_SELECT_DEED_H

#include <stddef.h>
#include <stdint.h>

#include "plugins/select/tide/plan.h"

enum tide_deed_kind {
	TIDE_DEED_LIMIT,   /* set the limit of a run */
	TIDE_DEED_RESTORE, /* give the user's limit back */
	TIDE_DEED_WARN,
	TIDE_DEED_UNWARN,
	TIDE_DEED_END,
	TIDE_DEED_REASON,
	TIDE_DEED_PLANNED, /* move the planned start */
};

/* To one job, if it still is that run when it comes to it. */
struct tide_deed {
	enum tide_deed_kind kind;
	uint32_t id, run;
	uint32_t limit_min; /* LIMIT, RESTORE: in Slurm's form */
	int64_t time;	    /* END: of its own limit; PLANNED: the start */
	char text[128];	    /* REASON; "" takes ours away */
};

struct tide_deeds {
	struct tide_deed *deeds; /* to be freed with xfree() */
	size_t count, room;
	int64_t next; /* when to look again; TIDE_NEVER: nothing is foreseen */
};

/*
 * Look at every pool job at `now`, and bring the notes up to date.  TIDE_LOOK;
 * takes the mutex of the notes.
 */
void tide_look(const struct tide_plan *plan, int64_t now,
	       struct tide_deeds *ret_deeds);

/*
 * Do them; with Mode=observe say what would be done.  Ends early when
 * slurmctld does.  No lock may be held.
 */
void tide_act(const struct tide_plan *plan, int64_t now,
	      const struct tide_deeds *deeds);

#endif
