/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts about a run of a job, and its charge.  Knows no database.
 */
#include "config.h"

#include "common/credit/dbrun.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/hostlist.h"
#include "common/util/parse.h"

enum {
	MAX_NODES = 100000, /* of one run */
	MAX_DEVICES = 64,
};

/* Digits; counts are unsigned in Slurm, and one that is "infinite" is so here.
 */
static int read_number(const char **text, int64_t *ret)
{
	const char *p = *text;
	int64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v))
			v = INT64_MAX;
	if (p == *text)
		return -1;
	*text = p;
	*ret = v;
	return 0;
}

int tide_tres_pair(const char **text, int64_t *ret_id, int64_t *ret_count)
{
	const char *p = *text;
	int64_t id, count;

	if (!*p)
		return 0;
	if (read_number(&p, &id) || *p++ != '=' || read_number(&p, &count) ||
	    (*p && *p != ','))
		return -1;
	*text = *p ? p + 1 : p;
	*ret_id = id;
	*ret_count = count;
	return 1;
}

void tide_dbrun_release(struct tide_dbrun *run)
{
	int saved = errno;

	free(run->cluster);
	free(run->account);
	free(run->nodes);
	free(run->devices);
	memset(run, 0, sizeof(*run));
	errno = saved;
}

void tide_dbruns_free(struct tide_dbrun *runs, size_t n)
{
	int saved = errno;

	while (runs && n--)
		tide_dbrun_release(&runs[n]);
	free(runs);
	errno = saved;
}

void tide_dbrun_ref(const struct tide_dbrun *run, const char *kind, char *buf,
		    size_t size)
{
	snprintf(buf, size, "%s %s %" PRId64 " %" PRId64 " %" PRId64, kind,
		 run->cluster, run->job, run->submit, run->start);
}

char *tide_dbrun_write(const struct tide_dbrun *run)
{
	json_t *j;
	char *text = NULL;

	j = json_pack(
		"{s:s,s:I,s:I,s:I,s:I,s:I,s:s,s:s,s:s,s:I,s:[I,I],s:b,s:I}",
		"cluster", run->cluster, "job", (json_int_t)run->job, "submit",
		(json_int_t)run->submit, "start", (json_int_t)run->start, "end",
		(json_int_t)run->end, "suspended", (json_int_t)run->suspended,
		"account", run->account, "nodes", run->nodes, "devices",
		run->devices, "billing", (json_int_t)run->billing, "factor",
		(json_int_t)run->factor.num, (json_int_t)run->factor.den,
		"node_failed", (int)run->node_failed, "prices",
		(json_int_t)run->prices);
	if (j)
		text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(j);
	if (!text)
		errno = ENOMEM;
	return text;
}

int tide_dbrun_read(const char *text, struct tide_dbrun *ret_run,
		    struct tide_err *err)
{
	json_int_t job, submit, start, end, suspended, billing, num, den;
	json_int_t prices;
	const char *cluster, *account, *nodes, *devices;
	struct tide_dbrun run = {0};
	json_error_t jerr;
	int failed, rc = -1;
	json_t *j;

	j = json_loads(text, JSON_REJECT_DUPLICATES, &jerr);
	if (!j ||
	    json_unpack_ex(
		    j, &jerr, 0,
		    "{s:s,s:I,s:I,s:I,s:I,s:I,s:s,s:s,s:s,s:I,s:[I,I!],s:b,s:I!}",
		    "cluster", &cluster, "job", &job, "submit", &submit,
		    "start", &start, "end", &end, "suspended", &suspended,
		    "account", &account, "nodes", &nodes, "devices", &devices,
		    "billing", &billing, "factor", &num, &den, "node_failed",
		    &failed, "prices", &prices)) {
		tide_err_set(err, EINVAL, "the detail of a charge: %s",
			     jerr.text);
		goto out;
	}
	run.job = job;
	run.submit = submit;
	run.start = start;
	run.end = end;
	run.suspended = suspended;
	run.billing = billing;
	run.node_failed = failed;
	run.prices = prices;
	if (tide_frac_make(num, den, &run.factor) || run.factor.num < 0) {
		tide_err_set(err, EINVAL, "the detail of a charge: factor");
		goto out;
	}
	if (start < 0 || end < start || suspended < 0 || billing < 0) {
		tide_err_set(err, EINVAL,
			     "the detail of a charge: times that cannot be");
		goto out;
	}
	run.cluster = strdup(cluster);
	run.account = strdup(account);
	run.nodes = strdup(nodes);
	run.devices = strdup(devices);
	if (!run.cluster || !run.account || !run.nodes || !run.devices) {
		tide_dbrun_release(&run);
		tide_err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	*ret_run = run;
	rc = 0;
out:
	json_decref(j);
	return rc;
}

/*
 * "mlu=4,mlu:mlu290=4" in place; the uses point into text.  A device that was
 * left out would be one that nobody pays for.
 */
static int split_devices(char *text, struct tide_use *uses, size_t *ret_n,
			 struct tide_err *err)
{
	char *word, *count, *save = NULL;
	size_t n = 0;

	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		count = strrchr(word, '=');
		if (!count || count == word)
			return tide_err_set(err, EINVAL,
					    "'%s' is no device and its count",
					    word);
		*count++ = '\0';
		if (n == MAX_DEVICES)
			return tide_err_set(err, EINVAL,
					    "more than %d kinds of devices",
					    MAX_DEVICES);
		uses[n].device = word;
		if (tide_parse_int(count, 0, INT64_MAX, &uses[n++].count, NULL))
			return tide_err_set(err, EINVAL,
					    "'%s' is no count of device '%s'",
					    count, word);
	}
	*ret_n = n;
	return 0;
}

int tide_dbrun_charge(const struct tide_dbrun *run,
		      const struct tide_prices *prices,
		      struct tide_charge *ret_charge, struct tide_err *err)
{
	struct tide_use uses[MAX_DEVICES];
	struct tide_names names = {0};
	struct tide_run r = {.account = run->account,
			     .start = run->start,
			     .end = run->end,
			     .suspended = run->suspended,
			     .factor = run->factor,
			     .uses = uses};
	char *devices = strdup(run->devices);
	int rc;

	if (!devices)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (r.suspended > r.end - r.start)
		r.suspended = r.end - r.start;
	rc = split_devices(devices, uses, &r.nuses, err);
	if (!rc)
		rc = tide_hostlist_expand(run->nodes, MAX_NODES, &names, err);
	if (!rc) {
		r.nodes = (const char *const *)names.name;
		r.nnodes = names.count;
		rc = tide_charge_compute(prices, &r, ret_charge, err);
	}
	tide_names_release(&names);
	free(devices);
	return rc;
}

int64_t tide_dbrun_billing(const struct tide_dbrun *run)
{
	/* Slurm counts the wall time, suspended or not. */
	__extension__ __int128 v;

	if (__builtin_mul_overflow((__int128)run->billing *
					   (run->end - run->start),
				   (__int128)run->factor.num, &v))
		return INT64_MAX;
	v /= run->factor.den;
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}
