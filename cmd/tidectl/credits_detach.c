/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl credits detach: first the jobs, which slurmctld knows, then the
 * account, which slurmdbd does.  Every step may be done again.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/tidectl/credits.h"
#include "common/util/err.h"
#include "compat/move.h"

#define MOVED_WITHIN 50 /* fifths of a second, until slurmdbd knows */

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static json_int_t job_id(const json_t *job)
{
	return json_integer_value(json_object_get(job, "job"));
}

static bool is(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static json_t *request(const struct credits_args *args, bool dry_run)
{
	json_t *names = json_array();

	for (int i = 0; i < args->argc; i++)
		json_array_append_new(names, json_string(args->argv[i]));
	return json_pack("{s:s,s:o,s:b,s:b}", "op", "detach", "accounts", names,
			 "dry_run", (int)dry_run, "force", (int)args->force);
}

/* The state of every account that is meant. */
static json_t *ask(const struct credits_args *args)
{
	json_t *states = credits_ask(request(args, true));

	credits_recorded(states);
	return states;
}

static void say_why(json_t *job, const struct tide_err *err)
{
	json_object_set_new(job, "why", tidectl_json_text(err->text));
}

/* Move one pending job of this cluster; 1 when slurmctld has done so. */
static int move(const json_t *state, json_t *job)
{
	char *qos = NULL;
	struct tide_err err;
	int rc;

	rc = tide_move_target(text(job, "cluster"), text(state, "account"),
			      text(job, "user"), text(state, "qos"), &qos,
			      &err);
	if (!rc)
		rc = tide_move_job(job_id(job), qos, &err);
	if (rc)
		say_why(job, &err);
	else
		json_object_set_new(job, "moved", json_string(qos));
	free(qos);
	return !rc;
}

/* A refusal should find everything as it was. */
static bool will_be_refused(const json_t *states)
{
	json_t *state, *job;
	size_t i, k;

	json_array_foreach(states, i, state)
	{
		if (!is(state, "qos_there"))
			continue;
		if (json_array_size(json_object_get(state, "down")))
			return true;
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			if (is(job, "running"))
				return true;
		}
	}
	return false;
}

/* What waits, and was not tried yet, can be moved; how many were. */
static int move_jobs(json_t *states)
{
	char *cluster = NULL;
	struct tide_err err = {""};
	json_t *state, *job;
	size_t i, k;
	int moved = 0;

	json_array_foreach(states, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			if (is(job, "running") ||
			    json_object_get(job, "moved") ||
			    json_object_get(job, "why"))
				continue;
			if (!cluster && tide_move_cluster(&cluster, &err))
				say_why(job, &err);
			else if (!strcmp(cluster, text(job, "cluster")))
				moved += move(state, job);
		}
	}
	free(cluster);
	return moved;
}

/* How many jobs of `before` that were moved are in `now` still. */
static int still_there(json_t *before, json_t *now)
{
	json_t *state, *job;
	size_t i, k;
	int count = 0;

	json_array_foreach(before, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			count += json_object_get(job, "moved") &&
				 credits_find_job(now, text(job, "cluster"),
						  job_id(job));
		}
	}
	return count;
}

/* slurmctld tells slurmdbd in its own time. */
static int await_moves(const struct credits_args *args, json_t *before)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	json_t *now;
	int left = 1;

	for (int i = 0; left && i < MOVED_WITHIN; i++) {
		nanosleep(&pause, NULL);
		now = ask(args);
		if (!now)
			return -1;
		left = still_there(before, now);
		json_decref(now);
	}
	return 0;
}

static void print_job(const json_t *job)
{
	printf("  job %" JSON_INTEGER_FORMAT " of %s, cluster %s, %s: ",
	       job_id(job), text(job, "user"), text(job, "cluster"),
	       is(job, "running") ? "running" : "pending");
	if (json_object_get(job, "moved"))
		printf("moved to QOS %s\n", text(job, "moved"));
	else if (*text(job, "why"))
		printf("holds it, and cannot be moved (%s)\n",
		       text(job, "why"));
	else
		puts("holds it");
}

static void print_state(const json_t *state)
{
	const json_t *jobs = json_object_get(state, "jobs");
	const json_t *down = json_object_get(state, "down"), *one;
	size_t i;

	printf("account %s: %s, QOS %s %s\n", text(state, "account"),
	       is(state, "enrolled") ? "enrolled" : "not enrolled",
	       text(state, "qos"),
	       is(state, "qos_there") ? "is there" : "is gone");
	json_array_foreach(jobs, i, one)
	{
		print_job(one);
	}
	json_array_foreach(down, i, one)
	{
		printf("  slurmctld of cluster %s is not connected\n",
		       json_string_value(one));
	}
}

