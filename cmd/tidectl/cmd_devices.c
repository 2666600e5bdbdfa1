/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl devices: the accelerators of this machine, or of a recorded one, as
 * a table, lines of gres.conf or JSON, and how they are.  Asks no cluster.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/device/find.h"
#include "common/device/gresconf.h"
#include "common/util/err.h"

enum {
	LIMIT_S = 10, /* for vendors' libraries */
};

struct request {
	const char *root, *xml, *table, *gres, *expect, *except;
	const char *compare, *node, *sockets;
	int json, gres_conf, health;
	int library; /* 1: ask them, 0: do not, -1: where it makes sense */
};

/*
 * Is a vendor's library to be asked? It tells of this machine, as it is now;
 * and slurmd, which wants lines of gres.conf, is not to wait for it.
 */
static bool wants_library(const struct request *request)
{
	if (request->library >= 0)
		return request->library;
	return !request->root && !request->xml && !request->gres_conf;
}

static int answer(const struct request *request, struct tide_table *table,
		  struct tide_accels *accels,
		  const struct tide_vendor_answers *answers)
{
	const struct tide_health_request health = {
		.table = table,
		.accels = accels,
		.answers = answers,
		.expect = request->expect,
		.except = request->except,
	};
	const struct devices_compare compare = {
		.path = request->compare,
		.node = request->node,
		.gres = request->gres,
		.gres_conf = request->gres_conf,
	};

	if (request->health)
		return devices_health(&health, request->json);
	if (request->compare)
		return devices_compare(&compare, accels);
	if (request->json)
		return devices_print_json(accels, answers);
	if (!accels->count)
		return devices_print_none(accels,
					  request->gres_conf ? stderr : stdout);
	if (request->gres_conf)
		return devices_print_gres_conf(accels, request->node);
	return devices_print_table(accels, answers);
}

/* What a socket is: of this machine slurm.conf says it. */
static int read_sockets(const struct request *request, enum tide_socket *socket)
{
	const char *given = request->sockets;

	*socket = TIDE_SOCKET_PACKAGE;
	if (!given && !request->root && !request->xml)
		*socket = devices_socket();
	else if (given && !strcmp(given, "numa"))
		*socket = TIDE_SOCKET_NUMA;
	else if (given && !strcmp(given, "l3cache"))
		*socket = TIDE_SOCKET_L3;
	else if (given && strcmp(given, "package"))
		return tidectl_usage(
			&tidectl_devices,
			"--sockets %s: package, numa or l3cache is wanted",
			given);
	return 0;
}

/*
 * Where libraries are to be asked, ask them, let their word count if that is
 * wanted, and say how they differ.  -1 without memory.
 */
static int ask_libraries(const struct request *request,
			 const struct tide_where *where,
			 struct tide_accels *accels,
			 struct tide_vendor_answers *answers)
{
	struct tide_problems problems = {0};
	int rc = 0;

	if (!wants_library(request))
		return 0;
	if (devices_ask(where->table, accels, LIMIT_S, answers) ||
	    tide_vendor_name_parts(where->table, answers, accels, &problems) ||
	    (request->library > 0 &&
	     tide_vendor_apply(where, answers, accels, &problems)))
		rc = -1;
	if (!rc)
		tide_vendor_compare(answers, accels, &problems);
	devices_tell(&problems);
	tide_problems_release(&problems);
	return rc;
}

static int devices(const struct request *request)
{
	struct tide_table *table = devices_table(request->table);
	struct tide_vendor_answers answers = {0};
	struct tide_accels accels = {0};
	struct tide_where where = {
		.table = table,
		.root = request->root,
		.xml = request->xml,
	};
	int status;

	if (!table)
		return TIDECTL_FAILED;
	if (read_sockets(request, &where.socket)) {
		tide_table_destroy(table);
		return TIDECTL_USAGE;
	}
	if (!where.root && !where.xml)
		where.root = "/";
	if (devices_find(&where, &accels)) {
		status = TIDECTL_FAILED;
		goto out;
	}
	if (request->gres && devices_keep(&accels, request->gres)) {
		status = tidectl_fail("out of memory");
		goto out;
	}
	if (ask_libraries(request, &where, &accels, &answers)) {
		status = tidectl_fail("out of memory");
		goto out;
	}
	status = answer(request, table, &accels, &answers);
out:
	tide_vendor_answers_release(&answers);
	tide_accels_release(&accels);
	tide_table_destroy(table);
	return status;
}

