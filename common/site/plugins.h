/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plugins of Slurm as files.  No state; safe from any thread. */
#ifndef TIDE_SITE_PLUGINS_H
#define TIDE_SITE_PLUGINS_H

struct tide_err;

enum {
	TIDE_VERSION_SIZE = 16
};

/*
 * The release that the plugin was built for, as in "22.05.8".  Returns 0, or -1
 * with errno and the error text: that of open(2), or EINVAL: no such plugin.
 */
int tide_plugin_version(const char *path, char ret_text[TIDE_VERSION_SIZE],
			struct tide_err *err);

#endif /* TIDE_SITE_PLUGINS_H */
