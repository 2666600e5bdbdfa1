/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates rows of Slurm's job table into runs.  Reads Slurm's tables and
 * locks none of their rows; writes nothing.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRES_BILLING 5 /* fixed by Slurm, slurmdb.h */

struct gres {
	int64_t id;
	char *name;
};

struct tide_tres {
	struct gres *gres;
	size_t n;
	int64_t max_id; /* all of tres_table up to here is known */
};

struct tide_tres *tide_tres_create(void)
{
	return calloc(1, sizeof(struct tide_tres));
}

void tide_tres_destroy(struct tide_tres *tres)
{
	size_t i;

	if (!tres)
		return;
	for (i = 0; i < tres->n; i++)
		free(tres->gres[i].name);
	free(tres->gres);
	free(tres);
}

static int tres_load(struct tide_tres *tres, struct tide_db *db,
		     struct tide_err *err)
{
	struct tide_rows *rows;
	struct gres *more;
	char **row;
	int rc = 0;

	if (tide_db_query(
		    db, &rows, err,
		    "select id, type, name from tres_table where id>?d order by id",
		    tres->max_id))
		return -1;
	while ((row = tide_rows_next(rows))) {
		tres->max_id = tide_rows_int(row[0]);
		if (!row[1] || !row[2] || strcmp(row[1], "gres"))
			continue;
		more = realloc(tres->gres, (tres->n + 1) * sizeof(*more));
		if (more)
			tres->gres = more;
		if (!more || !(more[tres->n].name = strdup(row[2]))) {
			rc = tide_err_set(err, ENOMEM, "out of memory");
			break;
		}
		more[tres->n++].id = tres->max_id;
	}
	tide_rows_free(rows);
	return rc;
}

static const char *gres_name(const struct tide_tres *tres, int64_t id)
{
	size_t i;

	for (i = 0; i < tres->n; i++)
		if (tres->gres[i].id == id)
			return tres->gres[i].name;
	return NULL;
}

/*
 * "1=4,5=200000,1001=2" into the GRES among them and the billing.
 */
static int read_tres(struct tide_tres *tres, struct tide_db *db,
		     const char *text, struct tide_dbrun *run,
		     struct tide_err *err)
{
	size_t size = 0;
	const char *p = text ? text : "", *name;
	int64_t id, count;
	int more;
	FILE *out;

	out = open_memstream(&run->devices, &size);
	if (!out)
		return tide_err_set(err, ENOMEM, "out of memory");
	while ((more = tide_tres_pair(&p, &id, &count)) > 0) {
		if (id > tres->max_id && tres_load(tres, db, err)) {
			fclose(out);
			return -1;
		}
		if (id == TRES_BILLING)
			run->billing = count;
		name = gres_name(tres, id);
		if (name)
			fprintf(out, "%s%s=%" PRId64, ftell(out) ? "," : "",
				name, count);
	}
	if (fclose(out))
		return tide_err_set(err, ENOMEM, "out of memory");
	if (more < 0)
		return tide_err_set(err, EINVAL, "'%s' is no list of TRES",
				    text);
	return 0;
}

/* Seconds in which the run was suspended. */
static int read_suspended(struct tide_db *db, struct tide_dbrun *run,
			  uint64_t row, struct tide_err *err)
{
	return tide_db_number(
		db, &run->suspended, err,
		"select sum(greatest(0, least(if(time_end=0, ?d, cast(time_end as signed)), ?d) - greatest(cast(time_start as signed), ?d))) from `?n_suspend_table` where job_db_inx=?u",
		run->end, run->end, run->start, run->cluster, row);
}

enum {
	COL_ROW,
	COL_JOB,
	COL_SUBMIT,
	COL_START,
	COL_END,
	COL_STATE,
	COL_ACCOUNT,
	COL_NODES,
	COL_TRES,
	COL_FACTOR,
	COL_SUSPENDED,
	COL_COUNTED,
};

static int read_row(struct tide_db *db, struct tide_tres *tres,
		    const char *cluster, char **row, struct tide_dbrun *run,
		    struct tide_err *err)
{
	int64_t state = tide_rows_int(row[COL_STATE]) & JOB_STATE_BASE;

