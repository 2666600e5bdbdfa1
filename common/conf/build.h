/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to common/conf: a configuration while it is being read.  conf.c owns
 * it and reads records, value.c fills fields, check.c holds the rules, nodes.c
 * makes the table of nodes.
 */
#ifndef TIDE_CONF_BUILD_H
#define TIDE_CONF_BUILD_H

#include "common/conf/conf.h"
#include "common/conf/keys.h"
#include "common/conf/lines.h"

enum {
	TIDE_CONF_MAX_NODES = 100000
}; /* in one node list */

/* What is known of a record beside its fields. */
struct tide_build_record {
	uint64_t seen; /* bit i: tide_keys[i] was given */
	int broken;    /* a value was refused: leave it out of the rules */
};

/*
 * The public struct comes first, so that a pointer to it is one to this.  The
 * arrays are the public ones, writable.  Strings point into the lines.
 */
struct tide_build {
	struct tide_conf conf;
	struct tide_lines lines;
	char *text;
	struct tide_device *device;
	struct tide_owner *owner;
	struct tide_window *window;
	struct tide_window_set *set;
	struct tide_node *node;
	int *set_windows; /* what the sets point into */

	/* only while it is being read */
	struct tide_build_record global;
	struct tide_build_record *device_state;
	struct tide_build_record *owner_state;
	struct tide_build_record *window_state;
	const char *zoneinfo;
	const char *name; /* of the file, for what has no line */
	struct tide_problems *problems;
};

/*
 * Parse value (which may be changed) into the field of the record that key
 * names.  Returns 0, or -1 with errno and the error text.
 */
int tide_value_set(const struct tide_build *build, const struct tide_key *key,
		   void *record, char *value, struct tide_err *err);

/* Was that key given in the record? */
int tide_record_has(const struct tide_build_record *state,
		    enum tide_record record, const char *key);

/*
 * The rules between keys and records; each broken one becomes a problem.
 * Returns 0, also with problems, or -1 with ENOMEM.
 */
int tide_check(struct tide_build *build);

/*
 * Node lists into the table of nodes and the window sets.  Returns 0, also
 * with problems, or -1 with ENOMEM.
 */
int tide_nodes_build(struct tide_build *build);

#endif /* TIDE_CONF_BUILD_H */
