/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a GRES plugin, the same for every family: slurmd learns the
 * devices from gres.conf and sends them to slurmstepd, which puts the devices
 * of a job, step or task into its environment; slurmctld sends those of a job
 * along to slurmd for prolog and epilog. Does not constrain anything:
 * task/cgroup does that with the devices we name.
 */
#include "plugins/gres/common/devices.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/common/bitstring.h"
#include "src/common/env.h"
#include "src/common/list.h"
#include "src/common/read_config.h"

#include "common/device/table.h"
#include "compat/loaded.h"
#include "plugins/gres/common/fill.h"
#include "plugins/gres/common/links.h"
#include "plugins/gres/common/runtimes.h"
#include "plugins/gres/common/tell.h"

/* In slurmd and slurmstepd only. Slurm calls us under its gres lock. */
static struct tide_node node;

/* Of the step, for its tasks; in slurmstepd only. */
static bitstr_t *step_devices;
static bool constrained;

/* What prolog or epilog has been told already. */
static bitstr_t *prolog_devices;

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

static void forget(void)
{
	FREE_NULL_LIST(node.devices);
	FREE_NULL_LIST(node.runtimes);
}

/*
 * A node without devices of a runtime leaves its variable alone. So does a GRES
 * without File=, which has no bitmap: nobody knows which devices are meant.
 */
static void tell(char ***env, const char *numbers, bitstr_t *alloc,
		 uint64_t gres_cnt)
{
	const struct tide_scope scope = {
		.mine = alloc,
		.seen = alloc,
		.constrained = gres_use_local_device_index(),
		.numbers = numbers,
	};

	if (node.devices && node.runtimes && (alloc || !gres_cnt))
		tide_tell(env, &node, &scope);
}

/* The table with what the site adds; NULL when there is not even ours. */
static struct tide_table *load_table(void)
{
	char *path = get_extra_conf_path((char *)"devices.conf");
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	struct tide_err err;
	struct stat st;
	bool there = !lstat(path, &st) || errno != ENOENT;

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
	forget();
	FREE_NULL_BITMAP(step_devices);
	FREE_NULL_BITMAP(prolog_devices);
}

/*
 * slurmd takes Name=MLU for ours, but slurmctld, which is sent the records,
 * does not: it would drain the node.
 */
static int use_our_name(void *x, void *key)
{
	gres_slurmd_conf_t *record = x;

	if (!xstrcasecmp(record->name, key) && xstrcmp(record->name, key)) {
		xfree(record->name);
		record->name = xstrdup(key);
	}
	return 0;
}

/* slurmd ends with an error: what cannot be used is missing in the list. */
int gres_p_node_config_load(list_t *gres_conf_list, node_config_load_t *config)
{
	struct tide_table *table;

	if (!config->in_slurmd)
		return SLURM_SUCCESS;
	forget();
	list_for_each(gres_conf_list, use_our_name, (void *)gres_name());
	tide_fill(gres_conf_list, gres_name(), config);
	tide_links_turn(gres_conf_list, gres_name());
	node.devices = tide_devices_load(gres_conf_list, gres_name());
	table = load_table();
	if (table)
		node.runtimes = tide_runtimes_create(
			table, gres_name(), gres_conf_list, node.devices);
	tide_table_destroy(table);
	return SLURM_SUCCESS;
}

/* A step of the submitter's is none of the job. */
void gres_p_job_set_env(char ***env, bitstr_t *gres_bit_alloc,
			uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	unsetenvp(*env, step_numbers);
	tell(env, job_numbers, gres_bit_alloc, gres_cnt);
}

/* What a step inherits speaks of the node of the batch script. */
void gres_p_step_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, gres_internal_flags_t flags)
{
	(void)flags;
	unsetenvp(*env, job_numbers);
	tell(env, step_numbers, gres_bit_alloc, gres_cnt);
	FREE_NULL_BITMAP(step_devices);
	step_devices = gres_bit_alloc ? bit_copy(gres_bit_alloc) : NULL;
	constrained = gres_use_local_device_index();
}

/*
 * Without usable_gres a task has what its step has. Slurm asks for places from
 * 0 on where a task's cgroup has its own devices only, and for numbers where it
 * has those of the step, or there is none.
 */
void gres_p_task_set_env(char ***env, bitstr_t *gres_bit_alloc,
			 uint64_t gres_cnt, bitstr_t *usable_gres,
			 gres_internal_flags_t flags)
{
	struct tide_scope scope = {
		.seen = step_devices,
		.constrained = constrained,
		.numbers = step_numbers,
	};

	(void)gres_cnt, (void)flags;
	if (!usable_gres || !gres_bit_alloc || !step_devices || !node.devices ||
	    !node.runtimes)
		return;
	if (gres_use_local_device_index()) {
		tide_tell_own(env, &node, bit_set_count(usable_gres));
		return;
	}
	scope.mine =
		tide_task_devices(step_devices, gres_bit_alloc, usable_gres);
	tide_tell(env, &node, &scope);
	FREE_NULL_BITMAP(scope.mine);
}

/* In slurmctld too, which is not to die of it. Slurm frees the record. */
gres_prep_t *gres_p_prep_build_env(gres_job_state_t *gres_js)
{
	static bool said;
	gres_prep_t *prep;

	if (!tide_gres_knows(gres_js)) {
		if (!said)
			error("%s: this is another Slurm %s than the one TideFlow was built for: prolog and epilog are told no devices",
			      plugin_type, SLURM_VERSION_STRING);
		said = true;
		return NULL;
	}
	if (!gres_js->gres_bit_alloc)
		return NULL;
	prep = xmalloc(sizeof(*prep));
	prep->node_cnt = gres_js->node_cnt;
	prep->gres_bit_alloc =
		xcalloc(prep->node_cnt, sizeof(*prep->gres_bit_alloc));
	for (uint32_t i = 0; i < prep->node_cnt; i++)
		if (gres_js->gres_bit_alloc[i])
			prep->gres_bit_alloc[i] =
				bit_copy(gres_js->gres_bit_alloc[i]);
	return prep;
}

/*
 * Called once for each type of device that the job has: the variables are to
 * name them all. With one node in the list it is this one.
 */
void gres_p_prep_set_env(char ***env, gres_prep_t *prep, int node_inx)
{
	uint32_t at = prep->node_cnt == 1 ? 0 : (uint32_t)node_inx;
	bitstr_t *devices;

	if (!node.devices || !node.runtimes || !prep->gres_bit_alloc ||
	    at >= prep->node_cnt || !(devices = prep->gres_bit_alloc[at]) ||
	    !bit_set_count(devices))
		return;
	if (!getenvp(*env, job_numbers) || !prolog_devices ||
	    bit_size(prolog_devices) != bit_size(devices)) {
		FREE_NULL_BITMAP(prolog_devices);
		prolog_devices = bit_copy(devices);
	} else {
		bit_or(prolog_devices, devices);
	}
	tide_tell_prolog(env, &node, prolog_devices, job_numbers);
}

void gres_p_send_stepd(buf_t *buffer)
{
	tide_devices_pack(node.devices, buffer);
	tide_runtimes_pack(node.runtimes, buffer);
}

void gres_p_recv_stepd(buf_t *buffer)
{
	forget();
	node.devices = tide_devices_unpack(buffer);
	if (node.devices)
		node.runtimes = tide_runtimes_unpack(buffer);
}

list_t *gres_p_get_devices(void)
{
	return node.devices;
}

void gres_p_step_hardware_init(bitstr_t *usable_gres, char *settings)
{
	(void)usable_gres, (void)settings;
}

void gres_p_step_hardware_fini(void)
{
}
