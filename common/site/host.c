/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One host by itself: folders, plugins, device files.  See host.h. */
#include "config.h"

#include "common/site/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/site/compare.h"
#include "common/site/rules.h"
#include "common/util/err.h"

#define SELECT "select_cons_tres.so"
#define JOB_SUBMIT "job_submit_tide.so"
#define CREDITS "accounting_storage_credits.so"

/* Devices of nodes that TideFlow has a plugin for. */
static const struct {
	const char *gres, *plugin;
} device_plugins[] = {
	{"accel", "gres_accel.so"},
	{"dcu", "gres_dcu.so"},
	{"mlu", "gres_mlu.so"},
	{"npu", "gres_npu.so"},
};

struct host {
	struct tide_site site;
	const char *name, *dir, *dev;
	const struct tide_accels *found;	/* or NULL */
	const struct tide_slurm_record *record; /* of PluginDir */
	char *stock;		/* Slurm's own select plugin, or NULL */
	struct tide_err unread; /* why slurm.conf is not, or empty */
};

static char *join(const char *dir, size_t len, const char *file)
{
	char *path = NULL;

	return asprintf(&path, "%.*s/%s", (int)len, dir, file) < 0 ? NULL
								   : path;
}

static int is_there(const char *dir, size_t len, const char *file)
{
	char *path = join(dir, len, file);
	int there = path && !access(path, R_OK);

	free(path);
	return there;
}

/* Every folder; the last that has a select plugin is Slurm's. */
static void check_folders(struct host *host, const char *dirs)
{
	static const char fix[] =
		"install tideflow-common, or make the folder: it may be empty";
	int missing = 0;

	for (size_t len; *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (!is_there(dirs, len, ".")) {
			missing = 1;
			tide_site_say(
				&host->site, TIDE_LEVEL_ERROR, host->record,
				fix,
				"PluginDir: the folder '%.*s' does not exist; no daemon and no command of Slurm starts without it",
				(int)len, dirs);
		} else if (is_there(dirs, len, SELECT)) {
			free(host->stock);
			host->stock = join(dirs, len, SELECT);
			host->site.findings->lost |= !host->stock;
		}
	}
	if (!missing)
		tide_site_say(&host->site, TIDE_LEVEL_OK, host->record, NULL,
			      "every folder of PluginDir is there");
}

