/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that keeps pool jobs within their windows: sets and restores
 * limits, sends the warning, ends a run at the close, writes the reason, wakes
 * the schedulers at an opening, and reads tide.conf again when asked to.
 *
 * It lives in slurmctld only.  A pass looks under read locks, decides and
 * writes its state file under none, then acts under write locks on jobs that
 * are still as it saw them.  It never touches a disk while it holds a lock.
 *
 * Survives a restart: tide_state in StateSaveLocation (common/window/jobs.h).
 */
#ifndef TIDE_SELECT_KEEPER_H
#define TIDE_SELECT_KEEPER_H

#include <stdbool.h>

/*
 * Read tide.conf (else the last good copy, else nothing) and the state file.
 * Never fails: what is wrong is logged and the layer starts closed.  Called
 * from init(), before there are threads.
 */
void tide_keeper_init(void);

/* Start the thread unless it runs.  Called with slurmctld's locks held. */
void tide_keeper_start(void);

/* Stop it and wait for its end.  Called without slurmctld's locks. */
void tide_keeper_stop(void);

/*
 * Nodes or partitions may have changed: lay the windows over them again, from
 * memory, now; but for the first time, have the thread read tide.conf again.
 * Called with slurmctld's locks held.
 */
void tide_keeper_replan(void);

/* Something is to be looked at soon. */
void tide_keeper_poke(void);

#endif
