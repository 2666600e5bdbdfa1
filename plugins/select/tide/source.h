/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a plan comes from: tide.conf as it was read, the last good copy of it,
 * or nothing at all.
 *
 * Reading blocks, so it is done in init() and in the layer's thread, never
 * under slurmctld's locks.  The last good copy is kept in StateSaveLocation as
 * tide.conf.good; it is written once the file has proved right for this
 * cluster (its partition and nodes exist), not merely readable.
 */
#ifndef TIDE_SELECT_SOURCE_H
#define TIDE_SELECT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/calendar/calendar.h"
#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/window/gate.h"

/* How far ahead one looks before saying that a job can never run. */
#define TIDE_EVER (400 * 86400)

/*
 * When each group of nodes is open, from `made` on: a group for each window
 * set of the configuration, and last one for nobody's nodes.  A millisecond of
 * work a set, so it is done where no lock is held.  Immutable but for its
 * count; window names belong to the source.
 */
struct tide_stretches {
	unsigned int refs;
	int64_t made;
	size_t count;
	struct tide_group *groups;
	struct tide_open **opens; /* groups[] point to them */
};

/* Immutable but for its count and `stretches`, which is renewed. */
struct tide_source {
	unsigned int refs;
	struct tide_conf *conf; /* NULL: nothing is usable */
	struct tide_calendar *calendar;
	char *pool;	/* PoolPartition, if at least that */
	bool last_good; /* it is the kept copy */
	struct tide_stretches *stretches;
};

/*
 * Work the stretches out as of now.  -1 with the error text and errno of
 * tide_calendar_spans().
 */
int tide_source_work_out(const struct tide_source *source, int64_t now,
			 struct tide_stretches **ret_stretches,
			 struct tide_err *err);

struct tide_stretches *tide_stretches_ref(struct tide_stretches *stretches);
/* Takes NULL. */
void tide_stretches_unref(struct tide_stretches *stretches);

/*
 * Read conf_dir/tide.conf.  -1 with the error text (FILE:LINE: KEY=VALUE: why)
 * and errno as tide_conf_load() has it.  Blocks.
 */
int tide_source_read(const char *conf_dir, int64_t now,
		     struct tide_source **ret_source, struct tide_err *err);

/* Read the last good copy.  ENOENT: there is none yet.  Blocks. */
int tide_source_read_good(const char *state_dir, int64_t now,
			  struct tide_source **ret_source,
			  struct tide_err *err);

/* Keep a copy of this one, unless it is there already.  Blocks. */
int tide_source_keep(const struct tide_source *source, const char *state_dir,
		     struct tide_err *err);

/*
 * The source when there is none: owned nodes are not known, so nothing is open
 * to the pool.  Only the name of the pool's partition is looked for in the
 * file, in the simplest way, since the file cannot be parsed.  Blocks.
 */
struct tide_source *tide_source_closed(const char *conf_dir);

struct tide_source *tide_source_ref(struct tide_source *source);
/* Takes NULL. */
void tide_source_unref(struct tide_source *source);

#endif
