/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What job_submit/tide asks the layer: is it the one that is active, and could
 * a job ever run.
 *
 * The layer exports one symbol, `tide_layer`; job_submit finds the file in its
 * own folder and looks the symbol up.  Both are built together; the number
 * guards against files of two builds in one folder.
 */
#ifndef TIDE_SELECT_QUERY_H
#define TIDE_SELECT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#define TIDE_LAYER_FILE "select_cons_tres.so"
#define TIDE_GUARD_FILE "job_submit_tide.so"
#define TIDE_LAYER_SYMBOL "tide_layer"
#define TIDE_LAYER_ABI 2

/* One request, for one partition. */
struct tide_ask {
	const char *partition;
	const char *nodelist; /* nodes asked for by name, or NULL */
	const char *exclude;  /* nodes not wanted, or NULL */
	uint32_t min_nodes;
	int64_t need; /* seconds; TIDE_FOREVER: no limit */
};

enum tide_fit {
	TIDE_FIT_OTHER, /* not a partition of the pool: not ours to judge */
	TIDE_FIT_YES,
	TIDE_FIT_NODES, /* the partition has too few such nodes: Slurm's say */
	TIDE_FIT_NEVER, /* no window is long enough */
};

struct tide_answer {
	enum tide_fit fit;
	/* TIDE_FIT_NEVER: the longest there is, 0: none at all. */
	int64_t longest;
	int64_t at; /* and when it opens */
};

struct tide_conf;

struct tide_layer {
	uint32_t abi;
	/* Did Slurm start this copy in slurmctld? */
	bool (*active)(void);
	/* TIDE_LOOK is held.  With no usable tide.conf everything fits. */
	void (*fit)(const struct tide_ask *ask, struct tide_answer *ret_answer);
	/*
	 * The tide.conf in use, or NULL when none is usable; valid until drop()
	 * of what *ret_hold got, which takes NULL.  Any thread.
	 */
	const struct tide_conf *(*conf)(void **ret_hold);
	void (*drop)(void *hold);
};

extern const struct tide_layer tide_layer;

const struct tide_conf *tide_query_conf(void **ret_hold);
void tide_query_drop(void *hold);
void tide_query_fit(const struct tide_ask *ask, struct tide_answer *ret_answer);

#endif
