/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The audit.  Trusts nothing but tide_txn and tide_line, and those only as far
 * as the chain goes.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/credit.h"
#include "plugins/acct/credits/ledger.h"
#include "plugins/acct/credits/rates.h"
#include "plugins/acct/credits/run.h"

#define PAGE 500
#define MAX_PROBLEMS 100

struct audit {
	struct tide_db *db;
	struct tide_rates *rates;
	const struct tide_seal *seal;
	json_t *problems;
	size_t nproblems;
	struct tide_head at; /* the last transaction that was looked at */
	int64_t transactions, charges, refunds, grants, purged, moved;
	struct tide_err *err;
};

__attribute__((format(printf, 2, 3))) static void problem(struct audit *a,
							  const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (a->nproblems++ >= MAX_PROBLEMS)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(a->problems, json_string(text));
}

static int same_lines(const struct tide_txn *txn,
		      const struct tide_charge *charge)
{
	size_t i;

	if (txn->nlines != charge->nlines)
		return 0;
	for (i = 0; i < txn->nlines; i++)
		if (txn->lines[i].amount != charge->lines[i].amount ||
		    strcmp(txn->lines[i].account, charge->lines[i].account))
			return 0;
	return 1;
}

/* The charge against its job row; the row may be gone. */
static int check_job_row(struct audit *a, int64_t id,
			 const struct tide_dbrun *run)
{
	struct tide_rows *rows;
	int64_t end;
	char **row;

	if (tide_db_query(
		    a->db, &rows, a->err,
		    "select time_end, account, nodelist from `?n_job_table` where id_job=?d and time_submit=?d and time_start=?d",
		    run->cluster, run->job, run->submit, run->start)) {
		if (errno != ENOENT)
			return -1;
		a->purged++;
		return 0;
	}
	row = tide_rows_next(rows);
	if (!row) {
		a->purged++;
		goto out;
	}
	end = tide_rows_int(row[0]);
	/* 0: Slurm took it up again. */
	if (end > run->end || !end)
		a->moved++;
	else if (end != run->end)
		problem(a,
			"transaction %" PRId64 ": job %" PRId64
			" was charged to %" PRId64 ", its row ends at %" PRId64,
			id, run->job, run->end, end);
	if (!row[1] || strcmp(row[1], run->account) || !row[2] ||
	    strcmp(row[2], run->nodes))
		problem(a,
			"transaction %" PRId64 ": job %" PRId64
			" has another account or other nodes in its row",
			id, run->job);
out:
	tide_rows_free(rows);
	return 0;
}

/* tide_run says the same as the charge. */
static int check_run_row(struct audit *a, const struct tide_txn *txn,
			 const struct tide_dbrun *run, int64_t amount)
{
	int64_t same;

	if (tide_db_number(
		    a->db, &same, a->err,
		    "select count(*) from tide_run where cluster=?s and id_job=?d and time_submit=?d and time_start=?d and time_end=?d and account=?s and charge=?d and amount=if(refund is null, ?d, 0)",
		    run->cluster, run->job, run->submit, run->start, run->end,
		    run->account, txn->id, amount))
		return -1;
	if (!same)
		problem(a,
			"transaction %" PRId64 ": the row of job %" PRId64
			" in tide_run does not fit",
			txn->id, run->job);
	return 0;
}

/*
 * Are there other prices that were valid when the run started, and known when
 * it was charged?
 */
static int other_prices(const struct audit *a, const struct tide_txn *txn,
			const struct tide_dbrun *run)
{
	int64_t valid = run->prices;

	tide_rates_at(a->rates, run->start, &valid);
	return valid != run->prices && valid < txn->id;
}

static int check_charge(struct audit *a, const struct tide_txn *txn)
{
	const struct tide_prices *prices;
	struct tide_charge charge = {0};
	struct tide_dbrun run;
	struct tide_err why;
	char ref[191];
	int rc = 0;

	a->charges++;
	if (tide_dbrun_read(txn->detail, &run, &why)) {
		problem(a, "transaction %" PRId64 ": %s", txn->id, why.text);
		return 0;
	}
	tide_dbrun_ref(&run, "run", ref, sizeof(ref));
	prices = tide_rates_by_id(a->rates, run.prices);
	if (strcmp(ref, txn->ref) || !prices || run.prices >= txn->id)
		problem(a,
			"transaction %" PRId64
			": no charge of '%s' at known prices",
			txn->id, txn->ref);
	else if (other_prices(a, txn, &run))
		problem(a,
			"transaction %" PRId64 ": job %" PRId64
			" was charged at the prices of another time",
			txn->id, run.job);
	else if (tide_dbrun_charge(&run, prices, &charge, &why))
		problem(a, "transaction %" PRId64 ": %s", txn->id, why.text);
	else if (!same_lines(txn, &charge))
		problem(a,
			"transaction %" PRId64 ": job %" PRId64
			" does not cost this",
			txn->id, run.job);
	else if (check_job_row(a, txn->id, &run) ||
		 check_run_row(a, txn, &run, charge.amount))
		rc = -1;
	tide_charge_release(&charge);
	tide_dbrun_release(&run);
	return rc;
}

