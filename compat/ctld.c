/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmctld's records as the layer sees them: see ctld.h. */
#include "compat/ctld.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#if TIDE_INTERFACES_FOLDER
#include "src/interfaces/accounting_storage.h"
#else
#include "src/common/slurm_accounting_storage.h"
#endif
#include "src/common/slurmdbd_defs.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/state_save.h"

/* Not there in clients, which open the plugin too: see ctld.h. */
#pragma weak acct_db_conn
#pragma weak job_list
#pragma weak last_job_update
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak part_list
#pragma weak slurmctld_config

/* Prefix of every reason that is ours. */
#define REASON_MARK "next window"

bool tide_ctld_present(void)
{
	return running_in_slurmctld() && &slurmctld_config;
}

bool tide_ctld_submits_by(const char *name)
{
	const char *list = slurm_conf.job_submit_plugins;
	size_t length = strlen(name);

	while (list && *list) {
		size_t size;

		if (!strncmp(list, "job_submit/", 11))
			list += 11;
		size = strcspn(list, ",");
		if (size == length && !strncmp(list, name, size))
			return true;
		list += size + (list[size] == ',');
	}
	return false;
}

bool tide_ctld_ending(void)
{
	return slurmctld_config.shutdown_time != 0;
}

static slurmctld_lock_t locks_for(enum tide_ctld_access access)
{
	if (access == TIDE_ACT)
		return (slurmctld_lock_t){
			.conf = READ_LOCK,
			.job = WRITE_LOCK,
			.node = WRITE_LOCK,
			.part = READ_LOCK,
			.fed = READ_LOCK,
		};
	return (slurmctld_lock_t){
		.conf = READ_LOCK,
		.job = READ_LOCK,
		.node = READ_LOCK,
		.part = READ_LOCK,
	};
}

void tide_ctld_lock(enum tide_ctld_access access)
{
	lock_slurmctld(locks_for(access));
}

void tide_ctld_unlock(enum tide_ctld_access access)
{
	unlock_slurmctld(locks_for(access));
}

void tide_ctld_touch(void)
{
	last_job_update = time(NULL);
}

int64_t tide_ctld_job_change(void)
{
	return last_job_update;
}

static bool is_ending(const job_record_t *job)
{
	return IS_JOB_COMPLETING(job) || job->preempt_time;
}

void tide_job_view(const job_record_t *job, struct tide_job_view *ret_view)
{
	const part_record_t *part = job->part_ptr;

	*ret_view = (struct tide_job_view){
		.id = job->job_id,
		.array_id = job->array_job_id,
		.run = job->restart_cnt,
		.partition = part ? part->name : job->partition,
		.partitions = job->partition,
		.finished = IS_JOB_FINISHED(job),
		.pending = IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job),
		.running = IS_JOB_RUNNING(job) && !IS_JOB_COMPLETING(job),
		.suspended = IS_JOB_SUSPENDED(job) && !IS_JOB_COMPLETING(job),
		.configuring = IS_JOB_CONFIGURING(job),
		.ending = is_ending(job),
		.held = job->priority == 0,
		.batch = job->batch_flag,
		.reserved = job->resv_ptr || job->resv_name,
		/* 22.05 asks about reservations through resv_test alone. */
		.made_up = job->job_id == 0,
		.now_only = job->bit_flags & TEST_NOW_ONLY,
		.limit_min = job->time_limit,
		.time_min = job->time_min,
		.min_nodes = job->details ? job->details->min_nodes : 0,
		.limit_by_default = job->limit_set.time == 1,
		.start = job->start_time,
		.end = job->end_time,
		.paused = job->tot_sus_time,
		.warn = job->warn_signal ? job->warn_time : 0,
		.warned = job->warn_flags & WARN_SENT,
		.nodes = job->node_bitmap,
	};
}

uint32_t tide_job_limit(const job_record_t *job, uint32_t limit_min)
{
	const part_record_t *part = job->part_ptr;

	if (limit_min != NO_VAL || !part)
		return limit_min;
	return part->default_time != NO_VAL ? part->default_time
					    : part->max_time;
}

bool tide_job_requeues(const job_record_t *job)
{
	return job->batch_flag && job->details && job->details->requeue;
}

void tide_ctld_each_job(int (*fn)(void *job_record, void *arg), void *arg)
{
	list_itr_t *iterator;
	job_record_t *job;

	if (!job_list)
		return;
	/* list_for_each() holds the list's own lock: it cannot be nested. */
	iterator = list_iterator_create(job_list);
	while ((job = list_next(iterator)))
		if (fn(job, arg))
			break;
	list_iterator_destroy(iterator);
}

