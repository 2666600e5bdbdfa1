/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds ended runs that have no charge, in the rows that hints tell (hints.h)
 * or in all of the job table, and has them posted, page by page.
 *
 * All of the table means: from the first row that is not settled.  A row is
 * settled when it and all before it have ended and were looked at; that is
 * remembered for each cluster, until slurmdbd ends.
 *
 * Errors are those of db.h.  Threads: the poster's only.
 */
#ifndef TIDE_ACCT_CHARGER_H
#define TIDE_ACCT_CHARGER_H

#include <stdbool.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"
#include "plugins/acct/credits/rates.h"

struct tide_mark;
struct tide_tres;

struct tide_charger {
	/* Set by the owner, who keeps them. */
	struct tide_db *db;
	struct tide_rates *rates; /* there are some */
	const char *holder;	  /* of the ledger's lease */
	/* Told what could not be charged, and goes on. */
	void (*complain)(const char *what, const struct tide_err *err);
	/* Called between pages, with the milliseconds that one took. */
	void (*yield)(int64_t ms);
	/* The charger's own. */
	struct tide_tres *tres;
	struct tide_mark *marks;
};

/* 0, or -1 with ENOMEM. */
int tide_charger_init(struct tide_charger *charger);
void tide_charger_release(struct tide_charger *charger);

/*
 * Charge what the hints say, or all there is.  Hints whose rows were not there
 * yet are kept for some seconds.  After a failure the next call has to be for
 * all.
 */
int tide_charger_run(struct tide_charger *charger, bool all,
		     struct tide_err *err);

/* Nothing is settled: an account was enrolled, or tide.conf is another. */
void tide_charger_forget(struct tide_charger *charger);

#endif
