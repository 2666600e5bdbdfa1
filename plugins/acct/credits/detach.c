/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in the way of taking an enrolment back.  Reads only: the ledger
 * is changed by post.c, Slurm by limits.c.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/detach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/charge.h"

#define MAX_JOBS 1000 /* that are named, of a cluster */

static int no_memory(struct tide_err *err)
{
	return tide_err_set(err, ENOMEM, "out of memory");
}

int tide_detach_accounts(struct tide_db *db, json_t **ret_names,
			 struct tide_err *err)
{
	json_t *names = json_array();
	struct tide_rows *rows;
	char **row;

	if (!names)
		return no_memory(err);
	if (tide_db_query(
		    db, &rows, err,
		    "select distinct detail from tide_txn where kind='enroll' order by detail")) {
		json_decref(names);
		return -1;
	}
	while ((row = tide_rows_next(rows)))
		json_array_append_new(names, json_string(row[0]));
	tide_rows_free(rows);
	*ret_names = names;
	return 0;
}

/* Jobs of one cluster that have not ended and have the QOS. */
static int add_jobs(struct tide_db *db, const char *cluster, const char *qos,
		    json_t *jobs, struct tide_err *err)
{
	struct tide_rows *rows;
	char **row;

	if (tide_db_query(
		    db, &rows, err,
		    "select j.id_job, j.state, ifnull(a.user, '') from `?n_job_table` j left join `?n_assoc_table` a on a.id_assoc=j.id_assoc where j.id_qos in (select id from qos_table where name=?s) and j.time_end=0 and j.deleted=0 order by j.id_job limit ?d",
		    cluster, cluster, qos, (int64_t)MAX_JOBS))
		return errno == ENOENT ? 0 : -1;
	while ((row = tide_rows_next(rows)))
		json_array_append_new(
			jobs,
			json_pack("{s:s,s:I,s:s,s:b}", "cluster", cluster,
				  "job", (json_int_t)tide_rows_int(row[0]),
				  "user", row[2], "running",
				  (tide_rows_int(row[1]) & JOB_STATE_BASE) !=
					  JOB_PENDING));
	tide_rows_free(rows);
	return 0;
}

/* A cluster that has the account and whose slurmctld is not there. */
static int add_down(struct tide_db *db, const char *cluster,
		    const char *account, json_t *down, struct tide_err *err)
{
	int64_t has;

	if (tide_db_number(
		    db, &has, err,
		    "select count(*) from `?n_assoc_table` where acct=?s and deleted=0",
		    cluster, account))
		return errno == ENOENT ? 0 : -1;
	if (has)
		json_array_append_new(down, json_string(cluster));
	return 0;
}

static int read_clusters(struct tide_db *db, const char *account,
			 const char *qos, json_t *jobs, json_t *down,
			 struct tide_err *err)
{
	struct tide_rows *rows;
	char **row;
	int rc = 0;

	if (tide_db_query(
		    db, &rows, err,
		    "select name, control_port from cluster_table where deleted=0"))
		return -1;
	while (!rc && (row = tide_rows_next(rows))) {
		rc = add_jobs(db, row[0], qos, jobs, err);
		if (!rc && !tide_rows_int(row[1]))
			rc = add_down(db, row[0], account, down, err);
	}
	tide_rows_free(rows);
	return rc;
}

static int read_account(struct tide_db *db, const char *account,
			const char *qos, int64_t *ret_enrolled,
			int64_t *ret_there, struct tide_err *err)
{
	int64_t times;

	if (tide_db_number(
		    db, &times, err,
		    "select count(*) from tide_txn where kind='enroll' and detail=?s",
		    account))
		return -1;
	if (!times)
		return tide_err_set(err, EINVAL,
				    "account '%s' was never enrolled", account);
	if (tide_db_number(db, ret_enrolled, err,
			   "select count(*) from tide_account where account=?s",
			   account))
		return -1;
	return tide_db_number(
		db, ret_there, err,
		"select count(*) from qos_table where name=?s and deleted=0",
		qos);
}

