/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration files of a site against each other: reads them and has the
 * rules look at them.  See site.h.
 */
#include "config.h"

#include "common/site/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/site/plugins.h"
#include "common/site/rules.h"
#include "common/util/err.h"
#include "common/util/plural.h"
#include "common/util/version.h"

/* Add ",word" to a list that is being written. */
static void list_word(FILE *out, const char *word)
{
	fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", word);
}

/* Does the value mean that there is no word?  "none", "task/none". */
static bool is_none(const char *value)
{
	const char *slash = strrchr(value, '/');

	return !*value || !strcasecmp(slash ? slash + 1 : value, "none");
}

/* The words that are missing, and the value with them. */
static int missing_words(const char *value, const char *const *words,
			 size_t n_words, char **ret_missing, char **ret_fixed)
{
	size_t size;
	FILE *missing = open_memstream(ret_missing, &size);
	FILE *fixed = open_memstream(ret_fixed, &size);
	int rc = missing && fixed ? 0 : -1;

	if (!rc && value && !is_none(value))
		list_word(fixed, value);
	for (size_t i = 0; !rc && i < n_words; i++) {
		if (tide_slurm_word(value, words[i]))
			continue;
		list_word(missing, words[i]);
		list_word(fixed, words[i]);
	}
	if (missing && fclose(missing))
		rc = -1;
	if (fixed && fclose(fixed))
		rc = -1;
	return rc;
}

void tide_site_words(struct tide_site *site, enum tide_level level,
		     const char *key, const char *const *words, size_t n_words,
		     const char *why)
{
	const struct tide_slurm_record *record = NULL;
	const char *value = tide_slurm_get(site->slurm, key, &record);
	char *missing = NULL, *fixed = NULL, *fix = NULL;

	if (!n_words)
		return;
	if (missing_words(value, words, n_words, &missing, &fixed) ||
	    asprintf(&fix, "%s=%s", key, fixed) < 0) {
		fix = NULL;
		site->findings->lost = 1;
		goto end;
	}
	if (!*missing)
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL, "%s=%s", key,
			      value);
	else if (value)
		tide_site_say(site, level, record, fix,
			      "%s=%s does not have %s: %s", key, value, missing,
			      why);
	else
		tide_site_say(site, level, NULL, fix, "%s is not set: %s", key,
			      why);
end:
	free(missing);
	free(fixed);
	free(fix);
}

void tide_site_value(struct tide_site *site, enum tide_level level,
		     const char *key, const char *value, const char *why)
{
	const struct tide_slurm_record *record = NULL;
	const char *is = tide_slurm_get(site->slurm, key, &record);
	char fix[128];

	if (is && !strcasecmp(is, value)) {
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL, "%s=%s", key,
			      is);
		return;
	}
	snprintf(fix, sizeof(fix), "%s=%s", key, value);
	if (is)
		tide_site_say(site, level, record, fix, "%s=%s: %s", key, is,
			      why);
	else
		tide_site_say(site, level, NULL, fix, "%s is not set: %s", key,
			      why);
}

static int folder_has(const char *dir, size_t len, const char *file)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, file);

	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

void tide_site_versions(struct tide_site *site,
			const struct tide_slurm_record *record,
			const char *our_path, const char *slurm_path)
{
	struct tide_version_text ours_text, slurms_text;
	uint32_t ours, slurms;
	char fix[128];

	if (tide_plugin_version(our_path, &ours, NULL) ||
	    tide_plugin_version(slurm_path, &slurms, NULL))
		return;
	tide_version(ours, &ours_text);
	snprintf(fix, sizeof(fix), "install the build of TideFlow for Slurm %s",
		 tide_version(slurms, &slurms_text));
	if (ours != slurms)
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record, fix,
			"%s was built for Slurm %s, but Slurm %s is installed: it is not loaded",
			our_path, ours_text.text, slurms_text.text);
	else
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL,
			      "%s is built for the installed Slurm, %s",
			      our_path, ours_text.text);
}

static void keep_path(char **path, const char *dir, size_t len,
		      const char *file, struct tide_site *site)
{
	if (*path)
		return;
	if (asprintf(path, "%.*s/%s", (int)len, dir, file) < 0) {
		*path = NULL;
		site->findings->lost = 1;
	}
}

