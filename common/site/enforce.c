/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What AccountingStorageEnforce does to those who have jobs: it is in force for
 * the whole cluster from one restart to the next, so it is said before.  And
 * jobs of the pool that nothing limits.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/charge.h"
#include "common/site/live.h"
#include "common/site/rules.h"
#include "common/util/plural.h"

struct enforce {
	struct tide_site *site;
	const struct tide_live *live;
	enum tide_level level;		      /* how bad it is */
	const struct tide_live_assoc **assoc; /* by user and account */
	const struct tide_live_job **job;     /* by user and account */
	size_t found;
};

static int compare(const char *user, const char *account, const char *user2,
		   const char *account2)
{
	int order = strcmp(user, user2);

	return order ? order : strcmp(account, account2);
}

static int assoc_cmp(const void *a, const void *b)
{
	const struct tide_live_assoc *x =
		*(const struct tide_live_assoc *const *)a;
	const struct tide_live_assoc *y =
		*(const struct tide_live_assoc *const *)b;

	return compare(x->user, x->account, y->user, y->account);
}

static int job_cmp(const void *a, const void *b)
{
	const struct tide_live_job *x = *(const struct tide_live_job *const *)a;
	const struct tide_live_job *y = *(const struct tide_live_job *const *)b;

	return compare(x->user, x->account, y->user, y->account);
}

static int wanted_cmp(const void *job, const void *assoc)
{
	const struct tide_live_job *x = job;
	const struct tide_live_assoc *y =
		*(const struct tide_live_assoc *const *)assoc;

	return compare(x->user, x->account, y->user, y->account);
}

/* The association that a job needs, or NULL. */
static const struct tide_live_assoc *find(const struct enforce *e,
					  const struct tide_live_job *job)
{
	const struct tide_live_assoc **there =
		bsearch(job, e->assoc, e->live->n_assocs, sizeof(*e->assoc),
			wanted_cmp);

	return there ? *there : NULL;
}

static void say(struct enforce *e, const char *fix, const char *what)
{
	e->found++;
	tide_site_say(e->site, e->level, NULL, fix,
		      "with AccountingStorageEnforce %s", what);
}

static void say_no_assoc(struct enforce *e, const struct tide_live_job *job,
			 size_t count)
{
	const char *account = *job->account ? job->account : "ACCOUNT";
	char with[300] = "", what[700], fix[300];

	if (*job->account)
		snprintf(with, sizeof(with), " with account '%s'",
			 job->account);
	snprintf(
		what, sizeof(what),
		"user '%s' is locked out: no association%s, and %zu job%s (%s)",
		job->user, with, count, tide_plural(count), job->id);
	snprintf(fix, sizeof(fix), "sacctmgr add user %s account=%s", job->user,
		 account);
	say(e, fix, what);
}

/* The account of a user's jobs that name none; NULL when there is none. */
static const char *default_account(const struct enforce *e, const char *user)
{
	for (size_t i = 0; i < e->live->n_assocs; i++)
		if (e->assoc[i]->is_default && !strcmp(e->assoc[i]->user, user))
			return e->assoc[i]->account;
	return NULL;
}

static void check_users(struct enforce *e)
{
	size_t i, next;

	for (i = 0; i < e->live->n_jobs; i = next) {
		for (next = i + 1; next < e->live->n_jobs &&
				   !job_cmp(&e->job[i], &e->job[next]);
		     next++)
			;
		if (!find(e, e->job[i]) &&
		    (*e->job[i]->account ||
		     !default_account(e, e->job[i]->user)))
			say_no_assoc(e, e->job[i], next - i);
	}
}

/* A user without a default account gives --account with every job. */
static void check_defaults(struct enforce *e)
{
	size_t i, next, n = e->live->n_assocs;
	char what[300], fix[300];

	for (i = 0; i < n; i = next) {
		int has = 0;

		for (next = i; next < n &&
			       !strcmp(e->assoc[i]->user, e->assoc[next]->user);
		     next++)
			has |= e->assoc[next]->is_default;
		if (has || !*e->assoc[i]->user)
			continue;
		snprintf(
			what, sizeof(what),
			"user '%s' has no default account: what is submitted without --account is refused",
			e->assoc[i]->user);
		snprintf(fix, sizeof(fix),
			 "sacctmgr modify user %s set defaultaccount=%s",
			 e->assoc[i]->user, e->assoc[i]->account);
		say(e, fix, what);
	}
}

static void check_qos(struct enforce *e)
{
	char what[400], fix[400];

	for (size_t i = 0; i < e->live->n_jobs; i++) {
		const struct tide_live_job *job = e->job[i];
		const struct tide_live_assoc *assoc = find(e, job);

		if (!job->pending || !*job->qos || !assoc ||
		    tide_slurm_word(assoc->qos, job->qos))
			continue;
		snprintf(
			what, sizeof(what),
			"job %s is held: user '%s' of account '%s' may not use QOS '%s'",
			job->id, job->user, job->account, job->qos);
		snprintf(fix, sizeof(fix),
			 "sacctmgr modify user %s where account=%s set qos+=%s",
			 job->user, job->account, job->qos);
		say(e, fix, what);
	}
}

