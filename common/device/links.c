/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links between accelerators: see links.h. */
#include "config.h"

#include "common/device/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/kfd.h"

enum {
	BEST = 4, /* Slurm tells no more grades apart */
	SAME_CARD = 2,
	SAME_SWITCH = 1,
	MAX_LINKED = 256, /* devices: no node has so many that are linked */
};

/*
 * Do both places in sysfs have a bridge in common?  A place is such as
 * ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0: behind the host's
 * bridge each part is a bridge but the last, which is the function.
 */
static bool same_bridge(const char *a, const char *b)
{
	size_t parts = 0, i = 0;
	const char *host;

	if (!a || !b)
		return false;
	host = strstr(a, "/pci");
	if (!host)
		return false;
	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/' && a + i > host)
			parts++;
	/* the host's bridge ends with one, each common bridge with another */
	return parts >= 2;
}

static int by_place(struct tide_topology *topology, const struct tide_accel *a,
		    const struct tide_accel *b)
{
	bool same_function = !tide_pci_cmp(&a->pci, &b->pci);

	if (a->family != b->family)
		return 0;
	if (same_function ||
	    (a->board && b->board && *a->board && !strcmp(a->board, b->board)))
		return SAME_CARD;
	if (same_bridge(a->path, b->path) ||
	    tide_topology_same_switch(topology, &a->pci, &b->pci))
		return SAME_SWITCH;
	return 0;
}

/* Bandwidths that hwloc knows; false when there are none. */
static bool by_bandwidth(struct tide_topology *topology,
			 const struct tide_accel *accel, size_t count,
			 uint64_t *bandwidth)
{
	bool any = false;

	for (size_t i = 0; topology && i < count; i++)
		for (size_t j = 0; j < count; j++) {
			uint64_t value =
				i == j ? 0
				       : tide_topology_bandwidth(
						 topology, &accel[i].pci,
						 (size_t)accel[i].sub,
						 &accel[j].pci,
						 (size_t)accel[j].sub);

			bandwidth[i * count + j] = value;
			any |= value > 0;
		}
	return any;
}

/* Into link, in units of the least. */
static void use_bandwidth(struct tide_accel *accel, size_t count,
			  const uint64_t *bandwidth)
{
	uint64_t least = 0;

	for (size_t i = 0; i < count * count; i++)
		if (bandwidth[i] && (!least || bandwidth[i] < least))
			least = bandwidth[i];
	for (size_t i = 0; least && i < count; i++)
		for (size_t j = 0; j < count; j++) {
			uint64_t value = bandwidth[i * count + j] / least;

			accel[i].link[j] = value > 1000 ? 1000 : (int)value;
		}
	tide_links_grade(accel, count);
}

/* How many links a way from one to each other has at least; 0: there is none.
 */
static void count_hops(const struct tide_accel *accel, size_t count,
		       size_t from, int *hops)
{
	bool more = true;

	memset(hops, 0, count * sizeof(*hops));
	for (int hop = 1; more; hop++) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			if (hop == 1 ? i != from : hops[i] != hop - 1)
				continue;
			for (size_t j = 0; j < count; j++) {
				if (j == from || hops[j] ||
				    accel[i].link[j] <= 0)
					continue;
				hops[j] = hop;
				more = true;
			}
		}
	}
}

/* Of a link so wide, or a way of so many; most and widest are of all. */
static int grade(int link, int hops, int most, int widest)
{
	if (link > 0 && most > 1)
		return link == widest ? BEST : BEST - 1;
	if (link > 0 && widest > BEST)
		return (link * BEST + widest - 1) / widest;
	if (hops > 1)
		return hops == 2 ? BEST - 2 : BEST - 3;
	return link;
}

void tide_links_grade(struct tide_accel *accel, size_t count)
{
	int *hops = calloc(count * count, sizeof(*hops)), most = 0, widest = 0;

	for (size_t i = 0; hops && i < count; i++) {
		count_hops(accel, count, i, &hops[i * count]);
		for (size_t j = 0; j < count; j++) {
			if (hops[i * count + j] > most)
				most = hops[i * count + j];
			if (accel[i].link[j] > widest)
				widest = accel[i].link[j];
		}
	}
	for (size_t i = 0; hops && i < count; i++)
		for (size_t j = 0; j < count; j++)
			accel[i].link[j] =
				grade(accel[i].link[j], hops[i * count + j],
				      most, widest);
	free(hops);
}

static void use_places(struct tide_topology *topology, struct tide_accel *accel,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			if (i != j)
				accel[i].link[j] = by_place(topology, &accel[i],
							    &accel[j]);
}

/* Links of one GRES; -1 when memory is out. */
static int make(struct tide_accel *accel, size_t count,
		const struct tide_root *root, struct tide_topology *topology)
{
	uint64_t *bandwidth = calloc(count * count, sizeof(*bandwidth));
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		accel[i].link = calloc(count, sizeof(*accel[i].link));
		if (!accel[i].link || !bandwidth) {
			free(bandwidth);
			return -1;
		}
	}
	if (by_bandwidth(topology, accel, count, bandwidth) ||
	    (root && tide_kfd_links(root, accel, count, bandwidth)))
		use_bandwidth(accel, count, bandwidth);
	else
		use_places(topology, accel, count);
	free(bandwidth);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++)
			any |= accel[i].link[j] > 0;
		accel[i].link[i] = -1;
	}
	for (size_t i = 0; !any && i < count; i++) {
		free(accel[i].link);
		accel[i].link = NULL;
	}
	return 0;
}

bool tide_links_wanted(const struct tide_accel *accel, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (accel[i].whole)
			return false;
	return count <= MAX_LINKED;
}

int tide_links_make(struct tide_accels *accels, const struct tide_root *root,
		    struct tide_topology *topology)
{
	for (size_t i = 0; i < accels->count;) {
		size_t count = tide_accels_same_gres(accels, i);

		if (tide_links_wanted(&accels->accel[i], count) &&
		    make(&accels->accel[i], count, root, topology)) {
			errno = ENOMEM;
			return -1;
		}
		i += count;
	}
	return 0;
}
