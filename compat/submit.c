/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job_submit plugin needs to know of a request: see submit.h. */
#include "compat/submit.h"

#pragma weak default_part_loc
#pragma weak node_record_table_ptr

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
		.tres = {desc->tres_per_job, desc->tres_per_node,
			 desc->tres_per_socket, desc->tres_per_task},
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

size_t tide_ctld_partition_gres(const char *name, const char ***ret_texts)
{
	const bitstr_t *nodes = tide_ctld_partition(name);
	const config_record_t *last = NULL;
	const char **texts;
	size_t n = 0;

	*ret_texts = NULL;
	if (!nodes)
		return 0;
	texts = xcalloc((size_t)bit_set_count((bitstr_t *)nodes) + 1,
			sizeof(*texts));
	for (int i = 0; i < bit_size((bitstr_t *)nodes); i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (!bit_test((bitstr_t *)nodes, i) || !node ||
		    !node->config_ptr || node->config_ptr == last)
			continue;
		last = node->config_ptr;
		texts[n++] = last->gres ? last->gres : "";
	}
	*ret_texts = texts;
	return n;
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
