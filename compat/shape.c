/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmd knows of its node: see shape.h. */
#include "compat/plugin.h"

#include "src/slurmd/common/xcpuinfo.h"
#include "src/slurmd/slurmd/slurmd.h"

#include "compat/shape.h"

/* Slurm's daemons and commands that are not slurmd open the plugin, too. */
#pragma weak conf
#pragma weak xcpuinfo_abs_to_mac

uint32_t tide_shape_sockets(void)
{
	return &conf && conf ? conf->sockets : 0;
}

uint32_t tide_shape_cores(void)
{
	return &conf && conf ? conf->cores : 0;
}

const char *tide_shape_spool(void)
{
	return &conf && conf && !conf->print_gres ? conf->spooldir : NULL;
}

char *tide_shape_cpus(const char *cores)
{
	char *cpus = NULL;

	if (!xcpuinfo_abs_to_mac || !&conf || !conf ||
	    xcpuinfo_abs_to_mac((char *)cores, &cpus))
		xfree(cpus);
	return cpus;
}
