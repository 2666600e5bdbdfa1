/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one thread that posts: it reads tide.conf, finds ended runs in Slurm's
 * job table, charges them, and gives Slurm the limits.  It has its own
 * connection to the database and works only while this slurmdbd has control
 * and holds the ledger's lease.  Whatever fails is logged and done later; work
 * is found in the tables, so nothing is lost by a crash.
 *
 * All functions may be called from any thread of slurmdbd; only
 * tide_poster_catch_up() waits, and only as long as it is told.
 */
#ifndef TIDE_ACCT_POSTER_H
#define TIDE_ACCT_POSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"

/* 0, or -1 when no thread can be had. */
int tide_poster_start(void);
/* Waits for the thread to end its present pass. */
void tide_poster_stop(void);

/* That row of a cluster's job table ends, and is about to be committed. */
void tide_poster_wake(const char *cluster, uint64_t row);

/* Read tide.conf again. */
void tide_poster_reload(void);

/*
 * An account was enrolled, perhaps again: what was settled without it is to be
 * looked at again, and whether every account has its QOS.
 */
void tide_poster_forget(void);

/*
 * Wait until the poster has gone through its work once more, through all of
 * the job table when everything is true, but at most so many seconds.  False
 * when it did not in that time, failed, or is not the one that posts.
 */
bool tide_poster_catch_up(bool everything, int seconds);

/* A new, not yet connected connection to slurmdbd's database; NULL: no memory.
 */
struct tide_db *tide_poster_db(void);

#endif