int tide_detach_state(struct tide_db *db, const char *account,
		      json_t **ret_state, struct tide_err *err)
{
	json_t *jobs = json_array(), *down = json_array();
	char *qos = tide_qos_name(account);
	int64_t enrolled, there;
	int rc = -1;

	if (!jobs || !down || !qos) {
		no_memory(err);
		goto out;
	}
	if (read_account(db, account, qos, &enrolled, &there, err))
		goto out;
	if (read_clusters(db, account, qos, jobs, down, err))
		goto out;
	*ret_state =
		json_pack("{s:s,s:b,s:s,s:b,s:O,s:O}", "account", account,
			  "enrolled", (int)enrolled, "qos", qos, "qos_there",
			  (int)there, "jobs", jobs, "down", down);
	rc = *ret_state ? 0 : no_memory(err);
out:
	json_decref(jobs);
	json_decref(down);
	free(qos);
	return rc;
}

/* A job that runs, which nobody can move; else the first. */
static const json_t *worst_job(const json_t *jobs)
{
	const json_t *job;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		if (json_is_true(json_object_get(job, "running")))
			return job;
	}
	return json_array_get(jobs, 0);
}

/* "job 12 of cluster 'a' (running) and 3 more" */
static void name_jobs(const json_t *jobs, char *text, size_t size)
{
	const json_t *first = worst_job(jobs);
	size_t n = json_array_size(jobs);
	int len;

	len = snprintf(text, size,
		       "job %" JSON_INTEGER_FORMAT " of cluster '%s' (%s)",
		       json_integer_value(json_object_get(first, "job")),
		       json_string_value(json_object_get(first, "cluster")),
		       json_is_true(json_object_get(first, "running"))
			       ? "running"
			       : "pending");
	if (n > 1 && len > 0 && (size_t)len < size)
		snprintf(text + len, size - (size_t)len, " and %zu more",
			 n - 1);
}

int tide_detach_may(json_t *state, struct tide_err *err)
{
	const json_t *jobs = json_object_get(state, "jobs");
	const json_t *down = json_object_get(state, "down");
	const char *qos = json_string_value(json_object_get(state, "qos"));
	char which[200];

	/* Jobs may have one that is gone; that hinders nobody. */
	if (!json_is_true(json_object_get(state, "qos_there")))
		return 0;
	if (json_array_size(down))
		return tide_err_set(
			err, EBUSY,
			"slurmctld of cluster '%s' is not connected and would go on counting by QOS '%s': start it first",
			json_string_value(json_array_get(down, 0)), qos);
	if (!json_array_size(jobs))
		return 0;
	name_jobs(jobs, which, sizeof(which));
	return tide_err_set(
		err, EBUSY, "QOS '%s' is in use by %s: %s, or --force", qos,
		which,
		json_is_true(json_object_get(worst_job(jobs), "running"))
			? "wait until no job runs under it"
			: "move what waits to another QOS or cancel it");
}

int tide_detach_used(const char *account, const json_t *jobs,
		     struct tide_err *err)
{
	char which[200];

	name_jobs(jobs, which, sizeof(which));
	return tide_err_set(
		err, EBUSY,
		"account '%s' cannot be enrolled again yet: the QOS it had before is in use by %s",
		account, which);
}

int tide_detach_over(struct tide_db *db, const char *account,
		     struct tide_err *err)
{
	json_t *jobs = json_array(), *down = json_array(), *job;
	char *qos = tide_qos_name(account);
	size_t i;
	int rc = -1;

	if (!jobs || !down || !qos)
		no_memory(err);
	else
		rc = read_clusters(db, account, qos, jobs, down, err);
	for (i = json_array_size(jobs); !rc && i-- > 0;) {
		job = json_array_get(jobs, i);
		if (!json_is_true(json_object_get(job, "running")))
			json_array_remove(jobs, i);
	}
	if (!rc && json_array_size(jobs))
		rc = tide_detach_used(account, jobs, err);
	json_decref(jobs);
	json_decref(down);
	free(qos);
	return rc;
}
