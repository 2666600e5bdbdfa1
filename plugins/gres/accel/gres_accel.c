/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres/accel: accelerators that need files and a variable only. Names only; the
 * operations are in plugins/gres/common, files and variables in the table of
 * families. Loaded by slurmd, slurmstepd and slurmctld where slurm.conf has
 * GresTypes=accel.
 */
#include "compat/plugin.h"

const char plugin_name[] = "TideFlow gres/accel";
const char plugin_type[] = "gres/accel";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;
