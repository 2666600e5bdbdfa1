/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps the jobs of a node from devices that are not theirs: cgroup.conf
 * and TaskPlugin, as text.  Whether the kernel does what they say is not seen.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "common/site/rules.h"
#include "common/util/err.h"

static const char why[] =
	"nothing keeps a job from opening devices that it was not given";

/* Slurm takes yes, up, true and 1. */
static int is_yes(const char *value)
{
	static const char *const words[] = {"yes", "up", "true", "1"};

	for (size_t i = 0; value && i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(value, words[i]))
			return 1;
	return 0;
}

static void check_conf(struct tide_site *site, const char *path)
{
	struct tide_problems problems = {0};
	struct tide_site own = *site;
	struct tide_slurm *conf = NULL;
	const struct tide_slurm_record *record = NULL;
	struct tide_err unread;
	int rc = tide_slurm_load(path, &conf, &problems, &unread);
	bool there = !rc || errno != ENOENT;
	const char *value =
		rc ? NULL : tide_slurm_get(conf, "ConstrainDevices", &record);

	own.path = path;
	if (rc && there)
		tide_site_say(&own, TIDE_LEVEL_ERROR, NULL,
			      "see cgroup.conf(5)", "%s", unread.text);
	else if (value && !is_yes(value))
		tide_site_say(&own, TIDE_LEVEL_WARNING, record,
			      "ConstrainDevices=yes", "ConstrainDevices=%s: %s",
			      value, why);
	else if (!value)
		tide_site_say(&own, TIDE_LEVEL_WARNING, NULL,
			      "ConstrainDevices=yes",
			      "ConstrainDevices is not set: %s", why);
	else
		tide_site_say(&own, TIDE_LEVEL_OK, record, NULL,
			      "ConstrainDevices=%s", value);
	tide_problems_release(&problems);
	tide_slurm_destroy(conf);
}

void tide_site_isolation(struct tide_site *site, const char *dir,
			 const char *gres)
{
	static const char *const kinds[] = {"gpu", "mlu", "npu", "dcu",
					    "accel"};
	static const char *const words[] = {"task/cgroup"};
	const char *plugins = tide_slurm_get(site->slurm, "TaskPlugin", NULL);
	int64_t devices = 0;
	char *path;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		devices += tide_site_gres_count(gres, kinds[i]);
	if (!devices)
		return;
	/* Slurm takes the name without its kind too */
	if (!tide_slurm_word(plugins, "cgroup"))
		tide_site_words(site, TIDE_LEVEL_WARNING, "TaskPlugin", words,
				1, why);
	if (asprintf(&path, "%s/cgroup.conf", dir) < 0) {
		site->findings->lost = 1;
		return;
	}
	check_conf(site, path);
	free(path);
}