	run->cluster = strdup(cluster);
	run->account = strdup(row[COL_ACCOUNT] ? row[COL_ACCOUNT] : "");
	run->nodes = strdup(row[COL_NODES] ? row[COL_NODES] : "");
	if (!run->cluster || !run->account || !run->nodes)
		return tide_err_set(err, ENOMEM, "out of memory");
	run->row = tide_rows_key(row[COL_ROW]);
	run->job = tide_rows_int(row[COL_JOB]);
	run->submit = tide_rows_int(row[COL_SUBMIT]);
	run->start = tide_rows_int(row[COL_START]);
	run->end = tide_rows_int(row[COL_END]);
	if (run->end < run->start)
		run->end = run->start;
	run->counted = tide_rows_int(row[COL_COUNTED]);
	run->node_failed = state == JOB_NODE_FAIL || state == JOB_BOOT_FAIL;
	if (tide_frac_parse(row[COL_FACTOR] ? row[COL_FACTOR] : "1",
			    &run->factor))
		return tide_err_set(err, EINVAL, "'%s' is no usage factor",
				    row[COL_FACTOR]);
	if (tide_rows_int(row[COL_SUSPENDED]) &&
	    read_suspended(db, run, run->row, err))
		return -1;
	return read_tres(tres, db, row[COL_TRES], run, err);
}

/* The id_job of a run that failed goes into the reason. */
static int collect(struct tide_db *db, struct tide_tres *tres,
		   struct tide_scan *scan, struct tide_rows *rows,
		   struct tide_dbrun *runs, size_t *ret_n, size_t *ret_rows,
		   size_t *ret_bad, struct tide_err *err)
{
	size_t n = 0, seen = 0, bad = 0;
	char **row;

	while ((row = tide_rows_next(rows))) {
		seen++;
		scan->after = tide_rows_key(row[COL_ROW]);
		if (!read_row(db, tres, scan->cluster, row, &runs[n], err)) {
			n++;
			continue;
		}
		tide_dbrun_release(&runs[n]);
		if (errno != EINVAL) {
			*ret_n = n;
			return -1;
		}
		tide_err_prefix(err, "job %s of cluster '%s'", row[COL_JOB],
				scan->cluster);
		bad++;
	}
	*ret_n = n;
	*ret_rows = seen;
	*ret_bad = bad;
	return 0;
}

int tide_run_scan(struct tide_db *db, struct tide_tres *tres,
		  struct tide_scan *scan, struct tide_dbrun **ret_runs,
		  size_t *ret_n, size_t *ret_rows, size_t *ret_bad,
		  struct tide_err *err)
{
	struct tide_rows *rows;
	struct tide_dbrun *runs;
	char *which;
	size_t n = 0;
	int rc;

	which = scan->rows
			? tide_db_format(db, "j.job_db_inx in (?r)", scan->rows)
			: tide_db_format(db, "j.job_db_inx>?u", scan->after);
	if (!which)
		return tide_err_set(err, ENOMEM, "out of memory");
	rc = tide_db_query(
		db, &rows, err,
		"select j.job_db_inx, j.id_job, j.time_submit, j.time_start, j.time_end, j.state, j.account, j.nodelist, j.tres_alloc, q.usage_factor, j.time_suspended, exists (select 1 from tide_account a where a.account=j.account and a.enrolled<=j.time_start) from `?n_job_table` j left join qos_table q on q.id=j.id_qos where ?r and j.time_end>0 and j.time_start>0 and j.`partition`=?s and (?r) and j.nodelist<>'None assigned' and not exists (select 1 from tide_run r where r.cluster=?s and r.id_job=j.id_job and r.time_submit=j.time_submit and r.time_start=j.time_start) order by j.job_db_inx limit ?d",
		scan->cluster, which, scan->partition, scan->accounts,
		scan->cluster, (int64_t)scan->limit);
	free(which);
	if (rc)
		return -1;
	runs = calloc((size_t)scan->limit, sizeof(*runs));
	if (!runs) {
		tide_rows_free(rows);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	rc = collect(db, tres, scan, rows, runs, &n, ret_rows, ret_bad, err);
	tide_rows_free(rows);
	if (rc) {
		tide_dbruns_free(runs, n);
		return -1;
	}
	*ret_runs = runs;
	*ret_n = n;
	return 0;
}
