/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hwloc knows of a machine: see topology.h. */
#include "config.h"

#include "common/device/topology.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/recorded.h"
#include "common/util/file.h"

#define MAX_CPU 65535
#define MAX_MATRICES 32

struct tide_topology {
	hwloc_topology_t hwloc;
	hwloc_obj_type_t socket; /* whichever objects slurmd calls so */
	/* Bandwidths between devices. */
	struct hwloc_distances_s *matrix[MAX_MATRICES];
	unsigned n_matrices;
};

/* Keep what tells of PCI, and of caches nothing, as slurmd does. */
static void set_filters(hwloc_topology_t hwloc, enum tide_socket socket,
			bool names)
{
	hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	hwloc_topology_set_cache_types_filter(hwloc,
					      HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_icache_types_filter(hwloc,
					       HWLOC_TYPE_FILTER_KEEP_NONE);
	if (socket == TIDE_SOCKET_L3)
		hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_L3CACHE,
					       HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_MISC,
				       HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_PCI_DEVICE,
				       HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_BRIDGE,
				       HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	/* no vendor's library is asked when its devices are not wanted */
	hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_OS_DEVICE,
				       names ? HWLOC_TYPE_FILTER_KEEP_ALL
					     : HWLOC_TYPE_FILTER_KEEP_NONE);
}

/* Set or remove a variable; what it was goes to *ret_old. */
static void swap_env(const char *name, const char *value, char **ret_old)
{
	const char *old = getenv(name);

	*ret_old = old ? strdup(old) : NULL;
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static int load_root(hwloc_topology_t hwloc, const struct tide_root *root)
{
	char *fsroot, *components, *scratch = NULL;
	int rc;

	if (root->live)
		return hwloc_topology_load(hwloc);
	/* hwloc has no function for it since 2.0 */
	swap_env("HWLOC_FSROOT", root->name, &fsroot);
	swap_env("HWLOC_COMPONENTS", "linux,stop", &components);
	rc = hwloc_topology_load(hwloc);
	swap_env("HWLOC_FSROOT", fsroot, &scratch);
	free(scratch);
	swap_env("HWLOC_COMPONENTS", components, &scratch);
	free(scratch);
	free(fsroot);
	free(components);
	return rc;
}

/* What goes through a switch of the links counts as a link. */
static void close_switches(struct tide_topology *topology,
			   struct hwloc_distances_s *matrix)
{
#if HWLOC_API_VERSION >= 0x00020500
	hwloc_distances_transform(topology->hwloc, matrix,
				  HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS,
				  NULL, 0);
	hwloc_distances_transform(topology->hwloc, matrix,
				  HWLOC_DISTANCES_TRANSFORM_TRANSITIVE_CLOSURE,
				  NULL, 0);
#else
	(void)topology, (void)matrix;
#endif
}

static void keep_matrices(struct tide_topology *topology)
{
	unsigned count = MAX_MATRICES;

	if (hwloc_distances_get(topology->hwloc, &count, topology->matrix,
				HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH, 0))
		return;
	topology->n_matrices = count < MAX_MATRICES ? count : MAX_MATRICES;
	for (unsigned i = 0; i < topology->n_matrices; i++)
		close_switches(topology, topology->matrix[i]);
}

/* As slurmd chooses them; packages where there are none of those. */
static hwloc_obj_type_t socket_type(hwloc_topology_t hwloc,
				    enum tide_socket socket)
{
	hwloc_obj_type_t type = HWLOC_OBJ_PACKAGE;
	hwloc_obj_t numa;

	if (socket == TIDE_SOCKET_L3)
		type = HWLOC_OBJ_L3CACHE;
	numa = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, 0);
	if (socket == TIDE_SOCKET_NUMA && numa && numa->parent)
		type = numa->parent->type;
	return hwloc_get_nbobjs_by_type(hwloc, type) > 0 ? type
							 : HWLOC_OBJ_PACKAGE;
}

/* What is loaded, and what comes of it. */
struct load {
	const struct tide_root *root;
	const char *text; /* of the XML file; NULL: the root */
	enum tide_socket socket;
	struct tide_topology *topology;
};

/* 0, or -1 with errno: hwloc does not say why. */
static int load(void *arg)
{
	struct load *load = arg;
	struct tide_topology *topology = calloc(1, sizeof(*topology));
	int rc;

	if (!topology || hwloc_topology_init(&topology->hwloc)) {
		free(topology);
		errno = ENOMEM;
		return -1;
	}
	set_filters(topology->hwloc, load->socket, load->text != NULL);
	if (load->text)
		rc = hwloc_topology_set_xmlbuffer(topology->hwloc, load->text,
						  (int)strlen(load->text) +
							  1) ||
		     hwloc_topology_load(topology->hwloc);
	else
		rc = load_root(topology->hwloc, load->root);
	if (rc) {
		tide_topology_destroy(topology);
		errno = EINVAL;
		return -1;
	}
	topology->socket = socket_type(topology->hwloc, load->socket);
	keep_matrices(topology);
	load->topology = topology;
	return 0;
}