/* The plugin's path, before Slurm's folder; NULL when it is not there. */
static char *find_plugin(const struct host *host, const char *dirs,
			 const char *file)
{
	for (size_t len; *dirs; dirs += len + (dirs[len] == ':')) {
		char *path;

		len = strcspn(dirs, ":");
		path = join(dirs, len, file);
		if (path && host->stock && !strcmp(path, host->stock)) {
			free(path);
			return NULL;
		}
		if (path && !access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* A plugin of ours: there when it is needed, and for the Slurm that is here. */
static void check_plugin(struct host *host, const char *dirs, const char *file,
			 const char *why)
{
	char *path = find_plugin(host, dirs, file);

	if (!path) {
		if (why)
			tide_site_say(
				&host->site, TIDE_LEVEL_ERROR, host->record,
				"install tideflow-plugins, built for the Slurm of this host",
				"%s is in no folder of PluginDir before Slurm's: %s",
				file, why);
		return;
	}
	if (host->stock)
		tide_site_versions(&host->site, host->record, path,
				   host->stock);
	free(path);
}

/* Which node of the record this host is, by NodeHostname too; or NULL. */
static char *node_of(const struct host *host,
		     const struct tide_slurm_record *record)
{
	const char *hosts =
		tide_slurm_value(host->site.slurm, record, "NodeHostname");
	long place = tide_slurm_place(record->pair[0].value, host->name);
	struct tide_names names = {0};
	char *name = NULL;

	if (place < 0)
		place = tide_slurm_place(hosts, host->name);
	if (place < 0 || tide_slurm_record_nodes(record, &names))
		return NULL;
	if ((size_t)place < names.count)
		name = strdup(names.name[place]);
	tide_names_release(&names);
	return name;
}

/* The node that this host is, and its Gres; NULL when it is none. */
static char *own_node(const struct host *host, const char **ret_gres)
{
	const struct tide_slurm_record *record = NULL;
	char *name = NULL;

	while (!name && (record = tide_slurm_next(host->site.slurm, "NodeName",
						  record))) {
		name = node_of(host, record);
		if (name)
			*ret_gres = tide_slurm_value(host->site.slurm, record,
						     "Gres");
	}
	return name;
}

/* "ctl1(10.0.0.1)" or "ctl1"; there may be a line for each backup. */
static int is_controller(const struct host *host)
{
	static const char *const keys[] = {"SlurmctldHost", "ControlMachine",
					   "BackupController"};
	const struct tide_slurm *slurm = host->site.slurm;
	size_t len = strlen(host->name);

	for (size_t i = 0; i < slurm->n_records; i++) {
		const struct tide_slurm_pair *pair = slurm->record[i].pair;

		if (!slurm->record[i].n_pairs)
			continue;

		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (!strcasecmp(pair->key, keys[k]) &&
			    !strncmp(pair->value, host->name, len) &&
			    strchr(".,(", pair->value[len]))
				return 1;
	}
	return 0;
}

/* A backup that takes over has to have all that the first one has. */
static void check_controller(struct host *host, const char *dirs)
{
	int used = tide_slurm_word(tide_slurm_get(host->site.slurm,
						  "JobSubmitPlugins", NULL),
				   "tide");

	check_plugin(
		host, dirs, JOB_SUBMIT,
		used ? "slurmctld would not start here, as JobSubmitPlugins names it"
		     : NULL);
	check_plugin(
		host, dirs, SELECT,
		used ? "slurmctld would not start here, as lent nodes would be open"
		     : NULL);
	if (used && !is_there(host->dir, strlen(host->dir), "tide.conf"))
		tide_site_say(
			&host->site, TIDE_LEVEL_ERROR, NULL,
			"copy tide.conf beside slurm.conf, as on the other hosts of slurmctld",
			"there is no tide.conf here: a slurmctld that takes over would go by the last one it has seen, or keep lent nodes closed");
}

/*
 * What slurmd fills in is fewer than slurm.conf has: Slurm drains the node.  Of
 * lines by hand it counts what they say.
 */
static void check_count(struct host *host, const char *path, const char *node,
			const char *gres, const char *name)
{
	const struct tide_accels *found = host->found;
	int64_t want = tide_site_gres_count(gres, name), is = 0;

	for (size_t i = 0; i < found->count; i++)
		is += !found->accel[i].missing &&
		      !strcmp(found->accel[i].family->gres, name);
	if (want && is < want && !tide_compare_by_hand(path, node, name))
		tide_site_say(
			&host->site, TIDE_LEVEL_WARNING, NULL,
			"mend the device, or Gres of the node: tidectl devices --gres-conf prints it",
			"node '%s' has %lld of %s in Gres, found are %lld: Slurm drains a node that has fewer",
			node, (long long)want, name, (long long)is);
}

/* gres.conf, and what of it slurm.conf counts, against the devices. */
static void check_found(struct host *host, const char *node, const char *gres)
{
	size_t bad = host->site.findings->count;
	char *path = join(host->dir, strlen(host->dir), "gres.conf");
	struct tide_err err;

	if (!path) {
		host->site.findings->lost = 1;
		return;
	}
	/* one that cannot be read has been said to be so */
	if (tide_compare(path, node, NULL, host->found, host->site.findings,
			 NULL, &err) &&
	    errno == ENOMEM)
		host->site.findings->lost = 1;
	for (size_t i = 0; i < sizeof(device_plugins) / sizeof(*device_plugins);
	     i++)
		check_count(host, path, node, gres, device_plugins[i].gres);
	if (host->site.findings->count == bad)
		tide_site_say(&host->site, TIDE_LEVEL_OK, NULL, NULL,
			      "gres.conf is what was found on this host");
	free(path);
}

static void check_node(struct host *host, const char *dirs)
{
	const char *gres = NULL;
	char *node = own_node(host, &gres);

	for (size_t i = 0; i < sizeof(device_plugins) / sizeof(*device_plugins);
	     i++) {
		int has =
			tide_site_gres_count(gres, device_plugins[i].gres) > 0;

		check_plugin(
			host, dirs, device_plugins[i].plugin,
			has ? "slurmd counts the devices, and gives jobs none"
			    : NULL);
	}
	if (gres)
		tide_site_device_files(&host->site, host->dir, host->dev, node,
				       gres, host->found);
	if (gres)
		tide_site_isolation(&host->site, host->dir, gres);
	if (gres && host->found)
		check_found(host, node, gres);
	free(node);
}

/* A slurmdbd.conf that we may read makes it slurmdbd's host. */
static void check_slurmdbd(struct host *host)
{
	char *path = join(host->dir, strlen(host->dir), "slurmdbd.conf");
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	struct tide_site site = {.path = path, .findings = host->site.findings};
	const char *type = NULL;

	if (!path) {
		host->site.findings->lost = 1;
		return;
	}
	if (!tide_slurm_load(path, &slurm, &problems, NULL))
		type = tide_slurm_get(slurm, "StorageType", NULL);
	site.slurm = slurm;
	if (type && !strcasecmp(type, "accounting_storage/credits"))
		tide_site_plugin_dir(&site, CREDITS,
				     "accounting_storage_mysql.so");
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
	free(path);
}

static void check(struct host *host, char **ret_plugin_dir)
{
	const char *dirs =
		tide_slurm_get(host->site.slurm, "PluginDir", &host->record);

	if (*host->unread.text)
		tide_site_say(&host->site, TIDE_LEVEL_ERROR, NULL,
			      "see slurm.conf(5)", "%s", host->unread.text);
	else if (!host->site.slurm->n_records)
		tide_site_say(
			&host->site, TIDE_LEVEL_OK, NULL, NULL,
			"there is no slurm.conf here: of PluginDir only %s is looked for",
			TIDE_PLUGINDIR);
	else if (dirs)
		*ret_plugin_dir = strdup(dirs);
	if (!dirs && !host->site.slurm->n_records)
		dirs = TIDE_PLUGINDIR;
	tide_site_munge(&host->site);
	check_slurmdbd(host);
	if (dirs)
		check_folders(host, dirs);
	if (is_controller(host))
		check_controller(host, dirs ? dirs : "");
	check_node(host, dirs ? dirs : "");
}

int tide_host_check(const char *dir, const char *dev, const char *name,
		    const struct tide_accels *found,
		    struct tide_findings *findings, char **ret_plugin_dir,
		    struct tide_err *err)
{
	const struct tide_slurm none = {0};
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	char *path = join(dir, strlen(dir), "slurm.conf");
	struct host host = {
		.name = name, .dir = dir, .dev = dev, .found = found};

	*ret_plugin_dir = NULL;
	if (!path)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!tide_slurm_load(path, &slurm, &problems, &host.unread) ||
	    errno == ENOENT)
		*host.unread.text = '\0';
	else if (errno == ENOMEM)
		findings->lost = 1;
	host.site = (struct tide_site){.slurm = slurm ? slurm : &none,
				       .path = path,
				       .findings = findings};
	check(&host, ret_plugin_dir);
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
	free(host.stock);
	free(path);
	return findings->lost ? tide_err_set(err, ENOMEM, "out of memory") : 0;
}
