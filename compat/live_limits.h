/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits that are written down in slurmdbd, as sacctmgr would name them:
 * "GrpJobs=2 MaxWall=60".  The caller frees the text, "" for none; NULL with
 * ENOMEM.  tres is Slurm's list of TRES, for their names, or NULL.
 */
#ifndef TIDE_COMPAT_LIVE_LIMITS_H
#define TIDE_COMPAT_LIVE_LIMITS_H

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>

#include "compat/release.h"

char *tide_live_assoc_limits(const slurmdb_assoc_rec_t *assoc, list_t *tres);
char *tide_live_qos_limits(const slurmdb_qos_rec_t *qos, list_t *tres);

#endif
