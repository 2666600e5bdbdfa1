/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks tide-devices, a program of its own, which devices of a GRES this node
 * has. Kills it at a limit; one that cannot be killed, in the middle of a
 * driver, is left behind.
 *
 * Called in slurmd, under Slurm's gres lock. No signal handler is changed.
 */
#ifndef TIDE_GRES_ASK_H
#define TIDE_GRES_ASK_H

#include "compat/gres.h"

/*
 * What it prints, which the caller xfree()s, when lines are what gres.conf has
 * of this GRES. NULL when it cannot be run, fails, or has no answer within the
 * limit; then *ret_why says so, which the caller xfree()s as well.
 */
char *tide_ask(const char *name, const char *lines, int limit_ms,
	       char **ret_why);

#endif
