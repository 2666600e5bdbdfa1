/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Was this plugin built for the Slurm that loads it: see loaded.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "compat/loaded.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* The plugin's own; the loader compares it in these bits. */
extern const uint32_t plugin_version;
#define VERSION_MASK 0xffffff

int tide_loaded_beside(const char *file, char *ret_path, size_t size)
{
	Dl_info info;
	const char *slash;
	int folder;

	if (!dladdr((void *)tide_loaded_beside, &info) || !info.dli_fname) {
		errno = ENOENT;
		return -1;
	}
	slash = strrchr(info.dli_fname, '/');
	folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
	if (snprintf(ret_path, size, "%.*s%s", folder, info.dli_fname, file) >=
	    (int)size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

/* The version that a loaded file has as a plugin of Slurm; 0 if it is none. */
static uint32_t version_of(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *version;
	const char *type;
	uint32_t found = 0;

	if (!handle)
		return 0;
	version = dlsym(handle, "plugin_version");
	type = dlsym(handle, "plugin_type");
	/* Of a SPANK plugin Slurm compares major and minor only. */
	if (version && type && strcmp(type, "spank"))
		found = *version & VERSION_MASK;
	dlclose(handle);
	return found;
}

/*
 * The version of the Slurm around us: that of the first plugin it has accepted,
 * which authentication brings along in each of its daemons.  A plugin of our
 * folder is no witness.  0 if there is none.
 */
static uint32_t running_version(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	char own[PATH_MAX];
	struct link_map *map = NULL;
	uint32_t found = 0;

	if (!program)
		return 0;
	if (dlinfo(program, RTLD_DI_LINKMAP, &map) ||
	    tide_loaded_beside("", own, sizeof(own)) < 0)
		map = NULL;
	for (; map && !found; map = map->l_next)
		if (map->l_name[0] && strncmp(map->l_name, own, strlen(own)))
			found = version_of(map->l_name);
	dlclose(program);
	return found;
}

void tide_loaded(const char *daemon, const char *prefix, const char *otherwise)
{
	uint32_t built = plugin_version & VERSION_MASK, running;
	struct tide_version_text built_text, running_text;
	int (*say)(const char *format, ...);
	Dl_info info;

	if (strncmp(program_invocation_short_name, daemon, strlen(daemon)))
		return;
	say = (int (*)(const char *, ...))dlsym(RTLD_DEFAULT, "slurm_error");
	running = running_version();
	if (!say || !running || running == built ||
	    !dladdr((void *)tide_loaded, &info))
		return;
	/* Slurm tries a file it refused again: kept open, we say it once. */
	dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	say("%s: %s was built for Slurm %s and this is %s of Slurm %s: it is not used",
	    prefix, info.dli_fname, tide_version(built, &built_text),
	    program_invocation_short_name,
	    tide_version(running, &running_text));
	say("%s: install the build of TideFlow for Slurm %s: %s", prefix,
	    running_text.text, otherwise);
}
