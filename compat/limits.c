/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a job's limit may be raised before its account cannot pay: the check
 * of src/slurmctld/acct_policy.c with AccountingStorageEnforce=safe, turned
 * round.  Slurm itself checks at a start only, not when a limit grows; from
 * 25.05 on its backfill then raises a run that it checked with --time-min.
 */
#include "compat/ctld.h"

#include "src/common/assoc_mgr.h"
#include "src/slurmctld/acct_policy.h"

#pragma weak accounting_enforce
#pragma weak slurmctld_tres_cnt

/*
 * TRES-minutes that are neither used nor promised to running jobs; less than 0
 * when more is promised than there is.
 */
static double left_over(uint64_t limit, double used_secs, uint64_t run_secs)
{
	uint64_t gone = (uint64_t)(used_secs / 60) + run_secs / 60;

	return (double)limit - (double)gone;
}

static double factor_of(const job_record_t *job)
{
	const slurmdb_qos_rec_t *qos = job->qos_ptr;

	if (!qos || !(qos->flags & QOS_FLAG_USAGE_FACTOR_SAFE) ||
	    qos->usage_factor < 0)
		return 1;
	return qos->usage_factor;
}

/* What it has, or asks for. */
static const uint64_t *tres_of(const job_record_t *job)
{
	return IS_JOB_PENDING(job) ? job->tres_req_cnt : job->tres_alloc_cnt;
}

/* Minutes that `left` TRES-minutes pay for; the least of all is kept. */
static void keep_least(const job_record_t *job, int tres, double left,
		       double *least)
{
	double rate = (double)tres_of(job)[tres] * factor_of(job);

	if (rate > 0 && left / rate < *least)
		*least = left / rate;
}

static void by_qos(const job_record_t *job, const slurmdb_qos_rec_t *qos,
		   bool *covered, double *least)
{
	int i;

	if (!qos || !qos->usage || !qos->grp_tres_mins_ctld)
		return;
	for (i = 0; i < slurmctld_tres_cnt; i++) {
		uint64_t limit = qos->grp_tres_mins_ctld[i];

		if (limit == INFINITE64 || covered[i])
			continue;
		/* A QOS with a limit of its own takes the place of others. */
		covered[i] = true;
		keep_least(job, i,
			   left_over(limit, qos->usage->usage_tres_raw[i],
				     qos->usage->grp_used_tres_run_secs[i]),
			   least);
	}
}

static void by_assoc(const job_record_t *job, const bool *covered,
		     double *least)
{
	const slurmdb_assoc_rec_t *assoc = job->assoc_ptr;
	int i;

	for (; assoc && assoc->usage; assoc = assoc->usage->parent_assoc_ptr)
		for (i = 0; i < slurmctld_tres_cnt; i++) {
			uint64_t limit = assoc->grp_tres_mins_ctld
						 ? assoc->grp_tres_mins_ctld[i]
						 : INFINITE64;

			if (limit == INFINITE64 || covered[i])
				continue;
			keep_least(
				job, i,
				left_over(limit,
					  assoc->usage->usage_tres_raw[i],
					  assoc->usage
						  ->grp_used_tres_run_secs[i]),
				least);
		}
}

uint32_t tide_job_payable_min(job_record_t *job)
{
	assoc_mgr_lock_t locks = {
		.assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK};
	slurmdb_qos_rec_t *first, *second;
	/* A running job's limit is counted already. */
	uint32_t base = IS_JOB_PENDING(job) ? 0 : job->time_limit;
	double least = UINT32_MAX;
	bool *covered;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) ||
	    !(accounting_enforce & ACCOUNTING_ENFORCE_SAFE) || !tres_of(job) ||
	    base == INFINITE)
		return UINT32_MAX;
	covered = xcalloc(slurmctld_tres_cnt, sizeof(*covered));
	assoc_mgr_lock(&locks);
	acct_policy_set_qos_order(job, &first, &second);
	by_qos(job, first, covered, &least);
	by_qos(job, second, covered, &least);
	by_assoc(job, covered, &least);
	assoc_mgr_unlock(&locks);
	xfree(covered);
	least += base;
	if (least >= UINT32_MAX)
		return UINT32_MAX;
	return least > 0 ? (uint32_t)least : 0;
}
