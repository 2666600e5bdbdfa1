/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node lists of owners and windows into one table of nodes, and nodes with the
 * same windows into sets.  All in O(n log n): a cluster has 10,000 nodes.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf/build.h"
#include "common/util/hostlist.h"

/* A window over a node. */
struct link {
	int node;
	int window;
};

struct links {
	struct link *link;
	size_t count;
};

static int node_cmp(const void *a, const void *b)
{
	const struct tide_node *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->owner - y->owner;
}

static int link_cmp(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return x->node != y->node ? x->node - y->node : x->window - y->window;
}

/* The names of owner i as nodes; takes them over. */
static int add_owner_nodes(struct tide_build *build, int i,
			   struct tide_names *names)
{
	struct tide_conf *conf = &build->conf;
	struct tide_node *more =
		realloc(build->node,
			((size_t)conf->n_nodes + names->count) * sizeof(*more));

	if (!more)
		return -1;
	build->node = more;
	conf->node = more;
	for (size_t k = 0; k < names->count; k++)
		more[conf->n_nodes++] =
			(struct tide_node){.name = names->name[k], .owner = i};
	/* the strings belong to the nodes now */
	free(names->name);
	*names = (struct tide_names){0};
	return 0;
}

static int add_owners(struct tide_build *build)
{
	for (int i = 0; i < build->conf.n_owners; i++) {
		struct tide_names names = {0};

		if (!build->owner[i].nodes)
			continue;
		if (tide_hostlist_expand(build->owner[i].nodes,
					 TIDE_CONF_MAX_NODES, &names, NULL) ||
		    add_owner_nodes(build, i, &names)) {
			tide_names_release(&names);
			return -1;
		}
	}
	return 0;
}

/* Sort the nodes; name those that are lent twice, and keep each once. */
static void unique_nodes(struct tide_build *build)
{
	struct tide_node *node = build->node;
	int kept = 0;

	if (build->conf.n_nodes)
		qsort(node, (size_t)build->conf.n_nodes, sizeof(*node),
		      node_cmp);
	for (int i = 0; i < build->conf.n_nodes; i++) {
		const struct tide_owner *owner = &build->owner[node[i].owner];
		const struct tide_owner *other;

		if (!kept || strcmp(node[kept - 1].name, node[i].name)) {
			node[kept++] = node[i];
			continue;
		}
		other = &build->owner[node[kept - 1].owner];
		if (other == owner)
			tide_problems_add(build->problems, owner->file,
					  owner->line,
					  "Nodes=%s: node '%s' is given twice",
					  owner->nodes, node[i].name);
		else
			tide_problems_add(
				build->problems, owner->file, owner->line,
				"Nodes=%s: node '%s' is lent by '%s' already, in line %d",
				owner->nodes, node[i].name,
				other->account ? other->account : "?",
				other->line);
		free((char *)node[i].name);
	}
	build->conf.n_nodes = kept;
}

static int owners_known(const struct tide_build *build)
{
	for (int i = 0; i < build->conf.n_owners; i++)
		if (build->owner_state[i].broken || !build->owner[i].nodes)
			return 0;
	return 1;
}

static int add_window_links(struct tide_build *build, int i,
			    const struct tide_names *names, struct links *links)
{
	const struct tide_window *window = &build->window[i];
	struct link *more = realloc(links->link, (links->count + names->count) *
							 sizeof(*more));

	if (!more)
		return -1;
	links->link = more;
	for (size_t k = 0; k < names->count; k++) {
		const struct tide_node *node =
			tide_conf_node(&build->conf, names->name[k]);

		if (node)
			more[links->count++] =
				(struct link){(int)(node - build->node), i};
		else if (owners_known(build))
			tide_problems_add(build->problems, window->file,
					  window->line,
					  "Nodes=%s: no owner lends node '%s'",
					  window->nodes, names->name[k]);
	}
	return 0;
}

