/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard: is TideFlow's select plugin the one that Slurm uses?
 *
 * Slurm's loader passes over a plugin that does not fit, without an error, and
 * takes Slurm's own: every lent node would be open at any time.  slurmctld
 * loads job_submit plugins after select, and does not start when one of them
 * does not.
 */
#ifndef TIDE_JOB_SUBMIT_GUARD_H
#define TIDE_JOB_SUBMIT_GUARD_H

#include "common/util/err.h"
#include "plugins/select/tide/query.h"

/*
 * The active layer, in the folder of this plugin.  -1 with the reason and the
 * remedy: ENOENT it is not there; EINVAL it is of another version or build;
 * EPERM it is there and right, and Slurm does not use it.
 */
int tide_guard(const struct tide_layer **ret_layer, struct tide_err *err);

#endif
