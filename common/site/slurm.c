/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurm.conf and slurmdbd.conf must say as a whole, so that our plugins
 * are the ones that are loaded and Slurm's own rules do the rest.
 */
#include "config.h"

#include "common/site/rules.h"

static void check_job_submit(struct tide_site *site)
{
	/* Slurm takes the longer form too */
	static const char *const names[] = {"tide", "job_submit/tide"};
	const char *value =
		tide_slurm_get(site->slurm, "JobSubmitPlugins", NULL);

	tide_site_words(
		site, TIDE_LEVEL_ERROR, "JobSubmitPlugins",
		names + tide_slurm_word(value, names[1]), 1,
		"nothing would notice that the layer is not loaded, and lent nodes would be always open");
}

/* What happens to a pool job in the way of an owner's. */
static void check_preempt_mode(struct tide_site *site, const char *mode,
			       const struct tide_slurm_record *record)
{
	if (!mode || tide_slurm_word(mode, "OFF"))
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record, "PreemptMode=REQUEUE",
			"PreemptMode=%s: an owner's job would wait for pool jobs on its own nodes",
			mode ? mode : "OFF (the default)");
	else if (!tide_slurm_word(mode, "REQUEUE"))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, record, "PreemptMode=REQUEUE",
			"PreemptMode=%s: pool jobs that make way for an owner do not come back by themselves",
			mode);
	else
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL,
			      "PreemptMode=%s", mode);
}

/* Slurm 22.05 has it in the first of the two keys, later ones in the second. */
static void check_preempt_signal(struct tide_site *site)
{
	static const char *const words[] = {"preempt_send_user_signal"};
	const struct tide_slurm_record *record = NULL;
	const char *later =
		tide_slurm_get(site->slurm, "PreemptParameters", &record);

	if (tide_slurm_word(later, "send_user_signal"))
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL,
			      "PreemptParameters=%s", later);
	else
		tide_site_words(
			site, TIDE_LEVEL_WARNING, "SlurmctldParameters", words,
			1,
			"a pool job that makes way for an owner is not warned by its own --signal");
}

/* An owner's job takes a lent node back by Slurm's own preemption. */
static void check_preemption(struct tide_site *site)
{
	const struct tide_slurm_record *record = NULL;
	const char *mode = tide_slurm_get(site->slurm, "PreemptMode", &record);
	const char *pool_mode = NULL;

	tide_site_value(
		site, TIDE_LEVEL_ERROR, "PreemptType", "preempt/partition_prio",
		"an owner's job would wait for pool jobs on its own nodes");
	check_preempt_mode(site, mode, record);
	if (site->pool)
		pool_mode = tide_slurm_value(site->slurm, site->pool,
					     "PreemptMode");
	if (pool_mode)
		check_preempt_mode(site, pool_mode, site->pool);
	check_preempt_signal(site);
}

void tide_site_slurm(struct tide_site *site)
{
	tide_site_plugin_dir(site, "job_submit_tide.so", "select_cons_tres.so");
	tide_site_value(site, TIDE_LEVEL_ERROR, "SelectType",
			"select/cons_tres",
			"TideFlow's layer stands in the place of that plugin");
	check_job_submit(site);
	/* backfill is the default */
	if (tide_slurm_get(site->slurm, "SchedulerType", NULL))
		tide_site_value(site, TIDE_LEVEL_WARNING, "SchedulerType",
				"sched/backfill",
				"jobs are not planned for the next window");
	if (site->conf->n_owners)
		check_preemption(site);
}

void tide_site_slurmdbd(struct tide_site *site)
{
	static const char *const needed[] = {"StoragePort", "StorageLoc"};

	tide_site_value(site, TIDE_LEVEL_ERROR, "StorageType",
			"accounting_storage/credits", "nothing is charged");
	tide_site_plugin_dir(site, "accounting_storage_credits.so",
			     "accounting_storage_mysql.so");
	for (int i = 0; i < 2; i++)
		if (!tide_slurm_get(site->slurm, needed[i], NULL))
			tide_site_say(
				site, TIDE_LEVEL_ERROR, NULL,
				i ? "StorageLoc=slurm_acct_db"
				  : "StoragePort=3306",
				"%s is not set: slurmdbd has a default for it with accounting_storage/mysql only",
				needed[i]);
}