job_record_t *tide_ctld_job(uint32_t id)
{
	return find_job_record(id);
}

void tide_job_set_limit(job_record_t *job, uint32_t limit_min)
{
	uint32_t before = job->time_limit, after;

	job->time_limit = limit_min;
	job_end_time_reset(job);
	/* Lowers it for a reservation that lies ahead, never below time_min. */
	job_time_adj_resv(job);
	after = MIN(job->time_limit, limit_min);
	job->time_limit = before;
	acct_policy_alter_job(job, after);
	job->time_limit = after;
	job_end_time_reset(job);
	if (job->tot_sus_time && !job->preempt_time)
		job->end_time += job->tot_sus_time;
	/* Else slurmdbd will be told when it first hears of the job. */
	if (job->db_index)
		jobacct_storage_g_job_start(acct_db_conn, job);
	last_job_update = time(NULL);
}

void tide_job_leave_limit(job_record_t *job, uint32_t limit_min)
{
	job->time_limit = limit_min;
	job_end_time_reset(job);
	if (job->tot_sus_time && !job->preempt_time)
		job->end_time += job->tot_sus_time;
}

void tide_ctld_save_jobs(void)
{
	schedule_job_save();
}

void tide_job_restore_limit(job_record_t *job, uint32_t limit_min)
{
	job->time_limit = limit_min;
	last_job_update = time(NULL);
}

void tide_job_warn(job_record_t *job)
{
	send_job_warn_signal(job, true);
	last_job_update = time(NULL);
}

void tide_job_unwarn(job_record_t *job)
{
	job->warn_flags &= ~WARN_SENT;
}

static int differs(const char *what, const void *theirs, size_t ours,
		   struct tide_err *err)
{
	if (!theirs || xsize((void *)theirs) == ours)
		return 0;
	tide_err_set(
		err, EINVAL,
		"this is another Slurm %s than the one TideFlow was built for: its record of a %s has %zu bytes, not %zu",
		SLURM_VERSION_STRING, what, xsize((void *)theirs), ours);
	return -1;
}

static int check_job(const job_record_t *job, struct tide_err *err)
{
	if (differs("job", job, sizeof(*job), err) ||
	    differs("job's details", job->details, sizeof(*job->details), err))
		return -1;
	if (find_job_record(job->job_id) != job)
		return tide_err_set(
			err, EINVAL,
			"this is another Slurm %s than the one TideFlow was built for: its job %u is not found by that number",
			SLURM_VERSION_STRING, job->job_id);
	return 0;
}

int tide_ctld_check_records(struct tide_err *err)
{
	const part_record_t *part = part_list ? list_peek(part_list) : NULL;
	const job_record_t *job = job_list ? list_peek(job_list) : NULL;
	int i;

	for (i = 0; i < node_record_count; i++)
		if (differs("node", node_record_table_ptr[i],
			    sizeof(*node_record_table_ptr[i]), err))
			return -1;
	if (differs("partition", part, sizeof(*part), err))
		return -1;
	return job ? check_job(job, err) : 1;
}

/* Of a heterogeneous job, all of it. */
static int requeue(job_record_t *job)
{
	uint32_t id = job->het_job_id ? job->het_job_id : job->job_id;
#if TIDE_REQUEUE_RECORD
	job_record_t *leader = find_job_record(id);

	return leader ? job_requeue_internal(0, leader, true, 0)
		      : ESLURM_INVALID_JOB_ID;
#else
	return job_requeue(0, id, NULL, true, 0);
#endif
}

int tide_job_end(job_record_t *job)
{
	int rc = ESLURM_BATCH_ONLY;

	if (tide_job_requeues(job))
		rc = requeue(job);
	/* Not what was requeued after all, such as a heterogeneous job. */
	if (rc && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) &&
	    !IS_JOB_COMPLETING(job))
		rc = job_signal(job, SIGKILL, 0, 0, true);
	return rc;
}

void tide_ctld_check_limits(void)
{
	job_time_limit();
}

static bool is_ours(const char *text)
{
	return text && !strncmp(text, REASON_MARK, strlen(REASON_MARK));
}

