/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds runs and has them posted: see charger.h. */
#include "compat/plugin.h"

#include "plugins/acct/credits/charger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/slurmdbd/read_config.h"

#include "plugins/acct/credits/hints.h"
#include "plugins/acct/credits/post.h"
#include "plugins/acct/credits/run.h"

#define PAGE 200 /* runs in one transaction */
#define LATE_S 4 /* completions are committed by then */

/*
 * Rows of a cluster's job table up to `settled` need not be looked at again.
 * From 24.11 on a row is numbered when its job is submitted, so one may come in
 * below; a hint tells of it, and nothing from there on is settled any more,
 * whatever becomes of the hint.
 */
struct tide_mark {
	char *cluster;
	uint64_t settled;
	struct tide_mark *next;
};

static int64_t now_s(void)
{
	return (int64_t)time(NULL);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* " or (j.account='vision' and j.time_start>=SINCE", without its end. */
static void put_since(FILE *out, const char *account, int64_t since)
{
	const char *p;

	fputs(" or (j.account='", out);
	/* Slurm's account names have no quote; be sure. */
	for (p = account; *p; p++)
		if (*p != '\'' && *p != '\\')
			fputc(*p, out);
	fprintf(out, "' and j.time_start>=%" PRId64, since);
}

/*
 * Condition on account and start: only enrolled accounts, only what started
 * while they were.  NULL with errno; *ret_since is the earliest.
 */
static char *who_pays(struct tide_charger *c, int64_t *ret_since,
		      struct tide_err *err)
{
	struct tide_rows *rows;
	int64_t enrolled;
	char *sql = NULL, **row;
	size_t size = 0;
	FILE *out;

	if (tide_db_query(
		    c->db, &rows, err,
		    "select e.detail, e.time, (select d.time from tide_txn d where d.kind='detach' and d.detail=e.detail and d.id>e.id order by d.id limit 1) from tide_txn e where e.kind='enroll' order by e.id"))
		return NULL;
	out = open_memstream(&sql, &size);
	if (!out) {
		tide_rows_free(rows);
		tide_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	*ret_since = INT64_MAX;
	fputs("0", out);
	while ((row = tide_rows_next(rows))) {
		enrolled = tide_rows_int(row[1]);
		if (enrolled < *ret_since)
			*ret_since = enrolled;
		put_since(out, row[0], enrolled);
		if (row[2])
			fprintf(out, " and j.time_start<=%" PRId64,
				tide_rows_int(row[2]));
		fputc(')', out);
	}
	tide_rows_free(rows);
	if (fclose(out)) {
		free(sql);
		tide_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	return sql;
}

/* Hints whose rows were found need not be kept. */
static void forget_hints(struct tide_hint *hints, size_t n,
			 const struct tide_dbrun *runs, size_t nruns)
{
	size_t i, k = 0;

	/* Runs come in the order of rows, and so, mostly, do hints. */
	for (i = 0; i < n; i++) {
		for (; k < nruns && runs[k].row < hints[i].row; k++)
			;
		if (k < nruns && runs[k].row == hints[i].row)
			hints[i].row = 0;
	}
}

/* Post a page, and count what could not be. */
static int post_page(struct tide_charger *c, struct tide_scan *scan,
		     struct tide_dbrun *runs, size_t n, size_t *ret_bad,
		     struct tide_err *err)
{
	size_t posted;

	if (tide_post_runs(c->db, c->holder, c->rates, runs, n, now_s(),
			   &posted, ret_bad, err))
		return -1;
	if (*ret_bad)
		c->complain("could not charge a run", err);
	if (posted)
		debug("credits: charged %zu runs of cluster %s", posted,
		      scan->cluster);
	return 0;
}

/* One page after the other; *ret_bad is the first row that had to be left. */
static int charge_scan(struct tide_charger *c, struct tide_scan *scan,
		       uint64_t *ret_bad, struct tide_err *err)
{
	size_t n, rows = PAGE, unread, bad;
	struct tide_dbrun *runs;
	int64_t began;
	uint64_t before;
	int rc = 0;

	while (!rc && rows == PAGE) {
		began = now_ms();
		before = scan->after;
		if (tide_run_scan(c->db, c->tres, scan, &runs, &n, &rows,
				  &unread, err))
			return -1;
		if (unread)
			c->complain("could not read a run", err);
		rc = post_page(c, scan, runs, n, &bad, err);
		if (!rc && (bad || unread) && before < *ret_bad)
			*ret_bad = before;
		tide_dbruns_free(runs, n);
		if (!rc && rows == PAGE)
			c->yield(now_ms() - began);
	}
	return rc;
}

static struct tide_mark *find_mark(struct tide_charger *c, const char *cluster)
{
	struct tide_mark *m;

	for (m = c->marks; m; m = m->next)
		if (!strcmp(m->cluster, cluster))
			return m;
	m = calloc(1, sizeof(*m));
	if (m && !(m->cluster = strdup(cluster))) {
		free(m);
		return NULL;
	}
	if (m) {
		m->next = c->marks;
		c->marks = m;
	}
	return m;
}

void tide_charger_forget(struct tide_charger *c)
{
	struct tide_mark *m;

	while ((m = c->marks)) {
		c->marks = m->next;
		free(m->cluster);
		free(m);
	}
}

static void unsettle(struct tide_charger *c, const struct tide_hint *hints,
		     size_t n)
{
	struct tide_mark *m;
	size_t i;

	for (i = 0; i < n; i++) {
		m = hints[i].row ? find_mark(c, hints[i].cluster) : NULL;
		if (m && m->settled >= hints[i].row)
			m->settled = hints[i].row - 1;
	}
}

/*
 * Where the look at everything begins, and what is settled after it: all rows
 * that are there now, up to the first that has not ended.
 */
static int bounds(struct tide_charger *c, struct tide_mark *m, int64_t enrolled,
		  uint64_t *ret_settled, struct tide_err *err)
{
	uint64_t last, open, first;

	if (tide_db_key(c->db, &last, err,
			"select max(job_db_inx) from `?n_job_table`",
			m->cluster) ||
	    tide_db_key(
		    c->db, &open, err,
		    "select min(job_db_inx) from `?n_job_table` where time_end=0",
		    m->cluster))
		return -1;
	*ret_settled = open && open <= last ? open - 1 : last;
	if (m->settled)
		return 0;
	/* What ended before anybody was enrolled is of no interest. */
	if (tide_db_key(
		    c->db, &first, err,
		    "select min(job_db_inx) from `?n_job_table` where time_end>=?d",
		    m->cluster, enrolled))
		return -1;
	m->settled = first && first <= *ret_settled ? first - 1 : *ret_settled;
	return 0;
}

static int charge_cluster(struct tide_charger *c, const char *cluster,
			  const char *accounts, int64_t enrolled,
			  struct tide_err *err)
{
	struct tide_mark *m = find_mark(c, cluster);
	struct tide_scan scan = {
		.cluster = cluster,
		.partition = tide_prices_partition(tide_rates_last(c->rates)),
		.accounts = accounts,
		.limit = PAGE,
	};
	uint64_t settled, bad = UINT64_MAX;

	if (!m)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (bounds(c, m, enrolled, &settled, err))
		return errno == ENOENT ? 0 : -1;
	scan.after = m->settled;
	if (charge_scan(c, &scan, &bad, err))
		return -1;
	m->settled = settled < bad ? settled : bad;
	return 0;
}

static int charge_all(struct tide_charger *c, const char *accounts,
		      int64_t enrolled, struct tide_err *err)
{
	struct tide_rows *rows;
	char **row;
	int rc = 0;

	if (tide_db_query(c->db, &rows, err,
			  "select name from cluster_table where deleted=0"))
		return -1;
	while (!rc && (row = tide_rows_next(rows)))
		rc = charge_cluster(c, row[0], accounts, enrolled, err);
	tide_rows_free(rows);
	return rc;
}

/* The hints from the i-th on that are of one cluster, at most a page. */
static size_t one_page(const struct tide_hint *hints, size_t i, size_t n,
		       char *rows, size_t size)
{
	size_t from = i, len = 0;

	for (; i < n && i - from < PAGE &&
	       !strcmp(hints[i].cluster, hints[from].cluster);
	     i++)
		len += (size_t)snprintf(rows + len, size - len, "%s%" PRIu64,
					i > from ? "," : "", hints[i].row);
	return i;
}

static int charge_hints(struct tide_charger *c, struct tide_hint *hints,
			size_t n, const char *accounts, struct tide_err *err)
{
	char list[PAGE * 24];
	struct tide_scan scan = {
		.partition = tide_prices_partition(tide_rates_last(c->rates)),
		.accounts = accounts,
		.rows = list,
		.limit = PAGE,
	};
	size_t i, next, found, rows, unread, bad;
	struct tide_dbrun *runs;
	int64_t began;
	int rc = 0;

	for (i = 0; !rc && i < n; i = next) {
		began = now_ms();
		next = one_page(hints, i, n, list, sizeof(list));
		scan.cluster = hints[i].cluster;
		if (tide_run_scan(c->db, c->tres, &scan, &runs, &found, &rows,
				  &unread, err))
			return -1;
		if (unread)
			c->complain("could not read a run", err);
		rc = post_page(c, &scan, runs, found, &bad, err);
		forget_hints(hints + i, next - i, runs, found);
		tide_dbruns_free(runs, found);
		if (!rc && next < n)
			c->yield(now_ms() - began);
	}
	return rc;
}

/* Those that may not have been committed yet are taken again. */
static void keep_young(const struct tide_hint *hints, size_t n)
{
	int64_t late = LATE_S;
	size_t i;

	if (slurmdbd_conf)
		late += slurmdbd_conf->commit_delay;
	for (i = 0; i < n; i++)
		if (hints[i].row && now_s() < hints[i].told + late &&
		    hints[i].told <= now_s())
			tide_hints_return(&hints[i]);
}

int tide_charger_run(struct tide_charger *c, bool all, struct tide_err *err)
{
	int64_t enrolled = INT64_MAX;
	struct tide_hint *hints;
	char *accounts;
	bool lost = false;
	size_t n = 0;
	int rc = 0;

	hints = tide_hints_take(&n, &lost);
	if (lost) {
		tide_charger_forget(c);
		all = true;
	}
	unsettle(c, hints, n);
	accounts = n || all ? who_pays(c, &enrolled, err) : NULL;
	if ((n || all) && !accounts)
		rc = -1;
	else if (enrolled == INT64_MAX)
		n = 0;
	else if (all)
		rc = charge_all(c, accounts, enrolled, err);
	else
		rc = charge_hints(c, hints, n, accounts, err);
	/* What was settled may lie above a row that is not there yet. */
	unsettle(c, hints, n);
	if (!rc)
		keep_young(hints, n);
	free(accounts);
	free(hints);
	return rc;
}

int tide_charger_init(struct tide_charger *c)
{
	c->tres = tide_tres_create();
	return c->tres ? 0 : -1;
}

void tide_charger_release(struct tide_charger *c)
{
	tide_charger_forget(c);
	tide_tres_destroy(c->tres);
	c->tres = NULL;
}
