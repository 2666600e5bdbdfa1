/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations of a GRES plugin that come and go with Slurm's releases, and of
 * which we make no use: the loader asks for them all the same. Compiled into
 * every gres plugin. The records are private to slurmctld, so nothing here
 * looks into them.
 */
#include "compat/gres.h"

#include <errno.h>

#if TIDE_GRES_HAS_INFO
int gres_p_get_job_info(gres_job_state_t *gres_js, uint32_t node_inx,
			enum gres_job_data_type data_type, void *data)
{
	(void)gres_js, (void)node_inx, (void)data_type, (void)data;
	return EINVAL;
}

int gres_p_get_step_info(gres_step_state_t *gres_ss, uint32_t node_inx,
			 enum gres_step_data_type data_type, void *data)
{
	(void)gres_ss, (void)node_inx, (void)data_type, (void)data;
	return EINVAL;
}
#endif
