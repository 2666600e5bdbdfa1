/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is TideFlow's select plugin the one that Slurm uses: see guard.h. */
#include "compat/submit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/job_submit/tide/guard.h"

/* The file beside this one. */
static int layer_path(char *path, size_t size, struct tide_err *err)
{
	Dl_info info;
	const char *slash;

	if (!dladdr((void *)tide_guard, &info) || !info.dli_fname)
		return tide_err_set(
			err, ENOENT,
			"could not find out where job_submit/tide was loaded from");
	slash = strrchr(info.dli_fname, '/');
	if (snprintf(path, size, "%.*s%s",
		     slash ? (int)(slash + 1 - info.dli_fname) : 0,
		     info.dli_fname, TIDE_LAYER_FILE) >= (int)size)
		return tide_err_set(
			err, ENAMETOOLONG,
			"the name of the folder of job_submit/tide is too long");
	return 0;
}

/* It is not loaded: say why as exactly as can be found out. */
static int why_not(const char *path, struct tide_err *err)
{
	const uint32_t *version;
	void *handle;

	if (access(path, R_OK))
		return tide_err_set(
			err, ENOENT,
			"there is no %s: install it beside job_submit_tide.so, or take tide out of JobSubmitPlugins",
			path);
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return tide_err_set(
			err, EINVAL,
			"%s cannot be opened: %s; reinstall TideFlow", path,
			dlerror());
	version = dlsym(handle, "plugin_version");
	if (!version || *version != TIDE_PLUGIN_VERSION)
		tide_err_set(
			err, EINVAL,
			"%s was built for Slurm %u.%02u.%u and this is %u.%02u.%u: install the build of TideFlow for this version",
			path, version ? *version >> 16 : 0,
			version ? *version >> 8 & 0xff : 0,
			version ? *version & 0xff : 0,
			TIDE_PLUGIN_VERSION >> 16,
			TIDE_PLUGIN_VERSION >> 8 & 0xff,
			TIDE_PLUGIN_VERSION & 0xff);
	else
		tide_err_set(
			err, EPERM,
			"Slurm does not use %s: name its folder first in PluginDir=%s, and see the lines above for an error of its own",
			path, tide_ctld_plugin_dir());
	dlclose(handle);
	return -1;
}

int tide_guard(const struct tide_layer **ret_layer, struct tide_err *err)
{
	const struct tide_layer *layer;
	char path[PATH_MAX];
	void *handle;

	if (layer_path(path, sizeof(path), err) < 0)
		return -1;
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return why_not(path, err);
	layer = dlsym(handle, TIDE_LAYER_SYMBOL);
	/* Slurm holds it open; this handle only counted. */
	dlclose(handle);
	if (!layer || layer->abi != TIDE_LAYER_ABI)
		return tide_err_set(
			err, EINVAL,
			"%s is of another build of TideFlow than job_submit_tide.so: reinstall both",
			path);
	if (!layer->active())
		return tide_err_set(
			err, EPERM,
			"%s was loaded but is not active: see the lines above",
			path);
	if (strcmp(tide_ctld_select_type(), "select/cons_tres"))
		return tide_err_set(
			err, EPERM,
			"SelectType=%s has no windows: TideFlow needs SelectType=select/cons_tres",
			tide_ctld_select_type());
	*ret_layer = layer;
	return 0;
}
