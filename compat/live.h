/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurmdbd and slurmctld know, as plain facts for `tidectl check`.  Stands
 * on public libslurm alone.
 *
 * Threads: one call at a time, from a process with one thread: it forks.
 */
#ifndef TIDE_COMPAT_LIVE_H
#define TIDE_COMPAT_LIVE_H

#include "common/site/live.h"

/*
 * Fill in live, which is empty.  That a daemon cannot be asked, or
 * that libslurm refuses slurm.conf, is a fact too.  Returns 0, or -1 with errno
 * (ENOMEM, or that of fork(2)).
 */
int tide_live_ask(struct tide_live *live);

#endif /* TIDE_COMPAT_LIVE_H */
