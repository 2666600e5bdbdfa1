/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf and slurmdbd.conf as text: what was written, for `tidectl check`
 * on a machine where no daemon runs.  Tolerant: what it does not understand it
 * passes over, because Slurm itself judges its files.
 *
 * Immutable once loaded; strings belong to it.  No Slurm header is needed.
 */
#ifndef TIDE_SITE_SLURMCONF_H
#define TIDE_SITE_SLURMCONF_H

#include <stddef.h>

#include "common/conf/lines.h"

struct tide_err;
struct tide_names;

struct tide_slurm_pair {
	const char *key;
	const char *value;
};

/* A line; of "PartitionName=pool ..." the first pair says what it is. */
struct tide_slurm_record {
	const char *file;
	int line;
	struct tide_slurm_pair *pair;
	size_t n_pairs;
};

struct tide_slurm {
	struct tide_slurm_record *record;
	size_t n_records;
	struct tide_lines lines;
};

/*
 * Read such a file; what it includes and cannot be read becomes a problem.
 * Returns 0, or -1 with errno as tide_lines_load() and the error text.
 */
int tide_slurm_load(const char *path, struct tide_slurm **ret_slurm,
		    struct tide_problems *problems, struct tide_err *err);
void tide_slurm_destroy(struct tide_slurm *slurm);

/*
 * The last value of a key of the whole file, or NULL; where it was said in
 * *ret_record, unless that is NULL.
 */
const char *tide_slurm_get(const struct tide_slurm *slurm, const char *key,
			   const struct tide_slurm_record **ret_record);

/*
 * The next record of that kind ("PartitionName") after `after`, or the first
 * when that is NULL; DEFAULT is none.  NULL when there is no further one.
 */
const struct tide_slurm_record *
tide_slurm_next(const struct tide_slurm *slurm, const char *kind,
		const struct tide_slurm_record *after);

/* The record of that kind and name, or NULL. */
const struct tide_slurm_record *tide_slurm_find(const struct tide_slurm *slurm,
						const char *kind,
						const char *name);

/* The last value of a key in a record, or NULL. */
const char *tide_slurm_own_value(const struct tide_slurm_record *record,
				 const char *key);

/* A value of a record, or that of the DEFAULT lines above it, or NULL. */
const char *tide_slurm_value(const struct tide_slurm *slurm,
			     const struct tide_slurm_record *record,
			     const char *key);

/*
 * Is word among the comma separated words of list, in any case?  What follows
 * a '=' in the list does not count unless it is in word too.  A NULL
 * list has no words.
 */
int tide_slurm_word(const char *list, const char *word);

/*
 * The names in what a record is of, as in NodeName=lab[01-05], as written.
 * Returns 0, 1 when that is no node list, or -1 with ENOMEM.
 */
int tide_slurm_record_nodes(const struct tide_slurm_record *record,
			    struct tide_names *ret_names);

/* The place of the name in a node list as "lab[01-05]", from 0, or -1. */
long tide_slurm_place(const char *list, const char *name);

/*
 * The names of all nodes of NodeName lines, in the order of strcmp().  Lines
 * that are no node list are passed over.  Returns 0, or -1 with ENOMEM.
 */
int tide_slurm_nodes(const struct tide_slurm *slurm,
		     struct tide_names *ret_names);

/*
 * The nodes of a partition, in the same order; with all_nodes for "ALL".
 * Returns 0, 1 when it names nodes in a way that only Slurm can tell (a
 * nodeset), or -1 with ENOMEM.
 */
int tide_slurm_partition_nodes(const struct tide_slurm *slurm,
			       const struct tide_slurm_record *partition,
			       const struct tide_names *all_nodes,
			       struct tide_names *ret_names);

/* Is the name among names that are in that order? */
int tide_slurm_has_node(const struct tide_names *names, const char *name);

#endif /* TIDE_SITE_SLURMCONF_H */
