/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration files of a site against each other.  See site.h. */
#include "config.h"

#include "common/conf/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/conf/conf.h"
#include "common/util/err.h"

/* tide.conf by itself; NULL when it is not usable. */
static struct tide_conf *check_tide_conf(const char *path, const char *zoneinfo,
					 struct tide_findings *findings)
{
	struct tide_problems problems = {0};
	struct tide_conf *conf = NULL;
	char what[256];

	if (tide_conf_load(path, zoneinfo, &conf, &problems, NULL)) {
		for (size_t i = 0; i < problems.count; i++)
			tide_findings_add(findings, TIDE_LEVEL_ERROR,
					  problems.problem[i].file,
					  problems.problem[i].line,
					  problems.problem[i].text,
					  "see tide.conf(5)");
		findings->lost |= problems.lost || !problems.count;
	} else {
		snprintf(what, sizeof(what),
			 "%d windows over %d nodes of %d owners, %d priced devices",
			 conf->n_windows, conf->n_nodes, conf->n_owners,
			 conf->n_devices);
		tide_findings_add(findings, TIDE_LEVEL_OK, path, 0, what, NULL);
	}
	tide_problems_release(&problems);
	return conf;
}

int tide_site_check(const char *dir, const char *zoneinfo,
		    struct tide_findings *findings, struct tide_err *err)
{
	struct tide_conf *conf;
	char *path;

	if (asprintf(&path, "%s/tide.conf", dir) < 0)
		return tide_err_set(err, ENOMEM, "out of memory");
	conf = check_tide_conf(path, zoneinfo, findings);
	tide_conf_destroy(conf);
	free(path);
	return findings->lost ? tide_err_set(err, ENOMEM, "out of memory") : 0;
}
