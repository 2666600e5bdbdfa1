/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plugin says when the Slurm that loads it is not the one that it was
 * built for, and where it was loaded from.
 *
 * Slurm's loader then refuses the plugin and calls nothing in it; Slurm itself
 * says no more than "Incompatible Slurm plugin".  So this runs when the file is
 * opened, before the loader looks at it.  It only speaks: plugin_version stays
 * true, and whether the plugin is refused is the loader's business alone.
 *
 * Nothing here depends on the release of Slurm: it reads no record and calls no
 * function of Slurm but slurm_error(), which is looked up by name.
 */
#ifndef TIDE_COMPAT_LOADED_H
#define TIDE_COMPAT_LOADED_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/version.h"

/*
 * To be called by a constructor of the plugin.  In a daemon whose name begins
 * with `daemon`, and when its Slurm is another than plugin_version says, logs
 * that as an error, with the remedy; `otherwise` follows it.  The file is then
 * never closed again, so that all is said once however often it is opened.
 */
void tide_loaded(const char *daemon, const char *prefix, const char *otherwise);

/*
 * The path of a file in the folder that this plugin was loaded from.  -1 with
 * errno: ENOENT the folder is not known, ENAMETOOLONG.
 */
int tide_loaded_beside(const char *file, char *ret_path, size_t size);

#endif
