/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks charges up for a list of jobs, many at a time.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/comment.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "slurm/slurmdb.h"

#include "common/credit/credit.h"
#include "plugins/acct/credits/db.h"
#include "plugins/acct/credits/poster.h"

#define BATCH 500 /* jobs asked about in one statement */
#define PAUSE_S 10 /* after a failure the database is left alone so long */

/* One connection, under one lock; sacct of others waits for moments. */
static struct {
	pthread_mutex_t lock;
	struct tide_db *db;
	time_t failed; /* when it last failed, or 0 */
} comment = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set_comment(slurmdb_job_rec_t *job, char **row)
{
	char text[TIDE_AMOUNT_LEN], back[TIDE_AMOUNT_LEN];
	int64_t refund = tide_rows_int(row[5]);

	tide_amount_format(tide_rows_int(row[2]), text);
	tide_amount_format(refund, back);
	xstrfmtcat(job->system_comment, "%scredits=%s %s%s%srate=%s/h to=%s",
		   job->system_comment && *job->system_comment ? " " : "",
		   text, refund ? "refund=" : "", refund ? back : "",
		   refund ? " " : "", row[3], row[4]);
}

/* Both are in the same order, rows only where there was a charge. */
static int ask(slurmdb_job_rec_t **jobs, size_t n)
{
	struct tide_rows *rows;
	char *sql = NULL, **row;
	size_t i, size = 0;
	FILE *out = open_memstream(&sql, &size);
	int rc;

	if (!out)
		return -1;
	for (i = 0; i < n; i++)
		fprintf(out,
			"%sselect %zu as i, r.charge, r.amount, r.rate, r.earners, ifnull((select sum(l.amount) from tide_line l where l.txn=r.refund and l.amount>0), 0) from tide_run r where r.cluster='%s' and r.id_job=%u and r.time_submit=%" PRId64 " and r.time_start=%" PRId64,
			i ? " union all " : "", i, jobs[i]->cluster,
			jobs[i]->jobid, (int64_t)jobs[i]->submit,
			(int64_t)jobs[i]->start);
	if (fclose(out)) {
		free(sql);
		return -1;
	}
	rc = tide_db_query(comment.db, &rows, NULL, "?r", sql);
	free(sql);
	if (rc)
		return -1;
	while ((row = tide_rows_next(rows))) {
		i = (size_t)tide_rows_int(row[0]);
		if (i < n)
			set_comment(jobs[i], row);
	}
	tide_rows_free(rows);
	return 0;
}

static bool ready(void)
{
	if (comment.failed && time(NULL) < comment.failed + PAUSE_S)
		return false;
	comment.failed = 0;
	if (!comment.db && !(comment.db = tide_poster_db()))
		return false;
	if (tide_db_connect(comment.db, NULL) >= 0)
		return true;
	comment.failed = time(NULL);
	return false;
}

static bool wanted(const slurmdb_job_rec_t *job)
{
	/* The name goes into a statement; Slurm's have no quote in them. */
	return job->start && job->end && job->cluster &&
	       !strpbrk(job->cluster, "'\\");
}

/* A connection that broke while it was idle is opened anew, once. */
static int ask_again(slurmdb_job_rec_t **jobs, size_t n)
{
	int rc = ask(jobs, n);

	if (rc && errno == ENOTCONN &&
	    tide_db_connect(comment.db, NULL) >= 0)
		rc = ask(jobs, n);
	/* Without tables nothing was ever charged. */
	if (rc && errno != ENOENT) {
		comment.failed = time(NULL);
		debug("credits: could not look up charges for a list of jobs");
	}
	return rc;
}

static void look_up(List jobs)
{
	slurmdb_job_rec_t *batch[BATCH], *job;
	ListIterator itr = list_iterator_create(jobs);
	size_t n = 0;
	int rc = 0;

	while (!rc && (job = list_next(itr))) {
		if (!wanted(job))
			continue;
		batch[n++] = job;
		if (n < BATCH)
			continue;
		rc = ask_again(batch, n);
		n = 0;
	}
	list_iterator_destroy(itr);
	if (!rc && n)
		ask_again(batch, n);
}

void tide_comment_jobs(List jobs)
{
	if (!jobs || !list_count(jobs))
		return;
	slurm_mutex_lock(&comment.lock);
	if (ready())
		look_up(jobs);
	slurm_mutex_unlock(&comment.lock);
}

void tide_comment_close(void)
{
	slurm_mutex_lock(&comment.lock);
	tide_db_destroy(comment.db);
	comment.db = NULL;
	slurm_mutex_unlock(&comment.lock);
}
