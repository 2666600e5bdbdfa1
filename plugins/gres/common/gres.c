/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a GRES plugin, the same for every family: slurmd learns the
 * devices from gres.conf and sends them to slurmstepd, which puts the devices
 * of a job, step or task into its environment. Does not constrain anything:
 * task/cgroup does that with the devices we name. In slurmctld nothing happens.
 */
#include "plugins/gres/common/devices.h"

#include "src/common/env.h"

#include "common/device/device.h"
#include "compat/loaded.h"
#include "plugins/gres/common/family.h"

/* The devices of this node; in slurmd and slurmstepd only. Slurm calls us
 * under its gres lock. */
static list_t *node_devices;

extern const char plugin_type[]; /* of the family */

/* Put the two variables into env; numbers are the devices it may use. */
static void set_lists(char ***env, const char *numbers_name,
		      const uint32_t *numbers, size_t count)
{
	struct tide_err err;
	char *visible = NULL, *list = NULL;

	if (tide_device_visible(numbers, count, gres_use_local_device_index(),
				&visible, &err) ||
	    tide_device_list(numbers, count, &list, &err)) {
		error("gres/%s: %s", tide_family.name, err.text);
	} else {
		env_array_overwrite(env, tide_family.visible, visible);
		if (count)
			env_array_overwrite(env, numbers_name, list);
		else
			unsetenvp(*env, numbers_name);
	}
	free(visible);
	free(list);
}

/*
 * Without devices the list is empty, not missing: a runtime that finds no
 * variable takes every device. A GRES without File= has no bitmap: nobody
 * knows which devices are meant, so the variable is left as it is.
 */
static void set_env(char ***env, const char *numbers_name, bitstr_t *alloc,
		    bitstr_t *usable, uint64_t gres_cnt)
{
	uint32_t *numbers = NULL;
	size_t count = 0;

	if (!alloc && gres_cnt)
		return;
	if (alloc && node_devices)
		numbers = tide_devices_numbers(node_devices, alloc, usable,
					       &count);
	set_lists(env, numbers_name, numbers, count);
	xfree(numbers);
}

__attribute__((constructor)) static void loaded(void)
{
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
}

int gres_p_node_config_load(list_t *gres_conf_list, node_config_load_t *config)
{
	int rc;

	if (!config->in_slurmd)
		return SLURM_SUCCESS;
	FREE_NULL_LIST(node_devices);
	node_devices = tide_devices_load(gres_conf_list, tide_family.name, &rc);
	return rc;
}

void gres_p_job_set_env(char ***env, bitstr_t *gres_bit_alloc,
			uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	set_env(env, tide_family.job_numbers, gres_bit_alloc, NULL, gres_cnt);
}

/* What a step inherits speaks of the node of the batch script. */
void gres_p_step_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	unsetenvp(*env, tide_family.job_numbers);
	set_env(env, tide_family.step_numbers, gres_bit_alloc, NULL, gres_cnt);
}

/* Without usable_gres a task has what its step has. */
void gres_p_task_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, bitstr_t *usable_gres,
			 gres_internal_flags_t flags)
{
	(void)flags;
	if (usable_gres)
		set_env(env, tide_family.step_numbers, gres_bit_alloc,
			usable_gres, gres_cnt);
}

void gres_p_send_stepd(buf_t *buffer)
{
	tide_devices_pack(node_devices, buffer);
}

void gres_p_recv_stepd(buf_t *buffer)
{
	FREE_NULL_LIST(node_devices);
	node_devices = tide_devices_unpack(buffer);
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
