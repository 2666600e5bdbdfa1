/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processors of a machine, by hwloc, as far as devices are concerned:
 * which cores are near a device, as Slurm numbers cores, and which devices are
 * connected.  Vendors' libraries are never loaded, so that no *_VISIBLE_DEVICES
 * can hide anything; what they knew when an XML file was written is used.
 *
 * Slurm's number of a core is its place in hwloc's order: that is how slurmd
 * counts, as long as slurm.conf says of the node what hwloc does.
 *
 * HWLOC_PCI_LOCALITY (hwloc's manual) says where buses are when the firmware
 * does not.  Loading below a root other than / changes the environment for a
 * moment: one thread.
 */
#ifndef TIDE_DEVICE_TOPOLOGY_H
#define TIDE_DEVICE_TOPOLOGY_H

#include "common/device/pci.h"

struct tide_topology;

/* What slurmd counts as a socket, by SlurmdParameters. */
enum tide_socket {
	TIDE_SOCKET_PACKAGE,
	TIDE_SOCKET_NUMA, /* numa_node_as_socket */
	TIDE_SOCKET_L3,	  /* l3cache_as_socket */
};

/* Where a device is; texts are lists such as 0-15, NULL: not known. */
struct tide_near {
	char *cores;	  /* near it, widened to whole sockets */
	char *local;	  /* the same as the machine says it */
	char *cpus;	  /* what the operating system calls those in cores */
	char *local_cpus; /* and those in local */
	int numa;	  /* -1: not known */
};

/*
 * The topology of a hwloc XML file, or, with xml NULL, of what is below the
 * root.  A root without processors (/sys/devices/system/cpu) gives NULL, which
 * every function takes.  -1 with EINVAL: no topology of a hwloc that we know,
 * or cut off; errno of open(2); ENOMEM.
 */
int tide_topology_load(const struct tide_root *root, const char *xml,
		       enum tide_socket socket,
		       struct tide_topology **ret_topology,
		       struct tide_err *err);

void tide_topology_destroy(struct tide_topology *topology);

/* The PCI functions that hwloc keeps; as tide_pci_list(). */
int tide_topology_pcis(struct tide_topology *topology,
		       struct tide_pci **ret_list, size_t *ret_count,
		       struct tide_err *err);

/*
 * Names of the operating system's devices of a function that begin with this
 * and go on with a number, as renderD128: their numbers in ascending order, at
 * most max; how many there are.
 */
size_t tide_topology_names(struct tide_topology *topology,
			   const struct tide_pci *pci, const char *prefix,
			   int *numbers, size_t max);

/*
 * Where a function is: by hwloc, else by the CPU list and NUMA node (-1) that
 * sysfs tells of it.  cpulist may be NULL.  Never more than the truth: a device
 * that is near all sockets is near none.  EINVAL: cpulist is no list of CPUs.
 */
int tide_topology_near(struct tide_topology *topology,
		       const struct tide_pci *pci, const char *cpulist,
		       int numa, struct tide_near *ret_near,
		       struct tide_err *err);

void tide_near_release(struct tide_near *near);

/* Are both functions below one port of a bridge? */
bool tide_topology_same_switch(struct tide_topology *topology,
			       const struct tide_pci *a,
			       const struct tide_pci *b);

/*
 * Bandwidth of the link between device i of function a and device j of b, in
 * the unit of the XML file; 0 when there is none or it is not known.
 */
uint64_t tide_topology_bandwidth(struct tide_topology *topology,
				 const struct tide_pci *a, size_t i,
				 const struct tide_pci *b, size_t j);

#endif
