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
static int post_refund(struct tide_posting *posting,
		       const struct tide_dbrun *run,
		       const struct tide_txn *charge, struct tide_err *err)
{
	struct tide_txn txn = {.time = charge->time,
			       .kind = "refund",
			       .by = charge->by,
			       .note = "a node failed",
			       .detail = charge->detail,
			       .nlines = charge->nlines};
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
	rc = tide_ledger_append(posting, &txn, err);
	free(lines);
	return rc;
}

/* tide_run's row, which is what keeps a run from being charged again. */
static int post_row(struct tide_posting *posting, const struct tide_dbrun *run,
		    const struct tide_charge *charge, int64_t charge_txn,
		    int64_t refund_txn, struct tide_err *err)
{
	char rate[TIDE_AMOUNT_LEN];
	struct tide_run_row row = {
		.cluster = run->cluster,
		.job = run->job,
		.submit = run->submit,
		.start = run->start,
		.end = run->end,
		.account = run->account,
		.charge = charge_txn,
		.refund = refund_txn,
		.amount = refund_txn ? 0 : charge->amount,
		.rate = tide_rate_format(charge->rate, rate),
		.earners = charge->to,
		.billing = run->counted ? tide_dbrun_billing(run) : 0,
	};

	return tide_ledger_add_run(posting, &row, err);
}

static int post_charge(struct tide_posting *posting,
		       const struct tide_dbrun *run,
		       const struct tide_charge *charge, int64_t now,
		       struct tide_err *err)
{
	struct tide_txn txn = {.time = now,
			       .kind = "charge",
			       .by = "slurmdbd",
			       .note = "",
			       .lines = charge->lines,
			       .nlines = charge->nlines};
	char *detail = tide_dbrun_write(run), ref[191];
	int64_t refund = 0;
	int rc = 0;

	if (!detail)
		return tide_err_set(err, ENOMEM, "out of memory");
	tide_dbrun_ref(run, "run", ref, sizeof(ref));
	txn.ref = ref;
	txn.detail = detail;
	if (charge->nlines)
		rc = tide_ledger_append(posting, &txn, err);
	if (!rc && charge->nlines && run->node_failed) {
		rc = post_refund(posting, run, &txn, err);
		refund = tide_ledger_last(posting);
	}
	if (!rc)
		rc = post_row(posting, run, charge, txn.id, refund, err);
	free(detail);
	return rc;
}

/* 1: not now; the reason is in err. */
static int post_run(struct tide_posting *posting,
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
	rc = post_charge(posting, run, &charge, now, err);
	tide_charge_release(&charge);
	return rc;
}

/* All of them in one go; 1: one of them is in the ledger already. */
static int post_page(struct tide_db *db, const char *holder,
		     const struct tide_rates *rates, struct tide_dbrun *runs,
		     size_t n, int64_t now, size_t *posted, size_t *bad,
		     struct tide_err *err)
{
	struct tide_posting *posting;
	size_t i, good = 0, left = 0;
	int rc;

	if (tide_ledger_lock(db, holder, &posting, err))
		return -1;
	for (i = 0; i < n; i++) {
		rc = post_run(posting, rates, &runs[i], now, err);
		if (rc < 0) {
			tide_ledger_abandon(posting);
			return -1;
		}
		good += !rc;
		left += rc == 1;
	}
	rc = tide_ledger_commit(posting, err);
	if (rc)
		return rc;
	*posted += good;
	*bad += left;
	return 0;
}

int tide_post_runs(struct tide_db *db, const char *holder,
		   const struct tide_rates *rates, struct tide_dbrun *runs,
		   size_t n, int64_t now, size_t *ret_posted, size_t *ret_bad,
		   struct tide_err *err)
{
	size_t i, posted = 0, bad = 0;
	int rc = 0;

	if (n)
		rc = post_page(db, holder, rates, runs, n, now, &posted, &bad,
			       err);
	if (rc < 0)
		return -1;
	/* Which one it is shows when they come one at a time. */
	for (i = 0; rc == 1 && i < n; i++) {
		int one = post_page(db, holder, rates, &runs[i], 1, now,
				    &posted, &bad, err);

		if (one < 0)
			return -1;
		if (one == 1) {
			bad++;
			tide_err_set(
				err, EEXIST,
				"job %" PRId64
				" of cluster '%s' is half in the ledger: run tidectl credits audit",
				runs[i].job, runs[i].cluster);
		}
	}
	*ret_posted = posted;
	*ret_bad = bad;
	return 0;
}

/* One transaction of its own, and a statement that goes with it. */
static int post_one(struct tide_db *db, struct tide_txn *txn, char *also,
		    struct tide_err *err)
{
	struct tide_posting *posting;
	int64_t there = 1;
	int rc = -1;

