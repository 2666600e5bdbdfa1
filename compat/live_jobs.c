/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs, nodes and associations as plain records.  Judges nothing. */
#include "config.h"

#include "compat/live_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "compat/live_limits.h"
#include "compat/release.h"

#define MAX_STRAYS 20000 /* after so many jobs no earlier day is asked for */

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static char *user_name(const slurm_job_info_t *info)
{
	const struct passwd *pw = NULL;
	char number[16];

	if (info->user_name && *info->user_name)
		return strdup(info->user_name);
	pw = getpwuid(info->user_id);
	snprintf(number, sizeof(number), "%" PRIu32, info->user_id);
	return strdup(pw ? pw->pw_name : number);
}

static char *job_name(const slurm_job_info_t *info)
{
	char *name = NULL;
	int n;

	if (info->array_job_id && info->array_task_id != NO_VAL)
		n = asprintf(&name, "%" PRIu32 "_%" PRIu32, info->array_job_id,
			     info->array_task_id);
	else
		n = asprintf(&name, "%" PRIu32, tide_job_info_id(info));
	return n < 0 ? NULL : name;
}

static int add_job(const slurm_job_info_t *info, struct tide_live *live)
{
	struct tide_live_job *job = &live->job[live->n_jobs];
	uint32_t state = info->job_state & JOB_STATE_BASE;

	if (state > JOB_SUSPENDED)
		return 0;
	live->n_jobs++;
	*job = (struct tide_live_job){
		.id = job_name(info),
		.number = tide_job_info_id(info),
		.user = user_name(info),
		.account = copy(info->account),
		.partition = copy(info->partition),
		.qos = copy(info->qos),
		.pending = state == JOB_PENDING,
		.qos_gone =
			state == JOB_PENDING && info->state_reason == FAIL_QOS,
	};
	return job->id && job->user && job->account && job->partition &&
			       job->qos
		       ? 0
		       : -1;
}

int tide_live_jobs(struct tide_live *live)
{
	job_info_msg_t *msg = NULL;
	int rc = 0;

	errno = 0;
	if (slurm_load_jobs(0, &msg, SHOW_ALL)) {
		live->slurmctld_why = copy(slurm_strerror(errno));
		return live->slurmctld_why ? 0 : -1;
	}
	live->job = calloc((size_t)msg->record_count + 1, sizeof(*live->job));
	if (!live->job)
		rc = -1;
	for (uint32_t i = 0; !rc && i < msg->record_count; i++)
		rc = add_job(&msg->job_array[i], live);
	slurm_free_job_info_msg(msg);
	return rc;
}

static int add_node(const node_info_t *info, struct tide_live *live)
{
	const uint32_t off = NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP |
			     NODE_STATE_POWERING_DOWN;
	struct tide_live_node *node = &live->node[live->n_nodes];
	uint32_t state = info->node_state;

	/* A place for a node that is not there yet. */
	if (!info->name || !*info->name)
		return 0;
	live->n_nodes++;
	*node = (struct tide_live_node){
		.name = copy(info->name),
		.version = copy(info->version),
		.reason = copy(info->reason),
		.gres = copy(info->gres),
		.away = !(state & off) &&
			((state & NODE_STATE_BASE) == NODE_STATE_DOWN ||
			 (state & NODE_STATE_BASE) == NODE_STATE_UNKNOWN ||
			 (state & NODE_STATE_NO_RESPOND)),
	};
	return node->name && node->version && node->reason && node->gres ? 0
									 : -1;
}

int tide_live_nodes(struct tide_live *live)
{
	node_info_msg_t *msg = NULL;
	int rc = 0;

	errno = 0;
	if (slurm_load_node(0, &msg, SHOW_ALL)) {
		live->slurmctld_why = copy(slurm_strerror(errno));
		return live->slurmctld_why ? 0 : -1;
	}
	live->node = calloc((size_t)msg->record_count + 1, sizeof(*live->node));
	if (!live->node)
		rc = -1;
	for (uint32_t i = 0; !rc && i < msg->record_count; i++)
		rc = add_node(&msg->node_array[i], live);
	slurm_free_node_info_msg(msg);
	return rc;
}

const char *tide_live_qos_name(void *all, uint32_t id)
{
	list_itr_t *itr = slurm_list_iterator_create(all);
	slurmdb_qos_rec_t *qos;
	const char *name = NULL;

	while (!name && (qos = slurm_list_next(itr)))
		if (qos->id == id)
			name = qos->name;
	slurm_list_iterator_destroy(itr);
	return name;
}

