/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of devices, by which slurmctld and jobs know theirs: kept while
 * one of them is gone. As long as all are there that slurm.conf counts, their
 * files are written down, in slurmd's spool directory. A slurmd that starts
 * without one, as the kernel does not list it any more, so knows which place is
 * empty.
 *
 * Of records that were filled in; those by hand name their files themselves.
 * Records are Slurm's of gres.conf, all of one GRES. Slurm holds its gres lock.
 * What is written outlives slurmd; one that does not fit is not used.
 */
#ifndef TIDE_GRES_PLACES_H
#define TIDE_GRES_PLACES_H

#include "compat/gres.h"

/*
 * All of the records are there: write them to the file at path, unless they are
 * in it already. That it cannot be written is logged.
 */
void tide_places_remember(list_t *records, const char *path);

/*
 * Some are missing: each device that the file has, and no record, gets a record
 * of its own at its place, marked as gone, and is logged. Nothing is changed
 * where the file has others than wanted counts (records as in slurm.conf), or
 * lacks a device that is there: then it is of another time.
 */
void tide_places_recall(list_t *records, list_t *wanted, const char *path);

/* A place, and no device: it is not to be used. */
bool tide_place_is_gone(const gres_slurmd_conf_t *record);

/* Free a record. */
void tide_place_free(void *record);

#endif
