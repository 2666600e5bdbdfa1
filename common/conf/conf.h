/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide.conf(5): read, checked, and as plain records.
 *
 * The syntax is that of Slurm's own files: Key=Value pairs, a line a record,
 * keys in any case, '#' comments, '\' at the end of a line continues it,
 * "Include FILE" relative to the file that says it.  Which keys there are says
 * the table in keys.h; conf.c reads, check.c holds the rules between records.
 *
 * A struct tide_conf is immutable once it was returned: any number of threads
 * may read it, without locks.  Everything in it belongs to it; strings and
 * records are valid until tide_conf_destroy().
 *
 * Rates and fees are exact fractions.  Nothing here knows the present time.
 */
#ifndef TIDE_CONF_CONF_H
#define TIDE_CONF_CONF_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf/problems.h"
#include "common/util/frac.h"

struct tide_err;

enum tide_mode {
	TIDE_MODE_ENFORCE,
	TIDE_MODE_OBSERVE, /* log what would be done, do nothing */
};

/* Days of a week as bits: 1 << 0 is Sunday ... 1 << 6 is Saturday. */
enum {
	TIDE_ALL_DAYS = 0x7f
};

/* Device=gpu:a100 */
struct tide_device {
	const char *name;	 /* "gpu:a100", as written */
	const char *gres;	 /* "gpu" */
	const char *type;	 /* "a100" */
	struct tide_frac rate;	 /* credits for one device-hour, > 0 */
	struct tide_frac tflops; /* 0/1 unless TFLOPS= was given */
	const char *of;		 /* the whole that it is a part of, or NULL */
	struct tide_frac share;	 /* of the whole, > 0, when of is given */
	const char *file;	 /* where it was said */
	int line;
};

/* What an owner earns for. */
enum tide_earn {
	TIDE_EARN_USED, /* devices while pool jobs use them */
};

/* OwnerAccount=nlp */
struct tide_owner {
	const char *account;
	const char *nodes; /* as written */
	enum tide_earn earn;
	const char *file;
	int line;
};

/* WindowName=nights, weekly or once */
struct tide_window {
	const char *name;
	const char *nodes; /* as written */
	const char *zone;  /* NULL: the zone of the server */
	/* weekly: seconds since local midnight; end <= start: the next day */
	unsigned int days; /* bits of the days it opens on; 0: once */
	int32_t start;	   /* 0 .. 86399 */
	int32_t end;	   /* 0 .. 86400; never equal to start */
	/* once: local times as tide_parse_datetime() gives them, from < until
	 */
	int64_t from;
	int64_t until;
	const char *file;
	int line;
};

/*
 * Nodes with the very same windows share a set, so that a calendar is computed
 * per set and not per node.  Set 0 is the one without any window.
 */
struct tide_window_set {
	const int *window; /* indices into conf->window, ascending */
	int n_windows;
	int n_nodes;
};

/* A node that an owner lends. */
struct tide_node {
	const char *name;
	int owner; /* index into conf->owner */
	int set;   /* index into conf->set */
};

struct tide_conf {
	const char *pool_partition;
	const char *pool_account;      /* NULL unless there are devices */
	const char *issue_account;     /* NULL unless there are devices */
	struct tide_frac fee;	       /* share of a charge, 0 .. 1 */
	struct tide_frac credit_unit;  /* credits per reference-hour, > 0 */
	const char *reference;	       /* "gpu:a100", or NULL */
	struct tide_frac credit_price; /* money per credit; 0/1 if not said */
	const char *currency;	       /* NULL if not said */
	enum tide_mode mode;

	const struct tide_device *device;
	int n_devices;
	const struct tide_owner *owner;
	int n_owners;
	const struct tide_window *window;
	int n_windows;
	const struct tide_window_set *set;
	int n_sets;
	const struct tide_node *node; /* in the order of strcmp() */
	int n_nodes;

	/*
	 * The same configuration as one file: includes in their place, comments
	 * gone, a record a line.  tide_conf_parse() of it gives an equal
	 * configuration; equal texts are equal configurations.
	 */
	const char *text;
};

/*
 * Read a tide.conf.  zoneinfo is the folder of zone files in which window time
 * zones must exist; NULL is the system's.  Returns 0, or -1 with errno:
 *	EINVAL	there is something wrong in the file
 *	ENOENT, EACCES, ...	the file cannot be read
 *	ENOMEM
 * err gets the first thing that is wrong as "FILE:LINE: KEY=VALUE: why";
 * problems, unless NULL, gets every one of them (add to an initialised one).
 * Blocks on file I/O: not under Slurm's locks.
 */
int tide_conf_load(const char *path, const char *zoneinfo,
		   struct tide_conf **ret_conf, struct tide_problems *problems,
		   struct tide_err *err);

/*
 * The same from a text in memory, for the last good copy that was kept: name
 * stands for the file in messages.  Include is refused here: EINVAL.
 */
int tide_conf_parse(const char *text, const char *name, const char *zoneinfo,
		    struct tide_conf **ret_conf, struct tide_problems *problems,
		    struct tide_err *err);

void tide_conf_destroy(struct tide_conf *conf);

/* The node, or NULL when no owner lends it.  O(log n). */
const struct tide_node *tide_conf_node(const struct tide_conf *conf,
				       const char *name);

/*
 * The partition of the pool as a file names it that tide_conf_load() refused,
 * for who must close the nodes of its owners all the same.  The caller frees
 * it; NULL: it names none, cannot be read, or there is no memory.
 */
char *tide_conf_pool(const char *path);

#endif /* TIDE_CONF_CONF_H */
