/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits.  Which limit is right is decided elsewhere (tide_limit_minutes()).
 */
#include "compat/dbd.h"

#include "plugins/acct/credits/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/charge.h"

/* Slurm's connection for changes; the poster's only. */
static void *conn;

static int open_conn(struct tide_err *err)
{
	if (conn)
		return 0;
	conn = acct_storage_p_get_connection(0, NULL, true, NULL);
	if (conn && errno) {
		acct_storage_p_close_connection(&conn);
		conn = NULL;
	}
	return conn ? 0
		    : tide_err_set(err, ENOTCONN,
				   "could not open Slurm's storage");
}

void tide_limits_close(void)
{
	if (conn)
		acct_storage_p_close_connection(&conn);
	conn = NULL;
}

/* End Slurm's transaction, well or not. */
static int finish(int good, const char *what, const char *account,
		  struct tide_err *err)
{
	int saved = errno;

	if (acct_storage_p_commit(conn, good) || !good)
		return tide_err_set(err, EIO,
				    "could not %s of account '%s': %s", what,
				    account, slurm_strerror(saved));
	return 0;
}

static list_t *one_string(const char *text)
{
	list_t *list = list_create(xfree_ptr);

	list_append(list, xstrdup(text));
	return list;
}

static int add_qos(const char *account, const char *name, struct tide_err *err)
{
	slurmdb_qos_rec_t *qos = xmalloc(sizeof(*qos));
	list_t *list = list_create(slurmdb_destroy_qos_rec);
	int rc;

	slurmdb_init_qos_rec(qos, false, NO_VAL);
	qos->name = xstrdup(name);
	qos->description = xstrdup("TideFlow credits");
	qos->flags = QOS_FLAG_NO_DECAY | QOS_FLAG_USAGE_FACTOR_SAFE;
	/* A limit of 0 holds every job, until there are credits. */
	qos->grp_tres_mins = xstrdup("5=0");
	list_append(list, qos);
	rc = acct_storage_p_add_qos(conn, slurm_conf.slurm_user_id, list);
	FREE_NULL_LIST(list);
	return finish(!rc, "make the QOS", account, err);
}

static int attach_qos(const char *account, const char *cluster, int64_t qos,
		      struct tide_err *err)
{
	slurmdb_assoc_cond_t cond;
	slurmdb_assoc_rec_t rec;
	char id[24];
	list_t *done;
	int rc;

	snprintf(id, sizeof(id), "+%" PRId64, qos);
	memset(&cond, 0, sizeof(cond));
	slurmdb_init_assoc_rec(&rec, false);
	cond.acct_list = one_string(account);
	cond.cluster_list = one_string(cluster);
	/* One empty user: the association of the account itself. */
	cond.user_list = one_string("");
	rec.qos_list = one_string(id);
	done = acct_storage_p_modify_assocs(conn, slurm_conf.slurm_user_id,
					    &cond, &rec);
	rc = finish(done && list_count(done), "allow the QOS", account, err);
	FREE_NULL_LIST(done);
	FREE_NULL_LIST(cond.acct_list);
	FREE_NULL_LIST(cond.cluster_list);
	FREE_NULL_LIST(cond.user_list);
	FREE_NULL_LIST(rec.qos_list);
	return rc;
}

/* 0 when the cluster's account has the QOS or the cluster has no such account.
 */
static int attach_where_missing(struct tide_db *db, const char *account,
				const char *cluster, int64_t qos,
				struct tide_err *err)
{
	char own[32], delta[32];
	int64_t missing;

	snprintf(own, sizeof(own), "%%,%" PRId64 ",%%", qos);
	snprintf(delta, sizeof(delta), "%%,+%" PRId64 ",%%", qos);
	if (tide_db_number(
		    db, &missing, err,
		    "select count(*) from `?n_assoc_table` where acct=?s and user='' and deleted=0 and not (qos like ?s or delta_qos like ?s)",
		    cluster, account, own, delta))
		return errno == ENOENT ? 0 : -1;
	return missing ? attach_qos(account, cluster, qos, err) : 0;
}

