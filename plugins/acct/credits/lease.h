/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our turn at the ledger: of several slurmdbd on one database one posts, the
 * one that holds the lease.  A holder that is known to be dead (a process of
 * this host that is no more) is not waited for.
 *
 * Threads: a lease belongs to one thread.
 */
#ifndef TIDE_ACCT_LEASE_H
#define TIDE_ACCT_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"

struct tide_lease {
	char holder[160]; /* who we are to the ledger */
	int64_t renewed;  /* 0: it is not ours */
	char other[192];  /* who holds it, when we do not */
};

/* Begin without it; now makes the name our own. */
void tide_lease_init(struct tide_lease *lease, int64_t now);

/*
 * Take it, or renew it when it is time to.  0, and whether it is ours, or -1
 * with the errors of db.h.
 */
int tide_lease_hold(struct tide_lease *lease, struct tide_db *db, int64_t now,
		    bool *ret_mine, struct tide_err *err);

/* We do not count on it any more; the ledger's own ends with time. */
void tide_lease_drop(struct tide_lease *lease);

#endif