/* Which of ours are there only those know who put them there. */
static void say_not_installed(struct tide_site *site,
			      const struct tide_slurm_record *record,
			      const char *our_plugin, const char *plugin_dir)
{
	char fix[512];

	snprintf(fix, sizeof(fix), "%s, with %s in the first folder",
		 plugin_dir, our_plugin);
	tide_site_say(site, TIDE_LEVEL_ERROR, record, fix,
		      "no folder in PluginDir has TideFlow's %s", our_plugin);
}

void tide_site_plugin_dir(struct tide_site *site, const char *our_plugin,
			  const char *slurm_plugin)
{
	static const char fix[] =
		"PluginDir=" TIDE_PLUGINDIR ":" TIDE_SLURM_PLUGINDIR;
	const struct tide_slurm_record *record = NULL;
	const char *dirs = tide_slurm_get(site->slurm, "PluginDir", &record);
	int ours = 0, slurms = 0, at = 0, missing = 0;
	char *our_path = NULL, *slurm_path = NULL;

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		at++;
		if (!folder_has(dirs, len, ".")) {
			tide_site_say(
				site, TIDE_LEVEL_ERROR, record, fix,
				"PluginDir: the folder '%.*s' does not exist; no daemon and no command of Slurm starts without it",
				(int)len, dirs);
			missing = 1;
		} else if (folder_has(dirs, len, our_plugin)) {
			ours = ours ? ours : at;
			keep_path(&our_path, dirs, len, our_plugin, site);
		} else if (folder_has(dirs, len, slurm_plugin)) {
			slurms = slurms ? slurms : at;
			keep_path(&slurm_path, dirs, len, slurm_plugin, site);
		}
		dirs += len + (dirs[len] == ':');
	}
	if (!ours)
		say_not_installed(site, record, our_plugin, fix);
	else if (!slurms)
		tide_site_say(site, TIDE_LEVEL_ERROR, record, fix,
			      "no folder in PluginDir has Slurm's own %s",
			      slurm_plugin);
	else if (slurms < ours)
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record, fix,
			"PluginDir names Slurm's folder before TideFlow's, so Slurm's own plugins are taken and lent nodes are always open");
	else if (!missing)
		tide_site_say(
			site, TIDE_LEVEL_OK, record, NULL,
			"PluginDir names TideFlow's folder before Slurm's");
	if (our_path && slurm_path)
		tide_site_versions(site, record, our_path, slurm_path);
	free(our_path);
	free(slurm_path);
}

static void add_problems(struct tide_findings *findings, enum tide_level level,
			 struct tide_problems *problems, const char *fix)
{
	for (size_t i = 0; i < problems->count; i++) {
		const char *text = problems->problem[i].text;
		int zone = !strncmp(text, "TimeZone=", strlen("TimeZone="));

		tide_findings_add(
			findings, level, problems->problem[i].file,
			problems->problem[i].line, text,
			zone ? "correct the name, or install tzdata on this host"
			     : fix);
	}
	findings->lost |= problems->lost;
	tide_problems_release(problems);
}

/* Right, but perhaps not what was meant. */
static void check_intent(const char *path, const struct tide_conf *conf,
			 struct tide_findings *findings)
{
	if (!conf->n_devices)
		tide_findings_add(
			findings, TIDE_LEVEL_WARNING, path, 0,
			"there is no Device line: nothing has a price, and nothing is charged",
			"Device=NAME:TYPE Rate=CREDITS");
	if (conf->mode == TIDE_MODE_OBSERVE)
		tide_findings_add(
			findings, TIDE_LEVEL_WARNING, path, 0,
			"Mode=observe: what windows demand is only logged, so lent nodes are open to the pool at any time",
			"Mode=enforce");
}

/* tide.conf by itself; NULL when it is not usable. */
static struct tide_conf *check_tide_conf(const char *path, const char *zoneinfo,
					 struct tide_findings *findings)
{
	struct tide_problems problems = {0};
	struct tide_conf *conf = NULL;
	const char *fix = "see tide.conf(5)";
	struct tide_err err;
	char what[256];