/* Take an option in; -1 when it is none of ours. */
static int take(struct request *request, int option)
{
	const char **text = option == 'r'   ? &request->root
			    : option == 'x' ? &request->xml
			    : option == 't' ? &request->table
			    : option == 'g' ? &request->gres
			    : option == 'C' ? &request->compare
			    : option == 'n' ? &request->node
			    : option == 's' ? &request->sockets
			    : option == 'e' ? &request->expect
			    : option == 'E' ? &request->except
					    : NULL;

	if (text)
		*text = optarg;
	else if (option == 'c')
		request->gres_conf = 1;
	else if (option == 'H')
		request->health = 1;
	else if (option == 'l' || option == 'L')
		request->library = option == 'l';
	else if (option == 'j')
		request->json = 1;
	else
		return -1;
	return 0;
}

/* Why the options do not go together; NULL when they do. */
static const char *contradiction(const struct request *request)
{
	if (request->json && request->gres_conf)
		return "--json and --gres-conf exclude each other";
	if (request->health && request->gres_conf)
		return "--health and --gres-conf exclude each other";
	if (!request->health && (request->expect || request->except))
		return "--expect and --except go with --health";
	if (request->compare && (request->json || request->health))
		return "--compare excludes --json and --health";
	if (request->node && !request->compare && !request->gres_conf)
		return "--node is for --compare and --gres-conf";
	if (request->node &&
	    (!*request->node || strpbrk(request->node, " \t\n#")))
		return "--node wants the name of a node, or a list as in lab[01-05]";
	return NULL;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"root", required_argument, NULL, 'r'},
		{"xml", required_argument, NULL, 'x'},
		{"table", required_argument, NULL, 't'},
		{"gres", required_argument, NULL, 'g'},
		{"compare", required_argument, NULL, 'C'},
		{"node", required_argument, NULL, 'n'},
		{"sockets", required_argument, NULL, 's'},
		{"gres-conf", no_argument, NULL, 'c'},
		{"health", no_argument, NULL, 'H'},
		{"expect", required_argument, NULL, 'e'},
		{"except", required_argument, NULL, 'E'},
		{"library", no_argument, NULL, 'l'},
		{"no-library", no_argument, NULL, 'L'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct request request = {.library = -1};
	const char *wrong;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (take(&request, option))
			return tidectl_other_option(&tidectl_devices, option);
	if (optind < argc)
		return tidectl_usage(&tidectl_devices,
				     "'%s' is one word too many", argv[optind]);
	wrong = contradiction(&request);
	if (wrong)
		return tidectl_usage(&tidectl_devices, "%s", wrong);
	return devices(&request);
}

const struct tidectl_command tidectl_devices = {
	.name = "devices",
	.summary = "accelerators of this machine, and lines of gres.conf",
	.usage =
		"[--root DIR] [--xml FILE] [--table FILE] [--gres NAME] [--[no-]library] [--compare FILE [--node NAME]] [--sockets WHAT] [--gres-conf [--node NODES] | --json | --health [--expect GRES] [--except PCI,...] [--json]]",
	.help = "  --root DIR     look at /sys, /proc and /dev below this folder; default: /\n"
		"  --xml FILE     take the processors, and the PCI devices where there is no\n"
		"                 --root, from a topology that lstopo has written\n"
		"  --table FILE   more families and models; default: devices.conf beside\n"
		"                 $SLURM_CONF, else in /etc/slurm, if it is there\n"
		"  --gres NAME    only those of this GRES, such as mlu\n"
		"  --compare FILE the lines of a gres.conf against what is found; -: standard input.\n"
		"                 Exit status 1 when they differ. With --gres-conf the differences\n"
		"                 go to standard error, and lines are of what FILE does not name\n"
		"  --node NAME    the node whose lines they are; default: this host. With\n"
		"                 --gres-conf lines are for it, or for those of a list\n"
		"  --sockets WHAT cores are widened to these: package, numa or l3cache; default: as\n"
		"                 SlurmdParameters of slurm.conf says for this machine\n"
		"  --gres-conf    lines of gres.conf\n"
		"  --json         one array, an object a device; keys in tidectl(1)\n"
		"  --health       how the devices are; the exit status is 1 when one has a fault\n"
		"  --expect GRES  what must be there, as Gres= of slurm.conf: mlu:mlu370-x8:8\n"
		"  --except PCI   addresses of devices that are known to be out, joined by commas\n"
		"  --library      ask vendors' libraries also with --root, --xml and --gres-conf,\n"
		"                 and believe what they tell of links, and of cores and NUMA nodes\n"
		"                 that the kernel does not know\n"
		"  --no-library   do not ask them\n"
		"\n"
		"No vendor's software is needed. Where it is there, it is asked for memory, UUID,\n"
		"power, utilization and health, for 10 seconds at most.\n",
	.run = run,
};
