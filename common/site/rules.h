/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to common/site: a check of a site while it runs.  site.c owns it;
 * the rules are in slurm.c (what Slurm as a whole is told), nodes.c
 * (nodes and partitions), types.c (devices), devices.c (priced devices),
 * rates.c (prices and limits), of one host, host.c, gresconf.c and files.c
 * (what it has on its disk), compare.c (what devices it has), greslines.c
 * (lines of gres.conf together), cgroup.c (who can open devices), munge.c and,
 * of a running cluster, live.c (accounts, versions), live_nodes.c (nodes) and
 * enforce.c (jobs and associations).
 */
#ifndef TIDE_SITE_RULES_H
#define TIDE_SITE_RULES_H

#include "common/conf/conf.h"
#include "common/site/findings.h"
#include "common/site/slurmconf.h"
#include "common/util/gres.h"
#include "common/util/hostlist.h"

struct tide_site {
	const struct tide_conf *conf;
	const struct tide_slurm *slurm;
	const char *path; /* of the file that slurm was read from */
	/* the partition of the pool; NULL when there is none */
	const struct tide_slurm_record *pool;
	struct tide_names nodes; /* all of slurm.conf */
	/* of each priced device: a node has it; made by tide_site_devices() */
	char *used;
	struct tide_findings *findings;
};

/*
 * Add a finding about record, or about the whole file when that is NULL.  fix
 * may be NULL.
 */
void tide_site_say(struct tide_site *site, enum tide_level level,
		   const struct tide_slurm_record *record, const char *fix,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * The key of the whole file must list these words; must have that value.  Adds
 * an ok finding when it does, else one of that level with why and the fix.  No
 * words are no finding.
 */
void tide_site_words(struct tide_site *site, enum tide_level level,
		     const char *key, const char *const *words, size_t n_words,
		     const char *why);
void tide_site_value(struct tide_site *site, enum tide_level level,
		     const char *key, const char *value, const char *why);

/* PluginDir of the file names our folder, before Slurm's own. */
void tide_site_plugin_dir(struct tide_site *site, const char *our_plugin,
			  const char *slurm_plugin);

/*
 * Our plugin and one of Slurm's are for the same Slurm.  A file that is no
 * plugin at all is not judged: Slurm says so itself.
 */
void tide_site_versions(struct tide_site *site,
			const struct tide_slurm_record *record,
			const char *our_path, const char *slurm_path);

void tide_site_slurm(struct tide_site *site);
void tide_site_nodes(struct tide_site *site);
/* -1 when memory ran out, which is in the findings. */
int tide_site_devices(struct tide_site *site);
/* Is it one of the names of accelerators?  Licences and disks are none. */
int tide_site_is_accelerator(const struct tide_gres *item);
/* Are these letters that text, in any case? */
int tide_site_is_text(const char *text, const char *part, size_t len);
/*
 * Whatever nodes have: Slurm knows it, by type; dir is the folder of gres.conf.
 */
void tide_site_types(struct tide_site *site, const char *dir);
/*
 * How many devices of the name, and the type when there is one, of the first
 * item of `item` are in a list as of Gres=: mlu:mlu290:2(S:0),gpu:4.
 */
int64_t tide_site_gres_count(const char *list, const char *item);
void tide_site_rates(struct tide_site *site);
/* munged answers on this host. */
void tide_site_munge(struct tide_site *site);
/*
 * The device files of a node with that Gres, by gres.conf in the folder dir;
 * dev is a folder in front of their names, found the devices that the lines are
 * compared with, or NULL.
 */
struct tide_accels;
void tide_site_device_files(struct tide_site *site, const char *dir,
			    const char *dev, const char *node, const char *gres,
			    const struct tide_accels *found);
/* Lines of gres.conf for the node that slurmd does not take together. */
void tide_site_gres_lines(struct tide_site *site, const struct tide_slurm *conf,
			  const char *node);
/*
 * Jobs of a node with that Gres cannot open the devices of others, by
 * cgroup.conf in the folder dir and by slurm.conf.
 */
void tide_site_isolation(struct tide_site *site, const char *dir,
			 const char *gres);
/*
 * Is a line of gres.conf for the node?  One without NodeName is for every node;
 * others are not for NULL.
 */
int tide_site_is_for(const struct tide_slurm_record *record, const char *node);
void tide_site_slurmdbd(struct tide_site *site);

struct tide_live;

/* Which nodes answer, with which slurmd and devices. */
void tide_site_live_nodes(struct tide_site *site, const struct tide_live *live);
/* Is that QOS one of a paying account? */
int tide_site_pays(const struct tide_live *live, const char *qos);
/* Limits that nobody enforces yet; how many findings. */
size_t tide_site_limits(struct tide_site *site, const struct tide_live *live);
/* Who is locked out, and what is held, once Slurm enforces accounting. */
void tide_site_enforce(struct tide_site *site, const struct tide_live *live);
/* Jobs of the pool that do not run under the QOS that pays for them. */
void tide_site_pool_jobs(struct tide_site *site, const struct tide_live *live);

#endif /* TIDE_SITE_RULES_H */