/* Is a job of that user and account there? */
static int has_job(const struct enforce *e, const struct tide_live_job *wanted)
{
	return bsearch(&wanted, e->job, e->live->n_jobs, sizeof(*e->job),
		       job_cmp) != NULL;
}

/*
 * Who has no job now, and ran without an association some time ago.  A warning
 * only: may be gone since.
 */
static void check_strays(struct enforce *e)
{
	char with[300], fix[300];

	for (size_t i = 0; i < e->live->n_strays; i++) {
		const struct tide_live_stray *stray = &e->live->stray[i];
		const struct tide_live_job as_job = {.user = stray->user,
						     .account = stray->account};
		const int named = *stray->account != '\0';

		if (has_job(e, &as_job) || find(e, &as_job) ||
		    (!named && default_account(e, stray->user)))
			continue;
		snprintf(with, sizeof(with), " with account '%s'",
			 stray->account);
		snprintf(fix, sizeof(fix), "sacctmgr add user %s account=%s",
			 stray->user, named ? stray->account : "ACCOUNT");
		e->found++;
		tide_site_say(
			e->site, TIDE_LEVEL_WARNING, NULL, fix,
			"with AccountingStorageEnforce user '%s' is locked out: no association%s, and %zu job%s in the last %d days",
			stray->user, named ? with : "", stray->jobs,
			tide_plural(stray->jobs), e->live->stray_days);
	}
}

static int sort_all(struct enforce *e)
{
	const struct tide_live *live = e->live;

	e->assoc = calloc(live->n_assocs + 1, sizeof(*e->assoc));
	e->job = calloc(live->n_jobs + 1, sizeof(*e->job));
	if (!e->assoc || !e->job)
		return -1;
	for (size_t i = 0; i < live->n_assocs; i++)
		e->assoc[i] = &live->assoc[i];
	for (size_t i = 0; i < live->n_jobs; i++)
		e->job[i] = &live->job[i];
	qsort(e->assoc, live->n_assocs, sizeof(*e->assoc), assoc_cmp);
	qsort(e->job, live->n_jobs, sizeof(*e->job), job_cmp);
	return 0;
}

void tide_site_enforce(struct tide_site *site, const struct tide_live *live)
{
	struct enforce e = {.site = site, .live = live};

	if (!site->conf->n_devices)
		return;
	if (live->enforces) {
		tide_site_say(
			site, TIDE_LEVEL_OK, NULL, NULL,
			"slurmctld enforces associations, limits and QOS");
		return;
	}
	/* What is written is in force at the next restart. */
	e.level = tide_slurm_get(site->slurm, "AccountingStorageEnforce", NULL)
			  ? TIDE_LEVEL_ERROR
			  : TIDE_LEVEL_WARNING;
	if (sort_all(&e)) {
		site->findings->lost = 1;
	} else {
		check_users(&e);
		check_defaults(&e);
		check_qos(&e);
		check_strays(&e);
		e.found += tide_site_limits(site, live);
		if (!e.found)
			tide_site_say(
				site, TIDE_LEVEL_OK, NULL, NULL,
				"AccountingStorageEnforce locks out nobody who has jobs");
	}
	free(e.assoc);
	free(e.job);
}

static int has_qos(const struct tide_live *live, const char *name)
{
	for (size_t i = 0; i < live->n_qos; i++)
		if (!strcmp(live->qos[i].name, name))
			return 1;
	return 0;
}

/* It was submitted before Slurm asked for an account. */
static void say_no_account(struct tide_site *site,
			   const struct tide_live_job *job)
{
	char fix[200];

	snprintf(fix, sizeof(fix), "scontrol update jobid=%s account=ACCOUNT",
		 job->id);
	tide_site_say(
		site, TIDE_LEVEL_WARNING, NULL, fix,
		"job %s of the pool has no account: nobody will be charged for it",
		job->id);
}

static void check_job_qos(struct tide_site *site, const struct tide_live *live,
			  const struct tide_live_job *job)
{
	char *qos = tide_qos_name(job->account), fix[200];

	if (!qos) {
		site->findings->lost = 1;
		return;
	}
	snprintf(fix, sizeof(fix), "scontrol update jobid=%s qos=%s", job->id,
		 qos);
	if (strcmp(job->qos, qos) && has_qos(live, qos))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, NULL, fix,
			"job %s of the pool waits under QOS '%s': it will be charged to account '%s', but no limit holds it",
			job->id, job->qos, job->account);
	free(qos);
}

void tide_site_pool_jobs(struct tide_site *site, const struct tide_live *live)
{
	if (!site->conf->n_devices)
		return;
	for (size_t i = 0; i < live->n_jobs; i++) {
		const struct tide_live_job *job = &live->job[i];

		if (!job->pending ||
		    !tide_slurm_word(job->partition,
				     site->conf->pool_partition))
			continue;
		if (*job->account)
			check_job_qos(site, live, job);
		else
			say_no_account(site, job);
	}
}
