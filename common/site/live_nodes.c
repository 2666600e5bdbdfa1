/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes as slurmctld knows them: which answer, with which slurmd, and whether
 * they have the devices that slurm.conf says.  What lies on their disks only
 * they know, see host.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/site/live.h"
#include "common/site/rules.h"
#include "common/util/hostlist.h"

/* A node of which something is to be said; those of one text are one finding.
 */
struct entry {
	const char *text;
	const char *name;
};

struct entries {
	struct entry *entry;
	size_t count, room;
};

struct check {
	struct tide_site *site;
	const struct tide_live *live;
	const struct tide_live_node **node; /* by name */
	struct entries away, drained, other_version, lacking;
	size_t well;
};

typedef void say_fn(struct check *c, const char *text, const char *nodes);

static void add(struct entries *entries, const char *text, const char *name)
{
	/* A node that is given twice in slurm.conf, which Slurm refuses. */
	if (entries->count < entries->room)
		entries->entry[entries->count++] = (struct entry){text, name};
}

static int entry_cmp(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : tide_hostname_cmp(x->name, y->name);
}

static void say_all(struct check *c, struct entries *entries, say_fn *say)
{
	const char **name = calloc(entries->count + 1, sizeof(*name));
	size_t i, n;
	char *nodes;

	if (!name) {
		c->site->findings->lost = 1;
		return;
	}
	qsort(entries->entry, entries->count, sizeof(*entries->entry),
	      entry_cmp);
	for (i = 0; i < entries->count; i += n) {
		const char *text = entries->entry[i].text;

		for (n = 0; i + n < entries->count &&
			    !strcmp(text, entries->entry[i + n].text);
		     n++)
			name[n] = entries->entry[i + n].name;
		nodes = tide_hostlist_fold(name, n);
		if (nodes)
			say(c, text, nodes);
		else
			c->site->findings->lost = 1;
		free(nodes);
	}
	free(name);
}

static void say_away(struct check *c, const char *reason, const char *nodes)
{
	tide_site_say(
		c->site, TIDE_LEVEL_WARNING, NULL,
		"systemctl status slurmd there, and its log; scontrol show node",
		"node '%s' is down or does not answer slurmctld%s%s", nodes,
		*reason ? ": " : "", reason);
}

static void say_drained(struct check *c, const char *reason, const char *nodes)
{
	char fix[400];

	snprintf(
		fix, sizeof(fix),
		"make device files, gres.conf and Gres of the node agree, restart slurmd there, then scontrol update nodename=%s state=resume",
		nodes);
	tide_site_say(c->site, TIDE_LEVEL_WARNING, NULL, fix,
		      "node '%s' takes no job for its devices: %s", nodes,
		      reason);
}

static void say_version(struct check *c, const char *version, const char *nodes)
{
	char fix[300];

	snprintf(
		fix, sizeof(fix),
		"install Slurm %s and the TideFlow for it there, restart slurmd; tidectl check --nodes=%s",
		c->live->version, nodes);
	tide_site_say(
		c->site, TIDE_LEVEL_WARNING, NULL, fix,
		"node '%s' has slurmd of Slurm %s, slurmctld is %s: device plugins have to be those for %s there",
		nodes, version, c->live->version, version);
}

static void say_lacking(struct check *c, const char *gres, const char *nodes)
{
	tide_site_say(
		c->site, TIDE_LEVEL_WARNING, NULL,
		"restart slurmctld while slurmd of these nodes is stopped, see docs/install.md, Devices",
		"node '%s' has Gres=%s in slurm.conf, but slurmctld does not know that",
		nodes, gres);
}

static int node_cmp(const void *a, const void *b)
{
	const struct tide_live_node *x =
		*(const struct tide_live_node *const *)a;
	const struct tide_live_node *y =
		*(const struct tide_live_node *const *)b;

	return strcmp(x->name, y->name);
}

static int name_cmp(const void *name, const void *node)
{
	const struct tide_live_node *y =
		*(const struct tide_live_node *const *)node;

	return strcmp(name, y->name);
}

/* The state of one node, as slurmctld has it. */
static void look(struct check *c, const struct tide_live_node *node)
{
	if (strstr(node->reason, "gres/"))
		add(&c->drained, node->reason, node->name);
	else if (node->away)
		add(&c->away, node->reason, node->name);
	if (!*node->version)
		return;
	if (c->live->version && strcmp(node->version, c->live->version))
		add(&c->other_version, node->version, node->name);
	else if (!node->away)
		c->well++;
}

/* Has slurmctld every device that the line gives to that node? */
static int has_gres(const struct tide_live_node *node, const char *wanted)
{
	for (; *wanted; wanted += *wanted == ',') {
		if (tide_site_gres_count(node->gres, wanted) <
		    tide_site_gres_count(wanted, wanted))
			return 0;
		wanted += strcspn(wanted, ",");
	}
	return 1;
}

static void look_at_line(struct check *c,
			 const struct tide_slurm_record *record)
{
	const char *gres = tide_slurm_value(c->site->slurm, record, "Gres");
	struct tide_names names = {0};

	if (!gres || tide_slurm_record_nodes(record, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const struct tide_live_node **node =
			bsearch(names.name[i], c->node, c->live->n_nodes,
				sizeof(*c->node), name_cmp);

		if (node && !has_gres(*node, gres))
			add(&c->lacking, gres, (*node)->name);
	}
	tide_names_release(&names);
}

static int prepare(struct check *c)
{
	struct entries *all[] = {&c->away, &c->drained, &c->other_version,
				 &c->lacking};
	size_t n = c->live->n_nodes;

	c->node = calloc(n + 1, sizeof(*c->node));
	if (!c->node)
		return -1;
	for (size_t i = 0; i < n; i++)
		c->node[i] = &c->live->node[i];
	qsort(c->node, n, sizeof(*c->node), node_cmp);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		all[i]->entry = calloc(n + 1, sizeof(*all[i]->entry));
		if (!all[i]->entry)
			return -1;
		all[i]->room = n;
	}
	return 0;
}

void tide_site_live_nodes(struct tide_site *site, const struct tide_live *live)
{
	struct check c = {.site = site, .live = live};
	const struct tide_slurm_record *record = NULL;

	if (!live->n_nodes)
		return;
	if (prepare(&c)) {
		site->findings->lost = 1;
		goto end;
	}
	for (size_t i = 0; i < live->n_nodes; i++)
		look(&c, &live->node[i]);
	while ((record = tide_slurm_next(site->slurm, "NodeName", record)))
		look_at_line(&c, record);
	say_all(&c, &c.away, say_away);
	say_all(&c, &c.drained, say_drained);
	say_all(&c, &c.other_version, say_version);
	say_all(&c, &c.lacking, say_lacking);
	if (c.well)
		tide_site_say(
			site, TIDE_LEVEL_OK, NULL, NULL,
			"%zu of %zu nodes answer, with slurmd of slurmctld's release",
			c.well, live->n_nodes);
end:
	free(c.node);
	free(c.away.entry);
	free(c.drained.entry);
	free(c.other_version.entry);
	free(c.lacking.entry);
}
