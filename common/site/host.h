/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one host has on its disk: the folders of PluginDir, the plugins that its
 * daemons need, its device files.  For every host that reads slurm.conf; needs
 * no tide.conf, which only hosts of slurmctld and slurmdbd have.  Asks no
 * daemon but munged, and changes nothing.
 */
#ifndef TIDE_SITE_HOST_H
#define TIDE_SITE_HOST_H

#include "common/site/findings.h"

struct tide_err;
struct tide_accels;

/*
 * Check the host that slurm.conf calls `name`, by the slurm.conf and gres.conf
 * in the folder dir; dev is a folder in front of names of device files, "" but
 * for tests; found is what its devices are, NULL: not known.  *ret_plugin_dir,
 * the caller's to free, is PluginDir, NULL when there is none.  Returns 0,
 * whatever was found, or -1 with errno ENOMEM and the error text.
 */
int tide_host_check(const char *dir, const char *dev, const char *name,
		    const struct tide_accels *found,
		    struct tide_findings *findings, char **ret_plugin_dir,
		    struct tide_err *err);

#endif /* TIDE_SITE_HOST_H */
