/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runtimes that the devices of this node belong to, and how each is told
 * what it may use.  A GRES has one (gres/mlu), or several where it stands for
 * cards of different vendors (gres/accel).  Made in slurmd from the table of
 * families and the list of devices; handed on to slurmstepd.
 *
 * Slurm holds its gres lock around every call. Lists belong to the caller.
 */
#ifndef TIDE_GRES_RUNTIMES_H
#define TIDE_GRES_RUNTIMES_H

#include "compat/gres.h"

struct tide_table;

struct tide_runtime {
	char *visible;	 /* variables, a list; NULL: it has none */
	char *unset;	 /* variables to take away, a list; may be NULL */
	char *container; /* variables of a container runtime, a list, and */
	char *container_part; /* NAME=VALUE for parts; NULL where not wanted */
	char *part_file; /* where VALUE has marks: the file that tells their
			    numbers; else NULL */
	bool physical; /* keeps its numbers where a cgroup hides some: one does
			*/
	bitstr_t *devices; /* by the index of Slurm's bitmaps */
	bitstr_t *parts;   /* of these, parts of a device: counted from 0 */
	bool placed; /* parts have no number but in their card: their place
			counts, and that of what is told with them */
};

/*
 * The runtimes of these devices, by their files and the types in the records of
 * gres.conf. Where a runtime counts by position, dev_num of its devices becomes
 * that. A device of no family is logged; it has no runtime.
 */
list_t *tide_runtimes_create(const struct tide_table *table, const char *name,
			     list_t *records, list_t *devices);

/* Pack the list (NULL is empty); a new list out of the buffer, or NULL. */
void tide_runtimes_pack(list_t *runtimes, buf_t *buffer);
list_t *tide_runtimes_unpack(buf_t *buffer);

/* Is the device at this index one of the runtime's? */
bool tide_runtime_has(const struct tide_runtime *runtime, int index);

/* Is one of its devices in alloc (which may be NULL) a part? */
bool tide_runtime_parts(const struct tide_runtime *runtime, bitstr_t *alloc);

#endif
