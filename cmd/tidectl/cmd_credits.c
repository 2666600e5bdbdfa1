/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl credits: finds the subcommand, and talks to the credits plugin in
 * slurmdbd.  Computes nothing: amounts come and go as decimal strings.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/tidectl/credits.h"
#include "common/credit/proof.h"
#include "common/credit/request.h"
#include "common/util/err.h"
#include "compat/client.h"

#define MAX_ARGS 1000

/* JSON is UTF-8, and memory is seldom short. */
static const char cannot_ask[] =
	"cannot make a request: a word is no UTF-8 text, or out of memory";

json_t *credits_ask(json_t *request)
{
	char *text, *answer = NULL;
	json_t *data = NULL;
	struct tide_err err;

	text = request ? json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS)
		       : NULL;
	json_decref(request);
	if (!text)
		tidectl_fail("%s", cannot_ask);
	else if (tide_client_ask(text, &answer, &err) ||
		 tide_answer_read(answer, &data, &err))
		tidectl_fail("%s", err.text);
	free(text);
	free(answer);
	return data;
}

json_t *credits_change(json_t *request)
{
	char *text, *path, *proof = NULL;
	struct tide_err err;
	int rc = -1;

	text = request ? json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS)
		       : NULL;
	path = tidectl_slurm_file("slurmdbd.conf");
	if (!text || !path) {
		tidectl_fail("%s", cannot_ask);
	} else if (tide_proof_make(text, path, &proof, &err)) {
		tidectl_fail(
			"%s; the ledger is changed on the host of slurmdbd, by root or SlurmUser",
			err.text);
	} else {
		rc = json_object_set_new(request, "proof", json_string(proof));
	}
	free(text);
	free(path);
	free(proof);
	if (rc) {
		json_decref(request);
		return NULL;
	}
	return credits_ask(request);
}

