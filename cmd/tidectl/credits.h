/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the subcommands of `tidectl credits` share.  cmd_credits.c finds the
 * subcommand and talks to slurmdbd, credits_change.c has enroll and grant,
 * credits_detach.c and credits_jobs.c detach, credits_show.c balance, statement
 * and audit.
 */
#ifndef TIDE_TIDECTL_CREDITS_H
#define TIDE_TIDECTL_CREDITS_H

#include <jansson.h>
#include <stdbool.h>

#include "cmd/tidectl/tidectl.h"

/* The options of all subcommands; which takes which is checked. */
struct credits_args {
	bool json;
	const char *note;	 /* --note */
	const char *seal;	 /* --seal */
	const char *export_seal; /* --export-seal */
	bool all;		 /* --all */
	bool dry_run;		 /* --dry-run */
	bool force;		 /* --force */
	int argc;		 /* what is left: accounts, amounts */
	char **argv;
};

/*
 * Send a request, whose reference is taken, and give the "data" of the answer;
 * NULL when it was refused, which is said on stderr then.
 */
json_t *credits_ask(json_t *request);

/* The same for a change: with the proof that we can read slurmdbd.conf. */
json_t *credits_change(json_t *request);

/* "2026-12-01T08:00:00" in local time. */
const char *credits_time(json_int_t time, char buf[32]);

struct tide_err;

/*
 * What detach knows of jobs is an array of states, of accounts, as slurmdbd
 * gives them (plugins/acct/credits/detach.h).
 */

/* The job of that cluster and number, or NULL. */
json_t *credits_find_job(const json_t *states, const char *cluster,
			 json_int_t number);

/*
 * Add the jobs that slurmctld has under the QOS of an account and that are not
 * there yet, with recorded false.  gone: those too whose QOS was removed.  0,
 * or -1 with ENOTCONN or ENOMEM.
 */
int credits_add_jobs(json_t *states, bool gone, struct tide_err *err);

/* All jobs that are there are slurmdbd's. */
void credits_recorded(json_t *states);

/*
 * A job that slurmdbd does not know of and that was not moved, or NULL; with
 * running only one that runs.
 */
const json_t *credits_unrecorded(const json_t *states, bool running,
				 const char **ret_qos);

/*
 * Wait, for some seconds at most, until slurmctld has forgotten each QOS that
 * is gone.
 */
void credits_await_gone(const json_t *states);

int credits_detach(const struct credits_args *args);
int credits_enroll(const struct credits_args *args);
int credits_grant(const struct credits_args *args);
int credits_balance(const struct credits_args *args);
int credits_statement(const struct credits_args *args);
int credits_audit(const struct credits_args *args);

#endif
