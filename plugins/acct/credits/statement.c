/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Balance and statement.  Reads only.
 */
#include "config.h"

#include "plugins/acct/credits/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/charge.h"
#include "common/credit/credit.h"
#include "plugins/acct/credits/run.h"

#define MAX_LIMIT 5000

struct totals {
	int64_t balance;
	int64_t granted;
	int64_t earned;
	int64_t spent;
};

static int read_totals(struct tide_db *db, const char *account,
		       struct totals *ret, struct tide_err *err)
{
	struct totals t = {0};
	struct tide_rows *rows;
	int64_t in, out;
	char **row;

	if (tide_db_query(
		    db, &rows, err,
		    "select t.kind, sum(if(l.amount>0, l.amount, 0)), sum(if(l.amount<0, l.amount, 0)) from tide_line l join tide_txn t on t.id=l.txn where l.account=?s group by t.kind",
		    account))
		return -1;
	while ((row = tide_rows_next(rows))) {
		in = tide_rows_int(row[1]);
		out = tide_rows_int(row[2]);
		t.balance += in + out;
		if (!strcmp(row[0], "grant")) {
			t.granted += in + out;
		} else if (!strcmp(row[0], "charge")) {
			t.earned += in;
			t.spent -= out;
		} else if (!strcmp(row[0], "refund")) {
			t.earned += out;
			t.spent -= in;
		}
	}
	tide_rows_free(rows);
	*ret = t;
	return 0;
}

static json_t *amount(int64_t micro)
{
	char text[TIDE_AMOUNT_LEN];

	return json_string(tide_amount_format(micro, text));
}

int tide_statement_balance(struct tide_db *db, const char *account,
			   json_t **ret_data, struct tide_err *err)
{
	struct tide_rows *rows;
	struct totals t;
	json_t *limit;
	char **row, *qos;

	if (read_totals(db, account, &t, err) ||
	    tide_db_query(
		    db, &rows, err,
		    "select limit_minutes from tide_account where account=?s",
		    account))
		return -1;
	row = tide_rows_next(rows);
	limit = row && row[0] ? json_integer(tide_rows_int(row[0]))
			      : json_null();
	qos = row ? tide_qos_name(account) : NULL;
	*ret_data = json_pack("{s:s,s:o,s:o,s:o,s:o,s:b,s:s?,s:o}", "account",
			      account, "balance", amount(t.balance), "granted",
			      amount(t.granted), "earned", amount(t.earned),
			      "spent", amount(t.spent), "enrolled", row != NULL,
			      "qos", qos, "limit_minutes", limit);
	free(qos);
	tide_rows_free(rows);
	return *ret_data ? 0 : tide_err_set(err, ENOMEM, "out of memory");
}

enum {
	COL_TXN,
	COL_LINE,
	COL_AMOUNT,
	COL_TIME,
	COL_KIND,
	COL_BY,
	COL_NOTE,
	COL_DETAIL,
	COL_OTHER,
};

/* What the posting says about a run, or nulls. */
static void add_run(json_t *posting, const char *detail)
{
	static const char *const keys[] = {
		"cluster", "job", "submit", "start", "end", "nodes", "devices"};
	struct tide_dbrun run;
	json_t *part;
	size_t i;

	if (tide_dbrun_read(detail, &run, NULL)) {
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			json_object_set_new(posting, keys[i], json_null());
		return;
	}
	part = json_pack("{s:s,s:I,s:I,s:I,s:I,s:s,s:s}", "cluster",
			 run.cluster, "job", (json_int_t)run.job, "submit",
			 (json_int_t)run.submit, "start", (json_int_t)run.start,
			 "end", (json_int_t)run.end, "nodes", run.nodes,
			 "devices", run.devices);
	json_object_update(posting, part);
	json_decref(part);
	tide_dbrun_release(&run);
}

static json_t *make_posting(char **row, int64_t balance)
{
	json_t *p;

	p = json_pack("{s:I,s:I,s:I,s:s,s:o,s:o,s:s?,s:s,s:s}", "transaction",
		      (json_int_t)tide_rows_int(row[COL_TXN]), "line",
		      (json_int_t)tide_rows_int(row[COL_LINE]), "time",
		      (json_int_t)tide_rows_int(row[COL_TIME]), "kind",
		      row[COL_KIND], "amount",
		      amount(tide_rows_int(row[COL_AMOUNT])), "balance",
		      amount(balance), "counterparty", row[COL_OTHER], "by",
		      row[COL_BY], "note", row[COL_NOTE]);
	if (p)
		add_run(p, row[COL_DETAIL]);
	return p;
}

int tide_statement(struct tide_db *db, const char *account, int64_t after_txn,
		   int64_t after_line, int64_t limit, json_t **ret_data,
		   struct tide_err *err)
{
	struct tide_rows *rows;
	json_t *data, *p;
	int64_t balance;
	char **row;

	if (limit < 1 || limit > MAX_LIMIT)
		limit = MAX_LIMIT;
	if (tide_db_number(
		    db, &balance, err,
		    "select sum(amount) from tide_line where account=?s and (txn<?d or (txn=?d and line<=?d))",
		    account, after_txn, after_txn, after_line))
		return -1;
	if (tide_db_query(
		    db, &rows, err,
		    "select l.txn, l.line, l.amount, t.time, t.kind, t.made_by, t.note, t.detail, (select group_concat(o.account order by o.line) from tide_line o where o.txn=l.txn and sign(o.amount)<>sign(l.amount)) from tide_line l join tide_txn t on t.id=l.txn where l.account=?s and (l.txn>?d or (l.txn=?d and l.line>?d)) order by l.txn, l.line limit ?d",
		    account, after_txn, after_txn, after_line, limit))
		return -1;
	data = json_array();
	while (data && (row = tide_rows_next(rows))) {
		balance += tide_rows_int(row[COL_AMOUNT]);
		p = make_posting(row, balance);
		if (!p || json_array_append_new(data, p)) {
			json_decref(data);
			data = NULL;
		}
	}
	tide_rows_free(rows);
	if (!data)
		return tide_err_set(err, ENOMEM, "out of memory");
	*ret_data = data;
	return 0;
}
