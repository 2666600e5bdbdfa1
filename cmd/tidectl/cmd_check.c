/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl check: can TideFlow's rules hold with these configuration files?
 * Prints what common/site found; knows no rule itself.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/tidectl/check.h"
#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/site/host.h"
#include "common/site/site.h"
#include "common/util/err.h"
#include "common/util/plural.h"
#if TIDE_WITH_SLURM
#include "compat/live.h"
#endif

#define RSH "ssh -o BatchMode=yes -o ConnectTimeout=10"

json_t *check_json(const struct tide_findings *findings)
{
	json_t *list = json_array();
	int lost = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_finding *f = &findings->finding[i];

		lost |= json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:i, s:o, s:o}", "level",
				  tide_level_name(f->level), "host",
				  tidectl_json_text(f->host), "file",
				  tidectl_json_text(f->file), "line", f->line,
				  "what", tidectl_json_text(f->what), "fix",
				  tidectl_json_text(f->fix)));
	}
	if (lost) {
		json_decref(list);
		list = NULL;
	}
	return list;
}

static int print_text(const struct tide_findings *findings)
{
	int count[3] = {0};

	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_finding *f = &findings->finding[i];

		count[f->level]++;
		printf("%-8s %s%s%s", tide_level_name(f->level),
		       f->host ? f->host : "", f->host ? ": " : "", f->file);
		if (f->line)
			printf(":%d", f->line);
		printf(": %s\n", f->what);
		if (f->fix)
			printf("         fix: %s\n", f->fix);
	}
	printf("%d ok, %d warning%s, %d error%s\n", count[TIDE_LEVEL_OK],
	       count[TIDE_LEVEL_WARNING],
	       tide_plural(count[TIDE_LEVEL_WARNING]), count[TIDE_LEVEL_ERROR],
	       tide_plural(count[TIDE_LEVEL_ERROR]));
	return TIDECTL_DONE;
}

/* What the daemons know, when this build can ask them. */
static int check_live(const char *dir, bool must,
		      struct tide_findings *findings, struct tide_err *err)
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

/* The command line. */
struct check_args {
	char *dir;	   /* --conf-dir */
	const char *nodes; /* --nodes; "" when no list is given */
	const char *here;  /* --here; "" when no name is given */
	const char *rsh;   /* --rsh */
	bool live, json;
};

static int check_site(const struct check_args *args, const char *dir,
		      struct tide_findings *findings, struct tide_err *err)
{
	if (args->nodes)
		return check_nodes(dir, *args->nodes ? args->nodes : NULL,
				   args->rsh ? args->rsh : RSH, findings, err);
	if (tide_site_check(dir, NULL, findings, err))
		return -1;
	return args->dir ? 0 : check_live(dir, args->live, findings, err);
}

/* The exit status of what was found, when it could be printed. */
static int status_of(struct tide_findings *findings, int status)
{
	if (tide_findings_worst(findings) == TIDE_LEVEL_ERROR)
		status = TIDECTL_FAILED;
	tide_findings_release(findings);
	return status;
}

static int refuse(const char *why)
{
	return tidectl_usage(&tidectl_check, "%s", why);
}

static int check(const struct check_args *args, const char *dir)
{
	struct tide_findings findings = {0};
	struct tide_err err;
	int status;

	if (check_site(args, dir, &findings, &err))
		status = args->nodes && errno == EINVAL
				 ? refuse(err.text)
				 : tidectl_fail("cannot check '%s': %s", dir,
						err.text);
	else if (args->json)
		status = tidectl_print_json(check_json(&findings));
	else
		status = print_text(&findings);
	return status_of(&findings, status);
}

/* In configless clusters slurmd keeps what it was given. */
static const char *conf_dir_here(const char *dir)
{
	static const char given[] = "/run/slurm/conf";
	char *path = NULL;
	int there;

	if (getenv("SLURM_CONF") || asprintf(&path, "%s/slurm.conf", dir) < 0)
		return dir;
	there = !access(path, R_OK);
	free(path);
	return there || access(given, R_OK) ? dir : given;
}

/* The accelerators of this host; empty and false when nobody can tell. */
static bool find_here(struct tide_table **ret_table, struct tide_accels *accels)
{
	struct tide_where where = {.root = "/", .socket = devices_socket()};

	*ret_table = devices_table(NULL);
	where.table = *ret_table;
	return where.table && !devices_find(&where, accels);
}