/* "1=10,5=6000": the billing-minutes of a list of TRES, -1 for none. */
static int64_t billing_of(const char *tres)
{
	while (tres && strncmp(tres, "5=", 2)) {
		tres = strchr(tres, ',');
		tres += tres != NULL;
	}
	return tres ? tide_rows_int(tres + 2) : -1;
}

/* *ret_id is 0 when there is none. */
static int find_qos(struct tide_db *db, const char *name, int64_t *ret_id,
		    int64_t *ret_minutes, struct tide_err *err)
{
	struct tide_rows *rows;
	char **row;

	if (tide_db_query(
		    db, &rows, err,
		    "select id, grp_tres_mins from qos_table where name=?s and deleted=0",
		    name))
		return -1;
	row = tide_rows_next(rows);
	*ret_id = row ? tide_rows_int(row[0]) : 0;
	*ret_minutes = row ? billing_of(row[1]) : -1;
	tide_rows_free(rows);
	return 0;
}

int tide_limits_ensure(struct tide_db *db, const char *account,
		       int64_t *ret_minutes, struct tide_err *err)
{
	char *name = tide_qos_name(account);
	struct tide_rows *rows = NULL;
	int64_t id, minutes;
	char **row;
	int rc = -1;

	if (!name)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (open_conn(err) || find_qos(db, name, &id, &minutes, err))
		goto out;
	if (!id && (add_qos(account, name, err) ||
		    find_qos(db, name, &id, &minutes, err)))
		goto out;
	if (tide_db_query(db, &rows, err,
			  "select name from cluster_table where deleted=0"))
		goto out;
	rc = 0;
	while (!rc && (row = tide_rows_next(rows)))
		rc = attach_where_missing(db, account, row[0], id, err);
	if (!rc)
		*ret_minutes = minutes;
out:
	tide_rows_free(rows);
	free(name);
	return rc;
}

int tide_limits_set(const char *account, int64_t minutes, struct tide_err *err)
{
	char *name = tide_qos_name(account), limit[32];
	slurmdb_qos_cond_t cond;
	slurmdb_qos_rec_t qos;
	list_t *done;
	int rc;

	if (!name)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (open_conn(err)) {
		free(name);
		return -1;
	}
	snprintf(limit, sizeof(limit), "5=%" PRId64, minutes);
	memset(&cond, 0, sizeof(cond));
	slurmdb_init_qos_rec(&qos, false, NO_VAL);
	cond.name_list = one_string(name);
	qos.grp_tres_mins = xstrdup(limit);
	done = acct_storage_p_modify_qos(conn, slurm_conf.slurm_user_id, &cond,
					 &qos);
	rc = finish(done && list_count(done), "set the limit", account, err);
	FREE_NULL_LIST(done);
	FREE_NULL_LIST(cond.name_list);
	xfree(qos.grp_tres_mins);
	free(name);
	return rc;
}

/* Associations of a cluster with the QOS, to be taken from them. */
struct holders {
	const char *cluster;
	list_t *ids;
	bool users;	 /* of users, else of accounts */
	bool by_default; /* it is their default QOS, else in their list */
};

static int read_holders(struct tide_db *db, struct holders *h, int64_t qos,
			struct tide_err *err)
{
	char own[32], delta[32];
	struct tide_rows *rows;
	char **row;

	snprintf(own, sizeof(own), "%%,%" PRId64 ",%%", qos);
	snprintf(delta, sizeof(delta), "%%,+%" PRId64 ",%%", qos);
	if (tide_db_query(
		    db, &rows, err,
		    "select id_assoc from `?n_assoc_table` where deleted=0 and (user<>'')=?d and if(?d, ifnull(def_qos_id, 0)=?d, qos like ?s or delta_qos like ?s)",
		    h->cluster, (int64_t)h->users, (int64_t)h->by_default, qos,
		    own, delta))
		return errno == ENOENT ? 0 : -1;
	while ((row = tide_rows_next(rows)))
		list_append(h->ids, xstrdup(row[0]));
	tide_rows_free(rows);
	return 0;
}

