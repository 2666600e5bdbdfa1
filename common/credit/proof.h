/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows that who sends a request can read a file that only root and SlurmUser
 * of one host can read (slurmdbd.conf), without sending the file.
 *
 * Threads: no state.
 */
#ifndef TIDE_CREDIT_PROOF_H
#define TIDE_CREDIT_PROOF_H

#include "common/util/err.h"

/*
 * HMAC-SHA-256 (RFC 2104) of the request, keyed by the file's bytes, as 64
 * hexadecimal digits that the caller frees.  0, or -1 with errno: what reading
 * the file gave, EINVAL when it is empty or larger than a megabyte, EIO when
 * libcrypto failed, ENOMEM.
 */
int tide_proof_make(const char *request, const char *path, char **ret_proof,
		    struct tide_err *err);

#endif
