/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres/npu: Huawei Ascend NPU. Names only; the operations are in
 * plugins/gres/common, files and variables in the table of families. Loaded by
 * slurmd, slurmstepd and slurmctld where slurm.conf has GresTypes=npu.
 */
#include "compat/plugin.h"

const char plugin_name[] = "TideFlow gres/npu";
const char plugin_type[] = "gres/npu";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;
