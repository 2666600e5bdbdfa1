/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running cluster against the files.  See live.h. */
#include "config.h"

#include "common/site/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/charge.h"
#include "common/site/rules.h"
#include "common/util/err.h"

#define CLOCK_SLACK_S 5

void tide_live_release(struct tide_live *live)
{
	for (size_t i = 0; i < live->n_qos; i++) {
		free(live->qos[i].name);
		free(live->qos[i].limits);
	}
	free(live->qos);
	for (size_t i = 0; i < live->n_assocs; i++) {
		free(live->assoc[i].user);
		free(live->assoc[i].account);
		free(live->assoc[i].qos);
		free(live->assoc[i].limits);
	}
	free(live->assoc);
	for (size_t i = 0; i < live->n_strays; i++) {
		free(live->stray[i].user);
		free(live->stray[i].account);
	}
	free(live->stray);
	for (size_t i = 0; i < live->n_jobs; i++) {
		free(live->job[i].id);
		free(live->job[i].user);
		free(live->job[i].account);
		free(live->job[i].partition);
		free(live->job[i].qos);
	}
	free(live->job);
	for (size_t i = 0; i < live->n_nodes; i++) {
		free(live->node[i].name);
		free(live->node[i].version);
		free(live->node[i].reason);
		free(live->node[i].gres);
	}
	free(live->node);
	free(live->tres);
	tide_names_release(&live->accounts);
	free(live->refused_why);
	free(live->slurmdbd_why);
	free(live->slurmctld_why);
	free(live->version);
	free(live->plugin_dir);
	memset(live, 0, sizeof(*live));
}

static int has_account(const struct tide_live *live, const char *account)
{
	for (size_t i = 0; i < live->accounts.count; i++)
		if (!strcmp(live->accounts.name[i], account))
			return 1;
	return 0;
}

static void check_account(struct tide_site *site, const struct tide_live *live,
			  const char *key, const char *account)
{
	char fix[128];

	if (!account)
		return;
	if (has_account(live, account)) {
		tide_site_say(site, TIDE_LEVEL_OK, NULL, NULL,
			      "%s=%s is an account", key, account);
		return;
	}
	snprintf(fix, sizeof(fix), "sacctmgr add account %s", account);
	tide_site_say(site, TIDE_LEVEL_ERROR, NULL, fix,
		      "%s=%s: slurmdbd knows no such account", key, account);
}

static void check_accounts(struct tide_site *site, const struct tide_live *live)
{
	check_account(site, live, "PoolAccount", site->conf->pool_account);
	check_account(site, live, "IssueAccount", site->conf->issue_account);
	for (int i = 0; i < site->conf->n_owners; i++)
		check_account(site, live, "OwnerAccount",
			      site->conf->owner[i].account);
}

int tide_site_pays(const struct tide_live *live, const char *qos)
{
	for (size_t i = 0; i < live->accounts.count; i++) {
		char *name = tide_qos_name(live->accounts.name[i]);
		int same = name && !strcmp(name, qos);

		free(name);
		if (same)
			return 1;
	}
	return 0;
}

static void check_qos(struct tide_site *site, const struct tide_live *live)
{
	char fix[256];

	for (size_t i = 0; i < live->n_qos; i++) {
		const struct tide_live_qos *qos = &live->qos[i];

		if (!tide_site_pays(live, qos->name))
			continue;
		snprintf(
			fix, sizeof(fix),
			"sacctmgr modify qos %s set flags+=NoDecay,UsageFactorSafe",
			qos->name);
		if (qos->no_decay && qos->factor_safe)
			tide_site_say(site, TIDE_LEVEL_OK, NULL, NULL,
				      "QOS %s has NoDecay and UsageFactorSafe",
				      qos->name);
		else
			tide_site_say(
				site, TIDE_LEVEL_ERROR, NULL, fix,
				"QOS %s has no %s: its account could spend credits twice",
				qos->name,
				qos->no_decay ? "UsageFactorSafe" : "NoDecay");
	}
}

static void check_slurmctld(struct tide_site *site,
			    const struct tide_live *live,
			    const char *plugins_for)
{
	const struct tide_slurm_record *record = NULL;
	const char *dir = tide_slurm_get(site->slurm, "PluginDir", &record);
	char fix[128];

	snprintf(fix, sizeof(fix), "build TideFlow for Slurm %s",
		 live->version);
	if (!strcmp(live->version, plugins_for))
		tide_site_say(
			site, TIDE_LEVEL_OK, NULL, NULL,
			"slurmctld runs Slurm %s, which the plugins are built for",
			live->version);
	else
		tide_site_say(
			site, TIDE_LEVEL_ERROR, NULL, fix,
			"slurmctld runs Slurm %s, but the plugins are built for %s: it would not load them",
			live->version, plugins_for);
	if (dir && strcmp(dir, live->plugin_dir))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, record, "restart slurmctld",
			"PluginDir is %s here, but slurmctld was started with %s",
			dir, live->plugin_dir);
}

