/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts together and posts transactions.  Decides no price (common/credit) and
 * changes no limit (limits.c).
 */
#include "config.h"

#include "plugins/acct/credits/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/credit.h"
#include "plugins/acct/credits/ledger.h"

/* The lines of a charge turned round, which share its accounts. */
static int post_refund(struct tide_db *db, struct tide_head *head,
		       const struct tide_dbrun *run,
		       const struct tide_txn *charge, struct tide_err *err)
{
	struct tide_txn txn = { .time = charge->time,
				.kind = "refund",
				.by = charge->by,
				.note = "a node failed",
				.detail = charge->detail,
				.nlines = charge->nlines };
	struct tide_line *lines = calloc(charge->nlines, sizeof(*lines));
	char ref[191];
	size_t i;
	int rc;

	if (!lines)
		return tide_err_set(err, ENOMEM, "out of memory");
	for (i = 0; i < charge->nlines; i++) {
		lines[i].account = charge->lines[i].account;
		lines[i].amount = -charge->lines[i].amount;
	}
	tide_dbrun_ref(run, "refund", ref, sizeof(ref));
	txn.ref = ref;
	txn.lines = lines;
	rc = tide_ledger_append(db, head, &txn, err);
	free(lines);
	return rc;
}

/* tide_run's row, which is what keeps a run from being charged again. */
static int post_row(struct tide_db *db, const struct tide_dbrun *run,
		    const struct tide_charge *charge, int64_t charge_txn,
		    int64_t refund_txn, struct tide_err *err)
{
	char rate[TIDE_AMOUNT_LEN];

	tide_rate_format(charge->rate, rate);
	return tide_db_exec(db, err,
			    "insert into tide_run values (?s, ?d, ?d, ?d, ?d, ?s, nullif(?d, 0), nullif(?d, 0), ?d, ?s, ?s)",
			    run->cluster, run->job, run->submit, run->start,
			    run->end, run->account, charge_txn, refund_txn,
			    refund_txn ? 0 : charge->amount, rate, charge->to);
}

static int post_charge(struct tide_db *db, struct tide_head *head,
		       const struct tide_dbrun *run,
		       const struct tide_charge *charge, int64_t now,
		       struct tide_err *err)
{
	struct tide_txn txn = { .time = now,
				.kind = "charge",
				.by = "slurmdbd",
				.note = "",
				.lines = charge->lines,
				.nlines = charge->nlines };
	char *detail = tide_dbrun_write(run), ref[191];
	int64_t refund = 0;
	int rc = -1;

	if (!detail)
		return tide_err_set(err, ENOMEM, "out of memory");
	tide_dbrun_ref(run, "run", ref, sizeof(ref));
	txn.ref = ref;
	txn.detail = detail;
	if (charge->nlines) {
		rc = tide_ledger_append(db, head, &txn, err);
		if (rc)
			goto out;
		if (run->node_failed) {
			rc = post_refund(db, head, run, &txn, err);
			if (rc)
				goto out;
			refund = head->txn;
		}
	}
	rc = post_row(db, run, charge, charge->nlines ? txn.id : 0, refund,
		      err);
	if (!rc)
		rc = tide_db_exec(db, err,
				  "update tide_account set billing=billing+?d where account=?s",
				  tide_dbrun_billing(run), run->account);
out:
	free(detail);
	return rc;
}

/* 1: not now; the reason is in err. */
static int post_run(struct tide_db *db, struct tide_head *head,
		    const struct tide_rates *rates, struct tide_dbrun *run,
		    int64_t now, struct tide_err *err)
{
	const struct tide_prices *prices;
	struct tide_charge charge;
	int rc;

	prices = tide_rates_at(rates, run->start, &run->prices);
	if (!prices) {
		tide_err_set(err, EINVAL, "there are no prices yet");
		return 1;
	}
	if (tide_dbrun_charge(run, prices, &charge, err)) {
		tide_err_prefix(err, "job %" PRId64 " of cluster '%s'",
				run->job, run->cluster);
		return errno == ENOMEM ? -1 : 1;
	}
	rc = post_charge(db, head, run, &charge, now, err);
	tide_charge_release(&charge);
	if (rc == 1)
		tide_err_set(err, EEXIST,
			     "job %" PRId64 " of cluster '%s' has a charge but no row: run tidectl credits audit",
			     run->job, run->cluster);
	return rc;
}

