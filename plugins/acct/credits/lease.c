/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lease of the ledger.  What is done with it is the poster's business. */
#include "config.h"

#include "plugins/acct/credits/lease.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/acct/credits/ledger.h"

#define LEASE_S 30 /* how long the ledger is ours when we are gone */
#define RENEW_S 10 /* a lease is renewed when it is older than this */

void tide_lease_init(struct tide_lease *lease, int64_t now)
{
	char host[100] = "";

	memset(lease, 0, sizeof(*lease));
	gethostname(host, sizeof(host) - 1);
	snprintf(lease->holder, sizeof(lease->holder), "%s:%d:%" PRId64, host,
		 (int)getpid(), now);
}

/* Whether a holder was a process of this host that is no more. */
static bool is_dead(const struct tide_lease *lease, const char *holder)
{
	size_t len = strcspn(lease->holder, ":");
	long pid;

	if (strncmp(holder, lease->holder, len) || holder[len] != ':')
		return false;
	pid = strtol(holder + len + 1, NULL, 10);
	return pid > 0 &&
	       (pid == getpid() || (kill((pid_t)pid, 0) && errno == ESRCH));
}

int tide_lease_hold(struct tide_lease *lease, struct tide_db *db, int64_t now,
		    bool *ret_mine, struct tide_err *err)
{
	char *holder = NULL;
	bool mine = false;
	int rc;

	if (lease->renewed && now >= lease->renewed &&
	    now < lease->renewed + RENEW_S) {
		*ret_mine = true;
		return 0;
	}
	if (tide_ledger_holder(db, &holder, err))
		return -1;
	rc = tide_ledger_lease(db, lease->holder,
			       is_dead(lease, holder) ? holder : NULL, LEASE_S,
			       &mine, err);
	snprintf(lease->other, sizeof(lease->other), "%s", mine ? "" : holder);
	lease->renewed = !rc && mine ? now : 0;
	free(holder);
	if (!rc)
		*ret_mine = mine;
	return rc;
}

void tide_lease_drop(struct tide_lease *lease)
{
	lease->renewed = 0;
}
