/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dispatches requests, decides who may, and makes changes.  What balance and
 * statement tell is put together in statement.c.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/query.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/common/assoc_mgr.h"
#include "src/common/read_config.h"
#include "src/common/uid.h"

#include "common/credit/credit.h"
#include "common/credit/proof.h"
#include "common/credit/request.h"
#include "plugins/acct/credits/audit.h"
#include "plugins/acct/credits/detach.h"
#include "plugins/acct/credits/ledger.h"
#include "plugins/acct/credits/post.h"
#include "plugins/acct/credits/poster.h"
#include "plugins/acct/credits/rates.h"
#include "plugins/acct/credits/statement.h"

#define WAIT_S 10 /* for the poster to give Slurm a new limit */

/* accounting_storage_mysql.so's. */
extern bool is_user_min_admin_level(void *db_conn, uid_t uid,
				    slurmdb_admin_level_t min_level);

/* One connection, under one lock: requests are short and rare. */
static struct {
	pthread_mutex_t lock;
	struct tide_db *db;
} query = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct caller {
	void *db_conn;
	uid_t uid;
	char *name;
};

/* ---- who may ---- */

static bool is_operator(const struct caller *who)
{
	return is_user_min_admin_level(who->db_conn, who->uid,
				       SLURMDB_ADMIN_OPERATOR);
}

static bool is_master(const struct caller *who)
{
	return !who->uid || who->uid == slurm_conf.slurm_user_id;
}

static int is_member(struct tide_db *db, const struct caller *who,
		     const char *account, bool *ret, struct tide_err *err)
{
	struct tide_rows *rows;
	int64_t count = 0;
	char **row;
	int rc = 0;

	if (tide_db_query(db, &rows, err,
			  "select name from cluster_table where deleted=0"))
		return -1;
	while (!rc && !count && (row = tide_rows_next(rows)))
		rc = tide_db_number(
			db, &count, err,
			"select count(*) from `?n_assoc_table` where acct=?s and user=?s and deleted=0",
			row[0], account, who->name);
	tide_rows_free(rows);
	*ret = count > 0;
	return rc;
}

