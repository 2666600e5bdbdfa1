/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop: steps, checkpoints in time, and what to do when a signal asks to
 * stop.  All ranks take each decision from the same numbers.
 */
#include "config.h"

#include "launcher/train/trainer.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "common/util/plural.h"
#include "launcher/train/trainer_impl.h"

double tide_trainer_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void tide_trainer_say(struct tide_trainer *t, const char *fmt, ...)
{
	va_list ap;

	if (t->rank)
		return;
	fputs("tiderun: ", t->person);
	va_start(ap, fmt);
	vfprintf(t->person, fmt, ap);
	va_end(ap);
	fputc('\n', t->person);
	fflush(t->person);
}

/* Told by the rank that met it; the others have nothing of their own to say. */
static void tell_failure(struct tide_trainer *t, const struct tide_err *err)
{
	if (errno == ECANCELED)
		return;
	if (t->rank)
		fprintf(stderr, "tiderun: rank %d on %s: %s\n", t->rank,
			t->job->host, err->text);
	else
		fprintf(stderr, "tiderun: %s\n", err->text);
}

static void report(struct tide_trainer *t, double loss, double norm,
		   double began)
{
	const struct tide_step_report r = {
		.step = t->step,
		.steps = t->settings->steps,
		.loss = loss,
		.norm = norm,
		.rate = tide_settings_rate(t->settings, t->step - 1),
		.tokens = t->plan.global_batch * t->settings->context,
		.seconds = tide_trainer_now() - began,
		.comm_seconds = tide_group_seconds(t->group),
		.ranks = t->plan.ranks,
		.run = t->job->restarts,
	};

	if (!t->rank)
		tide_telemetry_step(&t->telemetry, &r);
}

/* All ranks wait for rank 0: a rank that left first could end the step. */
static int save(struct tide_trainer *t)
{
	int rc = t->rank ? 0 : tide_trainer_save(t);

	tide_group_send_all(t->group, &rc, sizeof(rc), 0);
	/* not a part of any step's communication */
	tide_group_seconds(t->group);
	return rc;
}

/*
 * Stopped early.  Requeue only where the signal was the warning (at a TERM the
 * job is ended by somebody else) and the next run would have something to go
 * on from: a job whose every save fails must not cycle for ever.
 */
static void stop_early(struct tide_trainer *t, int asks)
{
	struct tide_err err;

	tide_trainer_say(t, "warned at step %lld: saving", (long long)t->step);
	save(t);
	if (!t->rank) {
		tide_trainer_say(
			t,
			"stopped at step %lld of %lld by a signal, %lld to go",
			(long long)t->step, (long long)t->settings->steps,
			(long long)(t->settings->steps - t->step));
		if ((asks | tide_signals_seen()) & TIDE_ENDING)
			tide_trainer_say(
				t,
				"the job is being ended: no requeue asked for");
		else if (!t->job->id[0])
			tide_trainer_say(
				t, "not in a Slurm job: start again to go on");
		else if (t->saved_step <= t->first_step &&
			 t->step > t->first_step)
			tide_trainer_say(
				t,
				"not requeued: nothing of this run could be saved");
		else if (tide_job_requeue(t->job, &err))
			tide_trainer_say(t, "%s", err.text);
		else
			tide_trainer_say(t, "requeued job %s", t->job->id);
	}
	tide_group_barrier(t->group);
}

static int loop(struct tide_trainer *t, struct tide_err *err)
{
	int64_t steps = t->settings->steps;
	int asks = 0;

	while (t->step < steps) {
		double began = tide_trainer_now(), loss, norm;
		int rc = tide_trainer_step(t, &loss, &norm, &asks, err);

		if (rc < 0) {
			tell_failure(t, err);
			tide_comm_abort(t->comm, TIDE_FAILED);
		}
		if (rc)
			return tide_err_set(
				err, t->rank ? ECANCELED : EDOM,
				"cannot go on after step %lld: loss %g, gradient %g; lower training.learning_rate, the checkpoints are from before",
				(long long)t->step, loss, norm);
		report(t, loss, norm, began);
		if (t->step < steps && asks & (TIDE_WARNED | TIDE_ENDING)) {
			stop_early(t, asks);
			return TIDE_STOPPED;
		}
		if (t->step < steps && asks & TIDE_ASK_SAVE)
			save(t);
	}
	if (t->saved_step != t->step && save(t))
		return tide_err_set(
			err, t->rank ? ECANCELED : EIO,
			"the training is complete but could not be saved");
	tide_trainer_say(t, "done: %lld step%s", (long long)steps,
			 tide_plural(steps));
	return TIDE_FINISHED;
}

int tide_train(const struct tide_settings *settings, struct tide_comm *comm,
	       const struct tide_job *job, FILE *person)
{
	struct tide_trainer t = {
		.settings = settings,
		.comm = comm,
		.job = job,
		.person = person,
	};
	struct tide_err err;
	int rc;

	rc = tide_trainer_setup(&t, &err);
	if (!rc)
		rc = loop(&t, &err);
	if (rc < 0) {
		tell_failure(&t, &err);
		rc = TIDE_FAILED;
	}
	tide_trainer_release(&t);
	return rc;
}
