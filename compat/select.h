/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The select interface of the Slurm we build for, and its operations; the
 * layer looks into the arguments of one of them, job_test, which differ by
 * release.
 */
#ifndef TIDE_COMPAT_SELECT_H
#define TIDE_COMPAT_SELECT_H

#include "compat/ctld.h"

#if TIDE_INTERFACES_FOLDER
#include "src/interfaces/select.h"
#else
#include "src/common/select.h"
#endif

#include "compat/ops_select.h"

struct tide_job_test {
	job_record_t *job;
	bitstr_t *nodes; /* in: to choose from; out: chosen */
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	list_t *preemptee_candidates;
	list_t **preemptee_list;
#if TIDE_JOB_TEST_RESV
	resv_exc_t *exc;
#else
	bitstr_t *exc;
#endif
#if TIDE_JOB_TEST_WILL_RUN
	will_run_data_t *will_run;
#endif
};

/* The parameters of select_p_job_test, and a tide_job_test of them. */
#define TIDE_JOB_TEST_COMMON                                              \
	job_record_t *job_ptr, bitstr_t *node_bitmap, uint32_t min_nodes, \
		uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,    \
		list_t *candidates, list_t **preemptee_list
#define TIDE_JOB_TEST_COMMON_PACK                                    \
	job_ptr, node_bitmap, min_nodes, max_nodes, req_nodes, mode, \
		candidates, preemptee_list
#if TIDE_JOB_TEST_WILL_RUN
#define TIDE_JOB_TEST_PARAMS \
	TIDE_JOB_TEST_COMMON, resv_exc_t *exc, will_run_data_t *will_run
#define TIDE_JOB_TEST_PACK                               \
	{                                                \
		TIDE_JOB_TEST_COMMON_PACK, exc, will_run \
	}
#define TIDE_JOB_TEST_LAST(test) (test)->exc, (test)->will_run
#elif TIDE_JOB_TEST_RESV
#define TIDE_JOB_TEST_PARAMS TIDE_JOB_TEST_COMMON, resv_exc_t *exc
#define TIDE_JOB_TEST_PACK                     \
	{                                      \
		TIDE_JOB_TEST_COMMON_PACK, exc \
	}
#define TIDE_JOB_TEST_LAST(test) (test)->exc
#else
#define TIDE_JOB_TEST_PARAMS TIDE_JOB_TEST_COMMON, bitstr_t *exc
#define TIDE_JOB_TEST_PACK                     \
	{                                      \
		TIDE_JOB_TEST_COMMON_PACK, exc \
	}
#define TIDE_JOB_TEST_LAST(test) (test)->exc
#endif

typedef __typeof__(select_p_job_test) *tide_job_test_fn;

static inline int tide_job_test_call(tide_job_test_fn stock,
				     const struct tide_job_test *test)
{
	return stock(test->job, test->nodes, test->min_nodes, test->max_nodes,
		     test->req_nodes, test->mode, test->preemptee_candidates,
		     test->preemptee_list, TIDE_JOB_TEST_LAST(test));
}

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

/*
 * Does the caller know that it cannot start before some time, as backfill does
 * when it plans behind others?  0: no.  Up to 24.05 it says so nowhere.
 */
static inline int64_t tide_job_test_from(const struct tide_job_test *test)
{
#if TIDE_JOB_TEST_WILL_RUN
	return test->will_run ? test->will_run->start : 0;
#else
	return 0;
#endif
}

/* Does the caller want to know when it could start? */
static inline bool tide_job_test_plans(const struct tide_job_test *test)
{
	return (test->mode & SELECT_MODE_BASE) == SELECT_MODE_WILL_RUN;
}

#endif
