/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of accelerators: which PCI functions are devices of which family
 * and model, how its device files are named and numbered, and how its runtime
 * is told what it may use.  families.conf is the table that is built in; a
 * site adds to it, or changes it, with a file of the same syntax (that of
 * slurm.conf; a record a line):
 *
 *   Family=NAME Gres=mlu File=/dev/cambricon_dev%n Visible=MLU_VISIBLE_DEVICES
 *   Model=TYPE Family=NAME Id=cabc:0290
 *   Part=TYPE Family=NAME Of=MODEL Share=1/2
 *
 * A Family that is there already is changed by the keys given; of two models
 * with one id the later one counts.  docs/devices.md explains every key.
 *
 * Files are patterns: %n is the number of the device, %c and %r are those of
 * its DRM card and render node, %m that of a part.  In Info %p is the PCI
 * address.
 *
 * Threads: a table does not change once it is loaded.
 */
#ifndef TIDE_DEVICE_TABLE_H
#define TIDE_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf/problems.h"
#include "common/util/err.h"
#include "common/util/frac.h"

/* Strings are NULL where a key is not given; lists are kept as written. */
struct tide_family {
	char *name;
	char *gres;	 /* Slurm's name of the GRES */
	char *class;	 /* first digits of the PCI class, a list; NULL: any */
	char *file;	 /* per device; these must exist */
	char *also;	 /* per device; those that exist */
	char *shared;	 /* control files, of all devices together */
	char *visible;	 /* variable with the devices a runtime may use */
	char *container; /* the same for the vendor's container runtime, and */
	char *container_part; /* NAME=VALUE that tells it of parts; with marks:
				 what each is told as */
	char *unset;	      /* variables that would filter a second time */
	char *library;	      /* the vendor's management library: the first of a
				 list that is there */
	char *api;	      /* the interface it has, as in vendor.h; NULL */
	char *info;	      /* file of lines "Key: value", and keys in it: */
	char *info_file;
	char *info_number;
	char *info_type;
	char *info_board;
	char *number_file; /* in the function's sysfs folder: its number, */
	char *count_file;  /* how many devices it has, and */
	char *map_file;	   /* lines "BUS:DEV.FN NUMBER" of all */
	char *flags;	   /* of gres.conf */
	/* Parts of a device that somebody has set up: */
	char *part_file; /* device files; the first is the part's alone */
	char *part_list; /* a file with a line for each, and */
	char *part_line; /* what it is like: %n, %m, %t its type, %* anything */
	char *part_mode; /* in the function's folder: how it is cut, SPX: not */
	int part_first; /* %m of the first one of device 0, and how many more */
	int part_step;	/* numbers each device has; 0: such are not counted */
	bool set_container; /* the site wants jobs to have these two */
	bool position;	    /* runtimes count by position, not by number */
	bool physical;	    /* do not count from 0 in a cgroup */
};

struct tide_pci_id {
	uint16_t vendor;
	int32_t device; /* -1: any */
};

struct tide_model {
	char *type; /* Slurm's type */
	int family; /* index */
	struct tide_pci_id *id;
	size_t n_ids;
	int devices;  /* of one function, when the node does not tell */
	int physical; /* as of the family, -1: as the family has it */
	bool vf;      /* a virtual function: not listed */
	struct tide_frac tflops; /* dense FP16; 0: not known */
	int memory;		 /* GB; 0: not known */
};

/* A part of a device, such as a vNPU of a template. */
struct tide_part {
	char *type; /* Slurm's */
	char *name; /* what the vendor calls it; NULL: the same */
	int family;
	char *of; /* models, or types told by drivers, that have it: a list */
	struct tide_frac share; /* of the whole device, > 0, at most 1 */
	int memory;		/* GB; 0: its share */
};

struct tide_table {
	struct tide_family *family;
	size_t n_families;
	struct tide_model *model;
	size_t n_models;
	struct tide_part *part;
	size_t n_parts;
};

/* The table that is built in, as text. */
extern const char tide_table_builtin[];

/*
 * The built-in table, and the site's file on top of it unless that is NULL.
 * Every error of the file is in problems, as FILE:LINE: KEY=VALUE: what; a
 * record with an error is left out, the others count.  -1 with errno and text
 * when the file cannot be read (errno of open(2)) or memory is out.
 */
int tide_table_load(const char *path, struct tide_table **ret_table,
		    struct tide_problems *problems, struct tide_err *err);

/* The same from text alone, without what is built in. */
int tide_table_parse(const char *text, const char *name,
		     struct tide_table **ret_table,
		     struct tide_problems *problems, struct tide_err *err);

void tide_table_destroy(struct tide_table *table);

/*
 * The model of a PCI function; class is its 16 bits.  NULL when it is no
 * accelerator.  An id that names the device goes before one that does not.
 */
const struct tide_model *tide_table_match(const struct tide_table *table,
					  uint16_t vendor, uint16_t device,
					  uint16_t class);

/* The family of that name; NULL. */
const struct tide_family *tide_table_family(const struct tide_table *table,
					    const char *name);

/*
 * The family that a device file belongs to, by its patterns (a number where
 * they have %n, %c or %r), among those of this GRES; NULL.
 */
const struct tide_family *tide_table_by_file(const struct tide_table *table,
					     const char *gres,
					     const char *path);

/* Is that the first file of a part of such a device? */
bool tide_family_is_part(const struct tide_family *family, const char *path);

/*
 * Is text what the pattern makes of some numbers, which *n and *m get: those of
 * %m and of any other mark?
 */
bool tide_pattern_scan(const char *pattern, size_t len, const char *text,
		       int *n, int *m);

/* The numbers that the marks of a pattern stand for. */
struct tide_marks {
	int n, m, c, r;
};

/* What the pattern makes of the numbers; the caller frees. NULL: no memory. */
char *tide_pattern_make(const char *pattern, size_t len,
			const struct tide_marks *marks);

/*
 * The part that the vendor calls by this name, of a device of that type or
 * model; name NULL: the only one there is.  NULL: none, or several.
 */
const struct tide_part *tide_table_part(const struct tide_table *table,
					const struct tide_family *family,
					const char *type, const char *model,
					const char *name);

/*
 * Does a runtime of this family and type keep the physical numbers where a
 * cgroup hides the other devices?  type may be NULL.
 */
bool tide_table_physical(const struct tide_table *table,
			 const struct tide_family *family, const char *type);

/*
 * Does a type that a person wrote stand for devices of this one?  It does for
 * what has it in its name, as a100 for a100-sxm4-80gb; of parts for that name
 * alone.  Case does not count.
 */
bool tide_type_is(const char *type, bool part, const char *by_hand);

/* Take the next item off a list; false at its end. len is of *ret_item. */
bool tide_list_next(const char **cursor, const char **ret_item,
		    size_t *ret_len);

/* Is the word an item of the list?  Case does not count; each may be NULL. */
bool tide_list_has(const char *list, const char *word);

#endif
