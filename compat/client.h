/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from a command to the credits plugin in slurmdbd: one text there, one
 * text back.  It goes through slurmdbd's query of transactions, so slurmdbd
 * has verified by MUNGE who asks, and no daemon or password of ours is needed.
 * Stands on public libslurm alone.
 *
 * Threads: one call at a time; the first call reads slurm.conf.  libslurm ends
 * the process, with a message, when there is no slurm.conf.
 */
#ifndef TIDE_COMPAT_CLIENT_H
#define TIDE_COMPAT_CLIENT_H

#include "common/util/err.h"

/* Make libslurm ready, once; every command does this first. */
void tide_client_start(void);

/*
 * Ask slurmdbd.  The answer is the caller's to free.  0, or -1 with errno:
 *	ENOTCONN	slurmdbd cannot be reached, or refused
 *	ENOSYS		slurmdbd runs without the credits plugin
 *	ENOMEM
 */
int tide_client_ask(const char *request, char **ret_answer,
		    struct tide_err *err);

#endif
