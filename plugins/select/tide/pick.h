/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which nodes a pool job may choose from: the override of job_test.
 *
 * To start now, nodes that are not open now for long enough are taken away
 * before Slurm's own code chooses.  To plan, Slurm's own code is asked with
 * the nodes that are open at T, T stepping over now and the openings that
 * follow, and the start time it answers is raised to T.  Whether the job could
 * run at all (TEST_ONLY) is never masked: Slurm would hold or refuse it.
 *
 * Locks: those of job_test, held by Slurm.
 */
#ifndef TIDE_SELECT_PICK_H
#define TIDE_SELECT_PICK_H

#include "compat/select.h"

/* stock: Slurm's own job_test.  The result is that of job_test. */
int tide_pick(tide_job_test_fn stock, const struct tide_job_test *test);

/*
 * Seconds for which a job needs its nodes: --time-min if it has one, else
 * --time (user_min, in Slurm's form); TIDE_FOREVER without a limit.
 */
int64_t tide_pick_need(const job_record_t *job,
		       const struct tide_job_view *view, uint32_t user_min);

#endif
