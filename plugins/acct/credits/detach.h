/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of an enrolment: the account no longer pays, and the QOS that was
 * made for it goes.  Its balance and every posting stay, and what it had
 * running is charged when it ends.
 *
 * Two steps, the first in the ledger, the second in Slurm by the poster, which
 * takes away every QOS of an account that no longer pays: a crash in between
 * leaves nothing half done.
 *
 * Errors are those of db.h.  Threads: as the connection.
 */
#ifndef TIDE_ACCT_DETACH_H
#define TIDE_ACCT_DETACH_H

#include <jansson.h>
#include <stdbool.h>

#include "plugins/acct/credits/db.h"

/* The names of all accounts that were ever enrolled, as a JSON array. */
int tide_detach_accounts(struct tide_db *db, json_t **ret_names,
			 struct tide_err *err);

/*
 * How things stand with an account, as a JSON object: account, enrolled, qos,
 * qos_there, jobs (an array of cluster, job, user, running: those that have not
 * ended and are under the QOS) and down (names of clusters whose slurmctld
 * would not learn of it).  EINVAL: it was never enrolled.
 */
int tide_detach_state(struct tide_db *db, const char *account,
		      json_t **ret_state, struct tide_err *err);

/* Why the account cannot be detached in that state, or 0. */
int tide_detach_may(json_t *state, struct tide_err *err);

/* EBUSY, with a text that names what has the QOS that is to go. */
int tide_detach_used(const char *account, const json_t *jobs,
		     struct tide_err *err);

/*
 * Whether a job of the account still runs under a QOS that is gone: its use
 * would be counted half.  EBUSY, with a text, else 0.
 */
int tide_detach_over(struct tide_db *db, const char *account,
		     struct tide_err *err);

#endif
