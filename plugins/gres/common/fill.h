/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of gres.conf without File=, filled in by what is found: by the lines
 * that tide-devices, a part of tidectl, prints on this node. It is a program of
 * its own, with a time limit, so that a driver or library that hangs or crashes
 * cannot take slurmd along.  It gets the records that have File=, and says how
 * they differ from what is there: these win.
 *
 * In slurmd, at its start and at reconfiguration. Slurm holds its gres lock.
 */
#ifndef TIDE_GRES_FILL_H
#define TIDE_GRES_FILL_H

#include "compat/gres.h"

/*
 * Log how the records of this GRES with a file differ from what is found, with
 * the remedy, and replace those that have none. The count and the type
 * that slurm.conf gives are kept; a type stands for every found one that has it
 * in its name. What is not found is missing in the list, so that Slurm drains
 * the node; the reason is logged. So it is where nothing can be found out: a
 * job is not started for devices that it would not get; and where more are
 * found than counted: a job is not given a device that another has.
 */
void tide_fill(list_t *records, const char *name,
	       const node_config_load_t *config);

#endif
