/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres/mlu: Cambricon MLU. Names only; the operations are in
 * plugins/gres/common, files and variables in the table of families. Loaded by
 * slurmd, slurmstepd and slurmctld where slurm.conf has GresTypes=mlu.
 */
#include "compat/plugin.h"

const char plugin_name[] = "TideFlow gres/mlu";
const char plugin_type[] = "gres/mlu";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;
