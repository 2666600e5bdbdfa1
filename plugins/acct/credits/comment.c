/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks charges up for a list of jobs, many at a time.
 */
#include "compat/dbd.h"

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

#define BATCH 500  /* jobs asked about in one statement */
#define PAUSE_S 10 /* after a failure the database is left alone so long */

/* One connection, under one lock; sacct of others waits for moments. */
static struct {
	pthread_mutex_t lock;
	struct tide_db *db;
	time_t failed; /* when it last failed, or 0 */
} comment = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum {
	COL_JOB,
	COL_SUBMIT,
	COL_START,
	COL_AMOUNT,
	COL_RATE,
	COL_EARNERS,
	COL_REFUND,
};

static void set_comment(slurmdb_job_rec_t *job, char **row)
{
	char text[TIDE_AMOUNT_LEN], back[TIDE_AMOUNT_LEN];
	int64_t refund = tide_rows_int(row[COL_REFUND]);

	tide_amount_format(tide_rows_int(row[COL_AMOUNT]), text);
	tide_amount_format(refund, back);
	xstrfmtcat(job->system_comment, "%scredits=%s %s%s%srate=%s/h to=%s",
		   job->system_comment && *job->system_comment ? " " : "", text,
		   refund ? "refund=" : "", refund ? back : "",
		   refund ? " " : "", row[COL_RATE], row[COL_EARNERS]);
}

/* A row is of one run, and a job may have had several. */
static void set_comments(slurmdb_job_rec_t **jobs, size_t n, char **row)
{
	int64_t id = tide_rows_int(row[COL_JOB]);
	int64_t submit = tide_rows_int(row[COL_SUBMIT]);
	int64_t start = tide_rows_int(row[COL_START]);
	size_t i;

	for (i = 0; i < n; i++)
		if (jobs[i]->jobid == id && jobs[i]->submit == submit &&
		    jobs[i]->start == start)
			set_comment(jobs[i], row);
}

/* All of one cluster. */
static int ask(slurmdb_job_rec_t **jobs, size_t n)
{
	struct tide_rows *rows;
	char *ids = NULL, **row;
	size_t i, size = 0;
	FILE *out = open_memstream(&ids, &size);
	int rc;

	if (!out)
		return -1;
	for (i = 0; i < n; i++)
		fprintf(out, "%s%u", i ? "," : "", jobs[i]->jobid);
	if (fclose(out)) {
		free(ids);
		return -1;
	}
	rc = tide_db_query(
		comment.db, &rows, NULL,
		"select r.id_job, r.time_submit, r.time_start, r.amount, r.rate, r.earners, if(r.refund is null, 0, (select sum(l.amount) from tide_line l where l.txn=r.refund and l.amount>0)) from tide_run r where r.cluster=?s and r.id_job in (?r)",
		jobs[0]->cluster, ids);
	free(ids);
	if (rc)
		return -1;
	while ((row = tide_rows_next(rows)))
		set_comments(jobs, n, row);
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
	return job->start && job->end && job->cluster;
}

/* A connection that broke while it was idle is opened anew, once. */
static int ask_again(slurmdb_job_rec_t **jobs, size_t n)
{
	int rc = ask(jobs, n);

	if (rc && errno == ENOTCONN && tide_db_connect(comment.db, NULL) >= 0)
		rc = ask(jobs, n);
	/* Without tables nothing was ever charged. */
	if (rc && errno != ENOENT) {
		comment.failed = time(NULL);
		debug("credits: could not look up charges for a list of jobs");
	}
	return rc;
}

static void look_up(list_t *jobs)
{
	slurmdb_job_rec_t *batch[BATCH], *job;
	list_itr_t *itr = list_iterator_create(jobs);
	size_t n = 0;
	int rc = 0;

	while (!rc && (job = list_next(itr))) {
		if (!tide_dbd_knows(job, sizeof(*job), "job") || !wanted(job))
			continue;
		if (n == BATCH ||
		    (n && xstrcmp(job->cluster, batch[0]->cluster))) {
			rc = ask_again(batch, n);
			n = 0;
		}
		batch[n++] = job;
	}
	list_iterator_destroy(itr);
	if (!rc && n)
		ask_again(batch, n);
}

void tide_comment_jobs(list_t *jobs)
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
