/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tidectl credits asks and orders.  A request and its answer are JSON
 * texts; they travel in Slurm's own query of transactions, whose caller
 * slurmdbd has verified (docs/credits.md, "The channel").  They are read in
 * common/credit/request.h.
 *
 * Requests, by "op":
 *	balance	  "accounts": names (empty: all that the caller may see)
 *	statement "account", "after_txn", "after_line", "limit"
 *	audit	  "seal_id", "seal_hash" (0 and "": none)
 *	enroll	  "account", "proof"
 *	grant	  "account", "amount", "note", "request", "proof"
 *	detach	  "accounts" (empty: all that were ever enrolled), "dry_run",
 *		  "force", "proof" (not when dry_run)
 * Answers: {"ok": true, "data": ...} or {"ok": false, "error": "..."}.
 *
 * Who may: an account's members and coordinators see it, operators and
 * administrators of Slurm see all, audit, and list what a detach would meet;
 * changes are for root and SlurmUser, who prove that they read slurmdbd.conf,
 * so on its host.
 *
 * Threads: any of slurmdbd's RPC threads; requests stand in line.
 */
#ifndef TIDE_ACCT_QUERY_H
#define TIDE_ACCT_QUERY_H

#include <sys/types.h>

/*
 * Answer a request of a verified user.  db_conn is Slurm's, used only to ask
 * what the user may see.  The answer is xmalloc()ed; never NULL.
 */
char *tide_query_answer(void *db_conn, uid_t uid, const char *request);

/* The connection is closed; a later request opens it again. */
void tide_query_close(void);

#endif