static int add_windows(struct tide_build *build, struct links *links)
{
	for (int i = 0; i < build->conf.n_windows; i++) {
		struct tide_names names = {0};
		int rc;

		if (!build->window[i].nodes)
			continue;
		if (tide_hostlist_expand(build->window[i].nodes,
					 TIDE_CONF_MAX_NODES, &names, NULL))
			return -1;
		rc = add_window_links(build, i, &names, links);
		tide_names_release(&names);
		if (rc)
			return -1;
	}
	return 0;
}

static void unique_links(struct tide_build *build, struct links *links)
{
	struct link *link = links->link;
	size_t kept = 0;

	if (links->count)
		qsort(link, links->count, sizeof(*link), link_cmp);
	for (size_t i = 0; i < links->count; i++) {
		const struct tide_window *window =
			&build->window[link[i].window];

		if (!kept || link_cmp(&link[kept - 1], &link[i]))
			link[kept++] = link[i];
		else
			tide_problems_add(build->problems, window->file,
					  window->line,
					  "Nodes=%s: node '%s' is given twice",
					  window->nodes,
					  build->node[link[i].node].name);
	}
	links->count = kept;
}

/* The windows of a node: a slice of set_windows. */
struct slice {
	int node;
	const int *window;
	int n_windows;
};

static int slice_cmp(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->n_windows != y->n_windows)
		return x->n_windows - y->n_windows;
	for (int i = 0; i < x->n_windows; i++)
		if (x->window[i] != y->window[i])
			return x->window[i] - y->window[i];
	return x->node - y->node;
}

static int same_windows(const struct slice *slice,
			const struct tide_window_set *set)
{
	return slice->n_windows == set->n_windows &&
	       !memcmp(slice->window, set->window,
		       (size_t)set->n_windows * sizeof(*set->window));
}

/* The slices of all nodes, those with equal windows side by side. */
static struct slice *make_slices(struct tide_build *build,
				 const struct links *links)
{
	int n_nodes = build->conf.n_nodes;
	struct slice *slices = calloc((size_t)n_nodes + 1, sizeof(*slices));

	build->set_windows =
		malloc((links->count + 1) * sizeof(*build->set_windows));
	if (!slices || !build->set_windows) {
		free(slices);
		return NULL;
	}
	for (size_t i = 0; i < links->count; i++)
		build->set_windows[i] = links->link[i].window;
	for (int node = 0, at = 0; node < n_nodes; node++) {
		int begin = at;

		while ((size_t)at < links->count &&
		       links->link[at].node == node)
			at++;
		slices[node] = (struct slice){node, build->set_windows + begin,
					      at - begin};
	}
	qsort(slices, (size_t)n_nodes, sizeof(*slices), slice_cmp);
	return slices;
}

static int make_sets(struct tide_build *build, const struct links *links)
{
	int n_nodes = build->conf.n_nodes, last = 0;
	struct slice *slices = make_slices(build, links);

	/* at most a set for each node, and the empty one */
	build->set = calloc((size_t)n_nodes + 1, sizeof(*build->set));
	if (!slices || !build->set) {
		free(slices);
		return -1;
	}
	build->set[0].window = build->set_windows;
	for (int i = 0; i < n_nodes; i++) {
		if (!same_windows(&slices[i], &build->set[last])) {
			last++;
			build->set[last].window = slices[i].window;
			build->set[last].n_windows = slices[i].n_windows;
		}
		build->set[last].n_nodes++;
		build->node[slices[i].node].set = last;
	}
	build->conf.set = build->set;
	build->conf.n_sets = last + 1;
	free(slices);
	return 0;
}

int tide_nodes_build(struct tide_build *build)
{
	struct links links = {0};
	int rc = -1;

	if (add_owners(build))
		return -1;
	unique_nodes(build);
	if (add_windows(build, &links))
		goto end;
	unique_links(build, &links);
	rc = make_sets(build, &links);
end:
	free(links.link);
	return rc;
}