/* A refund is its charge turned round, once. */
static int check_refund(struct audit *a, const struct tide_txn *txn)
{
	int64_t charge, same;
	size_t i;

	a->refunds++;
	if (tide_db_number(
		    a->db, &charge, a->err,
		    "select id from tide_txn where kind='charge' and ref=concat('run', substr(?s, 7)) and detail=?s and id<?d",
		    txn->ref, txn->detail, txn->id) ||
	    tide_db_number(a->db, &same, a->err,
			   "select count(*) from tide_line where txn=?d",
			   charge))
		return -1;
	if (!charge || same != (int64_t)txn->nlines) {
		problem(a, "transaction %" PRId64 ": it refunds no charge",
			txn->id);
		return 0;
	}
	for (i = 0; i < txn->nlines; i++) {
		if (tide_db_number(
			    a->db, &same, a->err,
			    "select count(*) from tide_line where txn=?d and line=?d and account=?s and amount=?d",
			    charge, (int64_t)i, txn->lines[i].account,
			    -txn->lines[i].amount))
			return -1;
		if (!same) {
			problem(a,
				"transaction %" PRId64 ": it refunds no charge",
				txn->id);
			break;
		}
	}
	return 0;
}

static int check_txn(struct audit *a, const struct tide_txn *txn,
		     const char *hash)
{
	char want[TIDE_HASH_LEN];
	struct tide_err why;

	a->transactions++;
	if (txn->id != a->at.txn + 1)
		problem(a, "transaction %" PRId64 " is missing", a->at.txn + 1);
	if (tide_txn_balanced(txn, &why))
		problem(a, "%s", why.text);
	if (tide_chain_hash(a->at.hash, txn, want, a->err))
		return -1;
	if (strcmp(hash, want))
		problem(a,
			"transaction %" PRId64
			" was changed: its hash does not fit",
			txn->id);
	if (a->seal->id == txn->id && strcmp(a->seal->hash, hash))
		problem(a, "transaction %" PRId64 " does not fit the seal",
			txn->id);
	a->at.txn = txn->id;
	snprintf(a->at.hash, sizeof(a->at.hash), "%.64s", hash);
	if (!strcmp(txn->kind, "charge"))
		return check_charge(a, txn);
	if (!strcmp(txn->kind, "refund"))
		return check_refund(a, txn);
	a->grants += !strcmp(txn->kind, "grant");
	return 0;
}

/* The lines of one transaction; accounts point into rows. */
static int read_lines(struct audit *a, int64_t id, struct tide_rows **ret_rows,
		      struct tide_line **ret_lines, size_t *ret_n)
{
	struct tide_line *lines = NULL, *more;
	struct tide_rows *rows;
	size_t n = 0;
	char **row;

	if (tide_db_query(
		    a->db, &rows, a->err,
		    "select account, amount from tide_line where txn=?d order by line",
		    id))
		return -1;
	while ((row = tide_rows_next(rows))) {
		more = realloc(lines, (n + 1) * sizeof(*lines));
		if (!more) {
			free(lines);
			tide_rows_free(rows);
			return tide_err_set(a->err, ENOMEM, "out of memory");
		}
		lines = more;
		lines[n].account = row[0];
		lines[n++].amount = tide_rows_int(row[1]);
	}
	*ret_rows = rows;
	*ret_lines = lines;
	*ret_n = n;
	return 0;
}

static int check_page(struct audit *a, int64_t *ret_seen)
{
	struct tide_rows *rows, *line_rows = NULL;
	struct tide_line *lines = NULL;
	struct tide_txn txn;
	int64_t seen = 0;
	char **row;
	int rc = 0;

	if (tide_db_query(
		    a->db, &rows, a->err,
		    "select id, time, kind, ref, made_by, note, detail, hash from tide_txn where id>?d order by id limit ?d",
		    a->at.txn, (int64_t)PAGE))
		return -1;
	while (!rc && (row = tide_rows_next(rows))) {
		seen++;
		txn.id = tide_rows_int(row[0]);
		txn.time = tide_rows_int(row[1]);
		txn.kind = row[2];
		txn.ref = row[3];
		txn.by = row[4];
		txn.note = row[5];
		txn.detail = row[6];
		rc = read_lines(a, txn.id, &line_rows, &lines, &txn.nlines);
		if (rc)
			break;
		txn.lines = lines;
		rc = check_txn(a, &txn, row[7]);
		free(lines);
		tide_rows_free(line_rows);
	}
	tide_rows_free(rows);
	*ret_seen = seen;
	return rc;
}

