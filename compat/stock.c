/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks slurmctld for a partition, its nodes, and a start.  Chooses nothing. */
#include "config.h"

#include "compat/stock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "common/util/parse.h"
#include "compat/release.h"

_Static_assert(TIDE_NO_LIMIT == INFINITE, "no limit is Slurm's number");

/* slurm.h says that it is there, and does not declare it. */
extern void slurm_free_will_run_response_msg(will_run_response_msg_t *msg);

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static const partition_info_t *find(const partition_info_msg_t *msg,
				    const char *name)
{
	for (uint32_t i = 0; i < msg->record_count; i++) {
		const partition_info_t *part = &msg->partition_array[i];

		if (name ? !strcmp(part->name, name)
			 : part->flags & PART_FLAG_DEFAULT)
			return part;
	}
	return NULL;
}

static int add_node(const node_info_t *info, struct tide_stock *stock)
{
	const uint32_t closed = NODE_STATE_DRAIN | NODE_STATE_FAIL |
				NODE_STATE_NO_RESPOND | NODE_STATE_MAINT |
				NODE_STATE_INVALID_REG;
	uint32_t state = info->node_state, base = state & NODE_STATE_BASE;
	struct tide_stock_node *node = &stock->node[stock->n_nodes++];

	*node = (struct tide_stock_node){
		.gres = copy(info->gres),
		.used = copy(info->gres_used),
		.takes_jobs =
			!(state & closed) &&
			(base == NODE_STATE_IDLE || base == NODE_STATE_MIXED ||
			 base == NODE_STATE_ALLOCATED),
	};
	return node->gres && node->used ? 0 : -1;
}

/* Its nodes are pairs of first and last in the table of all, up to -1. */
static int add_nodes(const partition_info_t *part, const node_info_msg_t *nodes,
		     struct tide_stock *stock)
{
	int rc = 0;

	stock->partition = copy(part->name);
	stock->weights = copy(part->billing_weights_str);
	stock->node =
		calloc((size_t)nodes->record_count + 1, sizeof(*stock->node));
	if (!stock->partition || !stock->weights || !stock->node)
		return -1;
	for (const int32_t *pair = part->node_inx; pair && *pair >= 0;
	     pair += 2)
		for (int32_t i = pair[0];
		     !rc && i <= pair[1] && i < (int32_t)nodes->record_count &&
		     stock->n_nodes < nodes->record_count;
		     i++)
			if (nodes->node_array[i].name)
				rc = add_node(&nodes->node_array[i], stock);
	return rc;
}

int tide_stock_ask(const char *partition, struct tide_stock *stock,
		   struct tide_err *err)
{
	partition_info_msg_t *parts = NULL;
	node_info_msg_t *nodes = NULL;
	const partition_info_t *part;
	int rc = -1;

	errno = 0;
	if (slurm_load_partitions(0, &parts, SHOW_ALL) ||
	    slurm_load_node(0, &nodes, SHOW_ALL | SHOW_DETAIL)) {
		tide_err_set(err, ENOTCONN, "cannot ask slurmctld: %s",
			     errno ? slurm_strerror(errno) : "no answer");
		goto out;
	}
	part = find(parts, partition);
	if (!part) {
		tide_err_set(err, ENOENT, "there is no %s%s%s",
			     partition ? "partition '" : "default partition",
			     partition ? partition : "", partition ? "'" : "");
		goto out;
	}
	rc = add_nodes(part, nodes, stock);
	if (rc)
		tide_err_set(err, ENOMEM, "out of memory");
out:
	if (parts)
		slurm_free_partition_info_msg(parts);
	if (nodes)
		slurm_free_node_info_msg(nodes);
	return rc;
}

void tide_stock_release(struct tide_stock *stock)
{
	for (size_t i = 0; i < stock->n_nodes; i++) {
		free(stock->node[i].gres);
		free(stock->node[i].used);
	}
	free(stock->node);
	free(stock->partition);
	free(stock->weights);
	*stock = (struct tide_stock){0};
}

/* As sbatch asks with --test-only; what desc points to stays the caller's. */
static int will_run(job_desc_msg_t *desc, int64_t *ret_start,
		    struct tide_err *err)
{
	will_run_response_msg_t *answer = NULL;
	int rc;

	errno = 0;
	rc = slurm_job_will_run2(desc, &answer);
	if (!rc && answer && answer->start_time)
		*ret_start = answer->start_time;
	else if (rc && (errno == SLURM_COMMUNICATIONS_CONNECTION_ERROR ||
			errno == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR))
		rc = tide_err_set(err, ENOTCONN, "cannot ask slurmctld: %s",
				  slurm_strerror(errno));
	else
		rc = tide_err_set(err,
				  rc && errno == ESLURM_INVALID_ACCOUNT ? EACCES
									: EPERM,
				  "is not taken by Slurm: %s",
				  rc && errno ? slurm_strerror(errno)
					      : "it tells no start");
	if (answer)
		slurm_free_will_run_response_msg(answer);
	return rc;
}

int tide_stock_start(const struct tide_trial *trial, int64_t *ret_start,
		     struct tide_err *err)
{
	static char script[] = "#!/bin/sh\n", name[] = "request", dir[] = "/";
	static char path[] = "PATH=/usr/bin:/bin",
		    *environment[] = {path, NULL};
	char *partition = trial->partition ? strdup(trial->partition) : NULL;
	char *account = trial->account ? strdup(trial->account) : NULL;
	char *gres = NULL;
	job_desc_msg_t desc;
	int rc = -1;

	if (asprintf(&gres, TIDE_GRES_PREFIX "%s", trial->gres) < 0)
		gres = NULL;
	if (!gres || (trial->partition && !partition) ||
	    (trial->account && !account)) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	slurm_init_job_desc_msg(&desc);
	desc.user_id = getuid();
	desc.group_id = getgid();
	desc.name = name;
	desc.script = script;
	desc.work_dir = dir;
	desc.environment = environment;
	desc.env_size = 1;
	desc.partition = partition;
	desc.account = account;
	desc.tres_per_node = gres;
	desc.min_nodes = trial->nodes;
	desc.max_nodes = trial->nodes;
	if (trial->limit_min)
		desc.time_limit = trial->limit_min;
	if (trial->time_min)
		desc.time_min = trial->time_min;
	rc = will_run(&desc, ret_start, err);
out:
	free(partition);
	free(account);
	free(gres);
	return rc;
}