/* As sacctmgr makes them: "Vision" beside "vision" would be one in Slurm. */
static int check_account(const char *account, struct tide_err *err)
{
	const char *p;

	for (p = account; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			return tide_err_set(
				err, EINVAL,
				"account '%s': accounts of Slurm are in small letters",
				account);
	return 0;
}

/* A misspelt account is not one without postings. */
static int must_exist(struct tide_db *db, const char *account,
		      struct tide_err *err)
{
	int64_t count;

	if (tide_db_number(
		    db, &count, err,
		    "select (select count(*) from acct_table where name=?s and deleted=0) + (select count(*) from tide_line where account=?s)",
		    account, account))
		return -1;
	return count ? 0
		     : tide_err_set(err, EINVAL, "there is no account '%s'",
				    account);
}

static int may_see(struct tide_db *db, const struct caller *who,
		   const char *account, struct tide_err *err)
{
	bool member;

	if (check_account(account, err))
		return -1;
	if (is_operator(who) ||
	    tide_coordinates(who->db_conn, who->uid, (char *)account))
		return 0;
	if (is_member(db, who, account, &member, err))
		return -1;
	return member ? 0
		      : tide_err_set(err, EACCES,
				     "user '%s' may not see account '%s'",
				     who->name, account);
}

/*
 * Root or SlurmUser of any host of the cluster reaches us; a change is for
 * those who can read slurmdbd.conf.
 */
static int may_change(const struct caller *who,
		      const struct tide_request *request, struct tide_err *err)
{
	const char *proof = request->proof;
	char *path, *text, *bare;
	int rc = -1;

	if (!is_master(who))
		return tide_err_set(
			err, EACCES,
			"user '%s' may not change the ledger: root or SlurmUser may, on the host of slurmdbd",
			who->name);
	if (!proof)
		return tide_err_set(err, EINVAL, "the request has no proof");
	bare = tide_request_proved(request);
	if (!bare)
		return tide_err_set(err, ENOMEM, "out of memory");
	path = get_extra_conf_path("slurmdbd.conf");
	if (!tide_proof_make(bare, path, &text, err)) {
		rc = strcmp(text, proof)
			     ? tide_err_set(
				       err, EACCES,
				       "the request does not show that its sender can read %s",
				       path)
			     : 0;
		free(text);
	}
	xfree(path);
	free(bare);
	return rc;
}

/* ---- reading ---- */

static json_t *visible_accounts(struct tide_db *db, const struct caller *who,
				struct tide_err *err)
{
	json_t *names = json_array();
	struct tide_rows *rows;
	char **row;

	if (!names ||
	    tide_db_query(
		    db, &rows, err,
		    "select account from tide_account union select account from tide_line order by account")) {
		json_decref(names);
		return NULL;
	}
	while ((row = tide_rows_next(rows)))
		if (!may_see(db, who, row[0], NULL))
			json_array_append_new(names, json_string(row[0]));
	tide_rows_free(rows);
	return names;
}

static int do_balance(struct tide_db *db, const struct caller *who,
		      const struct tide_request *request, json_t **ret,
		      struct tide_err *err)
{
	const json_t *names = request->accounts, *name;
	json_t *visible = NULL, *data = json_array(), *one;
	size_t i;
	int rc = -1;

	if (!json_array_size(names))
		names = visible = visible_accounts(db, who, err);
	if (!names || !data)
		goto out;
	json_array_foreach(names, i, name)
	{
		if (!visible &&
		    (may_see(db, who, json_string_value(name), err) ||
		     must_exist(db, json_string_value(name), err)))
			goto out;
		if (tide_statement_balance(db, json_string_value(name), &one,
					   err))
			goto out;
		json_array_append_new(data, one);
	}
	*ret = json_incref(data);
	rc = 0;
out:
	json_decref(visible);
	json_decref(data);
	return rc;
}

static int do_statement(struct tide_db *db, const struct caller *who,
			const struct tide_request *request, json_t **ret,
			struct tide_err *err)
{
	const char *account = request->account;

	if (may_see(db, who, account, err) || must_exist(db, account, err))
		return -1;
	return tide_statement(db, account, request->after_txn,
			      request->after_line, request->limit, ret, err);
}

static int do_audit(struct tide_db *db, const struct caller *who,
		    const struct tide_request *request, json_t **ret,
		    struct tide_err *err)
{
	struct tide_seal seal = {request->seal_id, request->seal_hash};

	if (!is_operator(who))
		return tide_err_set(
			err, EACCES,
			"user '%s' may not audit the ledger: operators of Slurm may",
			who->name);
	return tide_audit(db, &seal, ret, err);
}

/* What the clocks here show, for tidectl check; no secret. */
static int do_clock(struct tide_db *db, const struct caller *who,
		    const struct tide_request *request, json_t **ret,
		    struct tide_err *err)
{
	int64_t database;

	(void)who;
	(void)request;
	if (tide_db_number(db, &database, err, "select unix_timestamp()"))
		return -1;
	*ret = json_pack("{s:I,s:I}", "slurmdbd", (json_int_t)time(NULL),
			 "database", (json_int_t)database);
	return *ret ? 0 : tide_err_set(err, ENOMEM, "out of memory");
}

/* ---- changing ---- */

/* Slurm has the new limit when the poster has gone round. */
static bool in_force(void)
{
	return tide_poster_catch_up(false, WAIT_S);
}

/*
 * An account that is enrolled again gets a QOS that has counted nothing: the
 * old one has to be gone, and nobody to run under it.
 */
static int is_clean(struct tide_db *db, const char *account,
		    struct tide_err *err)
{
	json_t *state, *jobs;
	int rc = 0;

	if (tide_detach_state(db, account, &state, err))
		return errno == EINVAL ? 0 : -1;
	if (json_is_true(json_object_get(state, "enrolled")))
		goto out;
	if (json_is_true(json_object_get(state, "qos_there"))) {
		json_decref(state);
		in_force();
		if (tide_detach_state(db, account, &state, err))
			return -1;
	}
	jobs = json_object_get(state, "jobs");
	if (!json_is_true(json_object_get(state, "qos_there")))
		rc = tide_detach_over(db, account, err);
	else if (json_array_size(jobs))
		rc = tide_detach_used(account, jobs, err);
	else
		rc = tide_err_set(
			err, EBUSY,
			"account '%s' cannot be enrolled again yet: its QOS is still to be removed, see slurmdbd's log",
			account);
out:
	json_decref(state);
	return rc;
}

static int do_enroll(struct tide_db *db, const struct caller *who,
		     const struct tide_request *request, json_t **ret,
		     struct tide_err *err)
{
	const char *account = request->account;
	int rc;

	if (may_change(who, request, err) || check_account(account, err) ||
	    is_clean(db, account, err))
		return -1;
	rc = tide_post_enroll(db, account, who->name, (int64_t)time(NULL), err);
	if (rc < 0)
		return -1;
	tide_poster_forget();
	*ret = json_pack("{s:s,s:b,s:b}", "account", account, "already", rc,
			 "in_force", (int)in_force());
	return 0;
}

static int do_grant(struct tide_db *db, const struct caller *who,
		    const struct tide_request *request, json_t **ret,
		    struct tide_err *err)
{
	const char *account = request->account;
	struct tide_rates *rates;
	int64_t amount, txn = 0;
	int rc = -1;

	if (may_change(who, request, err) || check_account(account, err) ||
	    tide_amount_parse(request->amount, &amount, err))
		return -1;
	rates = tide_rates_create();
	if (!rates)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!tide_rates_load(rates, db, err))
		rc = tide_post_grant(db, tide_rates_last(rates), account,
				     amount, request->note, request->request,
				     who->name, (int64_t)time(NULL), &txn, err);
	tide_rates_destroy(rates);
	if (rc < 0)
		return -1;
	*ret = json_pack("{s:s,s:s,s:I,s:b,s:b}", "account", account, "amount",
			 request->amount, "transaction", (json_int_t)txn,
			 "already", rc, "in_force", (int)in_force());
	return 0;
}

