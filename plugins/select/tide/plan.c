/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The windows of tide.conf laid over Slurm's nodes: see plan.h. */
#include "plugins/select/tide/plan.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* The present plan; guarded by the mutex, which is held for a moment only. */
static pthread_mutex_t present_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tide_plan *present;

static void plan_destroy(struct tide_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		FREE_NULL_BITMAP(plan->nodes[i]);
	xfree(plan->nodes);
	tide_stretches_unref(plan->stretches);
	tide_source_unref(plan->source);
	xfree(plan);
}

/* Put each of Slurm's nodes in its group; count those that are lent. */
static int fill_nodes(struct tide_plan *plan)
{
	const struct tide_conf *conf = plan->source->conf;
	int i, lent = 0;

	for (i = 0; i < plan->node_count; i++) {
		const char *name = tide_ctld_node(i);
		const struct tide_node *node =
			conf && name ? tide_conf_node(conf, name) : NULL;

		bit_set(plan->nodes[node ? (size_t)node->set : plan->count - 1],
			i);
		lent += node != NULL;
	}
	return lent;
}

static bool slurm_has_node(const char *name)
{
	int i, count = tide_ctld_node_count();

	for (i = 0; i < count; i++)
		if (tide_ctld_node(i) && !strcmp(tide_ctld_node(i), name))
			return true;
	return false;
}

/* Name the first lent node that Slurm does not have, and its owner's line. */
static int unknown_node(const struct tide_conf *conf, struct tide_err *err)
{
	int i;

	for (i = 0; i < conf->n_nodes; i++) {
		const struct tide_owner *owner =
			&conf->owner[conf->node[i].owner];

		if (!slurm_has_node(conf->node[i].name))
			return tide_err_set(
				err, EINVAL,
				"%s:%d: OwnerAccount=%s: Slurm has no node '%s'",
				owner->file, owner->line, owner->account,
				conf->node[i].name);
	}
	return 0;
}

static int check_names(const struct tide_plan *plan, int lent, bool strict,
		       struct tide_err *err)
{
	const struct tide_conf *conf = plan->source->conf;

	if (!conf || !strict)
		return 0;
	if (!tide_ctld_partition(conf->pool_partition))
		return tide_err_set(
			err, EINVAL,
			"tide.conf: PoolPartition=%s: Slurm has no such partition",
			conf->pool_partition);
	return lent == conf->n_nodes ? 0 : unknown_node(conf, err);
}

int64_t tide_plan_next(const struct tide_plan *plan, int64_t after)
{
	int64_t at = TIDE_NEVER;
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct tide_group *group = &plan->groups[i];
		const struct tide_open *open = tide_group_next(group, after);
		int64_t until = tide_group_until(group, after);

		if (open && open->open < at)
			at = open->open;
		if (until && until < at)
			at = until;
	}
	return at;
}

int tide_plan_create(struct tide_source *source, bool strict,
		     struct tide_plan **ret_plan, struct tide_err *err)
{
	struct tide_plan *plan = xmalloc(sizeof(*plan));
	size_t i;

	plan->refs = 1;
	plan->source = tide_source_ref(source);
	plan->observe = source->conf && source->conf->mode == TIDE_MODE_OBSERVE;
	plan->closed = !source->conf;
	/* A partition that was renamed is told by what it has to yield to. */
	plan->pool = source->pool && tide_ctld_partition(source->pool)
			     ? source->pool
			     : NULL;
	plan->stretches = tide_stretches_ref(source->stretches);
	plan->groups = plan->stretches->groups;
	plan->count = plan->stretches->count;
	plan->node_count = tide_ctld_node_count();
	plan->nodes = xcalloc(plan->count, sizeof(*plan->nodes));
	for (i = 0; i < plan->count; i++)
		plan->nodes[i] = bit_alloc(plan->node_count);
	if (check_names(plan, fill_nodes(plan), strict, err) < 0) {
		plan_destroy(plan);
		return -1;
	}
	*ret_plan = plan;
	return 0;
}

struct tide_plan *tide_plan_get(void)
{
	struct tide_plan *plan;

	slurm_mutex_lock(&present_lock);
	plan = present;
	if (plan)
		plan->refs++;
	slurm_mutex_unlock(&present_lock);
	return plan;
}

void tide_plan_put(struct tide_plan *plan)
{
	bool last;

	if (!plan)
		return;
	slurm_mutex_lock(&present_lock);
	last = --plan->refs == 0;
	slurm_mutex_unlock(&present_lock);
	if (last)
		plan_destroy(plan);
}

void tide_plan_set(struct tide_plan *plan)
{
	struct tide_plan *old;

	slurm_mutex_lock(&present_lock);
	old = present;
	present = plan;
	slurm_mutex_unlock(&present_lock);
	tide_plan_put(old);
}

bool tide_plan_is_pool(const struct tide_plan *plan,
		       const struct tide_job_view *job)
{
	if (!job->partition || job->reserved || job->made_up)
		return false;
	if (!plan->pool)
		return tide_ctld_partition_yields(job->partition);
	return !strcmp(job->partition, plan->pool);
}

bool tide_plan_wants_pool(const struct tide_plan *plan,
			  const struct tide_job_view *job)
{
	size_t length = plan->pool ? strlen(plan->pool) : 0;
	const char *name;

	if (!length || !job->pending || !job->partitions || job->reserved ||
	    job->made_up)
		return false;
	for (name = job->partitions; *name; name += *name == ',') {
		size_t size = strcspn(name, ",");

		if (size == length && !strncmp(name, plan->pool, size))
			return true;
		name += size;
	}
	return false;
}

void tide_plan_mask(const struct tide_plan *plan, int64_t at, int64_t need,
		    bitstr_t *nodes)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (!tide_group_fits(&plan->groups[i], at, need))
			bit_and_not(nodes, plan->nodes[i]);
}

bool tide_plan_fits(const struct tide_plan *plan, int64_t at, int64_t need,
		    const bitstr_t *nodes)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (!tide_group_fits(&plan->groups[i], at, need) &&
		    bit_overlap_any((bitstr_t *)nodes, plan->nodes[i]))
			return false;
	return true;
}

int64_t tide_plan_close(const struct tide_plan *plan, int64_t at,
			const bitstr_t *nodes)
{
	int64_t close = TIDE_NEVER;
	size_t i;

	for (i = 0; i < plan->count; i++) {
		int64_t until = tide_group_until(&plan->groups[i], at);

		if (until < close &&
		    bit_overlap_any((bitstr_t *)nodes, plan->nodes[i]))
			close = until;
	}
	return close;
}

const struct tide_open *tide_plan_window(const struct tide_plan *plan,
					 int64_t at, const bitstr_t *nodes)
{
	const struct tide_open *last = NULL;
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct tide_open *open =
			tide_group_at(&plan->groups[i], at);

		if (open && (!last || open->open > last->open) &&
		    bit_overlap_any((bitstr_t *)nodes, plan->nodes[i]))
			last = open;
	}
	return last;
}

void tide_plan_sizes(const struct tide_plan *plan, const bitstr_t *nodes,
		     uint32_t *size)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		size[i] = bit_overlap((bitstr_t *)nodes, plan->nodes[i]);
}
