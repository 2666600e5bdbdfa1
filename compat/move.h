/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves a pending job off the QOS of its paying account, to the one that it
 * would have had without TideFlow.  Stands on public libslurm alone.
 *
 * Threads: one call at a time; the first call reads slurm.conf.  libslurm ends
 * the process, with a message, when there is no slurm.conf.
 */
#ifndef TIDE_COMPAT_MOVE_H
#define TIDE_COMPAT_MOVE_H

#include <stdint.h>

#include "common/util/err.h"

/*
 * The name of the cluster that slurm.conf is of, as its slurmctld says; to be
 * freed.  0, or -1 with ENOTCONN: it does not answer.
 */
int tide_move_cluster(char **ret_name, struct tide_err *err);

/*
 * The QOS that a job of that user and account has by default, never `but`: the
 * association's default, else normal, else the first that it may use.  To be
 * freed.  0, or -1 with ENOENT: there is none; ENOTCONN.
 */
int tide_move_target(const char *cluster, const char *account, const char *user,
		     const char *but, char **ret_qos, struct tide_err *err);

/* Does slurmctld know a QOS of that name?  0, 1, or -1: it does not answer. */
int tide_move_knows(const char *qos);

/* Have slurmctld give the job that QOS.  0, or -1 with EPERM: it will not. */
int tide_move_job(int64_t job, const char *qos, struct tide_err *err);

#endif
