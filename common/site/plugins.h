/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plugins of Slurm as files.  No state; safe from any thread. */
#ifndef TIDE_SITE_PLUGINS_H
#define TIDE_SITE_PLUGINS_H

#include <stdint.h>

struct tide_err;

/*
 * The version of Slurm that the plugin was built for (common/util/version.h).
 * Returns 0, or -1 with errno and the error text: that of open(2), or EINVAL:
 * no such plugin.
 */
int tide_plugin_version(const char *path, uint32_t *ret_version,
			struct tide_err *err);

#endif /* TIDE_SITE_PLUGINS_H */