/* The names of the QOS in a list of numbers. */
static char *qos_names(list_t *ids, list_t *all)
{
	list_itr_t *itr;
	char *text = NULL, *id;
	const char *name;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	itr = ids ? slurm_list_iterator_create(ids) : NULL;
	while (itr && (id = slurm_list_next(itr))) {
		name = tide_live_qos_name(all, (uint32_t)strtoul(id, NULL, 10));
		fprintf(out, "%s%s", ftell(out) ? "," : "", name ? name : "");
	}
	if (itr)
		slurm_list_iterator_destroy(itr);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_assocs(list_t *list, list_t *qos, list_t *tres,
		       struct tide_live *live)
{
	list_itr_t *itr = slurm_list_iterator_create(list);
	slurmdb_assoc_rec_t *rec;
	int rc = 0;

	live->assoc = calloc((size_t)slurm_list_count(list) + 1,
			     sizeof(*live->assoc));
	if (!live->assoc)
		rc = -1;
	while (!rc && (rec = slurm_list_next(itr))) {
		struct tide_live_assoc *assoc = &live->assoc[live->n_assocs++];

		*assoc = (struct tide_live_assoc){
			.user = copy(rec->user),
			.account = copy(rec->acct),
			.qos = qos_names(rec->qos_list, qos),
			.limits = tide_live_assoc_limits(rec, tres),
			.is_default = rec->is_def == 1,
		};
		if (!assoc->user || !assoc->account || !assoc->qos ||
		    !assoc->limits)
			rc = -1;
	}
	slurm_list_iterator_destroy(itr);
	return rc;
}

int tide_live_assocs(void *conn, const char *cluster, void *qos, void *tres,
		     struct tide_live *live)
{
	slurmdb_assoc_cond_t cond = {0};
	list_t *list;
	int rc;

	cond.cluster_list = slurm_list_create(NULL);
	slurm_list_append(cond.cluster_list, (void *)cluster);
	errno = 0;
	list = slurmdb_associations_get(conn, &cond);
	slurm_list_destroy(cond.cluster_list);
	if (!list) {
		live->slurmdbd_why = copy(slurm_strerror(errno));
		return live->slurmdbd_why ? 0 : -1;
	}
	rc = read_assocs(list, qos, tres, live);
	slurm_list_destroy(list);
	return rc;
}

/* One more run of the user without an association. */
static int add_stray(const slurmdb_job_rec_t *rec, struct tide_live *live)
{
	const struct passwd *pw = NULL;
	const char *account = rec->account ? rec->account : "";
	struct tide_live_stray *stray;
	char number[16];

	for (size_t i = 0; i < live->n_strays; i++) {
		stray = &live->stray[i];
		if (stray->uid == (int64_t)rec->uid &&
		    !strcmp(stray->account, account)) {
			stray->jobs++;
			return 0;
		}
	}
	stray = realloc(live->stray, (live->n_strays + 1) * sizeof(*stray));
	if (!stray)
		return -1;
	live->stray = stray;
	stray += live->n_strays++;
	if (!rec->user || !*rec->user)
		pw = getpwuid(rec->uid);
	snprintf(number, sizeof(number), "%" PRIu32, rec->uid);
	*stray = (struct tide_live_stray){
		.user = copy(rec->user && *rec->user ? rec->user
			     : pw		     ? pw->pw_name
						     : number),
		.account = copy(account),
		.uid = rec->uid,
		.jobs = 1,
	};
	return stray->user && stray->account ? 0 : -1;
}

/* What ended in that day; NULL when slurmdbd does not say. */
static list_t *strays_of(void *conn, const char *cluster, time_t from,
			 time_t until)
{
	slurmdb_job_cond_t cond = {0};
	list_t *list;

	cond.cluster_list = slurm_list_create(NULL);
	slurm_list_append(cond.cluster_list, (void *)cluster);
	/* The database has an index of this, and gives no other job. */
	cond.associd_list = slurm_list_create(NULL);
	slurm_list_append(cond.associd_list, (void *)"0");
	cond.db_flags = SLURMDB_JOB_FLAG_NOTSET;
	cond.flags = JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_TRUNC;
	cond.usage_start = from;
	cond.usage_end = until;
	list = slurmdb_jobs_get(conn, &cond);
	slurm_list_destroy(cond.cluster_list);
	slurm_list_destroy(cond.associd_list);
	return list;
}

/* A job over midnight is of the day of its end, one that runs of the last. */
static int add_day(list_t *list, time_t from, time_t until, time_t now,
		   struct tide_live *live)
{
	list_itr_t *itr = slurm_list_iterator_create(list);
	slurmdb_job_rec_t *rec;
	int rc = 0;

	while (!rc && (rec = slurm_list_next(itr))) {
		time_t end = rec->end ? rec->end : now;

		if (!rec->associd && end >= from && end < until)
			rc = add_stray(rec, live);
	}
	slurm_list_iterator_destroy(itr);
	return rc;
}

int tide_live_strays(void *conn, const char *cluster, int64_t now,
		     struct tide_live *live)
{
	time_t until = (time_t)now + 1;
	int rc = 0, seen = 0;

	/* A site without any association may have very many. */
	while (!rc && seen < MAX_STRAYS &&
	       live->stray_days < TIDE_LIVE_RECENT_DAYS) {
		time_t from = until - 86400;
		list_t *list = strays_of(conn, cluster, from, until);

		/* That slurmdbd cannot be asked was found out before. */
		if (!list)
			return 0;
		live->stray_days++;
		seen += slurm_list_count(list);
		rc = add_day(list, from, until, (time_t)now, live);
		slurm_list_destroy(list);
		until = from;
	}
	return rc;
}