/* The state of each account that is named, of all that were ever enrolled. */
static int read_states(struct tide_db *db, const json_t *names, json_t *states,
		       struct tide_err *err)
{
	json_t *all = NULL, *state;
	const json_t *name;
	size_t i;
	int rc = 0;

	if (!json_array_size(names)) {
		if (tide_detach_accounts(db, &all, err))
			return -1;
		names = all;
	}
	json_array_foreach(names, i, name)
	{
		rc = tide_detach_state(db, json_string_value(name), &state,
				       err);
		if (rc)
			break;
		json_array_append_new(states, state);
	}
	json_decref(all);
	return rc;
}

static int detach_one(struct tide_db *db, const struct caller *who,
		      json_t *state, struct tide_err *err)
{
	const char *account =
		json_string_value(json_object_get(state, "account"));
	int rc = tide_post_detach(db, account, who->name, (int64_t)time(NULL),
				  err);

	if (rc < 0)
		return -1;
	json_object_set_new(state, "already", json_boolean(rc));
	json_object_set_new(state, "enrolled", json_false());
	return 0;
}

/* Slurm keeps the QOS as long as jobs have it, from 25.05 on. */
static bool qos_gone(struct tide_db *db, const json_t *state)
{
	const char *account =
		json_string_value(json_object_get(state, "account"));
	json_t *now;
	bool gone;

	if (tide_detach_state(db, account, &now, NULL))
		return false;
	gone = !json_is_true(json_object_get(now, "qos_there"));
	json_decref(now);
	return gone;
}

