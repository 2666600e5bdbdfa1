/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks slurmdbd which QOS, tells slurmctld.  See move.h. */
#include "config.h"

#include "compat/move.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "compat/client.h"
#include "compat/live_jobs.h"
#include "compat/release.h"

static int unreachable(const char *daemon, struct tide_err *err)
{
	return tide_err_set(err, ENOTCONN, "could not ask %s: %s", daemon,
			    errno ? slurm_strerror(errno) : "no answer");
}

int tide_move_cluster(char **ret_name, struct tide_err *err)
{
	slurm_conf_t *conf = NULL;
	char *name;

	tide_client_start();
	errno = 0;
	if (slurm_load_ctl_conf(0, &conf))
		return unreachable("slurmctld", err);
	name = strdup(conf->cluster_name ? conf->cluster_name : "");
	tide_free_conf(conf);
	if (!name)
		return tide_err_set(err, ENOMEM, "out of memory");
	*ret_name = name;
	return 0;
}

static list_t *one(const char *text)
{
	list_t *list = slurm_list_create(NULL);

	slurm_list_append(list, (void *)text);
	return list;
}

/* The id of the QOS of that name; 0: none. */
static uint32_t id_of(list_t *all, const char *name)
{
	list_itr_t *itr = slurm_list_iterator_create(all);
	slurmdb_qos_rec_t *qos;
	uint32_t id = 0;

	while (!id && (qos = slurm_list_next(itr)))
		if (!strcmp(qos->name, name))
			id = qos->id;
	slurm_list_iterator_destroy(itr);
	return id;
}

/* Of those that the association may use; 0: none. */
static uint32_t choose(const slurmdb_assoc_rec_t *assoc, uint32_t normal,
		       uint32_t but)
{
	list_itr_t *itr;
	uint32_t id, first = 0;
	char *text;

	if (assoc->def_qos_id && assoc->def_qos_id != NO_VAL &&
	    assoc->def_qos_id != INFINITE && assoc->def_qos_id != but)
		return assoc->def_qos_id;
	if (!assoc->qos_list)
		return 0;
	itr = slurm_list_iterator_create(assoc->qos_list);
	while ((text = slurm_list_next(itr))) {
		id = (uint32_t)strtoul(text, NULL, 10);
		if (id == normal)
			first = normal;
		else if (id != but && !first)
			first = id;
	}
	slurm_list_iterator_destroy(itr);
	return first;
}

static uint32_t choose_of(list_t *assocs, list_t *all, const char *but)
{
	list_itr_t *itr = slurm_list_iterator_create(assocs);
	slurmdb_assoc_rec_t *assoc;
	uint32_t id = 0;

	while (!id && (assoc = slurm_list_next(itr)))
		id = choose(assoc, id_of(all, "normal"), id_of(all, but));
	slurm_list_iterator_destroy(itr);
	return id;
}

int tide_move_target(const char *cluster, const char *account, const char *user,
		     const char *but, char **ret_qos, struct tide_err *err)
{
	slurmdb_assoc_cond_t cond = {0};
	slurmdb_qos_cond_t qos_cond = {0};
	list_t *assocs = NULL, *all = NULL;
	const char *name = NULL;
	void *conn;
	int rc;

	tide_client_start();
	errno = 0;
	conn = slurmdb_connection_get(NULL);
	cond.cluster_list = one(cluster);
	cond.acct_list = one(account);
	cond.user_list = one(user);
	if (conn && !errno)
		assocs = slurmdb_associations_get(conn, &cond);
	if (assocs)
		all = slurmdb_qos_get(conn, &qos_cond);
	if (all)
		name = tide_live_qos_name(all, choose_of(assocs, all, but));
	if (!all)
		rc = unreachable("slurmdbd", err);
	else if (!name)
		rc = tide_err_set(
			err, ENOENT,
			"user '%s' may use no other QOS in account '%s'", user,
			account);
	else
		rc = (*ret_qos = strdup(name))
			     ? 0
			     : tide_err_set(err, ENOMEM, "out of memory");
	slurm_list_destroy(cond.cluster_list);
	slurm_list_destroy(cond.acct_list);
	slurm_list_destroy(cond.user_list);
	if (assocs)
		slurm_list_destroy(assocs);
	if (all)
		slurm_list_destroy(all);
	if (conn)
		slurmdb_connection_close(&conn);
	return rc;
}

int tide_move_knows(const char *qos)
{
	assoc_mgr_info_request_msg_t request = {
		.flags = ASSOC_MGR_INFO_FLAG_QOS};
	assoc_mgr_info_msg_t *answer = NULL;
	int knows = -1;

	tide_client_start();
	request.qos_list = one(qos);
	if (!slurm_load_assoc_mgr_info(&request, &answer) && answer)
		knows = answer->qos_list && id_of(answer->qos_list, qos);
	slurm_free_assoc_mgr_info_msg(answer);
	slurm_list_destroy(request.qos_list);
	return knows;
}

int tide_move_job(int64_t job, const char *qos, struct tide_err *err)
{
	job_array_resp_msg_t *resp = NULL;
	job_desc_msg_t desc;
	char id[24];
	int code = 0;

	tide_client_start();
	snprintf(id, sizeof(id), "%" PRId64, job);
	slurm_init_job_desc_msg(&desc);
	desc.job_id_str = id;
	desc.qos = (char *)qos;
	errno = 0;
	if (slurm_update_job2(&desc, &resp))
		code = errno ? errno : SLURM_ERROR;
	for (uint32_t i = 0; !code && resp && i < resp->job_array_count; i++)
		code = (int)resp->error_code[i];
	if (resp)
		slurm_free_job_array_resp(resp);
	return code ? tide_err_set(err, EPERM, "%s", slurm_strerror(code)) : 0;
}