/* MUNGE refuses what is 5 minutes old. */
static void check_clock(struct tide_site *site, const char *whose,
			int64_t ahead, const char *why)
{
	long long off = (long long)ahead;
	char fix[200];

	snprintf(fix, sizeof(fix), "chronyc tracking, here and on %s", whose);
	if (off > CLOCK_SLACK_S || off < -CLOCK_SLACK_S)
		tide_site_say(
			site, TIDE_LEVEL_WARNING, NULL, fix,
			"the clock of %s is %lld seconds %s that of this one: more than %d are too many, as %s, and MUNGE fails at 300",
			whose, off < 0 ? -off : off,
			off < 0 ? "behind" : "ahead of", CLOCK_SLACK_S, why);
	else
		tide_site_say(site, TIDE_LEVEL_OK, NULL, NULL,
			      "the clock of %s agrees with ours", whose);
}

/* What was written into the file since slurmctld was started. */
static void check_tres(struct tide_site *site, const struct tide_live *live)
{
	for (int i = 0; i < site->conf->n_devices; i++) {
		char tres[80];

		snprintf(tres, sizeof(tres), "gres/%s",
			 site->conf->device[i].name);
		if (tide_slurm_word(tide_slurm_get(site->slurm,
						   "AccountingStorageTRES",
						   NULL),
				    tres) &&
		    !tide_slurm_word(live->tres, tres))
			tide_site_say(
				site, TIDE_LEVEL_WARNING, NULL,
				"restart slurmctld",
				"slurmctld does not track %s yet: its use is not recorded by type, so it is not charged",
				tres);
	}
}

static void unasked(struct tide_site *site, int must, const char *daemon,
		    const char *why)
{
	tide_site_say(site, must ? TIDE_LEVEL_ERROR : TIDE_LEVEL_WARNING, NULL,
		      "see that it runs (systemctl status) and read its log",
		      "%s could not be asked: %s", daemon, why);
}

static void check_live(struct tide_site *site, const struct tide_live *live,
		       const char *tide_path, const char *slurm_path,
		       const char *plugins_for)
{
	if (live->refused_why) {
		site->path = slurm_path;
		tide_site_say(site, TIDE_LEVEL_ERROR, NULL, "see slurm.conf(5)",
			      "Slurm refuses this file: %s", live->refused_why);
		return;
	}
	site->path = slurm_path;
	if (live->slurmctld_why || live->slurmdbd_why)
		tide_site_munge(site);
	site->path = tide_path;
	if (live->slurmdbd_why) {
		unasked(site, live->must, "slurmdbd", live->slurmdbd_why);
	} else {
		check_accounts(site, live);
		check_qos(site, live);
	}
	site->path = slurm_path;
	if (live->has_clocks) {
		check_clock(site, "slurmdbd's host", live->slurmdbd_ahead,
			    "postings have its time");
		check_clock(site, "the database's host", live->database_ahead,
			    "it decides which slurmdbd keeps the ledger");
	}
	if (live->slurmctld_why)
		unasked(site, live->must, "slurmctld", live->slurmctld_why);
	else if (live->version && live->plugin_dir)
		check_slurmctld(site, live, plugins_for);
	if (!live->slurmctld_why) {
		check_tres(site, live);
		check_clock(site, "slurmctld's host", live->slurmctld_ahead,
			    "windows open and close by it");
		tide_site_live_nodes(site, live);
	}
	if (!live->slurmctld_why && !live->slurmdbd_why) {
		tide_site_enforce(site, live);
		tide_site_pool_jobs(site, live);
	}
}

int tide_live_check(const char *dir, const char *zoneinfo,
		    const struct tide_live *live, const char *plugins_for,
		    struct tide_findings *findings, struct tide_err *err)
{
	struct tide_problems problems = {0};
	struct tide_conf *conf = NULL;
	struct tide_slurm *slurm = NULL;
	struct tide_site site = {.findings = findings};
	char *tide_path = NULL, *slurm_path = NULL;

	if (asprintf(&tide_path, "%s/tide.conf", dir) < 0 ||
	    asprintf(&slurm_path, "%s/slurm.conf", dir) < 0) {
		findings->lost = 1;
		goto end;
	}
	if (!tide_conf_load(tide_path, zoneinfo, &conf, NULL, NULL) &&
	    !tide_slurm_load(slurm_path, &slurm, &problems, NULL)) {
		site.conf = conf;
		site.slurm = slurm;
		check_live(&site, live, tide_path, slurm_path, plugins_for);
	} else {
		findings->lost |= errno == ENOMEM;
	}
end:
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
	tide_conf_destroy(conf);
	free(tide_path);
	free(slurm_path);
	return findings->lost ? tide_err_set(err, ENOMEM, "out of memory") : 0;
}
