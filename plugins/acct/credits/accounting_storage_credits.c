/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounting_storage/credits: a layer over Slurm's accounting_storage/mysql in
 * slurmdbd.  It depends (ELF DT_NEEDED) on accounting_storage_mysql.so, so
 * every operation that is not named here is Slurm's own; those that are call
 * the original first, by dlsym(RTLD_NEXT).
 *
 * Overridden: the start and the end of a job (wake the poster), reading jobs
 * (credits in SystemComment), the rollup (the poster catches up before),
 * reading transactions (the channel of tidectl credits), reconfigure (tide.conf
 * is read again), init and fini.  None of them lets an error of ours reach
 * Slurm.
 */
#include "compat/dbd.h"

#include <dlfcn.h>

#include "src/database/mysql_common.h"

#include "compat/loaded.h"
#include "plugins/acct/credits/comment.h"
#include "plugins/acct/credits/poster.h"
#include "plugins/acct/credits/query.h"

const char plugin_name[] = "TideFlow credits over MySQL";
const char plugin_type[] = "accounting_storage/credits";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;

/* How long the rollup waits for the poster at most. */
#define ROLLUP_WAIT_S 5

/* First string of info_list in a query that is ours, the second is the request.
 */
#define CHANNEL "tideflow-credits-1"

/* The functions that ours stand in front of. */
static struct {
	int (*init)(void);
	void (*fini)(void);
	__typeof__(jobacct_storage_p_job_start) *job_start;
	__typeof__(jobacct_storage_p_job_complete) *job_complete;
	__typeof__(jobacct_storage_p_get_jobs_cond) *get_jobs;
	__typeof__(acct_storage_p_roll_usage) *roll_usage;
	__typeof__(acct_storage_p_get_txn) *get_txn;
	__typeof__(acct_storage_p_reconfig) *reconfig;
} next;

__attribute__((constructor)) static void loaded(void)
{
	tide_loaded(
		"slurmdbd", "credits",
		"slurmdbd does not start until then, unless slurmdbd.conf has StorageType=accounting_storage/mysql: what ends meanwhile is charged when the plugin is back");
}

/* The records are those of the Slurm that we and mysql were built for. */
static int verify_next(void)
{
	const uint32_t *version = dlsym(RTLD_NEXT, "plugin_version");
	struct tide_version_text theirs, ours;

	if (version && *version == TIDE_PLUGIN_VERSION)
		return SLURM_SUCCESS;
	error("credits: accounting_storage_mysql.so is of Slurm %s, TideFlow was built for %s: install the build of TideFlow for that Slurm",
	      tide_version(version ? *version : 0, &theirs),
	      tide_version(TIDE_PLUGIN_VERSION, &ours));
	return SLURM_ERROR;
}

static int find_next(void)
{
	const struct {
		const char *name;
		void **where;
	} names[] = {
		{"init", (void **)&next.init},
		{"fini", (void **)&next.fini},
		{"jobacct_storage_p_job_start", (void **)&next.job_start},
		{"jobacct_storage_p_job_complete", (void **)&next.job_complete},
		{"jobacct_storage_p_get_jobs_cond", (void **)&next.get_jobs},
		{"acct_storage_p_roll_usage", (void **)&next.roll_usage},
		{"acct_storage_p_get_txn", (void **)&next.get_txn},
		{"acct_storage_p_reconfig", (void **)&next.reconfig},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*names[i].where = dlsym(RTLD_NEXT, names[i].name);
		if (!*names[i].where) {
			error("credits: accounting_storage_mysql.so has no %s",
			      names[i].name);
			return SLURM_ERROR;
		}
	}
	return SLURM_SUCCESS;
}

int init(void)
{
	int rc;

	if (verify_next() || find_next())
		return SLURM_ERROR;
	rc = next.init();
	if (rc)
		return rc;
	/* Accounting goes on without us. */
	if (tide_poster_start())
		error("credits: no thread for charging: %m");
	return SLURM_SUCCESS;
}

void fini(void)
{
	tide_poster_stop();
	tide_query_close();
	tide_comment_close();
	next.fini();
}

static void wake(const mysql_conn_t *conn, const job_record_t *job)
{
	int saved = errno;

	if (tide_dbd_knows(conn, sizeof(*conn), "connection") && job->db_index)
		tide_poster_wake(conn->cluster_name, job->db_index);
	errno = saved;
}

/*
 * When slurmdbd was away a start may come in after the end, and only then has
 * the row its account, its partition and when it started.
 */
int jobacct_storage_p_job_start(void *db_conn, job_record_t *job)
{
	int rc = next.job_start(db_conn, job);

	if (!IS_JOB_PENDING(job))
		wake(db_conn, job);
	return rc;
}

int jobacct_storage_p_job_complete(void *db_conn, job_record_t *job)
{
	int rc = next.job_complete(db_conn, job);

	wake(db_conn, job);
	return rc;
}

list_t *jobacct_storage_p_get_jobs_cond(void *db_conn, uid_t uid,
					slurmdb_job_cond_t *cond)
{
	list_t *jobs = next.get_jobs(db_conn, uid, cond);
	int saved = errno;

	tide_comment_jobs(jobs);
	errno = saved;
	return jobs;
}

/* The rollup may purge old jobs: charge them before. */
int acct_storage_p_roll_usage(void *db_conn, time_t start, time_t end,
			      uint16_t archive, list_t **stats)
{
	if (!tide_poster_catch_up(true, ROLLUP_WAIT_S))
		debug("credits: the poster did not catch up before the rollup");
	return next.roll_usage(db_conn, start, end, archive, stats);
}

static const char *channel_request(slurmdb_txn_cond_t *cond)
{
	const char *mark, *request = NULL;
	list_itr_t *itr;

	if (!cond || !cond->info_list || list_count(cond->info_list) != 2)
		return NULL;
	itr = list_iterator_create(cond->info_list);
	mark = list_next(itr);
	if (!xstrcmp(mark, CHANNEL))
		request = list_next(itr);
	list_iterator_destroy(itr);
	return request;
}

list_t *acct_storage_p_get_txn(void *db_conn, uid_t uid,
			       slurmdb_txn_cond_t *cond)
{
	const char *request = channel_request(cond);
	slurmdb_txn_rec_t *rec;
	list_t *answer;

	if (!request)
		return next.get_txn(db_conn, uid, cond);
	rec = xmalloc(sizeof(*rec));
	rec->timestamp = time(NULL);
	rec->actor_name = xstrdup(CHANNEL);
	rec->set_info = tide_query_answer(db_conn, uid, request);
	answer = list_create(slurmdb_destroy_txn_rec);
	list_append(answer, rec);
	errno = SLURM_SUCCESS;
	return answer;
}

int acct_storage_p_reconfig(void *db_conn, bool dbd)
{
	tide_poster_reload();
	return next.reconfig(db_conn, dbd);
}
