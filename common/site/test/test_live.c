/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of a running cluster against files: what is right and what is not. */
#include "config.h"

#include "common/site/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-test-live.XXXXXX";

static char *accounts[] = {"centre", "mint", "nlp", "vision"};
static struct tide_live_qos qos[] = {
	{"normal", 0, 0, NULL},
	{"tide_vision", 1, 1, NULL},
	{"tide_nobody", 0, 0, NULL},
};

/* All is well; each case spoils one thing. */
static struct tide_live good(void)
{
	static char version[] = "22.05.8", dir[] = "/ours:/stock";

	qos[1].no_decay = qos[1].factor_safe = 1;
	return (struct tide_live){
		.accounts = {accounts, 4},
		.qos = qos,
		.n_qos = 3,
		.version = version,
		.plugin_dir = dir,
		.enforces = 1,
	};
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out || fputs(text, out) < 0 || fclose(out))
		diag("cannot write %s", path);
}

/* The levels in order, and what is not ok. */
static void is_found(const struct tide_live *live, const char *plugins_for,
		     size_t count, const char *want, const char *fix,
		     const char *name)
{
	struct tide_findings findings = {0};
	const struct tide_finding *bad = NULL;
	struct tide_err err = {""};
	int pass;

	pass = !tide_live_check(folder, NULL, live, plugins_for, &findings,
				&err) &&
	       findings.count == count;
	for (size_t i = 0; i < findings.count; i++)
		if (findings.finding[i].level != TIDE_LEVEL_OK)
			bad = &findings.finding[i];
	if (want)
		pass = pass && bad && strstr(bad->what, want) &&
		       (!fix || (bad->fix && strstr(bad->fix, fix)));
	else
		pass = pass && !bad;
	if (!ok(pass, "%s", name))
		diag("%zu findings, %s", findings.count,
		     bad ? bad->what : "all ok");
	tide_findings_release(&findings);
}

int main(void)
{
	static char old[] = "22.05.7", other[] = "/stock", why[] = "no answer";
	static char tracked[] = "cpu,gres/gpu:a";
	struct tide_live live = good();

	if (!mkdtemp(folder)) {
		ok(0, "a folder of our own: %s", strerror(errno));
		return tap_done();
	}
	is_found(&live, "22.05.8", 0, NULL, NULL, "without files nothing");
	put("tide.conf",
	    "PoolPartition=p\nPoolAccount=centre IssueAccount=mint\n"
	    "Device=gpu:a Rate=1\nOwnerAccount=nlp Nodes=n1\n");
	put("slurm.conf", "PluginDir=/ours:/stock\n");
	is_found(&live, "22.05.8", 7, NULL, NULL, "all is well");
	live.accounts.count = 2;
	is_found(&live, "22.05.8", 6, "OwnerAccount=nlp: slurmdbd knows no",
		 "sacctmgr add account nlp", "an owner without an account");
	live = good();
	qos[1].no_decay = 0;
	is_found(&live, "22.05.8", 7, "QOS tide_vision has no NoDecay",
		 "sacctmgr modify qos tide_vision", "a QOS that decays");
	live = good();
	qos[1].factor_safe = 0;
	is_found(&live, "22.05.8", 7, "has no UsageFactorSafe",
		 "flags+=", "a QOS without UsageFactorSafe");
	live = good();
	is_found(&live, "22.05.9", 7, "slurmctld runs Slurm 22.05.8, but",
		 "build TideFlow for Slurm 22.05.8",
		 "plugins of another build");
	live.version = old;
	is_found(&live, "22.05.8", 7, "slurmctld runs Slurm 22.05.7",
		 "build TideFlow for Slurm 22.05.7", "another slurmctld");
	live = good();
	live.plugin_dir = other;
	is_found(&live, "22.05.8", 8, "slurmctld was started with /stock",
		 "restart slurmctld", "a file that is newer than slurmctld");
	live = good();
	live.slurmctld_ahead = -42;
	is_found(&live, "22.05.8", 7,
		 "slurmctld's host is 42 seconds behind that of this one",
		 "chronyc", "a clock that is behind");
	live.slurmctld_ahead = 6;
	is_found(&live, "22.05.8", 7, "6 seconds ahead of that of this one",
		 "chronyc", "a clock that is ahead");
	live = good();
	live.has_clocks = 1;
	is_found(&live, "22.05.8", 9, NULL, NULL, "three clocks that agree");
	live.slurmdbd_ahead = -6;
	is_found(&live, "22.05.8", 9,
		 "the clock of slurmdbd's host is 6 seconds behind that of this one: more than 5",
		 "on slurmdbd's host", "slurmdbd's clock is behind");
	live.slurmdbd_ahead = 5;
	live.database_ahead = 400;
	is_found(&live, "22.05.8", 9,
		 "the clock of the database's host is 400 seconds ahead of that",
		 "on the database's host", "the database's is ahead");
	live = good();
	put("slurm.conf",
	    "PluginDir=/ours:/stock\nAccountingStorageTRES=gres/gpu:a\n");
	is_found(&live, "22.05.8", 8, "does not track gres/gpu:a yet",
		 "restart slurmctld", "a TRES that is not tracked yet");
	live.tres = tracked;
	is_found(&live, "22.05.8", 7, NULL, NULL, "a TRES that is tracked");
	live = good();
	put("slurm.conf",
	    "PluginDir=/ours:/stock\nAuthInfo=ttl=60,socket=/nowhere\n");
	live.slurmdbd_why = why;
	is_found(&live, "22.05.8", 4, "slurmdbd could not be asked: no answer",
		 NULL, "no slurmdbd");
	live = good();
	live.slurmctld_why = why;
	is_found(&live, "22.05.8", 6, "slurmctld could not be asked", NULL,
		 "no slurmctld");
	live = good();
	live.refused_why = why;
	is_found(&live, "22.05.8", 1, "Slurm refuses this file: no answer",
		 "slurm.conf(5)", "a slurm.conf that Slurm refuses");
	tap_remove(folder);
	return tap_done();
}