static int free_holders(struct tide_db *db, struct holders *h, int64_t qos,
			struct tide_err *err)
{
	slurmdb_assoc_cond_t cond;
	slurmdb_assoc_rec_t rec;
	list_t *done = NULL;
	char id[24];
	int rc;

	memset(&cond, 0, sizeof(cond));
	slurmdb_init_assoc_rec(&rec, false);
	h->ids = cond.id_list = list_create(xfree_ptr);
	rc = read_holders(db, h, qos, err);
	if (!rc && list_count(cond.id_list)) {
		snprintf(id, sizeof(id), "-%" PRId64, qos);
		cond.cluster_list = one_string(h->cluster);
		/* An empty list means every user, none the accounts. */
		cond.user_list = h->users ? list_create(xfree_ptr) : NULL;
		if (h->by_default)
			rec.def_qos_id = INFINITE;
		else
			rec.qos_list = one_string(id);
		done = acct_storage_p_modify_assocs(
			conn, slurm_conf.slurm_user_id, &cond, &rec);
		if (!done || !list_count(done))
			rc = tide_err_set(err, EIO, "%s",
					  slurm_strerror(errno));
	}
	FREE_NULL_LIST(done);
	FREE_NULL_LIST(cond.id_list);
	FREE_NULL_LIST(cond.cluster_list);
	FREE_NULL_LIST(cond.user_list);
	FREE_NULL_LIST(rec.qos_list);
	return rc;
}

/*
 * Out of every list first: where a QOS that is deleted stands between others,
 * Slurm up to 23.11 joins its neighbours, ",1,5,7," to ",17,".
 */
static int detach_qos(struct tide_db *db, int64_t qos, struct tide_err *err)
{
	struct tide_rows *rows;
	char **row;
	int rc = 0, i;

	if (tide_db_query(db, &rows, err,
			  "select name from cluster_table where deleted=0"))
		return -1;
	while (!rc && (row = tide_rows_next(rows))) {
		for (i = 0; !rc && i < 4; i++) {
			struct holders h = {.cluster = row[0],
					    .users = i & 1,
					    .by_default = i < 2};

			rc = free_holders(db, &h, qos, err);
		}
	}
	tide_rows_free(rows);
	return rc;
}

static int leave_lists(struct tide_db *db, const char *name, int64_t id,
		       struct tide_err *err)
{
	if (!detach_qos(db, id, err))
		return 0;
	acct_storage_p_commit(conn, false);
	return tide_err_prefix(err, "could not take QOS '%s' away", name);
}

int tide_limits_remove(struct tide_db *db, const char *account,
		       struct tide_err *err)
{
	char *name = tide_qos_name(account);
	slurmdb_qos_cond_t cond;
	int64_t id, minutes;
	list_t *done;
	int rc = -1;

	if (!name)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (find_qos(db, name, &id, &minutes, err))
		goto out;
	rc = 1;
	if (!id)
		goto out;
	rc = -1;
	if (open_conn(err))
		goto out;
	if (leave_lists(db, name, id, err))
		goto out;
	memset(&cond, 0, sizeof(cond));
	cond.name_list = one_string(name);
	errno = 0;
	done = acct_storage_p_remove_qos(conn, slurm_conf.slurm_user_id, &cond);
	if (done && errno == ESLURM_JOBS_RUNNING_ON_ASSOC) {
		/* All of it was rolled back; nobody else is to use it. */
		acct_storage_p_commit(conn, false);
		if (!leave_lists(db, name, id, err) &&
		    !finish(true, "take away the QOS", account, err))
			rc = 2;
	} else {
		rc = finish(done && list_count(done), "remove the QOS", account,
			    err);
	}
	FREE_NULL_LIST(done);
	FREE_NULL_LIST(cond.name_list);
out:
	free(name);
	return rc;
}