/* What there must be none of. */
static const struct {
	const char *what, *count;
} nones[] = {
	{"lines belong to no transaction",
	 "select count(*) from tide_line l left join tide_txn t on t.id=l.txn where t.id is null"},
	{"runs have no such transaction",
	 "select count(*) from tide_run r left join tide_txn t on t.id=r.charge and t.kind='charge' left join tide_txn u on u.id=r.refund and u.kind='refund' where (r.charge is not null and t.id is null) or (r.refund is not null and u.id is null) or (r.charge is null and r.amount<>0)"},
	{"accounts were not enrolled",
	 "select count(*) from tide_account a left join tide_txn t on t.kind='enroll' and t.detail=a.account and t.time=a.enrolled where t.id is null"},
	{"accounts are not enrolled and detached as their transactions say",
	 "select count(*) from (select detail, max(id) last from tide_txn where kind in ('enroll', 'detach') group by detail) e join tide_txn t on t.id=e.last left join tide_account a on a.account=t.detail where (t.kind='enroll')<>(a.account is not null)"},
	{"accounts have another balance than their lines",
	 "select count(*) from tide_account a where a.balance<>(select ifnull(sum(l.amount), 0) from tide_line l where l.account=a.account)"},
};

/* What is not reached through the transactions. */
static int check_rest(struct audit *a)
{
	struct tide_rows *rows;
	int64_t count;
	char **row;
	size_t i;

	if (tide_db_query(a->db, &rows, a->err,
			  "select txn, hash from tide_head where one=1"))
		return -1;
	row = tide_rows_next(rows);
	if (!row || tide_rows_int(row[0]) != a->at.txn ||
	    strcmp(row[1], a->at.hash))
		problem(a,
			"the head of the ledger does not fit its last transaction");
	tide_rows_free(rows);
	if (a->seal->id > a->at.txn)
		problem(a,
			"the seal is of transaction %" PRId64
			", the ledger ends at %" PRId64,
			a->seal->id, a->at.txn);
	for (i = 0; i < sizeof(nones) / sizeof(nones[0]); i++) {
		if (tide_db_number(a->db, &count, a->err, nones[i].count))
			return -1;
		if (count)
			problem(a, "%" PRId64 " %s", count, nones[i].what);
	}
	return 0;
}

static json_t *report(struct audit *a, int64_t sum)
{
	char text[TIDE_AMOUNT_LEN];

	return json_pack("{s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:{s:I,s:s},s:O}",
			 "ok", !a->nproblems, "transactions",
			 (json_int_t)a->transactions, "charges",
			 (json_int_t)a->charges, "refunds",
			 (json_int_t)a->refunds, "grants",
			 (json_int_t)a->grants, "purged", (json_int_t)a->purged,
			 "moved", (json_int_t)a->moved, "sum",
			 tide_amount_format(sum, text), "seal", "id",
			 (json_int_t)a->at.txn, "hash", a->at.hash, "problems",
			 a->problems);
}

int tide_audit(struct tide_db *db, const struct tide_seal *seal,
	       json_t **ret_report, struct tide_err *err)
{
	struct audit a = {
		.db = db, .seal = seal, .err = err, .at = {0, TIDE_HASH_ZERO}};
	int64_t seen, sum;
	int rc = -1;

	a.problems = json_array();
	a.rates = tide_rates_create();
	if (!a.problems || !a.rates) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	/* One snapshot for all of it, as the ledger goes on growing. */
	if (tide_db_exec(db, err,
			 "set transaction isolation level repeatable read") ||
	    tide_db_exec(
		    db, err,
		    "start transaction with consistent snapshot, read only"))
		goto out;
	if (tide_rates_load(a.rates, db, err)) {
		if (errno != EINVAL && errno != EEXIST)
			goto undo;
		problem(&a, "%s", err ? err->text : "the prices are damaged");
	}
	do {
		if (check_page(&a, &seen))
			goto undo;
	} while (seen);
	if (check_rest(&a) ||
	    tide_db_number(db, &sum, err, "select sum(amount) from tide_line"))
		goto undo;
	if (sum)
		problem(&a, "the ledger does not sum to zero");
	*ret_report = report(&a, sum);
	rc = *ret_report ? 0 : tide_err_set(err, ENOMEM, "out of memory");
undo:
	tide_db_rollback(db);
out:
	tide_rates_destroy(a.rates);
	json_decref(a.problems);
	return rc;
}
