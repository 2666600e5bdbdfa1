/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres/mlu: Cambricon MLU. Names and variables only; the operations are in
 * plugins/gres/common. Loaded by slurmd, slurmstepd and slurmctld where
 * slurm.conf has GresTypes=mlu.
 */
#include "compat/plugin.h"

#include "plugins/gres/common/family.h"

const char plugin_name[] = "TideFlow gres/mlu";
const char plugin_type[] = "gres/mlu";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;

const struct tide_family tide_family = {
	.name = "mlu",
	.visible = "MLU_VISIBLE_DEVICES",
	.job_numbers = "SLURM_JOB_MLUS",
	.step_numbers = "SLURM_STEP_MLUS",
};
