/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The password of the database, where slurmdbd.conf names a script that tells
 * it.  Runs in slurmdbd.
 */
#ifndef TIDE_COMPAT_STORAGE_H
#define TIDE_COMPAT_STORAGE_H

#include "common/util/err.h"

/*
 * What `script` (StoragePassScript) tells for that user there; Slurm's own
 * plugin has looked at its owner and mode when slurmdbd started.  The caller
 * frees *ret_password.  -1 with errno and err: ETIMEDOUT, EIO it failed or
 * told nothing, ENOMEM; ENOTSUP before Slurm 25.11, which has no such script.
 * Waits for it, ten seconds at most.
 */
int tide_storage_password(const char *script, const char *host,
			  unsigned int port, const char *user,
			  char **ret_password, struct tide_err *err);

#endif
