/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmd calls a socket, by slurm.conf: see devices.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/site/slurmconf.h"

enum tide_socket devices_socket(void)
{
	enum tide_socket socket = TIDE_SOCKET_PACKAGE;
	char *path = tidectl_slurm_file("slurm.conf");
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	const char *value = NULL;

	/* who has no slurm.conf, or a broken one, is told so elsewhere */
	if (path && !tide_slurm_load(path, &slurm, &problems, NULL))
		value = tide_slurm_get(slurm, "SlurmdParameters", NULL);
	if (tide_slurm_word(value, "l3cache_as_socket"))
		socket = TIDE_SOCKET_L3;
	else if (tide_slurm_word(value, "numa_node_as_socket"))
		socket = TIDE_SOCKET_NUMA;
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
	free(path);
	return socket;
}
