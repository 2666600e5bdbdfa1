/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables, lease, and appending to the chain.  Does not know what a run is
 * worth (post.c) and does not check what is there (audit.c).
 */
#include "config.h"

#include "plugins/acct/credits/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the tables; a later release that changes them counts up. */
#define SCHEMA 1

static const char *const tables[] = {
	"create table if not exists tide_txn (id bigint not null primary key, time bigint not null, kind varchar(16) not null, ref varchar(191) not null, made_by varchar(128) not null, note mediumtext not null, detail mediumtext not null, hash char(64) not null, unique key ref (ref), key kind (kind, id)) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin",
	"create table if not exists tide_line (txn bigint not null, line int not null, account varchar(128) not null, amount bigint not null, primary key (txn, line), key account (account, txn, amount)) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin",
	"create table if not exists tide_run (cluster varchar(128) not null, id_job bigint not null, time_submit bigint not null, time_start bigint not null, time_end bigint not null, account varchar(128) not null, charge bigint, refund bigint, amount bigint not null, rate varchar(32) not null, earners text not null, primary key (cluster, id_job, time_submit, time_start)) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin",
	"create table if not exists tide_account (account varchar(128) not null primary key, enrolled bigint not null, balance bigint not null default 0, billing bigint not null default 0, limit_minutes bigint) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin",
	/* Last: where it is, all are. */
	"create table if not exists tide_head (one int not null primary key, version int not null, txn bigint not null, hash char(64) not null, holder varchar(191) not null, held_until bigint not null) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin",
};

int tide_ledger_setup(struct tide_db *db, struct tide_err *err)
{
	int64_t version;
	size_t i;

	if (!tide_db_number(db, &version, err,
			    "select version from tide_head where one=1")) {
		if (version > SCHEMA)
			return tide_err_set(err, EPROTO,
					    "the ledger's tables are of version %d, this release knows %d",
					    (int)version, SCHEMA);
		if (version == SCHEMA)
			return 1;
	} else if (errno != ENOENT) {
		return -1;
	}
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tide_db_exec(db, err, tables[i]))
			return -1;
	return tide_db_exec(db, err,
			    "insert ignore into tide_head values (1, ?d, 0, ?s, '', 0)",
			    (int64_t)SCHEMA, TIDE_HASH_ZERO);
}

int tide_ledger_lease(struct tide_db *db, const char *holder,
		      const char *replace, int64_t seconds, bool *ret_mine,
		      struct tide_err *err)
{
	int64_t mine;

	/* The server's clock alone decides. */
	if (tide_db_exec(db, err,
			 "update tide_head set holder=?s, held_until=unix_timestamp()+?d where one=1 and (holder=?s or holder=?s or held_until<unix_timestamp())",
			 holder, seconds, holder, replace ? replace : holder) ||
	    tide_db_number(db, &mine, err,
			   "select count(*) from tide_head where one=1 and holder=?s and held_until>=unix_timestamp()",
			   holder))
		return -1;
	*ret_mine = mine == 1;
	return 0;
}

int tide_ledger_holder(struct tide_db *db, char **ret_holder,
		       struct tide_err *err)
{
	struct tide_rows *rows;
	char **row, *holder;

	if (tide_db_query(db, &rows, err,
			  "select holder from tide_head where one=1"))
		return -1;
	row = tide_rows_next(rows);
	holder = strdup(row && row[0] ? row[0] : "");
	tide_rows_free(rows);
	if (!holder)
		return tide_err_set(err, ENOMEM, "out of memory");
	*ret_holder = holder;
	return 0;
}

int tide_ledger_lock(struct tide_db *db, const char *holder,
		     struct tide_head *ret_head, struct tide_err *err)
{
	struct tide_rows *rows = NULL;
	char **row;
	int rc = -1;

	if (tide_db_begin(db, err))
		return -1;
	if (tide_db_query(db, &rows, err,
			  "select txn, hash, holder from tide_head where one=1 for update"))
		goto out;
	row = tide_rows_next(rows);
	if (!row || !row[1] || strlen(row[1]) != TIDE_HASH_LEN - 1) {
		tide_err_set(err, EIO, "the ledger has no head row");
		goto out;
	}
	if (holder && strcmp(row[2], holder)) {
		tide_err_set(err, EPERM, "'%s' is posting to the ledger",
			     row[2]);
		goto out;
	}
	ret_head->txn = tide_rows_int(row[0]);
	memcpy(ret_head->hash, row[1], TIDE_HASH_LEN);
	rc = 0;
out:
	tide_rows_free(rows);
	if (rc)
		tide_db_rollback(db);
	return rc;
}

int tide_ledger_append(struct tide_db *db, struct tide_head *head,
		       struct tide_txn *txn, struct tide_err *err)
{
	struct tide_head next;
	int64_t there;
	size_t i;

	txn->id = head->txn + 1;
	next.txn = txn->id;
	if (tide_txn_balanced(txn, err) ||
	    tide_chain_hash(head->hash, txn, next.hash, err))
		return -1;
	if (tide_db_exec(db, err,
			 "insert into tide_txn values (?d, ?d, ?s, ?s, ?s, ?s, ?s, ?s)",
			 txn->id, txn->time, txn->kind, txn->ref, txn->by,
			 txn->note, txn->detail, next.hash)) {
		if (errno != EEXIST)
			return -1;
		/* The number can be taken only if somebody wrote past us. */
		if (tide_db_number(db, &there, err,
				   "select count(*) from tide_txn where ref=?s",
				   txn->ref))
			return -1;
		return there ? 1 :
			       tide_err_set(err, EIO,
					    "transaction %lld is there already: run tidectl credits audit",
					    (long long)txn->id);
	}
	for (i = 0; i < txn->nlines; i++)
		if (tide_db_exec(db, err,
				 "insert into tide_line values (?d, ?d, ?s, ?d)",
				 txn->id, (int64_t)i, txn->lines[i].account,
				 txn->lines[i].amount) ||
		    tide_db_exec(db, err,
				 "update tide_account set balance=balance+?d where account=?s",
				 txn->lines[i].amount, txn->lines[i].account))
			return -1;
	*head = next;
	return 0;
}

int tide_ledger_commit(struct tide_db *db, const struct tide_head *head,
		       struct tide_err *err)
{
	if (tide_db_exec(db, err,
			 "update tide_head set txn=?d, hash=?s where one=1",
			 head->txn, head->hash))
		return -1;
	return tide_db_commit(db, err);
}
