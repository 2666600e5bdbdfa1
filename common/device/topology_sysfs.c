/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h without hwloc, linked in the place of topology.c where a few
 * milliseconds count: it knows no processors, only which CPUs sysfs says are
 * near a function.  Whoever asks makes cores of them.
 */
#include "config.h"

#include "common/device/topology.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tide_topology_load(const struct tide_root *root, const char *xml,
		       enum tide_socket socket,
		       struct tide_topology **ret_topology,
		       struct tide_err *err)
{
	(void)root, (void)socket;
	*ret_topology = NULL;
	if (!xml)
		return 0;
	return tide_err_set(err, EINVAL, "cannot read '%s' without hwloc", xml);
}

void tide_topology_destroy(struct tide_topology *topology)
{
	(void)topology;
}

int tide_topology_pcis(struct tide_topology *topology,
		       struct tide_pci **ret_list, size_t *ret_count,
		       struct tide_err *err)
{
	(void)topology;
	*ret_count = 0;
	*ret_list = calloc(1, sizeof(**ret_list));
	return *ret_list ? 0 : tide_err_set(err, ENOMEM, "out of memory");
}

size_t tide_topology_names(struct tide_topology *topology,
			   const struct tide_pci *pci, const char *prefix,
			   int *numbers, size_t max)
{
	(void)topology, (void)pci, (void)prefix, (void)numbers, (void)max;
	return 0;
}

/* Is it a list of the kernel, as 0-15,32? */
static bool is_list(const char *list)
{
	while (isdigit((unsigned char)*list)) {
		list += strspn(list, "0123456789");
		if (*list == '-')
			list += 1 + strspn(list + 1, "0123456789");
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
	return false;
}

int tide_topology_near(struct tide_topology *topology,
		       const struct tide_pci *pci, const char *cpulist,
		       int numa, struct tide_near *ret_near,
		       struct tide_err *err)
{
	(void)topology, (void)pci;
	*ret_near = (struct tide_near){.numa = numa};
	if (!cpulist || !*cpulist)
		return 0;
	if (!is_list(cpulist))
		return tide_err_set(err, EINVAL, "'%.64s' is no list of CPUs",
				    cpulist);
	ret_near->local_cpus = strdup(cpulist);
	return ret_near->local_cpus
		       ? 0
		       : tide_err_set(err, ENOMEM, "out of memory");
}

bool tide_topology_same_switch(struct tide_topology *topology,
			       const struct tide_pci *a,
			       const struct tide_pci *b)
{
	(void)topology, (void)a, (void)b;
	return false;
}

uint64_t tide_topology_bandwidth(struct tide_topology *topology,
				 const struct tide_pci *a, size_t i,
				 const struct tide_pci *b, size_t j)
{
	(void)topology, (void)a, (void)i, (void)b, (void)j;
	return 0;
}