	if (!also)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!tide_ledger_lock(db, NULL, &posting, err)) {
		if (tide_ledger_append(posting, txn, err) ||
		    tide_ledger_also(posting, also, err))
			tide_ledger_abandon(posting);
		else
			rc = tide_ledger_commit(posting, err);
	}
	free(also);
	/* Its number can be taken only if somebody wrote past us. */
	if (rc == 1 &&
	    (tide_db_number(db, &there, err,
			    "select count(*) from tide_txn where ref=?s",
			    txn->ref) ||
	     !there))
		return tide_err_set(
			err, EIO,
			"the head of the ledger does not fit it: run tidectl credits audit");
	return rc;
}

/* How often the account was enrolled; whether it is now. */
static int count_enrolments(struct tide_db *db, const char *account,
			    int64_t *ret_times, int64_t *ret_now,
			    struct tide_err *err)
{
	if (tide_db_number(
		    db, ret_times, err,
		    "select count(*) from tide_txn where kind='enroll' and detail=?s",
		    account))
		return -1;
	return tide_db_number(
		db, ret_now, err,
		"select count(*) from tide_account where account=?s", account);
}

/*
 * A transaction without lines, about an account: its n-th of that kind, with
 * the statement that goes with it.
 */
static int post_about(struct tide_db *db, const char *kind, const char *account,
		      int64_t n, const char *by, int64_t now, char *also,
		      struct tide_err *err)
{
	struct tide_txn txn = {.time = now,
			       .kind = kind,
			       .by = by,
			       .note = "",
			       .detail = account};
	char ref[191];

	if (n)
		snprintf(ref, sizeof(ref), "%s %s %" PRId64, kind, account, n);
	else
		snprintf(ref, sizeof(ref), "%s %s", kind, account);
	txn.ref = ref;
	return post_one(db, &txn, also, err);
}

int tide_post_enroll(struct tide_db *db, const char *account, const char *by,
		     int64_t now, struct tide_err *err)
{
	int64_t there, times;

	if (tide_db_number(
		    db, &there, err,
		    "select count(*) from acct_table where name=?s and deleted=0",
		    account))
		return -1;
	if (!there)
		return tide_err_set(
			err, EINVAL,
			"Slurm has no account '%s' (sacctmgr add account)",
			account);
	if (count_enrolments(db, account, &times, &there, err))
		return -1;
	if (there)
		return 1;
	/* The first one has no number. */
	return post_about(
		db, "enroll", account, times ? times + 1 : 0, by, now,
		tide_db_format(
			db,
			"insert into tide_account (account, enrolled, balance) select ?s, ?d, ifnull(sum(amount), 0) from tide_line where account=?s",
			account, now, account),
		err);
}

int tide_post_detach(struct tide_db *db, const char *account, const char *by,
		     int64_t now, struct tide_err *err)
{
	int64_t enrolled, times;

	if (count_enrolments(db, account, &times, &enrolled, err))
		return -1;
	if (!enrolled)
		return 1;
	return post_about(
		db, "detach", account, times, by, now,
		tide_db_format(db, "delete from tide_account where account=?s",
			       account),
		err);
}

int tide_post_grant(struct tide_db *db, const struct tide_prices *prices,
		    const char *account, int64_t amount, const char *note,
		    const char *request, const char *by, int64_t now,
		    int64_t *ret_txn, struct tide_err *err)
{
	struct tide_line lines[2];
	struct tide_txn txn = {.time = now,
			       .kind = "grant",
			       .by = by,
			       .note = note,
			       .detail = "",
			       .lines = lines,
			       .nlines = 2};
	int64_t there;
	char ref[191];
	int rc;

	if (!prices)
		return tide_err_set(
			err, EINVAL,
			"no good tide.conf was read yet, so there is no IssueAccount");
	if (!amount || amount == INT64_MIN)
		return tide_err_set(err, EINVAL, "nothing to grant");
	if (tide_db_number(db, &there, err,
			   "select count(*) from tide_account where account=?s",
			   account))
		return -1;
	if (!there)
		return tide_err_set(
			err, EINVAL,
			"account '%s' is not enrolled (tidectl credits enroll %s)",
			account, account);
	lines[0].account = (char *)tide_prices_issue_account(prices);
	lines[0].amount = -amount;
	lines[1].account = (char *)account;
	lines[1].amount = amount;
	snprintf(ref, sizeof(ref), "grant %s", request);
	txn.ref = ref;
	rc = post_one(
		db, &txn,
		tide_db_format(
			db,
			"update tide_account set limit_minutes=null where account=?s",
			account),
		err);
	if (!rc)
		*ret_txn = txn.id;
	return rc;
}
