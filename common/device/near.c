/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is near a device, for both that find it: topology.c and
 * topology_sysfs.c.  Finds nothing.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/device/topology.h"

void tide_near_release(struct tide_near *near)
{
	free(near->cores);
	free(near->local);
	free(near->cpus);
	free(near->local_cpus);
	memset(near, 0, sizeof(*near));
}
