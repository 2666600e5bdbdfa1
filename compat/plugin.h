/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every file of a plugin includes first: Slurm's headers in the one order
 * that works (slurm_xlator.h renames functions and must come early), and the
 * version that Slurm's loader compares.
 *
 * This is Slurm's config.h, not ours: see compat/slurm/config.h.in.
 */
#ifndef TIDE_COMPAT_PLUGIN_H
#define TIDE_COMPAT_PLUGIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "config.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/common/slurm_xlator.h"

#include "src/common/log.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "compat/release.h"

/* Goes into plugin_version: the loader demands the exact micro version. */
#define TIDE_PLUGIN_VERSION SLURM_VERSION_NUMBER

/*
 * Slurm looks these up by name and has no header for them.  Its plugins' own
 * fini() returned a number up to 25.05; nobody ever looked at it.
 */
int init(void);
void fini(void);

#endif
