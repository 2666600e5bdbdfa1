/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accelerators for several subcommands: see devices.h. */
#include "config.h"

#include "cmd/tidectl/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tidectl/tidectl.h"
#include "common/util/err.h"

void devices_tell(const struct tide_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct tide_problem *p = &problems->problem[i];

		if (p->line)
			tidectl_fail("%s:%d: %s", p->file, p->line, p->text);
		else if (strcmp(p->file, "/"))
			tidectl_fail("%s: %s", p->file, p->text);
		else /* this machine: no folder to tell */
			tidectl_fail("%s", p->text);
	}
}

struct tide_table *devices_table(const char *given)
{
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	char *path = given ? strdup(given) : tidectl_slurm_file("devices.conf");
	struct tide_err err;
	const char *file = path;
	struct stat st;

	/* a link that leads nowhere is there, and said to be bad */
	if (!given && path && lstat(path, &st) && errno == ENOENT)
		file = NULL;
	if (!path)
		tidectl_fail("out of memory");
	else if (tide_table_load(file, &table, &problems, &err))
		tidectl_fail("%s", err.text);
	if (path && !table && !given)
		tide_table_load(NULL, &table, &problems, &err);
	devices_tell(&problems);
	/* a file that was asked for; the site's goes on without a bad line, or
	 * without the file, as slurmd and health are not to stop for one */
	if (given && problems.count) {
		tide_table_destroy(table);
		table = NULL;
	}
	tide_problems_release(&problems);
	free(path);
	return table;
}

static void unset_each(const char *names)
{
	const char *item;
	char name[128];
	size_t len;

	while (tide_list_next(&names, &item, &len)) {
		snprintf(name, sizeof(name), "%.*s", (int)len, item);
		unsetenv(name);
	}
}

/*
 * What a runtime is told must not hide devices from us, and hwloc is not to
 * load vendors' libraries, nor that for XML, which takes long, when there is
 * none.
 */
static void clear_variables(const struct tide_table *table, bool xml)
{
	static const char *const plugins[] = {
		"hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_rsmi.so,hwloc_xml_libxml.so",
		"hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_rsmi.so",
	};

	for (size_t i = 0; i < table->n_families; i++) {
		unset_each(table->family[i].visible);
		unset_each(table->family[i].unset);
	}
	setenv("HWLOC_PLUGINS_BLACKLIST", plugins[xml], 1);
}

int devices_find(const struct tide_where *where, struct tide_accels *ret_accels)
{
	struct tide_problems problems = {0};
	struct tide_err err;
	int rc;

	clear_variables(where->table, where->xml || getenv("HWLOC_XMLFILE"));
	rc = tide_find(where, ret_accels, &problems, &err);
	devices_tell(&problems);
	if (rc)
		tidectl_fail("%s", err.text);
	tide_problems_release(&problems);
	return rc;
}

int devices_drop(struct tide_accels *accels, const char *drop)
{
	struct tide_accels rest = {0};
	size_t kept = 0;

	rest.accel = calloc(accels->count + 1, sizeof(*rest.accel));
	if (!rest.accel)
		return -1;
	for (size_t i = 0; i < accels->count; i++) {
		if (drop[i])
			rest.accel[rest.count++] = accels->accel[i];
		else
			accels->accel[kept++] = accels->accel[i];
	}
	accels->count = kept;
	tide_accels_release(&rest);
	return 0;
}

int devices_keep(struct tide_accels *accels, const char *gres)
{
	char *drop = calloc(accels->count + 1, 1);
	int rc;

	if (!drop)
		return -1;
	for (size_t i = 0; i < accels->count; i++)
		drop[i] = strcmp(accels->accel[i].family->gres, gres) != 0;
	rc = devices_drop(accels, drop);
	free(drop);
	return rc;
}
