/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a GRES plugin, the same for every family: slurmd learns the
 * devices from gres.conf and sends them to slurmstepd, which puts the devices
 * of a job, step or task into its environment. Does not constrain anything:
 * task/cgroup does that with the devices we name. In slurmctld nothing happens.
 */
#include "plugins/gres/common/devices.h"

#include <ctype.h>

#include "src/common/env.h"

#include "src/common/list.h"
#include "src/common/read_config.h"

#include "common/device/device.h"
#include "common/device/table.h"
#include "compat/loaded.h"
#include "plugins/gres/common/fill.h"
#include "plugins/gres/common/runtimes.h"

/* The devices of this node and their runtimes; in slurmd and slurmstepd only.
 * Slurm calls us under its gres lock. */
static list_t *node_devices;
static list_t *node_runtimes;

/* Of the plugin, e.g. "gres/mlu". */
extern const char plugin_type[];

/* Variables with physical numbers, e.g. SLURM_JOB_MLUS. */
static char job_numbers[64];
static char step_numbers[64];

static const char *gres_name(void)
{
	return plugin_type + sizeof("gres/") - 1;
}

static void name_variables(void)
{
	char *upper = xstrdup(gres_name());

	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	snprintf(job_numbers, sizeof(job_numbers), "SLURM_JOB_%sS", upper);
	snprintf(step_numbers, sizeof(step_numbers), "SLURM_STEP_%sS", upper);
	xfree(upper);
}

static void unset_all(char **env, const char *names)
{
	const char *cursor = names, *item;
	size_t len;

	while (tide_list_next(&cursor, &item, &len)) {
		char *name = xstrndup(item, len);

		unsetenvp(env, name);
		xfree(name);
	}
}

/* Tell a runtime what it may use of alloc and usable. */
static void set_visible(char ***env, const struct tide_runtime *runtime,
			bitstr_t *alloc, bitstr_t *usable)
{
	bool local = tide_runtime_parts(runtime, alloc) ||
		     (gres_use_local_device_index() && !runtime->physical);
	struct tide_err err;
	char *visible = NULL;
	uint32_t *numbers;
	size_t count;

	numbers = tide_devices_numbers(node_devices, alloc, usable, runtime,
				       &count);
	unset_all(*env, runtime->unset);
	if (!runtime->visible)
		;
	else if (tide_device_visible(numbers, count, local, &visible, &err))
		error("%s: %s", plugin_type, err.text);
	else
		env_array_overwrite(env, runtime->visible, visible);
	free(visible);
	xfree(numbers);
}

/*
 * Physical numbers of all devices. Those of several runtimes may be the same:
 * then the place among the devices of the node.
 */
static void set_numbers(char ***env, const char *name, bitstr_t *alloc,
			bitstr_t *usable)
{
	struct tide_err err;
	char *list = NULL;
	uint32_t *numbers;
	size_t count = 0;

	numbers =
		tide_devices_numbers(node_devices, alloc, usable, NULL, &count);
	if (list_count(node_runtimes) > 1) {
		count = 0;
		for (int i = 0; alloc && i < bit_size(alloc); i++)
			if (bit_test(alloc, i) &&
			    (!usable || bit_test(usable, i)))
				numbers[count++] = (uint32_t)i;
	}
	if (!count)
		unsetenvp(*env, name);
	else if (tide_device_list(numbers, count, &list, &err))
		error("%s: %s", plugin_type, err.text);
	else
		env_array_overwrite(env, name, list);
	free(list);
	xfree(numbers);
}

/*
 * Without devices the list is empty, not missing: a runtime that finds no
 * variable takes every device. A node without devices of a runtime leaves its
 * variable alone, and so does a GRES without File=, which has no bitmap: nobody
 * knows which devices are meant.
 */
static void set_env(char ***env, const char *numbers_name, bitstr_t *alloc,
		    bitstr_t *usable, uint64_t gres_cnt)
{
	struct tide_runtime *runtime;
	list_itr_t *itr;

	if (!node_devices || !node_runtimes || (!alloc && gres_cnt))
		return;
	itr = list_iterator_create(node_runtimes);
	while ((runtime = list_next(itr)))
		set_visible(env, runtime, alloc, usable);
	list_iterator_destroy(itr);
	set_numbers(env, numbers_name, alloc, usable);
}

/* The table with what the site adds; NULL when there is not even ours. */
static struct tide_table *load_table(void)
{
	char *path = get_extra_conf_path((char *)"devices.conf");
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	struct tide_err err;
	bool there = !access(path, F_OK);

	if (tide_table_load(there ? path : NULL, &table, &problems, &err)) {
		error("%s: %s: only families that are built in are known",
		      plugin_type, err.text);
		tide_table_load(NULL, &table, &problems, &err);
	}
	for (size_t i = 0; i < problems.count; i++)
		error("%s:%d: %s: ignoring this line", problems.problem[i].file,
		      problems.problem[i].line, problems.problem[i].text);
	tide_problems_release(&problems);
	xfree(path);
	return table;
}

__attribute__((constructor)) static void loaded(void)
{
	name_variables();
	tide_loaded("slurmd", plugin_type,
		    "until then jobs get no devices of this kind");
}

int init(void)
{
	return SLURM_SUCCESS;
}

void fini(void)
{
	FREE_NULL_LIST(node_devices);
	FREE_NULL_LIST(node_runtimes);
}

int gres_p_node_config_load(list_t *gres_conf_list, node_config_load_t *config)
{
	struct tide_table *table;
	int rc;

	if (!config->in_slurmd)
		return SLURM_SUCCESS;
	FREE_NULL_LIST(node_devices);
	FREE_NULL_LIST(node_runtimes);
	tide_fill(gres_conf_list, gres_name(), config);
	node_devices = tide_devices_load(gres_conf_list, gres_name(), &rc);
	table = load_table();
	if (table)
		node_runtimes = tide_runtimes_create(
			table, gres_name(), gres_conf_list, node_devices);
	tide_table_destroy(table);
	return rc;
}

void gres_p_job_set_env(char ***env, bitstr_t *gres_bit_alloc,
			uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	set_env(env, job_numbers, gres_bit_alloc, NULL, gres_cnt);
}

/* What a step inherits speaks of the node of the batch script. */
void gres_p_step_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	unsetenvp(*env, job_numbers);
	set_env(env, step_numbers, gres_bit_alloc, NULL, gres_cnt);
}

/* Without usable_gres a task has what its step has. */
void gres_p_task_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, bitstr_t *usable_gres,
			 gres_internal_flags_t flags)
{
	(void)flags;
	if (usable_gres)
		set_env(env, step_numbers, gres_bit_alloc, usable_gres,
			gres_cnt);
}

void gres_p_send_stepd(buf_t *buffer)
{
	tide_devices_pack(node_devices, buffer);
	tide_runtimes_pack(node_runtimes, buffer);
}

void gres_p_recv_stepd(buf_t *buffer)
{
	FREE_NULL_LIST(node_devices);
	FREE_NULL_LIST(node_runtimes);
	node_devices = tide_devices_unpack(buffer);
	if (node_devices)
		node_runtimes = tide_runtimes_unpack(buffer);
}

list_t *gres_p_get_devices(void)
{
	return node_devices;
}

void gres_p_step_hardware_init(bitstr_t *usable_gres, char *settings)
{
	(void)usable_gres, (void)settings;
}

void gres_p_step_hardware_fini(void)
{
}
