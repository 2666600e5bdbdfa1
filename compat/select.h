/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one select operation whose arguments the layer must know, and which
 * differ by release: job_test.
 *
 * 22.05: the last argument is a bitmap of excluded cores.  23.11 makes it a
 * resv_exc_t *, 24.11 adds a will_run_data_t *.
 */
#ifndef TIDE_COMPAT_SELECT_H
#define TIDE_COMPAT_SELECT_H

#include "compat/ctld.h"

#include "src/common/select.h"

struct tide_job_test {
	job_record_t *job;
	bitstr_t *nodes; /* in: to choose from; out: chosen */
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	List preemptee_candidates;
	List *preemptee_list;
	bitstr_t *exc_cores;
};

#define TIDE_JOB_TEST_PARAMS                                              \
	job_record_t *job_ptr, bitstr_t *node_bitmap, uint32_t min_nodes, \
		uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,    \
		List preemptee_candidates, List *preemptee_job_list,      \
		bitstr_t *exc_core_bitmap

#define TIDE_JOB_TEST_PACK                                                   \
	{                                                                    \
		job_ptr, node_bitmap, min_nodes, max_nodes, req_nodes, mode, \
			preemptee_candidates, preemptee_job_list,            \
			exc_core_bitmap                                      \
	}

typedef int (*tide_job_test_fn)(TIDE_JOB_TEST_PARAMS);

/* Slurm's own table of operations; no longer in the header from 24.05 on. */
_Static_assert(
	__builtin_types_compatible_p(
		tide_job_test_fn,
		__typeof__(((slurm_select_ops_t *)NULL)->job_test)),
	"the arguments of job_test are not those of this release of Slurm");

static inline int tide_job_test_call(void *stock,
				     const struct tide_job_test *test)
{
	return ((tide_job_test_fn)stock)(test->job, test->nodes,
					 test->min_nodes, test->max_nodes,
					 test->req_nodes, test->mode,
					 test->preemptee_candidates,
					 test->preemptee_list, test->exc_cores);
}

/* The operations that the layer writes in C; Slurm has no header for them. */
int select_p_job_test(TIDE_JOB_TEST_PARAMS);
int select_p_job_begin(job_record_t *job_ptr);
int select_p_job_fini(job_record_t *job_ptr);
int select_p_reconfigure(void);
int select_p_state_save(char *dir_name); /* gone in 25.05 */

/* Forget what an earlier call with the same arguments left behind. */
static inline void tide_job_test_reset(const struct tide_job_test *test)
{
	if (test->preemptee_list && *test->preemptee_list)
		list_flush(*test->preemptee_list);
}

/* Does the caller want to start the job now? */
static inline bool tide_job_test_runs(const struct tide_job_test *test)
{
	return SELECT_IS_MODE_RUN_NOW(test->mode);
}

/* Does the caller want to know when it could start? */
static inline bool tide_job_test_plans(const struct tide_job_test *test)
{
	return (test->mode & SELECT_MODE_BASE) == SELECT_MODE_WILL_RUN;
}

#endif
