/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job_submit plugin needs to know of a request: see submit.h. */
#include "compat/submit.h"

#pragma weak default_part_loc

void tide_request_view(const job_desc_msg_t *desc,
		       struct tide_request *ret_request)
{
	const char *partitions = desc->partition;

	if (!partitions && default_part_loc)
		partitions = default_part_loc->name;
	*ret_request = (struct tide_request){
		.partitions = partitions ? partitions : "",
		.nodelist = desc->req_nodes,
		.exclude = desc->exc_nodes,
		.min_nodes = desc->min_nodes == NO_VAL || !desc->min_nodes
				     ? 1
				     : desc->min_nodes,
		.limit_min = desc->time_limit,
		.time_min = desc->time_min == NO_VAL ? 0 : desc->time_min,
		/* Of a heterogeneous job the first component has the script. */
		.batch = desc->script || (desc->het_job_offset &&
					  desc->het_job_offset != NO_VAL),
		.reserved = desc->reservation != NULL,
	};
}

uint32_t tide_ctld_partition_limit(const char *name)
{
	const part_record_t *part = find_part_record((char *)name);

	if (!part)
		return INFINITE;
	return part->default_time != NO_VAL ? part->default_time
					    : part->max_time;
}

const char *tide_ctld_select_type(void)
{
	return slurm_conf.select_type;
}

void tide_say(char **err_msg, char *text)
{
	if (text)
		xstrfmtcat(*err_msg, "%s%s", *err_msg ? "\n" : "", text);
	xfree(text);
}