/* The release of hwloc that wrote the XML, its first number; 0: unknown. */
static long xml_major(const char *text)
{
	const char *at = strstr(text, "<topology");
	const char *end = at ? strchr(at, '>') : NULL;

	at = end ? strstr(at, "version=\"") : NULL;
	return at && at < end ? strtol(at + strlen("version=\""), NULL, 10) : 0;
}

/* Why hwloc did not take it; why may be NULL. */
static int say_bad(const struct load *load, const char *xml, const char *why,
		   struct tide_err *err)
{
	long major = load->text ? xml_major(load->text) : 0;

	if (!xml && why)
		return tide_err_set(err, EINVAL,
				    "the processors are not looked at: %s",
				    why);
	if (!xml)
		return tide_err_set(err, EINVAL,
				    "cannot read the processors below '%s'",
				    load->root->name);
	if (why)
		return tide_err_set(err, EINVAL, "cannot use '%s': %s", xml,
				    why);
	if (major > HWLOC_API_VERSION >> 16 && major < 100)
		return tide_err_set(
			err, EINVAL,
			"cannot use '%s': it was written by hwloc %ld, here is %d.%d: write it with lstopo of that release",
			xml, major, HWLOC_API_VERSION >> 16,
			HWLOC_API_VERSION >> 8 & 0xff);
	return tide_err_set(
		err, EINVAL,
		"cannot use '%s': it is no whole topology of hwloc, of a release up to %d.%d",
		xml, HWLOC_API_VERSION >> 16, HWLOC_API_VERSION >> 8 & 0xff);
}

/* hwloc reads the file of this variable in place of the machine. */
static int check_xml_variable(const struct tide_root *root,
			      struct tide_err *err)
{
	const char *path = root->live ? getenv("HWLOC_XMLFILE") : NULL;

	if (path && *path && tide_file_plain(path, err))
		return tide_err_prefix(err, "HWLOC_XMLFILE");
	return 0;
}

int tide_topology_load(const struct tide_root *root, const char *xml,
		       enum tide_socket socket,
		       struct tide_topology **ret_topology,
		       struct tide_err *err)
{
	struct load what = {.root = root, .socket = socket};
	const char *why = NULL;
	char *text = NULL;
	int rc = 0;

	*ret_topology = NULL;
	if (!xml && !tide_root_has(root, "sys/devices/system/cpu"))
		return 0;
	if (!xml && !root->live && tide_recorded_plain(root, err))
		return -1;
	if (!xml && check_xml_variable(root, err))
		return -1;
	if (xml && tide_file_read(xml, &text, err))
		return -1;
	what.text = text;
	if (xml || !root->live)
		rc = tide_recorded_try(load, &what, &why);
	if (!rc)
		rc = load(&what);
	if (rc && errno == ENOMEM)
		tide_err_set(err, ENOMEM, "out of memory");
	else if (rc)
		say_bad(&what, xml, why, err);
	free(text);
	*ret_topology = what.topology;
	return rc;
}

void tide_topology_destroy(struct tide_topology *topology)
{
	if (!topology)
		return;
	for (unsigned i = 0; i < topology->n_matrices; i++)
		hwloc_distances_release(topology->hwloc, topology->matrix[i]);
	hwloc_topology_destroy(topology->hwloc);
	free(topology);
}

int tide_topology_pcis(struct tide_topology *topology,
		       struct tide_pci **ret_list, size_t *ret_count,
		       struct tide_err *err)
{
	int n = topology ? hwloc_get_nbobjs_by_type(topology->hwloc,
						    HWLOC_OBJ_PCI_DEVICE)
			 : 0;
	struct tide_pci *list =
		calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*list));
	hwloc_obj_t object = NULL;
	size_t count = 0;

	if (!list)
		return tide_err_set(err, ENOMEM, "out of memory");
	while ((int)count < n &&
	       (object = hwloc_get_next_pcidev(topology->hwloc, object))) {
		const struct hwloc_pcidev_attr_s *attr = &object->attr->pcidev;
		struct tide_pci *pci = &list[count++];

		pci->domain = attr->domain;
		pci->bus = attr->bus;
		pci->dev = attr->dev;
		pci->fn = attr->func;
		pci->vendor = attr->vendor_id;
		pci->device = attr->device_id;
		pci->class = attr->class_id;
		tide_pci_name(pci);
	}
	qsort(list, count, sizeof(*list), tide_pci_cmp);
	*ret_list = list;
	*ret_count = count;
	return 0;
}

