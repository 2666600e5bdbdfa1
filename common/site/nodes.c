/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes and partitions: lent nodes exist and are in the pool, and every owner
 * has a partition over its nodes that comes before the pool.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/site/rules.h"
#include "common/util/parse.h"

struct partition {
	const struct tide_slurm_record *record;
	struct tide_names nodes;
	int known;    /* nodes are all there is to know */
	int64_t tier; /* PriorityTier */
};

struct partitions {
	struct partition *partition;
	size_t count;
	const struct partition *pool;
	int all_known;
};

/* Nodes of which something is to be said. */
struct selection {
	const char **name;
	size_t count;
};

static int64_t number(const char *text, int64_t fallback)
{
	int64_t value;

	if (!text || tide_parse_int(text, 0, INT64_MAX, &value, NULL))
		return fallback;
	return value;
}

static void partitions_release(struct partitions *partitions)
{
	for (size_t i = 0; i < partitions->count; i++)
		tide_names_release(&partitions->partition[i].nodes);
	free(partitions->partition);
}

static int add_partition(struct tide_site *site,
			 const struct tide_slurm_record *record,
			 struct partitions *partitions)
{
	struct partition *more = realloc(
		partitions->partition, (partitions->count + 1) * sizeof(*more));
	int rc;

	if (!more)
		return -1;
	partitions->partition = more;
	more += partitions->count;
	*more = (struct partition){.record = record};
	more->tier = number(
		tide_slurm_value(site->slurm, record, "PriorityTier"), 1);
	rc = tide_slurm_partition_nodes(site->slurm, record, &site->nodes,
					&more->nodes);
	if (rc < 0)
		return -1;
	more->known = !rc;
	partitions->all_known &= more->known;
	partitions->count++;
	if (rc)
		tide_site_say(
			site, TIDE_LEVEL_WARNING, record, NULL,
			"partition '%s': its nodes are given as a nodeset, so its nodes are not checked",
			record->pair[0].value);
	return 0;
}

static int read_partitions(struct tide_site *site,
			   struct partitions *partitions)
{
	const struct tide_slurm_record *record = NULL;

	partitions->all_known = 1;
	while ((record = tide_slurm_next(site->slurm, "PartitionName", record)))
		if (add_partition(site, record, partitions))
			return -1;
	for (size_t i = 0; i < partitions->count; i++)
		if (partitions->partition[i].record == site->pool)
			partitions->pool = &partitions->partition[i];
	return 0;
}

/* Accounts pay by a QOS of their own, which a partition can overrule. */
static void check_pool_qos(struct tide_site *site)
{
	const char *qos = tide_slurm_value(site->slurm, site->pool, "QOS");
	const char *allow =
		tide_slurm_value(site->slurm, site->pool, "AllowQos");

	if (!site->conf->n_devices)
		return;
	if (qos)
		tide_site_say(
			site, TIDE_LEVEL_WARNING, site->pool,
			"take QOS out of the partition",
			"QOS=%s: a limit of that QOS on billing would come before those of the paying accounts",
			qos);
	if (allow && strcasecmp(allow, "ALL"))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, site->pool, "AllowQos=ALL",
			"AllowQos=%s: every paying account needs its QOS (tide_ACCOUNT) in it",
			allow);
}

static void check_pool(struct tide_site *site)
{
	char fix[128];
	const char *grace;

	snprintf(fix, sizeof(fix), "PartitionName=%s Nodes=...",
		 site->conf->pool_partition);
	if (!site->pool) {
		tide_site_say(
			site, TIDE_LEVEL_ERROR, NULL, fix,
			"there is no partition '%s', which PoolPartition in tide.conf names",
			site->conf->pool_partition);
		return;
	}
	tide_site_say(site, TIDE_LEVEL_OK, site->pool, NULL,
		      "partition '%s' is the pool", site->conf->pool_partition);
	check_pool_qos(site);
	grace = tide_slurm_value(site->slurm, site->pool, "GraceTime");
	snprintf(fix, sizeof(fix), "PartitionName=%s ... GraceTime=120",
		 site->conf->pool_partition);
	if (!site->conf->n_owners)
		return;
	/* not a number: some form of hours and minutes, which is not 0 */
	if (!grace || !number(grace, 1))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, site->pool, fix,
			"GraceTime=0: a pool job that makes way for an owner has no time to save");
	else
		tide_site_say(site, TIDE_LEVEL_OK, site->pool, NULL,
			      "GraceTime=%s", grace);
}

/* The names folded, for a message; "?" when memory is out. */
static char *folded(struct tide_site *site, const struct selection *nodes)
{
	char *text = tide_hostlist_fold(nodes->name, nodes->count);

	if (!text)
		site->findings->lost = 1;
	return text;
}

/* The nodes of an owner that slurm.conf does not have: how many. */
static size_t check_owner_nodes(struct tide_site *site, int owner,
				struct selection *scratch)
{
	const struct tide_owner *lends = &site->conf->owner[owner];
	char *nodes, *what = NULL;

	scratch->count = 0;
	for (int i = 0; i < site->conf->n_nodes; i++) {
		const struct tide_node *node = &site->conf->node[i];

		if (node->owner == owner &&
		    !tide_slurm_has_node(&site->nodes, node->name))
			scratch->name[scratch->count++] = node->name;
	}
	if (!scratch->count)
		return 0;
	nodes = folded(site, scratch);
	if (nodes && asprintf(&what, "Nodes=%s: slurm.conf has no node '%s'",
			      lends->nodes, nodes) >= 0)
		tide_findings_add(
			site->findings, TIDE_LEVEL_ERROR, lends->file,
			lends->line, what,
			"correct Nodes, or add NodeName lines to slurm.conf");
	else
		site->findings->lost = 1;
	free(nodes);
	free(what);
	return scratch->count;
}