/* Slurm's main scheduler judges by --time, backfill by --time-min. */
static bool can_pay_min(const job_record_t *job)
{
	return job->time_min && job->time_min < job->time_limit &&
	       tide_job_payable_min((job_record_t *)job) >= job->time_min;
}

bool tide_job_would_set_reason(const job_record_t *job, const char *text)
{
	if (!IS_JOB_PENDING(job))
		return false;
	if (!text)
		return is_ours(job->state_desc);
	if (!xstrcmp(job->state_desc, text) ||
	    (job->state_desc && !is_ours(job->state_desc)))
		return false;
	switch (job->state_reason) {
	case WAIT_NO_REASON:
	case WAIT_PRIORITY:
	case WAIT_RESOURCES:
		return true;
	case WAIT_ASSOC_GRP_BILLING_MIN:
	case WAIT_QOS_GRP_BILLING_MIN:
		return can_pay_min(job);
	default:
		return false;
	}
}

bool tide_job_set_reason(job_record_t *job, const char *text)
{
	if (!tide_job_would_set_reason(job, text))
		return false;
	xfree(job->state_desc);
	if (text) {
		job->state_desc = xstrdup(text);
		job->state_reason = WAIT_RESOURCES;
	}
	last_job_update = time(NULL);
	return true;
}

int64_t tide_job_planned(const job_record_t *job)
{
	return job->start_time;
}

void tide_job_set_planned(job_record_t *job, int64_t start)
{
	job->start_time = start;
}

const bitstr_t *tide_job_required(const job_record_t *job)
{
	return job->details ? job->details->req_node_bitmap : NULL;
}

bitstr_t *tide_job_planned_nodes(const job_record_t *job)
{
	bitstr_t *nodes = NULL;

	if (!IS_JOB_PENDING(job) || !job->start_time || !job->sched_nodes)
		return NULL;
	if (tide_node_bitmap(job->sched_nodes, true, &nodes))
		FREE_NULL_BITMAP(nodes);
	return nodes;
}

struct behind {
	const job_record_t *job;
	int64_t start;
};

static int planned_behind(void *x, void *arg)
{
	job_record_t *other = x;
	struct behind *behind = arg;
	bitstr_t *nodes;

	if (!IS_JOB_PENDING(other) || !other->sched_nodes ||
	    other->start_time <= behind->job->start_time ||
	    other->start_time >= behind->start ||
	    other->priority <= behind->job->priority)
		return 0;
	nodes = tide_job_planned_nodes(other);
	if (nodes && bit_overlap_any(nodes, behind->job->node_bitmap))
		behind->start = other->start_time;
	FREE_NULL_BITMAP(nodes);
	return 0;
}

int64_t tide_job_planned_behind(const job_record_t *job)
{
	struct behind behind = {job, INT64_MAX};

	if (job->node_bitmap)
		tide_ctld_each_job(planned_behind, &behind);
	return behind.start;
}

void tide_ctld_wake(void)
{
	queue_job_scheduler();
}

int tide_ctld_node_count(void)
{
	return node_record_count;
}

const char *tide_ctld_node(int index)
{
	const node_record_t *node = node_record_table_ptr[index];

	return node ? node->name : NULL;
}

bitstr_t *tide_ctld_nodes(const char *list)
{
	bitstr_t *nodes = NULL;

	if (tide_node_bitmap((char *)list, false, &nodes))
		FREE_NULL_BITMAP(nodes);
	return nodes;
}

const bitstr_t *tide_ctld_partition(const char *name)
{
	const part_record_t *part = find_part_record((char *)name);

	return part ? part->node_bitmap : NULL;
}

struct yields {
	const part_record_t *part;
	bool found;
};

static int is_above(void *x, void *arg)
{
	const part_record_t *other = x;
	struct yields *yields = arg;

	if (other->priority_tier > yields->part->priority_tier &&
	    other->node_bitmap && yields->part->node_bitmap &&
	    bit_overlap_any(other->node_bitmap, yields->part->node_bitmap))
		yields->found = true;
	return 0;
}

bool tide_ctld_partition_yields(const char *name)
{
	struct yields yields = {find_part_record((char *)name), false};

	if (yields.part && part_list)
		list_for_each(part_list, is_above, &yields);
	return yields.found;
}

const char *tide_ctld_conf_file(void)
{
	return slurm_conf.slurm_conf;
}

const char *tide_ctld_plugin_dir(void)
{
	return slurm_conf.plugindir;
}

const char *tide_ctld_state_dir(void)
{
	return slurm_conf.state_save_location;
}