static int check_here(const struct check_args *args, const char *dir)
{
	struct tide_findings findings = {0};
	struct tide_accels accels = {0};
	struct tide_table *table = NULL;
	bool found;
	char name[HOST_NAME_MAX + 1] = "", *plugin_dir = NULL;
	struct timespec now;
	struct tide_err err;
	int status;

	/* slurm.conf has short names */
	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = '\0';
	if (!args->dir)
		dir = conf_dir_here(dir);
	clock_gettime(CLOCK_REALTIME, &now);
	found = find_here(&table, &accels);
	if (tide_host_check(dir, "", *args->here ? args->here : name,
			    found ? &accels : NULL, &findings, &plugin_dir,
			    &err))
		status = tidectl_fail("cannot check '%s': %s", dir, err.text);
	else if (args->json)
		status = tidectl_print_json(json_pack(
			"{s:o, s:f, s:o, s:o}", "host",
			tidectl_json_text(*args->here ? args->here : name),
			"time", (double)now.tv_sec + (double)now.tv_nsec / 1e9,
			"plugin_dir", tidectl_json_text(plugin_dir), "findings",
			check_json(&findings)));
	else
		status = print_text(&findings);
	free(plugin_dir);
	tide_accels_release(&accels);
	tide_table_destroy(table);
	return status_of(&findings, status);
}

/* What goes with what. */
static int run_args(const struct check_args *args)
{
	char *dir, *last;
	int status;

	if (args->dir && args->live)
		return refuse(
			"--live asks the daemons of SLURM_CONF, not those of --conf-dir");
	if (!!args->nodes + !!args->here + args->live > 1)
		return refuse(
			"--live, --nodes and --here are checks of their own");
	if (args->nodes && args->dir)
		return refuse(
			"--nodes has hosts look at their own files, not at --conf-dir");
	if (args->rsh && !args->nodes)
		return refuse("--rsh is for --nodes");
	dir = args->dir ? strdup(args->dir) : tidectl_slurm_file("");
	/* the folder, without the slash behind it */
	last = dir && !args->dir ? strrchr(dir, '/') : NULL;
	if (last && last != dir)
		*last = '\0';
	if (!dir)
		return tidectl_fail("out of memory");
	status = args->here ? check_here(args, dir) : check(args, dir);
	free(dir);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"conf-dir", required_argument, NULL, 'd'},
		{"here", optional_argument, NULL, 'H'},
		{"json", no_argument, NULL, 'j'},
		{"live", no_argument, NULL, 'l'},
		{"nodes", optional_argument, NULL, 'n'},
		{"rsh", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct check_args args = {0};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			args.dir = optarg;
			break;
		case 'H':
			args.here = optarg ? optarg : "";
			break;
		case 'j':
			args.json = true;
			break;
		case 'l':
			args.live = true;
			break;
		case 'n':
			args.nodes = optarg ? optarg : "";
			break;
		case 'r':
			args.rsh = optarg;
			break;
		default:
			return tidectl_other_option(&tidectl_check, option);
		}
	}
	if (optind < argc)
		return tidectl_usage(&tidectl_check,
				     "'%s' is one word too many", argv[optind]);
	return run_args(&args);
}

const struct tidectl_command tidectl_check = {
	.name = "check",
	.summary = "whether TideFlow can work with the configuration files",
	.usage =
		"[--live | --conf-dir DIR | --nodes[=LIST] [--rsh COMMAND] | --here[=NAME]] [--json]",
	.help = "  --conf-dir DIR  the folder with tide.conf, slurm.conf and slurmdbd.conf; default:\n"
		"                  that of $SLURM_CONF, else /etc/slurm, and then slurmdbd and\n"
		"                  slurmctld are asked too\n"
		"  --live          fail when they cannot be asked\n"
		"  --nodes[=LIST]  what every node of slurm.conf, or host of LIST, has on its disk,\n"
		"                  and its clock: runs tidectl check --here there\n"
		"  --rsh COMMAND   what starts a command there, as in COMMAND HOST WORD...;\n"
		"                  default: " RSH "\n"
		"  --here[=NAME]   what this host, NAME in slurm.conf, has on its disk\n"
		"  --json          an array of findings; keys in tidectl(1)\n"
		"\n"
		"Exit status 1 when there is an error among the findings.\n",
	.run = run,
};