int tide_post_runs(struct tide_db *db, const char *holder,
		   const struct tide_rates *rates, struct tide_dbrun *runs,
		   size_t n, int64_t now, size_t *ret_posted, size_t *ret_bad,
		   struct tide_err *err)
{
	size_t i, posted = 0, bad = 0;
	struct tide_head head;
	int rc;

	if (!n) {
		*ret_posted = *ret_bad = 0;
		return 0;
	}
	if (tide_ledger_lock(db, holder, &head, err))
		return -1;
	for (i = 0; i < n; i++) {
		rc = post_run(db, &head, rates, &runs[i], now, err);
		if (rc < 0)
			goto undo;
		posted += !rc;
		bad += rc == 1;
	}
	if (tide_ledger_commit(db, &head, err))
		goto undo;
	*ret_posted = posted;
	*ret_bad = bad;
	return 0;
undo:
	tide_db_rollback(db);
	return -1;
}

int tide_post_enroll(struct tide_db *db, const char *account, const char *by,
		     int64_t now, struct tide_err *err)
{
	struct tide_txn txn = { .time = now,
				.kind = "enroll",
				.by = by,
				.note = "",
				.detail = account };
	struct tide_head head;
	int64_t there;
	char ref[191];
	int rc;

	if (tide_db_number(db, &there, err,
			   "select count(*) from acct_table where name=?s and deleted=0",
			   account))
		return -1;
	if (!there)
		return tide_err_set(err, EINVAL,
				    "Slurm has no account '%s' (sacctmgr add account)",
				    account);
	snprintf(ref, sizeof(ref), "enroll %s", account);
	txn.ref = ref;
	if (tide_ledger_lock(db, NULL, &head, err))
		return -1;
	rc = tide_ledger_append(db, &head, &txn, err);
	if (!rc && (tide_db_exec(db, err,
				 "insert into tide_account (account, enrolled, balance) select ?s, ?d, ifnull(sum(amount), 0) from tide_line where account=?s",
				 account, now, account) ||
		    tide_ledger_commit(db, &head, err)))
		rc = -1;
	if (rc)
		tide_db_rollback(db);
	return rc;
}

int tide_post_grant(struct tide_db *db, const struct tide_prices *prices,
		    const char *account, int64_t amount, const char *note,
		    const char *request, const char *by, int64_t now,
		    int64_t *ret_txn, struct tide_err *err)
{
	struct tide_line lines[2];
	struct tide_txn txn = { .time = now, .kind = "grant", .by = by,
				.note = note, .detail = "", .lines = lines,
				.nlines = 2 };
	struct tide_head head;
	int64_t there;
	char ref[191];
	int rc;

	if (!prices)
		return tide_err_set(err, EINVAL,
				    "no good tide.conf was read yet, so there is no IssueAccount");
	if (!amount || amount == INT64_MIN)
		return tide_err_set(err, EINVAL, "nothing to grant");
	if (tide_db_number(db, &there, err,
			   "select count(*) from tide_account where account=?s",
			   account))
		return -1;
	if (!there)
		return tide_err_set(err, EINVAL,
				    "account '%s' is not enrolled (tidectl credits enroll %s)",
				    account, account);
	lines[0].account = (char *)tide_prices_issue_account(prices);
	lines[0].amount = -amount;
	lines[1].account = (char *)account;
	lines[1].amount = amount;
	snprintf(ref, sizeof(ref), "grant %s", request);
	txn.ref = ref;
	if (tide_ledger_lock(db, NULL, &head, err))
		return -1;
	rc = tide_ledger_append(db, &head, &txn, err);
	if (!rc && (tide_db_exec(db, err,
				 "update tide_account set limit_minutes=null where account=?s",
				 account) ||
		    tide_ledger_commit(db, &head, err)))
		rc = -1;
	if (rc)
		tide_db_rollback(db);
	else
		*ret_txn = txn.id;
	return rc;
}
