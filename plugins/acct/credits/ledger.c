/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables, lease, and appending to the chain.  Does not know what a run is
 * worth (post.c) and does not check what is there (audit.c).
 */
#include "config.h"

#include "plugins/acct/credits/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/credit.h"

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
			return tide_err_set(
				err, EPROTO,
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
	return tide_db_exec(
		db, err,
		"insert ignore into tide_head values (1, ?d, 0, ?s, '', 0)",
		(int64_t)SCHEMA, TIDE_HASH_ZERO);
}

int tide_ledger_lease(struct tide_db *db, const char *holder,
		      const char *replace, int64_t seconds, bool *ret_mine,
		      struct tide_err *err)
{
	int64_t mine;

	/* The server's clock alone decides. */
	if (tide_db_exec(
		    db, err,
		    "update tide_head set holder=?s, held_until=unix_timestamp()+?d where one=1 and (holder=?s or holder=?s or held_until<unix_timestamp())",
		    holder, seconds, holder, replace ? replace : holder) ||
	    tide_db_number(
		    db, &mine, err,
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

/* One account's share in what is posted. */
struct delta {
	char *account;
	int64_t balance;
	int64_t billing;
};

struct tide_posting {
	struct tide_db *db;
	struct tide_head head;
	/* Rows as SQL text, "(...),(...)"; texts are valid when closed. */
	FILE *txns, *lines, *runs;
	char *txn_text, *line_text, *run_text;
	size_t txn_size, line_size, run_size;
	struct delta *deltas;
	size_t ndeltas;
	char *also;
};

static int no_memory(struct tide_err *err)
{
	return tide_err_set(err, ENOMEM, "out of memory");
}

static int close_text(FILE **file)
{
	int rc = *file ? fclose(*file) : 0;

	*file = NULL;
	return rc;
}

void tide_ledger_abandon(struct tide_posting *p)
{
	int saved = errno;
	size_t i;

	if (!p)
		return;
	tide_db_rollback(p->db);
	close_text(&p->txns);
	close_text(&p->lines);
	close_text(&p->runs);
	free(p->txn_text);
	free(p->line_text);
	free(p->run_text);
	for (i = 0; i < p->ndeltas; i++)
		free(p->deltas[i].account);
	free(p->deltas);
	free(p->also);
	free(p);
	errno = saved;
}

static int lock_head(struct tide_posting *p, const char *holder,
		     struct tide_err *err)
{
	struct tide_rows *rows = NULL;
	char **row;
	int rc = -1;

	if (tide_db_begin(p->db, err) ||
	    tide_db_query(
		    p->db, &rows, err,
		    "select txn, hash, holder from tide_head where one=1 for update"))
		return -1;
	row = tide_rows_next(rows);
	if (!row || strlen(row[1]) != TIDE_HASH_LEN - 1) {
		tide_err_set(err, EIO, "the ledger has no head row");
	} else if (holder && strcmp(row[2], holder)) {
		tide_err_set(err, EPERM, "'%s' is posting to the ledger",
			     row[2]);
	} else {
		p->head.txn = tide_rows_int(row[0]);
		memcpy(p->head.hash, row[1], TIDE_HASH_LEN);
		rc = 0;
	}
	tide_rows_free(rows);
	return rc;
}

int tide_ledger_lock(struct tide_db *db, const char *holder,
		     struct tide_posting **ret_posting, struct tide_err *err)
{
	struct tide_posting *p = calloc(1, sizeof(*p));

	if (!p)
		return no_memory(err);
	p->db = db;
	p->txns = open_memstream(&p->txn_text, &p->txn_size);
	p->lines = open_memstream(&p->line_text, &p->line_size);
	p->runs = open_memstream(&p->run_text, &p->run_size);
	if (!p->txns || !p->lines || !p->runs) {
		tide_ledger_abandon(p);
		return no_memory(err);
	}
	if (lock_head(p, holder, err)) {
		tide_ledger_abandon(p);
		return -1;
	}
	*ret_posting = p;
	return 0;
}

int64_t tide_ledger_last(const struct tide_posting *p)
{
	return p->head.txn;
}

static int add_delta(struct tide_posting *p, const char *account,
		     int64_t balance, int64_t billing, struct tide_err *err)
{
	struct delta *d;
	size_t i;

	for (i = 0; i < p->ndeltas; i++)
		if (!strcmp(p->deltas[i].account, account))
			break;
	if (i == p->ndeltas) {
		d = realloc(p->deltas, (i + 1) * sizeof(*d));
		if (!d)
			return no_memory(err);
		p->deltas = d;
		d[i].account = strdup(account);
		if (!d[i].account)
			return no_memory(err);
		d[i].balance = d[i].billing = 0;
		p->ndeltas++;
	}
	d = &p->deltas[i];
	if (tide_amount_add(d->balance, balance, &d->balance, err) ||
	    tide_amount_add(d->billing, billing, &d->billing, err))
		return -1;
	return 0;
}

/* A row for a multi-row insert; the text is freed. */
static int put_row(FILE *out, char *text, struct tide_err *err)
{
	if (!text)
		return no_memory(err);
	fprintf(out, "%s%s", ftell(out) ? "," : "", text);
	free(text);
	return 0;
}

int tide_ledger_append(struct tide_posting *p, struct tide_txn *txn,
		       struct tide_err *err)
{
	struct tide_head next;
	size_t i;

	txn->id = p->head.txn + 1;
	next.txn = txn->id;
	if (tide_txn_balanced(txn, err) ||
	    tide_chain_hash(p->head.hash, txn, next.hash, err))
		return -1;
	if (put_row(p->txns,
		    tide_db_format(p->db, "(?d, ?d, ?s, ?s, ?s, ?s, ?s, ?s)",
				   txn->id, txn->time, txn->kind, txn->ref,
				   txn->by, txn->note, txn->detail, next.hash),
		    err))
		return -1;
	for (i = 0; i < txn->nlines; i++)
		if (put_row(p->lines,
			    tide_db_format(p->db, "(?d, ?d, ?s, ?d)", txn->id,
					   (int64_t)i, txn->lines[i].account,
					   txn->lines[i].amount),
			    err) ||
		    add_delta(p, txn->lines[i].account, txn->lines[i].amount, 0,
			      err))
			return -1;
	p->head = next;
	return 0;
}

int tide_ledger_add_run(struct tide_posting *p, const struct tide_run_row *row,
			struct tide_err *err)
{
	if (put_row(p->runs,
		    tide_db_format(
			    p->db,
			    "(?s, ?d, ?d, ?d, ?d, ?s, nullif(?d, 0), nullif(?d, 0), ?d, ?s, ?s)",
			    row->cluster, row->job, row->submit, row->start,
			    row->end, row->account, row->charge, row->refund,
			    row->amount, row->rate, row->earners),
		    err))
		return -1;
	return add_delta(p, row->account, 0, row->billing, err);
}

int tide_ledger_also(struct tide_posting *p, const char *statement,
		     struct tide_err *err)
{
	free(p->also);
	p->also = strdup(statement);
	return p->also ? 0 : no_memory(err);
}

static int insert(struct tide_posting *p, const char *table, FILE **file,
		  char **text, struct tide_err *err)
{
	if (close_text(file))
		return no_memory(err);
	if (!**text)
		return 0;
	return tide_db_exec(p->db, err, "insert into ?n values ?r", table,
			    *text);
}

static int write_all(struct tide_posting *p, struct tide_err *err)
{
	size_t i;

	if (insert(p, "tide_txn", &p->txns, &p->txn_text, err) ||
	    insert(p, "tide_line", &p->lines, &p->line_text, err) ||
	    insert(p, "tide_run", &p->runs, &p->run_text, err))
		return -1;
	for (i = 0; i < p->ndeltas; i++)
		if (tide_db_exec(
			    p->db, err,
			    "update tide_account set balance=balance+?d, billing=billing+?d where account=?s",
			    p->deltas[i].balance, p->deltas[i].billing,
			    p->deltas[i].account))
			return -1;
	if (p->also && tide_db_exec(p->db, err, "?r", p->also))
		return -1;
	if (tide_db_exec(p->db, err,
			 "update tide_head set txn=?d, hash=?s where one=1",
			 p->head.txn, p->head.hash))
		return -1;
	return tide_db_commit(p->db, err);
}

int tide_ledger_commit(struct tide_posting *p, struct tide_err *err)
{
	int rc = write_all(p, err);

	if (rc && errno == EEXIST)
		rc = 1;
	tide_ledger_abandon(p);
	return rc;
}