static hwloc_obj_t find_pci(struct tide_topology *topology,
			    const struct tide_pci *pci)
{
	return topology
		       ? hwloc_get_pcidev_by_busid(topology->hwloc, pci->domain,
						   pci->bus, pci->dev, pci->fn)
		       : NULL;
}

static hwloc_obj_t pci_of(hwloc_obj_t object)
{
	while (object && object->type != HWLOC_OBJ_PCI_DEVICE)
		object = object->parent;
	return object;
}

static int int_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The number behind the prefix; -1 when it is another name. */
static int name_number(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (!name || strncmp(name, prefix, len) || !name[len] ||
	    strspn(name + len, "0123456789") != strlen(name + len) ||
	    strlen(name + len) > 6)
		return -1;
	return (int)strtol(name + len, NULL, 10);
}

size_t tide_topology_names(struct tide_topology *topology,
			   const struct tide_pci *pci, const char *prefix,
			   int *numbers, size_t max)
{
	hwloc_obj_t function = find_pci(topology, pci), object = NULL;
	size_t count = 0;

	while (function && count < max &&
	       (object = hwloc_get_next_osdev(topology->hwloc, object))) {
		int number = name_number(object->name, prefix);

		if (number >= 0 && pci_of(object) == function)
			numbers[count++] = number;
	}
	qsort(numbers, count, sizeof(*numbers), int_cmp);
	return count;
}

/* A CPU list of the kernel, as 0-15,32; -1 when it is none. */
static int parse_cpus(const char *list, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_zero(cpus);
	while (*list) {
		char *end;
		unsigned long first, last;

		if (!isdigit((unsigned char)*list))
			return -1;
		first = last = strtoul(list, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return -1;
			last = strtoul(end + 1, &end, 10);
		}
		if ((*end && *end != ',') || first > last || last > MAX_CPU)
			return -1;
		hwloc_bitmap_set_range(cpus, (unsigned)first, (int)last);
		list = *end ? end + 1 : end;
	}
	return 0;
}

static char *list_of(hwloc_const_bitmap_t bits)
{
	char *text = NULL;

	if (hwloc_bitmap_iszero(bits) || hwloc_bitmap_weight(bits) < 0 ||
	    hwloc_bitmap_list_asprintf(&text, bits) < 0)
		return NULL;
	return text;
}

/* The cores that have one of these CPUs, as a list. */
static char *cores_of(struct tide_topology *topology, hwloc_const_bitmap_t cpus)
{
	hwloc_obj_type_t type = HWLOC_OBJ_CORE;
	hwloc_bitmap_t cores = hwloc_bitmap_alloc();
	hwloc_obj_t core = NULL;
	char *text;

	if (!cores)
		return NULL;
	if (!topology) {
		/* which threads are of one core is not known */
		hwloc_bitmap_free(cores);
		return list_of(cpus);
	}
	if (hwloc_get_nbobjs_by_type(topology->hwloc, type) <= 0)
		type = HWLOC_OBJ_PU;
	while ((core = hwloc_get_next_obj_by_type(topology->hwloc, type, core)))
		if (hwloc_bitmap_intersects(core->cpuset, cpus))
			hwloc_bitmap_set(cores, core->logical_index);
	text = list_of(cores);
	hwloc_bitmap_free(cores);
	return text;
}

/* Add the rest of each socket of which a part is there. */
static void widen(struct tide_topology *topology, hwloc_bitmap_t cpus)
{
	hwloc_obj_t socket = NULL;

	while (topology && (socket = hwloc_get_next_obj_by_type(
				    topology->hwloc, topology->socket, socket)))
		if (hwloc_bitmap_intersects(socket->cpuset, cpus))
			hwloc_bitmap_or(cpus, cpus, socket->cpuset);
}

/* Does it say nothing: no CPU, or all of several sockets? */
static bool says_nothing(struct tide_topology *topology,
			 hwloc_const_bitmap_t cpus)
{
	if (hwloc_bitmap_iszero(cpus))
		return true;
	return topology &&
	       hwloc_get_nbobjs_by_type(topology->hwloc, topology->socket) >
		       1 &&
	       hwloc_bitmap_isincluded(
		       hwloc_topology_get_topology_cpuset(topology->hwloc),
		       cpus);
}

static hwloc_obj_t numa_of(struct tide_topology *topology, int numa)
{
	return topology && numa >= 0
		       ? hwloc_get_numanode_obj_by_os_index(topology->hwloc,
							    (unsigned)numa)
		       : NULL;
}