/* All of them or, when one may not be, none. */
static int detach(struct tide_db *db, const struct caller *who, json_t *states,
		  int force, struct tide_err *err)
{
	json_t *state;
	size_t i;
	int rc = 0;

	json_array_foreach(states, i, state)
	{
		if (!force && tide_detach_may(state, err))
			return -1;
	}
	/* What has ended is charged while its QOS still has its factor. */
	if (!in_force() && !force)
		return tide_err_set(
			err, EAGAIN,
			"what has ended could not be charged yet, see slurmdbd's log");
	json_array_foreach(states, i, state)
	{
		if (detach_one(db, who, state, err))
			return -1;
	}
	rc = in_force();
	json_array_foreach(states, i, state)
	{
		json_object_set_new(state, "in_force",
				    json_boolean(rc && qos_gone(db, state)));
	}
	return 0;
}

static int do_detach(struct tide_db *db, const struct caller *who,
		     const struct tide_request *request, json_t **ret,
		     struct tide_err *err)
{
	bool dry = request->dry_run;
	json_t *states;
	int rc;

	if (dry && !is_operator(who))
		return tide_err_set(
			err, EACCES,
			"user '%s' may not see this: operators of Slurm may",
			who->name);
	if (!dry && may_change(who, request, err))
		return -1;
	states = json_array();
	rc = states ? read_states(db, request->accounts, states, err)
		    : tide_err_set(err, ENOMEM, "out of memory");
	if (!rc && !dry)
		rc = detach(db, who, states, request->force, err);
	if (rc)
		json_decref(states);
	else
		*ret = states;
	return rc;
}

/* ---- dispatch ---- */

static int (*const acts[TIDE_OPS])(struct tide_db *db, const struct caller *who,
				   const struct tide_request *request,
				   json_t **ret, struct tide_err *err) = {
	[TIDE_OP_AUDIT] = do_audit,	    [TIDE_OP_BALANCE] = do_balance,
	[TIDE_OP_CLOCK] = do_clock,	    [TIDE_OP_DETACH] = do_detach,
	[TIDE_OP_ENROLL] = do_enroll,	    [TIDE_OP_GRANT] = do_grant,
	[TIDE_OP_STATEMENT] = do_statement,
};

static int act(const struct caller *who, const struct tide_request *request,
	       json_t **ret, struct tide_err *err)
{
	if (!query.db && !(query.db = tide_poster_db()))
		return tide_err_set(err, ENOMEM, "out of memory");
	if (tide_db_connect(query.db, err) < 0 ||
	    tide_ledger_setup(query.db, err) < 0)
		return -1;
	return acts[request->op](query.db, who, request, ret, err);
}

char *tide_query_answer(void *db_conn, uid_t uid, const char *request)
{
	struct caller who = {.db_conn = db_conn, .uid = uid};
	json_t *data = NULL, *out;
	struct tide_err err = {""};
	struct tide_request in;
	char *text, *answer;
	int rc;

	who.name = uid_to_string(uid);
	rc = tide_request_read(request, &in, &err);
	if (!rc) {
		slurm_mutex_lock(&query.lock);
		rc = act(&who, &in, &data, &err);
		/* A connection that broke while it was idle is opened anew. */
		if (rc && errno == ENOTCONN)
			rc = act(&who, &in, &data, &err);
		if (rc && query.db)
			tide_db_rollback(query.db);
		slurm_mutex_unlock(&query.lock);
		tide_request_release(&in);
	}
	out = rc ? json_pack("{s:b,s:s}", "ok", 0, "error", err.text)
		 : json_pack("{s:b,s:O}", "ok", 1, "data", data);
	text = out ? json_dumps(out, JSON_COMPACT) : NULL;
	answer = xstrdup(text ? text
			      : "{\"ok\":false,\"error\":\"out of memory\"}");
	free(text);
	json_decref(out);
	json_decref(data);
	xfree(who.name);
	return answer;
}

void tide_query_close(void)
{
	slurm_mutex_lock(&query.lock);
	tide_db_destroy(query.db);
	query.db = NULL;
	slurm_mutex_unlock(&query.lock);
}
