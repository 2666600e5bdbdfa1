/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tiderun train`: options, and the settings from rank 0 to all. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/parse.h"
#include "launcher/cmd.h"
#include "launcher/comm/group.h"
#include "launcher/train/check.h"
#include "launcher/train/trainer.h"

struct options {
	bool check, json, help;
	int64_t ranks;
	const char *file;
};

static void usage(FILE *to)
{
	fputs("usage: tiderun train [OPTION]... FILE.yaml\n"
	      "\n"
	      "Trains a decoder-only transformer on a text, data parallel over all MPI ranks.\n"
	      "Continues by itself from the newest good checkpoint in checkpoint.directory.\n"
	      "\n"
	      "  --check    say what would be done and change nothing; needs no MPI\n"
	      "  --ranks=N  with --check: for so many ranks (default SLURM_NTASKS, else 1)\n"
	      "  --json     with --check: as one JSON object\n"
	      "  --help     print this\n"
	      "\n"
	      "Exit status: 0 the training is complete; 1 refused or failed; 2 usage;\n"
	      "75 stopped early by a signal with work left.\n"
	      "\n"
	      "USR1 or USR2 (sbatch --signal): save, requeue the job, stop.  TERM: save, stop.\n"
	      "\n"
	      "Keys of the file, as section.key:\n",
	      to);
	tide_settings_help(to);
}

static int read_options(struct options *o, int argc, char **argv)
{
	static const struct option table[] = {
		{"check", no_argument, NULL, 'c'},
		{"ranks", required_argument, NULL, 'r'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	const char *tasks = getenv("SLURM_NTASKS");
	int c;

	o->ranks = 1;
	if (tasks)
		tide_parse_int(tasks, 1, 1000000, &o->ranks, NULL);
	while ((c = getopt_long(argc, argv, "h", table, NULL)) != -1) {
		if (c == 'c')
			o->check = true;
		else if (c == 'j')
			o->json = true;
		else if (c == 'h')
			o->help = true;
		else if (c != 'r')
			return -1;
		else if (tide_parse_int(optarg, 1, 1000000, &o->ranks, NULL)) {
			fprintf(stderr,
				"tiderun: --ranks: '%s' is not a whole number from 1 to 1000000\n",
				optarg);
			return -1;
		}
	}
	if (o->help)
		return 0;
	if (argc - optind != 1) {
		fprintf(stderr, "tiderun: wants one file, got %d\n",
			argc - optind);
		return -1;
	}
	if (o->json && !o->check) {
		fprintf(stderr,
			"tiderun: --json goes with --check; a training writes JSON to log.file\n");
		return -1;
	}
	o->file = argv[optind];
	return 0;
}

static int check(const struct options *o)
{
	struct tide_settings settings;
	struct tide_check result;
	struct tide_err err;

	if (tide_settings_read(&settings, o->file, &err) ||
	    tide_check_make(&result, &settings, o->ranks, &err)) {
		fprintf(stderr, "tiderun: %s\n", err.text);
		return TIDE_EXIT_FAILED;
	}
	if (o->json)
		tide_check_print_json(&result, stdout);
	else
		tide_check_print(&result, stdout);
	return TIDE_EXIT_OK;
}

/* Rank 0 reads the file: every rank has the same settings, and one error is
 * told once. */
static int share_settings(struct tide_comm *comm, const char *file,
			  struct tide_settings *settings)
{
	struct tide_group *group = tide_comm_group(comm, TIDE_GROUP_DATA);
	struct tide_err err;
	int rc = 0;

	if (!tide_group_rank(group)) {
		rc = tide_settings_read(settings, file, &err);
		if (rc)
			fprintf(stderr, "tiderun: %s\n", err.text);
	}
	tide_group_send_all(group, &rc, sizeof(rc), 0);
	if (!rc)
		tide_group_send_all(group, settings, sizeof(*settings), 0);
	return rc;
}

static int train(const struct options *o, int *argc, char ***argv)
{
	struct tide_settings settings = {0};
	struct tide_comm *comm;
	struct tide_job job;
	struct tide_err err;
	int rc = TIDE_EXIT_FAILED;

	/* A warning may come while the ranks still find each other. */
	tide_signals_catch();
	if (tide_comm_create(&comm, argc, argv, &err)) {
		fprintf(stderr, "tiderun: %s\n", err.text);
		return TIDE_EXIT_FAILED;
	}
	tide_job_init(&job);
	if (!share_settings(comm, o->file, &settings))
		rc = tide_train(&settings, comm, &job, stdout);
	tide_comm_destroy(comm);
	return rc;
}

int tide_cmd_train(int argc, char **argv)
{
	struct options o = {0};

	if (read_options(&o, argc, argv)) {
		fprintf(stderr, "Try 'tiderun train --help'.\n");
		return TIDE_EXIT_USAGE;
	}
	if (o.help) {
		usage(stdout);
		return TIDE_EXIT_OK;
	}
	return o.check ? check(&o) : train(&o, &argc, &argv);
}
