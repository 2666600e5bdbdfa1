/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of Slurm's cores are near a device: whole sockets, as that is all Slurm
 * takes, of whatever slurmd calls a socket.  In slurmd only.
 */
#ifndef TIDE_GRES_CORES_H
#define TIDE_GRES_CORES_H

#include "compat/gres.h"

/*
 * Give the record the cores of these CPUs of the operating system, a list, with
 * all that Slurm makes of Cores= in gres.conf.  What is near every socket is
 * near none.  That they are more than was said, and that they cannot be used,
 * is logged.
 */
void tide_cores_give(gres_slurmd_conf_t *record, const char *cpus,
		     const node_config_load_t *config);

/* Log that the record, by hand, has cores that are not near; true if so. */
bool tide_cores_compare(const gres_slurmd_conf_t *record, const char *file,
			const char *cpus, const node_config_load_t *config);

#endif