	if (tide_conf_load(path, zoneinfo, &conf, &problems, &err)) {
		if (errno == ENOENT)
			fix = "begin with the example (contrib/examples/tide.conf, installed with the documentation), see tide.conf(5)";
		findings->lost |= !problems.count;
	} else {
		snprintf(
			what, sizeof(what),
			"%d window%s, %d owner%s, %d lent node%s, %d priced device%s",
			conf->n_windows, tide_plural(conf->n_windows),
			conf->n_owners, tide_plural(conf->n_owners),
			conf->n_nodes, tide_plural(conf->n_nodes),
			conf->n_devices, tide_plural(conf->n_devices));
		tide_findings_add(findings, TIDE_LEVEL_OK, path, 0, what, NULL);
		check_intent(path, conf, findings);
	}
	add_problems(findings, TIDE_LEVEL_ERROR, &problems, fix);
	return conf;
}

/* slurm.conf or slurmdbd.conf; NULL, with a finding, when unreadable. */
static struct tide_slurm *load_slurm(const char *path, enum tide_level level,
				     const char *fix,
				     struct tide_findings *findings)
{
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	struct tide_err err;

	if (tide_slurm_load(path, &slurm, &problems, &err)) {
		if (errno == ENOMEM)
			findings->lost = 1;
		else
			tide_findings_add(findings, level, path, 0, err.text,
					  fix);
	}
	add_problems(findings, TIDE_LEVEL_WARNING, &problems, NULL);
	return slurm;
}

/* Without a tide.conf there is nothing but the plugins to look at. */
static void check_plugins(const char *path, struct tide_findings *findings)
{
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	struct tide_site site = {.path = path, .findings = findings};

	if (tide_slurm_load(path, &slurm, &problems, NULL))
		findings->lost |= errno == ENOMEM;
	site.slurm = slurm;
	if (slurm)
		tide_site_plugin_dir(&site, "job_submit_tide.so",
				     "select_cons_tres.so");
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
}

static void check_slurm_conf(const struct tide_conf *conf, const char *dir,
			     const char *path, struct tide_findings *findings)
{
	struct tide_slurm *slurm =
		load_slurm(path, TIDE_LEVEL_ERROR,
			   "--conf-dir is the folder of slurm.conf", findings);
	struct tide_site site = {
		.conf = conf,
		.slurm = slurm,
		.path = path,
		.findings = findings,
	};

	if (!slurm)
		return;
	site.pool =
		tide_slurm_find(slurm, "PartitionName", conf->pool_partition);
	if (tide_slurm_nodes(slurm, &site.nodes)) {
		findings->lost = 1;
	} else {
		tide_site_slurm(&site);
		tide_site_nodes(&site);
		tide_site_types(&site, dir);
		tide_site_rates(&site);
	}
	free(site.used);
	tide_names_release(&site.nodes);
	tide_slurm_destroy(slurm);
}

static void check_slurmdbd_conf(const struct tide_conf *conf, const char *path,
				struct tide_findings *findings)
{
	struct tide_slurm *slurm;
	struct tide_site site = {
		.conf = conf,
		.path = path,
		.findings = findings,
	};

	if (!conf->n_devices)
		return;
	slurm = load_slurm(
		path, TIDE_LEVEL_WARNING,
		"run tidectl check on the slurmdbd host too, as root",
		findings);
	if (!slurm)
		return;
	site.slurm = slurm;
	tide_site_slurmdbd(&site);
	tide_slurm_destroy(slurm);
}

int tide_site_check(const char *dir, const char *zoneinfo,
		    struct tide_findings *findings, struct tide_err *err)
{
	struct tide_conf *conf = NULL;
	char *tide = NULL, *slurm = NULL, *slurmdbd = NULL;

	if (asprintf(&tide, "%s/tide.conf", dir) < 0 ||
	    asprintf(&slurm, "%s/slurm.conf", dir) < 0 ||
	    asprintf(&slurmdbd, "%s/slurmdbd.conf", dir) < 0) {
		findings->lost = 1;
		goto end;
	}
	conf = check_tide_conf(tide, zoneinfo, findings);
	if (conf) {
		check_slurm_conf(conf, dir, slurm, findings);
		check_slurmdbd_conf(conf, slurmdbd, findings);
	} else {
		check_plugins(slurm, findings);
	}
end:
	tide_conf_destroy(conf);
	free(tide);
	free(slurm);
	free(slurmdbd);
	return findings->lost ? tide_err_set(err, ENOMEM, "out of memory") : 0;
}
