/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tiderun: finds the command and hands over.  Knows nothing of training. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/cmd.h"

static void usage(FILE *to)
{
	fputs("usage: tiderun train [OPTION]... FILE.yaml\n"
	      "       tiderun --help | --version\n"
	      "\n"
	      "Started as MPI ranks, e.g. by 'srun --mpi=pmix tiderun train train.yaml'.\n"
	      "\n"
	      "  train      train a transformer on a text; see 'tiderun train --help'\n"
	      "  --help     print this\n"
	      "  --version  print the version\n",
	      to);
}

/*
 * OpenMP and OpenBLAS read their variables before main runs.  By default the
 * one's waiting threads spin on the cores that the other wants, and OpenBLAS
 * starts a thread for every core of the host in every rank.
 */
static void settle_threads(char **argv)
{
	char self[PATH_MAX] = "";

	if (getenv("OMP_WAIT_POLICY") ||
	    readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return;
	setenv("OMP_WAIT_POLICY", "passive", 1);
	setenv("GOMP_SPINCOUNT", "0", 0);
	execv(self, argv);
	/* not fatal: slower only */
}

int main(int argc, char **argv)
{
	static char program[] = "tiderun";
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "--help") || !strcmp(what, "-h")) {
		usage(stdout);
		return TIDE_EXIT_OK;
	}
	if (!strcmp(what, "--version")) {
		puts("tiderun " PACKAGE_VERSION);
		return TIDE_EXIT_OK;
	}
	if (!strcmp(what, "train")) {
		settle_threads(argv);
		/* getopt begins its complaints with it */
		argv[1] = program;
		return tide_cmd_train(argc - 1, argv + 1);
	}
	if (!strcmp(what, "exec")) {
		fprintf(stderr,
			"tiderun: exec is not supported yet: start your own program with srun, and let it save at a signal\n");
		return TIDE_EXIT_USAGE;
	}
	if (*what)
		fprintf(stderr, "tiderun: unknown command '%s'\n", what);
	usage(stderr);
	return TIDE_EXIT_USAGE;
}