static int print_states(const struct credits_args *args, json_t *states)
{
	json_t *state;
	size_t i;

	if (args->json)
		return tidectl_print_json(json_incref(states));
	json_array_foreach(states, i, state)
	{
		print_state(state);
	}
	return TIDECTL_DONE;
}

/* The jobs that were seen go into the answer. */
static void keep_jobs(json_t *done, const json_t *seen)
{
	json_t *state;
	size_t i;

	json_array_foreach(done, i, state)
	{
		json_object_set(state, "jobs",
				json_object_get(json_array_get(seen, i),
						"jobs"));
	}
}

/* From Slurm 25.05 on a QOS stays for jobs that have it. */
static const char *when_gone(const json_t *state)
{
	json_t *job;
	size_t i;

	if (is(state, "in_force"))
		return "";
	json_array_foreach(json_object_get(state, "jobs"), i, job)
	{
		if (!json_object_get(job, "moved"))
			return "; its QOS will be removed when no job has it";
	}
	return "; its QOS will be removed soon";
}

static int print_done(const struct credits_args *args, json_t *done)
{
	json_t *state, *job;
	size_t i, k;

	if (args->json)
		return tidectl_print_json(json_incref(done));
	json_array_foreach(done, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			print_job(job);
		}
		printf("account %s %s; its balance and every posting stay%s\n",
		       text(state, "account"),
		       is(state, "already") ? "paid no more before"
					    : "pays no more",
		       when_gone(state));
	}
	return TIDECTL_DONE;
}

/* Does any of the accounts have its QOS still? */
static bool any_qos(const json_t *states)
{
	json_t *state;
	size_t i;

	json_array_foreach(states, i, state)
	{
		if (is(state, "qos_there"))
			return true;
	}
	return false;
}

/*
 * All that can be moved is, and slurmdbd knows; false, said on stderr, when the
 * QOS has to stay all the same.  What slurmdbd can see it refuses itself.
 */
static bool make_free(const struct credits_args *args, json_t *seen)
{
	bool refused = !args->force && will_be_refused(seen);
	const json_t *job;
	const char *qos;

	if (!refused && move_jobs(seen) && await_moves(args, seen))
		return false;
	job = credits_unrecorded(seen, refused, &qos);
	if (args->force || !job)
		return true;
	tidectl_fail("QOS '%s' is in use by job %" JSON_INTEGER_FORMAT
		     " of cluster '%s', which slurmdbd does not know of yet",
		     qos, job_id(job), text(job, "cluster"));
	return false;
}

/* What was submitted between our look and the end of the QOS. */
static void mend(const struct credits_args *args, const json_t *done,
		 json_t *seen)
{
	struct tide_err err;

	credits_await_gone(done);
	if (credits_add_jobs(seen, true, &err))
		fprintf(stderr,
			"tidectl: %s; what was submitted meanwhile may wait with the reason InvalidQOS: give the command again\n",
			err.text);
	else if (move_jobs(seen))
		await_moves(args, seen);
}

static int detach(const struct credits_args *args, json_t *seen)
{
	struct tide_err err;
	json_t *done = NULL;
	int status;

	if (credits_add_jobs(seen, false, &err) && any_qos(seen) &&
	    !args->force && !will_be_refused(seen))
		return tidectl_fail("%s", err.text);
	if (make_free(args, seen))
		done = credits_change(request(args, false));
	if (done) {
		mend(args, done, seen);
		keep_jobs(done, seen);
		status = print_done(args, done);
	} else {
		/* The reason was said; this is the whole of it. */
		print_states(args, seen);
		status = TIDECTL_FAILED;
	}
	json_decref(done);
	return status;
}

int credits_detach(const struct credits_args *args)
{
	struct tide_err err;
	json_t *seen;
	int status;

	if (!args->argc != args->all)
		return tidectl_usage(
			&tidectl_credits,
			"credits detach: either accounts or --all");
	seen = ask(args);
	if (!seen)
		return TIDECTL_FAILED;
	if (args->dry_run) {
		/* That slurmctld is away is told by slurmdbd. */
		credits_add_jobs(seen, false, &err);
		status = print_states(args, seen);
	} else {
		status = detach(args, seen);
	}
	json_decref(seen);
	return status;
}
