/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of windows as pure decisions: may a job start here, when could it,
 * how long may its run last, what is due now.  No Slurm, no clock, no state.
 *
 * Times are seconds since the epoch, stretches are seconds; a name that ends
 * in _min is minutes, the unit of Slurm's limits.  An open stretch holds its
 * first second and not its last: [open, close).
 *
 * Nodes with the same windows form a group; nodes that nobody lends are in a
 * group that is always open.  So a question about ten thousand nodes is a
 * question about a handful of groups.
 */
#ifndef TIDE_WINDOW_GATE_H
#define TIDE_WINDOW_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIDE_NEVER INT64_MAX
#define TIDE_FOREVER INT64_MAX
/* A limit that is not there: Slurm's INFINITE and NO_VAL. */
#define TIDE_UNLIMITED_MIN UINT32_MAX

/*
 * How far past the close a run's own limit lies at least.  Slurm looks at
 * limits every 30 seconds and its warning may come 30 seconds early: with a
 * minute in between, both the warning and the end at the close are ours.
 */
#define TIDE_PAST_CLOSE 60

struct tide_open {
	int64_t open, close;
	const char *name; /* of the window that opens it; not owned */
};

/* Sorted, disjoint, not adjoining.  Owned by whoever made the group. */
struct tide_group {
	bool always;
	const struct tide_open *opens;
	size_t count;
};

/*
 * When the stretch that holds `at` closes; TIDE_FOREVER if it never does, 0 if
 * the group is closed at that time.
 */
int64_t tide_group_until(const struct tide_group *group, int64_t at);

/* The stretch that holds `at`; NULL if closed, or if it has no windows. */
const struct tide_open *tide_group_at(const struct tide_group *group,
				      int64_t at);

/* The first stretch that opens after `after`; NULL if there is none. */
const struct tide_open *tide_group_next(const struct tide_group *group,
					int64_t after);

/*
 * Is the group open at `at` and for at least `need` seconds from then on?  A
 * need of TIDE_FOREVER fits only where there is no close.
 */
bool tide_group_fits(const struct tide_group *group, int64_t at, int64_t need);

/*
 * The moments at which more nodes become usable: every opening of any group in
 * (from, to], ascending, each once.  Writes at most max, returns how many.
 */
size_t tide_openings(const struct tide_group *groups, size_t count,
		     int64_t from, int64_t to, int64_t *ret, size_t max);

/*
 * The longest stretch for which `nodes` nodes are open together, beginning at
 * `from` or at an opening up to `to`.  size[i] is the number of nodes that
 * group i offers.  Returns its length, TIDE_FOREVER if it has no end, 0 if
 * there is none; ret_at is set to its begin when not 0.
 */
int64_t tide_longest(const struct tide_group *groups, const uint32_t *size,
		     size_t count, uint32_t nodes, int64_t from, int64_t to,
		     int64_t *ret_at);

/* One run, as it is now. */
struct tide_run {
	int64_t start;	    /* of the run */
	int64_t paused;	    /* seconds it was suspended */
	int64_t close;	    /* earliest close of its nodes, or TIDE_NEVER */
	uint32_t user_min;  /* --time, or TIDE_UNLIMITED_MIN */
	uint32_t limit_min; /* the limit it has now */
	uint32_t grow_min;  /* most it may be raised to (account, plans) */
	uint32_t pay_min;   /* lowered to, at a start; 0: as it is */
	uint32_t warn;	    /* seconds of --signal; 0: wants no warning */
	bool warned;	    /* and has had it */
};

/* What is due. */
struct tide_due {
	uint32_t limit_min; /* the limit to set; same as now: leave it */
	bool warn;	    /* send the warning now */
	bool end;	    /* hand the nodes back now */
	int64_t next;	    /* when to ask again, or TIDE_NEVER */
};

/*
 * The rules of a running job: its limit is the earlier of --time and a little
 * past the close, a limit below that is raised as far as grow_min allows, one
 * that Slurm raised further than the account can pay is lowered to pay_min, the
 * warning comes `warn` seconds before the close and the end at the close.
 */
void tide_run_due(const struct tide_run *run, int64_t now,
		  struct tide_due *ret_due);

#endif