const char *credits_time(json_int_t when, char buf[32])
{
	time_t t = (time_t)when;
	struct tm tm;

	if (!localtime_r(&t, &tm) ||
	    !strftime(buf, 32, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(buf, 32, "-");
	return buf;
}

/* Options that only some of the subcommands have. */
enum {
	HAS_NOTE = 1,
	HAS_SEALS = 2,
	HAS_DETACH = 4, /* --all, --dry-run, --force */
};

static const struct {
	const char *name;
	int (*run)(const struct credits_args *args);
	int min, max; /* arguments */
	int has;
	const char *usage;
} subcommands[] = {
	{"audit", credits_audit, 0, 0, HAS_SEALS,
	 "[--seal=FILE] [--export-seal=FILE] [--json]"},
	{"balance", credits_balance, 0, MAX_ARGS, 0, "[ACCOUNT ...] [--json]"},
	{"detach", credits_detach, 0, MAX_ARGS, HAS_DETACH,
	 "ACCOUNT ... | --all [--dry-run] [--force] [--json]"},
	{"enroll", credits_enroll, 1, 1, 0, "ACCOUNT [--json]"},
	{"grant", credits_grant, 2, 2, HAS_NOTE,
	 "ACCOUNT AMOUNT --note=TEXT [--json]"},
	{"statement", credits_statement, 1, 1, 0, "ACCOUNT [--json]"},
};

static int refuse(size_t i, const char *why)
{
	fprintf(stderr,
		"tidectl: credits %s: %s\nusage: tidectl credits %s %s\n",
		subcommands[i].name, why, subcommands[i].name,
		subcommands[i].usage);
	return TIDECTL_USAGE;
}

static int dispatch(struct credits_args *args)
{
	size_t i, n = sizeof(subcommands) / sizeof(subcommands[0]);
	const char *name = args->argv[0];

	if (!name)
		return tidectl_usage(
			&tidectl_credits,
			"a subcommand is wanted, see tidectl credits --help");
	for (i = 0; i < n && strcmp(name, subcommands[i].name); i++)
		;
	if (i == n)
		return tidectl_usage(
			&tidectl_credits,
			"unknown subcommand '%s', see tidectl credits --help",
			name);
	args->argc--;
	args->argv++;
	if (args->argc < subcommands[i].min)
		return refuse(i, "too few arguments");
	if (args->argc > subcommands[i].max)
		return refuse(i, "too many arguments");
	if (args->note && !(subcommands[i].has & HAS_NOTE))
		return refuse(i, "there is no --note");
	if ((args->seal || args->export_seal) &&
	    !(subcommands[i].has & HAS_SEALS))
		return refuse(i, "there is no seal");
	if ((args->all || args->dry_run || args->force) &&
	    !(subcommands[i].has & HAS_DETACH))
		return refuse(i, "there is no --all, --dry-run or --force");
	if (subcommands[i].has & HAS_NOTE && (!args->note || !*args->note))
		return refuse(i, "say why with --note=TEXT");
	return subcommands[i].run(args);
}

/* "-5" is an amount, not an option: kept from getopt.  Returns how many. */
static int set_amounts_aside(int *argc, char **argv, char **ret_amounts)
{
	int i, n = 0;

	for (i = 1; i < *argc; i++) {
		if (argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9')
			ret_amounts[n++] = argv[i];
		else
			argv[i - n] = argv[i];
	}
	*argc -= n;
	argv[*argc] = NULL;
	return n;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"all", no_argument, NULL, 'a'},
		{"dry-run", no_argument, NULL, 'd'},
		{"export-seal", required_argument, NULL, 'x'},
		{"force", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		{"note", required_argument, NULL, 'n'},
		{"seal", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0},
	};
	char *rest[MAX_ARGS + 1] = {NULL}, *minus[MAX_ARGS];
	struct credits_args args = {0};
	int opt, i, n, rest_n = 0;

	if (argc > MAX_ARGS)
		return tidectl_usage(&tidectl_credits, "too many arguments");
	n = set_amounts_aside(&argc, argv, minus);
	while ((opt = getopt_long(argc, argv, "hj", options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			args.all = true;
			break;
		case 'd':
			args.dry_run = true;
			break;
		case 'f':
			args.force = true;
			break;
		case 'j':
			args.json = true;
			break;
		case 'n':
			args.note = optarg;
			break;
		case 's':
			args.seal = optarg;
			break;
		case 'x':
			args.export_seal = optarg;
			break;
		default:
			return tidectl_other_option(&tidectl_credits, opt);
		}
	}
	/* An amount is the last argument of the only one that takes it. */
	for (i = optind; i < argc && rest_n < MAX_ARGS; i++)
		rest[rest_n++] = argv[i];
	for (i = 0; i < n && rest_n < MAX_ARGS; i++)
		rest[rest_n++] = minus[i];
	args.argv = rest;
	args.argc = rest_n;
	return dispatch(&args);
}

const struct tidectl_command tidectl_credits = {
	.name = "credits",
	.summary =
		"who may pay, who has paid and earned, and whether it adds up",
	.usage = "SUBCOMMAND [--json] [ARGUMENT ...]",
	.help = "subcommands:\n"
		"  enroll ACCOUNT       let an account of Slurm pay for pool jobs\n"
		"  grant ACCOUNT AMOUNT --note=TEXT\n"
		"                       give it credits (take them back: a negative amount)\n"
		"  detach ACCOUNT ...   let it pay no more; what was made for it in Slurm goes\n"
		"  balance [ACCOUNT ...]\n"
		"                       what is left, was granted, earned and spent\n"
		"  statement ACCOUNT    every posting with the balance after it\n"
		"  audit                check the whole ledger\n\n"
		"options:\n"
		"  --note=TEXT          of a grant: why\n"
		"  --export-seal=FILE   of an audit: write a seal, to be kept elsewhere\n"
		"  --seal=FILE          of an audit: compare with an earlier seal\n"
		"  --all                of a detach: every account\n"
		"  --dry-run            of a detach: only say what is in the way\n"
		"  --force              of a detach: also when jobs are under its QOS\n"
		"  --json               for programs\n\n"
		"enroll, grant and detach are for root and SlurmUser on the host of slurmdbd; you\n"
		"see the accounts that you are a member or coordinator of, operators of\n"
		"Slurm see all, and audit.\n\n"
		"examples:\n"
		"  tidectl credits grant vision 8000 --note='project 12'\n"
		"  tidectl credits statement vision\n",
	.run = run,
};
