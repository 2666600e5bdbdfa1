/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass of the layer's thread over the jobs of the pool, in three steps:
 * look (read locks), save (no lock), act (write locks).
 */
#ifndef TIDE_SELECT_PASS_H
#define TIDE_SELECT_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugins/select/tide/plan.h"

/*
 * Do what is due at `now`.  Returns when to come again, TIDE_NEVER if nothing
 * is foreseen.  Blocks; no lock may be held.
 */
int64_t tide_pass(int64_t now);

/*
 * Take in the state file.  What is wrong with it is logged, and the jobs are
 * then taken as they are.  Before there are threads.
 */
void tide_pass_restore(void);

/* Note every pool job's --time.  TIDE_LOOK. */
void tide_pass_seed(const struct tide_plan *plan);

/*
 * slurmctld ends: give running jobs the --time of their users back in what it
 * saves, so that they outlive the layer if it is taken away now. The next
 * slurmctld with the layer sets the limits that tide_state has.  No lock held.
 */
void tide_pass_leave(void);

/*
 * A run is over: give the job the --time of its user back, in case it will run
 * again.  The operation job_fini; slurmctld's write locks are held.
 */
void tide_pass_run_over(job_record_t *job);

#endif
