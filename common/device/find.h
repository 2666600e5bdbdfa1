/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accelerators of a machine, found without any vendor's software: what
 * PCI, /proc and /dev say below a root, and where they are by hwloc.  Starts
 * no program, opens no device file and writes nothing.
 *
 * One PCI function may be several accelerators, and the number of a device
 * need not be its place; virtual functions are not listed.  A device that is
 * cut into parts is not listed, its parts are.
 *
 * Threads: see topology.h when the root is not that of this machine.
 */
#ifndef TIDE_DEVICE_FIND_H
#define TIDE_DEVICE_FIND_H

#include "common/device/pci.h"
#include "common/device/table.h"
#include "common/device/topology.h"

struct tide_accel {
	const struct tide_family *family; /* of the table */
	const struct tide_model *model;
	char *type; /* Slurm's, of the model or told by the driver */
	struct tide_pci pci;
	int sub;     /* which of its function's accelerators */
	int part;    /* number of the part of a device; -1: the whole device */
	char *whole; /* of a part: the type of the whole; else NULL */
	bool carved; /* of a part: a tool cut it, libraries know the whole */
	bool untold; /* of a part: nobody has told its profile */
	struct tide_frac share; /* of the whole; 0: not known */
	int number; /* in the name of its device file, or its place */
	int card;   /* of its DRM nodes, if the family has any */
	int render;
	bool guessed; /* nobody told the number: it is its place */
	char **file;  /* existing ones and those that must exist */
	size_t n_files;
	bool missing; /* not to be used: a file is not there, or is another's */
	char *board;  /* serial number of the card; NULL */
	char *path;   /* the function's place in sysfs; NULL */
	struct tide_near near;
	/* How well it talks to each of its GRES, -1 itself; NULL: not known. */
	int *link;
};

/* Functions of no family are remembered up to so many. */
#define TIDE_STRANGERS_MAX 8

/* Starts as {0}.  In order of GRES, family and what the runtime counts by. */
struct tide_accels {
	struct tide_accel *accel;
	size_t count;
	/* Of a class that accelerators have, and of no model of the table: the
	 * first of them, for who finds nothing and asks why. */
	struct tide_pci stranger[TIDE_STRANGERS_MAX];
	size_t strangers;
};

/* Where to look; the table must outlive what is found. */
struct tide_where {
	const struct tide_table *table;
	const char *root; /* "/", or a recorded one; NULL: xml alone */
	const char *xml;  /* a topology of hwloc; NULL: what the root tells */
	enum tide_socket socket; /* which cores= are widened to */
};

/*
 * Find them.  What is broken becomes a problem, and the rest is found all the
 * same.  0; -1 with a text when the root or the XML file cannot be read at
 * all, and ENOMEM.
 */
int tide_find(const struct tide_where *where, struct tide_accels *ret_accels,
	      struct tide_problems *problems, struct tide_err *err);

void tide_accels_release(struct tide_accels *accels);
void tide_accel_release(struct tide_accel *accel);

/*
 * Does a type by hand stand for this one, by tide_type_is()?  Of a part of
 * which nobody tells, any that is not the whole's.
 */
bool tide_accel_is(const struct tide_accel *accel, const char *type);

/* The accelerators from index on that are of the same GRES: how many. */
size_t tide_accels_same_gres(const struct tide_accels *accels, size_t index);

#endif
