/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of live.h that grows with the site: jobs and nodes, of slurmctld,
 * and associations, of slurmdbd.
 *
 * Threads: as live.h.
 */
#ifndef TIDE_COMPAT_LIVE_JOBS_H
#define TIDE_COMPAT_LIVE_JOBS_H

#include "common/site/live.h"

/*
 * Add the jobs that run and wait; when slurmctld does not tell, that is a fact
 * of live too.  0, or -1 with ENOMEM.
 */
int tide_live_jobs(struct tide_live *live);

/* The same for nodes. */
int tide_live_nodes(struct tide_live *live);

/*
 * Add the associations of a cluster, over a connection to slurmdbd.  qos is
 * Slurm's list of all QOS, tres that of TRES or NULL.
 */
int tide_live_assocs(void *conn, const char *cluster, void *qos, void *tres,
		     struct tide_live *live);

/* The name of that QOS in Slurm's list of all, which has it; NULL: none. */
const char *tide_live_qos_name(void *all, uint32_t id);

/*
 * Add what ran on a cluster without an association in the days up to `now`,
 * TIDE_LIVE_RECENT_DAYS of them or, where there is very much, fewer:
 * stray_days.
 */
int tide_live_strays(void *conn, const char *cluster, int64_t now,
		     struct tide_live *live);

#endif /* TIDE_COMPAT_LIVE_JOBS_H */
