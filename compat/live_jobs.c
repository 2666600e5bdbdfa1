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

#include "compat/release.h"

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

static const char *name_of(list_t *all, uint32_t id)
{
	list_itr_t *itr = slurm_list_iterator_create(all);
	slurmdb_qos_rec_t *qos;
	const char *name = "";

	while ((qos = slurm_list_next(itr)))
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
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	itr = ids ? slurm_list_iterator_create(ids) : NULL;
	while (itr && (id = slurm_list_next(itr)))
		fprintf(out, "%s%s", ftell(out) ? "," : "",
			name_of(all, (uint32_t)strtoul(id, NULL, 10)));
	if (itr)
		slurm_list_iterator_destroy(itr);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Numbers are NO_VAL or INFINITE, texts NULL or empty, where there is none. */
static char *limits_of(const slurmdb_assoc_rec_t *a)
{
	/* A user has those of the account beside them; they are said there. */
	int own = !a->user || !*a->user;
	const struct {
		const char *name;
		uint32_t value;
	} numbers[] = {
		{"GrpJobs", a->grp_jobs},
		{"GrpSubmitJobs", a->grp_submit_jobs},
		{"GrpWall", a->grp_wall},
		{"MaxJobs", own ? a->max_jobs : NO_VAL},
		{"MaxSubmitJobs", own ? a->max_submit_jobs : NO_VAL},
		{"MaxWall", own ? a->max_wall_pj : NO_VAL},
	};
	const struct {
		const char *name, *value;
	} texts[] = {
		{"GrpTRES", a->grp_tres},
		{"GrpTRESMins", a->grp_tres_mins},
		{"GrpTRESRunMins", a->grp_tres_run_mins},
		{"MaxTRES", own ? a->max_tres_pj : NULL},
		{"MaxTRESMins", own ? a->max_tres_mins_pj : NULL},
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value < INFINITE - 1)
			fprintf(out, "%s%s=%" PRIu32, ftell(out) ? " " : "",
				numbers[i].name, numbers[i].value);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value && *texts[i].value)
			fprintf(out, "%s%s=%s", ftell(out) ? " " : "",
				texts[i].name, texts[i].value);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_assocs(list_t *list, list_t *qos, struct tide_live *live)
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
			.limits = limits_of(rec),
			.is_default = rec->is_def == 1,
		};
		if (!assoc->user || !assoc->account || !assoc->qos ||
		    !assoc->limits)
			rc = -1;
	}
	slurm_list_iterator_destroy(itr);
	return rc;
}

int tide_live_assocs(void *conn, const char *cluster, void *qos,
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
	rc = read_assocs(list, qos, live);
	slurm_list_destroy(list);
	return rc;
}
