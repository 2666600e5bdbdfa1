/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to Slurm's own select_cons_tres.so: found, opened, and every
 * operation that is not ours passed on to it.
 *
 * The list of operations is cut out of Slurm's own interface source when the
 * plugin is built, so a release that adds or drops one needs no change
 * here.  An operation is passed on by a jump that touches neither arguments nor
 * result, so its signature does not matter.
 *
 * Slurm's copy is opened by absolute path.  It must not be an ELF dependency:
 * symbol lookup would then show Slurm's code our plugin_type in place of its
 * own.
 */
#ifndef TIDE_SELECT_FORWARD_H
#define TIDE_SELECT_FORWARD_H

#include "compat/select.h"

#include "common/util/err.h"

/*
 * Open Slurm's select_cons_tres.so: the first one in the folders of plugindir
 * (Slurm's PluginDir) after the folder this plugin was loaded from.  Runs its
 * init().  Called again it does nothing and returns 1.
 *
 * Errors: ENOENT no such file; EINVAL not that plugin, another version, or an
 * operation is missing; EIO its init() failed.
 * Locks: none; called from init(), before there are threads.
 */
int tide_forward_open(const char *plugindir, struct tide_err *err);

/* Run Slurm's fini() and close the file; no operation may be called after. */
void tide_forward_close(void);

/* Where it was found; NULL before. */
const char *tide_forward_path(void);

/*
 * Slurm's own, e.g. tide_next_select_p_job_test; NULL before
 * tide_forward_open().
 */
#define TIDE_NEXT(op) extern __typeof__(op) *tide_next_##op;
TIDE_OPERATIONS(TIDE_NEXT)
#undef TIDE_NEXT

#endif