static void check_exist(struct tide_site *site, struct selection *scratch)
{
	size_t missing = 0;

	for (int i = 0; i < site->conf->n_owners; i++)
		missing += check_owner_nodes(site, i, scratch);
	if (!missing)
		tide_site_say(site, TIDE_LEVEL_OK, NULL, NULL,
			      "all lent nodes are in slurm.conf");
}

static void check_in_pool(struct tide_site *site, const struct partition *pool,
			  struct selection *scratch)
{
	char *nodes;

	if (!pool->known)
		return;
	scratch->count = 0;
	for (int i = 0; i < site->conf->n_nodes; i++) {
		const char *name = site->conf->node[i].name;

		if (tide_slurm_has_node(&site->nodes, name) &&
		    !tide_slurm_has_node(&pool->nodes, name))
			scratch->name[scratch->count++] = name;
	}
	if (!scratch->count) {
		tide_site_say(site, TIDE_LEVEL_OK, site->pool, NULL,
			      "all lent nodes are in the pool's partition");
		return;
	}
	nodes = folded(site, scratch);
	if (nodes)
		tide_site_say(
			site, TIDE_LEVEL_WARNING, site->pool,
			"add them to Nodes of the partition",
			"node '%s' is lent, but not in partition '%s': no pool job will ever use it",
			nodes, site->conf->pool_partition);
	free(nodes);
}

/* May the account use the partition, as far as AllowAccounts says? */
static int allows(struct tide_site *site, const struct partition *partition,
		  const char *account)
{
	const char *allow = tide_slurm_value(site->slurm, partition->record,
					     "AllowAccounts");

	return !allow || !strcasecmp(allow, "ALL") ||
	       tide_slurm_word(allow, account);
}

/* The owner's partition over that node that comes before the pool, or NULL. */
static const struct partition *
owner_partition(struct tide_site *site, const struct partitions *partitions,
		const char *account, const char *node)
{
	for (size_t i = 0; i < partitions->count; i++) {
		const struct partition *p = &partitions->partition[i];

		if (p != partitions->pool && p->known &&
		    p->tier > partitions->pool->tier &&
		    tide_slurm_has_node(&p->nodes, node) &&
		    allows(site, p, account))
			return p;
	}
	return NULL;
}

static void say_no_partition(struct tide_site *site,
			     const struct partitions *partitions,
			     const char *account, const struct selection *nodes)
{
	char *list = folded(site, nodes);
	char *fix = NULL;

	if (list &&
	    asprintf(
		    &fix,
		    "PartitionName=%s Nodes=%s AllowAccounts=%s PriorityTier=%lld",
		    account, list, account,
		    (long long)partitions->pool->tier + 1) >= 0) {
		tide_site_say(
			site,
			partitions->all_known ? TIDE_LEVEL_ERROR
					      : TIDE_LEVEL_WARNING,
			NULL, fix,
			"owner '%s' has no partition over '%s' with a higher PriorityTier than the pool's (%lld), so its jobs cannot take the nodes back",
			account, list, (long long)partitions->pool->tier);
		free(fix);
	} else {
		site->findings->lost = 1;
	}
	free(list);
}

/* The owner's partitions should be the owner's alone. */
static void say_partition(struct tide_site *site,
			  const struct partition *partition,
			  const char *account)
{
	const char *name = partition->record->pair[0].value;
	const char *allow = tide_slurm_value(site->slurm, partition->record,
					     "AllowAccounts");
	char fix[256];

	if (allow && strcasecmp(allow, "ALL")) {
		tide_site_say(
			site, TIDE_LEVEL_OK, partition->record, NULL,
			"owner '%s' takes its nodes back by partition '%s'",
			account, name);
		return;
	}
	snprintf(fix, sizeof(fix), "PartitionName=%s ... AllowAccounts=%s",
		 name, account);
	tide_site_say(
		site, TIDE_LEVEL_WARNING, partition->record, fix,
		"partition '%s' has no AllowAccounts: jobs of every account push pool jobs off the nodes of '%s'",
		name, account);
}

static void check_owner(struct tide_site *site,
			const struct partitions *partitions, int owner,
			struct selection *scratch)
{
	const char *account = site->conf->owner[owner].account;
	const struct partition *last = NULL;

	scratch->count = 0;
	for (int i = 0; i < site->conf->n_nodes; i++) {
		const struct tide_node *node = &site->conf->node[i];
		const struct partition *p;

		if (node->owner != owner ||
		    !tide_slurm_has_node(&site->nodes, node->name))
			continue;
		p = owner_partition(site, partitions, account, node->name);
		if (!p)
			scratch->name[scratch->count++] = node->name;
		else if (p != last)
			say_partition(site, p, account);
		last = p ? p : last;
	}
	if (scratch->count)
		say_no_partition(site, partitions, account, scratch);
}

void tide_site_nodes(struct tide_site *site)
{
	struct partitions partitions = {0};
	struct selection scratch = {
		calloc((size_t)site->conf->n_nodes + 1, sizeof(char *)), 0};

	check_pool(site);
	if (!scratch.name || read_partitions(site, &partitions)) {
		site->findings->lost = 1;
		goto end;
	}
	check_exist(site, &scratch);
	if (!partitions.pool)
		goto end;
	check_in_pool(site, partitions.pool, &scratch);
	for (int i = 0; i < site->conf->n_owners; i++)
		check_owner(site, &partitions, i, &scratch);
end:
	partitions_release(&partitions);
	free(scratch.name);
}
