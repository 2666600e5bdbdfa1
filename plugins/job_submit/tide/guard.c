/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is TideFlow's select plugin the one that Slurm uses: see guard.h. */
#include "compat/submit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "compat/loaded.h"
#include "plugins/job_submit/tide/guard.h"

/* The file, as Slurm has it open (*ret_used) or not; NULL with the reason. */
static void *open_layer(const char *path, bool *ret_used, struct tide_err *err)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	*ret_used = handle != NULL;
	if (!handle && access(path, R_OK)) {
		tide_err_set(
			err, ENOENT,
			"there is no %s: install it beside job_submit_tide.so, or take tide out of JobSubmitPlugins",
			path);
		return NULL;
	}
	if (!handle)
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		tide_err_set(err, EINVAL,
			     "%s cannot be opened: %s; reinstall TideFlow",
			     path, dlerror());
	return handle;
}

/* Is it of our Slurm, and used?  Nothing else of it is looked at before. */
static int verify(void *handle, bool used, const char *path,
		  struct tide_err *err)
{
	const uint32_t *version = dlsym(handle, "plugin_version");
	struct tide_version_text theirs, ours;

	if (!version || *version != TIDE_PLUGIN_VERSION)
		return tide_err_set(
			err, EINVAL,
			"%s was built for Slurm %s and this is %s: install the build of TideFlow for this version",
			path, tide_version(version ? *version : 0, &theirs),
			tide_version(TIDE_PLUGIN_VERSION, &ours));
	if (!used)
		return tide_err_set(
			err, EPERM,
			"Slurm does not use %s: name its folder first in PluginDir=%s, and see the lines above for an error of its own",
			path, tide_ctld_plugin_dir());
	return 0;
}

int tide_guard(const struct tide_layer **ret_layer, struct tide_err *err)
{
	const struct tide_layer *layer;
	char path[PATH_MAX];
	void *handle;
	bool used;
	int rc;

	/* First: from 25.05 on the layer is then not loaded at all. */
	if (strcmp(tide_ctld_select_type(), "select/cons_tres"))
		return tide_err_set(
			err, EPERM,
			"SelectType=%s has no windows: TideFlow needs SelectType=select/cons_tres",
			tide_ctld_select_type());
	if (tide_loaded_beside(TIDE_LAYER_FILE, path, sizeof(path)) < 0)
		return tide_err_set(
			err, errno,
			"could not find out where job_submit/tide was loaded from: %s",
			strerror(errno));
	handle = open_layer(path, &used, err);
	if (!handle)
		return -1;
	rc = verify(handle, used, path, err);
	layer = dlsym(handle, TIDE_LAYER_SYMBOL);
	/* Slurm holds it open; this handle only counted. */
	dlclose(handle);
	if (rc)
		return -1;
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
	*ret_layer = layer;
	return 0;
}