/* The CPUs near a function, by the best that is known; empty when nothing. */
static int near_cpus(struct tide_topology *topology, const struct tide_pci *pci,
		     const char *cpulist, int numa, hwloc_bitmap_t cpus)
{
	hwloc_obj_t object = find_pci(topology, pci);

	if (object)
		object = hwloc_get_non_io_ancestor_obj(topology->hwloc, object);
	if (object) {
		hwloc_bitmap_copy(cpus, object->cpuset);
		if (!says_nothing(topology, cpus))
			return 0;
	}
	if (cpulist) {
		if (parse_cpus(cpulist, cpus))
			return -1;
		if (topology)
			hwloc_bitmap_and(cpus, cpus,
					 hwloc_topology_get_topology_cpuset(
						 topology->hwloc));
		if (!says_nothing(topology, cpus))
			return 0;
	}
	object = numa_of(topology, numa);
	if (object) {
		hwloc_bitmap_copy(cpus, object->cpuset);
		if (!says_nothing(topology, cpus))
			return 0;
	}
	hwloc_bitmap_zero(cpus);
	return 0;
}

/* The one NUMA node that has all of these CPUs; -1. */
static int numa_with(struct tide_topology *topology, hwloc_const_bitmap_t cpus)
{
	hwloc_obj_t node = NULL;
	int numa = -1;

	if (!topology || hwloc_bitmap_iszero(cpus))
		return -1;
	while ((node = hwloc_get_next_obj_by_type(topology->hwloc,
						  HWLOC_OBJ_NUMANODE, node))) {
		if (!hwloc_bitmap_isincluded(cpus, node->cpuset))
			continue;
		if (numa >= 0)
			return -1;
		numa = (int)node->os_index;
	}
	return numa;
}

int tide_topology_near(struct tide_topology *topology,
		       const struct tide_pci *pci, const char *cpulist,
		       int numa, struct tide_near *ret_near,
		       struct tide_err *err)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int rc = 0;

	*ret_near = (struct tide_near){.numa = numa};
	if (!cpus)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (near_cpus(topology, pci, cpulist, numa, cpus)) {
		rc = tide_err_set(err, EINVAL, "'%.64s' is no list of CPUs",
				  cpulist);
		goto out;
	}
	if (numa < 0)
		ret_near->numa = numa_with(topology, cpus);
	ret_near->local = cores_of(topology, cpus);
	ret_near->local_cpus = list_of(cpus);
	widen(topology, cpus);
	ret_near->cores = cores_of(topology, cpus);
	ret_near->cpus = list_of(cpus);
out:
	hwloc_bitmap_free(cpus);
	return rc;
}

/* Is it a bridge behind that of the host? */
static bool is_switch(hwloc_obj_t object)
{
	return object && object->type == HWLOC_OBJ_BRIDGE &&
	       object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

bool tide_topology_same_switch(struct tide_topology *topology,
			       const struct tide_pci *a,
			       const struct tide_pci *b)
{
	hwloc_obj_t x = find_pci(topology, a), y = find_pci(topology, b);

	if (!x || !y || x == y)
		return false;
	/* hwloc's common ancestor is none for objects of I/O: it counts depths
	 */
	for (x = x->parent; is_switch(x); x = x->parent)
		for (hwloc_obj_t z = y->parent; is_switch(z); z = z->parent)
			if (x == z)
				return true;
	return false;
}

/* Is the object number rank of those of its kind below this function? */
static bool is_device(hwloc_obj_t object, hwloc_obj_t function, size_t rank,
		      const struct hwloc_distances_s *matrix)
{
	if (pci_of(object) != function)
		return false;
	/* the others of this function that come before it */
	for (unsigned i = 0; i < matrix->nbobjs && matrix->objs[i] != object;
	     i++)
		if (pci_of(matrix->objs[i]) == function && !rank--)
			return false;
	return !rank;
}

uint64_t tide_topology_bandwidth(struct tide_topology *topology,
				 const struct tide_pci *a, size_t i,
				 const struct tide_pci *b, size_t j)
{
	hwloc_obj_t x = find_pci(topology, a), y = find_pci(topology, b);

	for (unsigned m = 0; x && y && m < topology->n_matrices; m++) {
		const struct hwloc_distances_s *matrix = topology->matrix[m];
		unsigned from = 0, to = 0;

		if (!matrix->nbobjs ||
		    matrix->objs[0]->type != HWLOC_OBJ_OS_DEVICE)
			continue;
		while (from < matrix->nbobjs &&
		       !is_device(matrix->objs[from], x, i, matrix))
			from++;
		while (to < matrix->nbobjs &&
		       !is_device(matrix->objs[to], y, j, matrix))
			to++;
		if (from < matrix->nbobjs && to < matrix->nbobjs &&
		    matrix->values[from * matrix->nbobjs + to])
			return matrix->values[from * matrix->nbobjs + to];
	}
	return 0;
}
