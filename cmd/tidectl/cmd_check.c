/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl check: can TideFlow's rules hold with these configuration files?
 * Prints what common/site found; knows no rule itself.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/tidectl/tidectl.h"
#include "common/site/site.h"
#include "common/util/err.h"
#if TIDE_WITH_SLURM
#include "compat/live.h"
#endif

static int print_json(const struct tide_findings *findings)
{
	json_t *list = json_array();
	int lost = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_finding *f = &findings->finding[i];

		lost |= json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:i, s:o, s:o}", "level",
				  tide_level_name(f->level), "file",
				  tidectl_json_text(f->file), "line", f->line,
				  "what", tidectl_json_text(f->what), "fix",
				  tidectl_json_text(f->fix)));
	}
	if (lost) {
		json_decref(list);
		list = NULL;
	}
	return tidectl_print_json(list);
}

static int print_text(const struct tide_findings *findings)
{
	int count[3] = {0};

	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_finding *f = &findings->finding[i];

		count[f->level]++;
		if (f->line)
			printf("%-8s %s:%d: %s\n", tide_level_name(f->level),
			       f->file, f->line, f->what);
		else
			printf("%-8s %s: %s\n", tide_level_name(f->level),
			       f->file, f->what);
		if (f->fix)
			printf("         fix: %s\n", f->fix);
	}
	printf("%d ok, %d warnings, %d errors\n", count[TIDE_LEVEL_OK],
	       count[TIDE_LEVEL_WARNING], count[TIDE_LEVEL_ERROR]);
	return TIDECTL_DONE;
}

/* What the daemons know, when this build can ask them. */
static int check_live(const char *dir, int must, struct tide_findings *findings,
		      struct tide_err *err)
{
#if TIDE_WITH_SLURM
	struct tide_live live = {.must = must};
	char *path = tidectl_slurm_file("slurm.conf");
	int there = path && !access(path, R_OK);
	int rc;

	free(path);
	/* libslurm would look for it in the network */
	if (!there)
		return 0;
	if (tide_live_ask(&live))
		rc = tide_err_set(err, errno, "cannot ask the daemons: %s",
				  strerror(errno));
	else
		rc = tide_live_check(dir, NULL, &live, TIDE_SLURM_VERSION,
				     findings, err);
	tide_live_release(&live);
	return rc;
#else
	tide_findings_add(
		findings, must ? TIDE_LEVEL_ERROR : TIDE_LEVEL_WARNING, dir, 0,
		"the daemons are not asked: tidectl was built without Slurm",
		NULL);
	return 0;
#endif
}

static int check(const char *dir, int live, int json)
{
	struct tide_findings findings = {0};
	struct tide_err err;
	int status;

	if (tide_site_check(dir, NULL, &findings, &err) ||
	    (live && check_live(dir, live > 1, &findings, &err)))
		status = tidectl_fail("cannot check '%s': %s", dir, err.text);
	else if (json)
		status = print_json(&findings);
	else
		status = print_text(&findings);
	if (tide_findings_worst(&findings) == TIDE_LEVEL_ERROR)
		status = TIDECTL_FAILED;
	tide_findings_release(&findings);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"conf-dir", required_argument, NULL, 'd'},
		{"json", no_argument, NULL, 'j'},
		{"live", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	char *dir = NULL, *last;
	int json = 0, live = 0, wanted = 0, option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			free(dir);
			dir = strdup(optarg);
			break;
		case 'j':
			json = 1;
			break;
		case 'l':
			wanted = 1;
			break;
		default:
			free(dir);
			return tidectl_other_option(&tidectl_check, option);
		}
	}
	if (optind < argc) {
		free(dir);
		return tidectl_usage(&tidectl_check,
				     "'%s' is one word too many", argv[optind]);
	}
	if (dir && wanted) {
		free(dir);
		return tidectl_usage(
			&tidectl_check,
			"--live asks the daemons of SLURM_CONF, not those of --conf-dir");
	}
	if (!dir) {
		live = 1;
		dir = tidectl_slurm_file("");
		/* the folder, without the slash behind it */
		last = dir ? strrchr(dir, '/') : NULL;
		if (last && last != dir)
			*last = '\0';
	}
	status = dir ? check(dir, live + wanted, json)
		     : tidectl_fail("out of memory");
	free(dir);
	return status;
}

const struct tidectl_command tidectl_check = {
	.name = "check",
	.summary = "whether TideFlow can work with the configuration files",
	.usage = "[--live | --conf-dir DIR] [--json]",
	.help = "  --conf-dir DIR  the folder with tide.conf, slurm.conf and slurmdbd.conf; default:\n"
		"                  that of $SLURM_CONF, else /etc/slurm, and then slurmdbd and\n"
		"                  slurmctld are asked too\n"
		"  --live          fail when they cannot be asked\n"
		"  --json          an array of findings; keys in tidectl(1)\n"
		"\n"
		"Exit status 1 when there is an error among the findings.\n",
	.run = run,
};
