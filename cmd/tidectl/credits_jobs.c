/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl credits detach: jobs that slurmctld has under the QOS of an account.
 * slurmdbd, which has the ledger, learns of a job some time after it was
 * submitted; a detach in between would leave it with a QOS that is gone.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/tidectl/credits.h"
#include "common/util/err.h"
#include "compat/live_jobs.h"
#include "compat/move.h"

#define GONE_WITHIN 50 /* fifths of a second, until slurmctld knows */

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

json_t *credits_find_job(const json_t *states, const char *cluster,
			 json_int_t number)
{
	json_t *state, *job;
	size_t i, k;

	json_array_foreach(states, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			if (json_integer_value(json_object_get(job, "job")) ==
				    number &&
			    !strcmp(text(job, "cluster"), cluster))
				return job;
		}
	}
	return NULL;
}

/* The account's state when it is one of its jobs, or NULL. */
static json_t *state_of(json_t *states, const struct tide_live_job *job,
			bool gone)
{
	json_t *state;
	size_t i;

	json_array_foreach(states, i, state)
	{
		if (!strcmp(job->qos, text(state, "qos")) ||
		    (gone && job->qos_gone && !*job->qos &&
		     !strcmp(job->account, text(state, "account"))))
			return state;
	}
	return NULL;
}

static void add_job(json_t *states, const char *cluster,
		    const struct tide_live_job *job, bool gone)
{
	json_t *known = credits_find_job(states, cluster, job->number);
	json_t *state = state_of(states, job, gone);

	/* A run that slurmctld lost in a crash runs for slurmdbd still. */
	if (known)
		json_object_set_new(known, "running",
				    json_boolean(!job->pending));
	if (!state || known)
		return;
	json_array_append_new(json_object_get(state, "jobs"),
			      json_pack("{s:s,s:I,s:s,s:b,s:b}", "cluster",
					cluster, "job", (json_int_t)job->number,
					"user", job->user, "running",
					!job->pending, "recorded", 0));
}

void credits_recorded(json_t *states)
{
	json_t *state, *job;
	size_t i, k;

	json_array_foreach(states, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			json_object_set_new(job, "recorded", json_true());
		}
	}
}

int credits_add_jobs(json_t *states, bool gone, struct tide_err *err)
{
	struct tide_live live = {0};
	char *cluster = NULL;
	int rc;

	rc = tide_move_cluster(&cluster, err);
	if (!rc && tide_live_jobs(&live))
		rc = tide_err_set(err, ENOMEM, "out of memory");
	else if (!rc && live.slurmctld_why)
		rc = tide_err_set(err, ENOTCONN, "could not ask slurmctld: %s",
				  live.slurmctld_why);
	for (size_t i = 0; !rc && i < live.n_jobs; i++)
		add_job(states, cluster, &live.job[i], gone);
	tide_live_release(&live);
	free(cluster);
	return rc;
}

const json_t *credits_unrecorded(const json_t *states, bool running,
				 const char **ret_qos)
{
	json_t *state, *job;
	size_t i, k;

	json_array_foreach(states, i, state)
	{
		json_array_foreach(json_object_get(state, "jobs"), k, job)
		{
			*ret_qos = text(state, "qos");
			if (json_is_false(json_object_get(job, "recorded")) &&
			    !json_object_get(job, "moved") &&
			    (!running ||
			     json_is_true(json_object_get(job, "running"))))
				return job;
		}
	}
	return NULL;
}

void credits_await_gone(const json_t *states)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	json_t *state;
	size_t i;

	json_array_foreach(states, i, state)
	{
		for (int left = json_is_true(json_object_get(state, "in_force"))
					? GONE_WITHIN
					: 0;
		     left && tide_move_knows(text(state, "qos")) == 1; left--)
			nanosleep(&pause, NULL);
	}
}
