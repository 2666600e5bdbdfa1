/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl request: options of sbatch for any accelerator that will do.  Which
 * one it is says common/device/offer.h, when it would start Slurm; submits
 * nothing.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/request.h"
#include "common/credit/credit.h"
#include "common/util/err.h"
#include "common/util/parse.h"
#include "compat/client.h"
#include "compat/stock.h"

/* What the partition has; -1 when it was said why not. */
static int read_offers(const struct request *request,
		       const struct tide_table *table,
		       const struct tide_stock *stock,
		       struct tide_offers *offers)
{
	for (size_t i = 0; i < stock->n_nodes; i++)
		if (tide_offers_node(offers, table, &request->wish,
				     stock->node[i].gres, stock->node[i].used,
				     stock->node[i].takes_jobs)) {
			tidectl_fail("out of memory");
			return -1;
		}
	tide_offers_rates(offers, stock->weights, TIDE_BILLING_SCALE);
	return 0;
}

/*
 * Ask Slurm about one that fits; -1 when there is no going on, 1 when it takes
 * nothing of that account, with why.
 */
static int ask_start(const struct request *request, struct tide_offer *offer,
		     struct tide_err *why)
{
	struct tide_trial trial = {
		.partition = request->partition,
		.account = request->account,
		.nodes = (uint32_t)request->wish.nodes,
		/* without a limit it is asked only what is open */
		.limit_min = request->limit_min	     ? request->limit_min
			     : request->time_min_min ? request->time_min_min
						     : 1,
		.time_min = request->time_min_min,
	};
	int64_t start;
	char gres[200];

	request_gres(request, offer, gres, sizeof(gres));
	trial.gres = gres;
	if (!tide_stock_start(&trial, &start, why)) {
		tide_offer_starts(offer, start, time(NULL));
		return 0;
	}
	if (errno == EACCES)
		return 1;
	if (errno != EPERM)
		tidectl_fail("%s", why->text);
	else if (!tide_offer_refused(offer, why->text))
		return 0;
	else
		tidectl_fail("out of memory");
	return -1;
}

/* The account gets none of those from the first on. */
static int refuse_account(const struct request *request,
			  struct tide_offer *first, size_t count,
			  const char *why)
{
	for (size_t i = 0; i < count; i++)
		if (tide_offer_refused(&first[i], why)) {
			tidectl_fail("out of memory");
			return -1;
		}
	if (!request->account)
		tidectl_fail(
			"--account NAME is wanted, where another than the default account is to ask");
	return 0;
}

/*
 * Ask about those that fit in their order, up to the first that starts now if
 * only that is wanted; how many are left, or -1.
 */
static int ask_starts(const struct request *request, struct tide_offers *offers,
		      size_t *fit)
{
	int all = request->list || request->json, found = 0, rc = 0;
	struct tide_offer *offer = offers->offer;
	struct tide_err why;

	for (size_t i = 0; !rc && i < *fit && (all || !found); i++) {
		rc = ask_start(request, &offer[i], &why);
		if (rc > 0 &&
		    refuse_account(request, &offer[i], *fit - i, why.text))
			return -1;
		found = offer[i].now;
	}
	if (rc < 0)
		return -1;
	*fit = tide_offers_order(offers);
	return 0;
}

static int answer(const struct request *request, const struct tide_table *table)
{
	struct tide_offers offers = {0};
	struct tide_stock stock = {0};
	int status = TIDECTL_FAILED, asked;
	struct tide_err err;
	size_t fit;

	tide_client_start();
	if (tide_stock_ask(request->partition, &stock, &err)) {
		tidectl_fail("%s", err.text);
	} else if (!read_offers(request, table, &stock, &offers)) {
		fit = tide_offers_choose(&offers, &request->wish);
		request_said_start();
		asked = ask_starts(request, &offers, &fit);
		request_said_end();
		if (!asked)
			status = request_print(request, &offers, fit,
					       stock.partition);
	}
	tide_offers_release(&offers);
	tide_stock_release(&stock);
	return status;
}

/* A whole number of an option; -1 when it was said to be none. */
static int whole(const char *name, const char *text, int64_t *ret_value)
{
	struct tide_err err;

	if (!tide_parse_int(text, 1, 1 << 20, ret_value, &err))
		return 0;
	tidectl_usage(&tidectl_request, "%s '%s': %s%s", name, text, err.text,
		      strcmp(name, "--memory") ? "" : ", of GB");
	return -1;
}

/*
 * The name of an account in optarg, which Slurm need not look at: what is
 * printed is split at blanks and matched against files by whoever uses it. -1
 * when it was said that it is no name.
 */
static int account(const char **ret_name)
{
	const char *bad = optarg;

	while (isalnum((unsigned char)*bad) || *bad & 0x80 ||
	       (*bad && strchr("_-.@+:,=/%", *bad)))
		bad++;
	if (*optarg && !*bad) {
		*ret_name = optarg;
		return 0;
	}
	tidectl_usage(&tidectl_request,
		      "--account '%s': the name of an account is wanted",
		      optarg);
	return -1;
}

/* A time limit in optarg, kept as it was written; -1 when it was said. */
static int limit(const char *name, const char **ret_text, uint32_t *ret_min)
{
	struct tide_err err;
	int64_t minutes;

	if (!tide_parse_limit(optarg, &minutes, &err)) {
		*ret_text = optarg;
		*ret_min = (uint32_t)minutes;
		return 0;
	}
	tidectl_usage(&tidectl_request, "%s '%s': %s", name, optarg, err.text);
	return -1;
}

static int take(struct request *request, int option)
{
	int64_t value = 0;

	switch (option) {
	case 'm':
		if (whole("--memory", optarg, &value))
			return -1;
		request->wish.memory = (int)value;
		return 0;
	case 'N':
		if (whole("--nodes", optarg, &value))
			return -1;
		request->wish.nodes = (uint64_t)value;
		request->nodes_given = 1;
		return 0;
	case 't':
		if (!tide_frac_parse(optarg, &request->wish.tflops) &&
		    request->wish.tflops.num > 0)
			return 0;
		tidectl_usage(&tidectl_request,
			      "--tflops '%s': a number above 0 is wanted",
			      optarg);
		return -1;
	case 'T':
		return limit("--time", &request->limit, &request->limit_min);
	case 'M':
		return limit("--time-min", &request->time_min,
			     &request->time_min_min);
	case 'g':
		request->wish.gres = optarg;
		return 0;
	case 'A':
		return account(&request->account);
	case 'p':
		request->partition = optarg;
		return 0;
	case 'l':
		request->list = 1;
		return 0;
	default:
		request->json = 1;
		return 0;
	}
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"memory", required_argument, NULL, 'm'},
		{"tflops", required_argument, NULL, 't'},
		{"nodes", required_argument, NULL, 'N'},
		{"gres", required_argument, NULL, 'g'},
		{"partition", required_argument, NULL, 'p'},
		{"account", required_argument, NULL, 'A'},
		{"time", required_argument, NULL, 'T'},
		{"time-min", required_argument, NULL, 'M'},
		{"list", no_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct request request = {
		.wish = {.count = 1, .nodes = 1, .tflops = {0, 1}}};
	struct tide_table *table;
	int option, status;
	int64_t count;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h' || option == '?')
			return tidectl_other_option(&tidectl_request, option);
		if (take(&request, option))
			return TIDECTL_USAGE;
	}
	if (optind + 1 != argc)
		return tidectl_usage(
			&tidectl_request,
			"one number of devices is wanted, as in: tidectl request 2");
	if (whole("COUNT", argv[optind], &count))
		return TIDECTL_USAGE;
	if (request.list && request.json)
		return tidectl_usage(&tidectl_request,
				     "--list and --json exclude each other");
	request.wish.count = (uint64_t)count;
	table = devices_table(NULL);
	if (!table)
		return TIDECTL_FAILED;
	status = answer(&request, table);
	tide_table_destroy(table);
	return status;
}

const struct tidectl_command tidectl_request = {
	.name = "request",
	.summary = "options of sbatch for any accelerator that will do",
	.usage =
		"COUNT [--memory GB] [--tflops N] [--nodes N] [--gres NAME] [--partition NAME] [--account NAME] [--time TIME] [--time-min TIME] [--list | --json]",
	.help = "  COUNT            so many devices, on each node\n"
		"  --memory GB      each with as much memory at least\n"
		"  --tflops N       each as fast at least, in dense FP16\n"
		"  --nodes N        on as many nodes\n"
		"  --gres NAME      of that kind alone, such as npu\n"
		"  --partition NAME of that partition; default: the cluster's default\n"
		"  --account NAME   paid by that account; default: the user's default\n"
		"  --time TIME      for so long, as of sbatch\n"
		"  --time-min TIME  that is the shortest stretch worth starting\n"
		"  --list           all types, and why one will not do\n"
		"  --json           the same as an array; keys in tidectl(1)\n"
		"\n"
		"  opts=$(tidectl request 2 --memory 32) && sbatch $opts job.sh\n"
		"\n"
		"Slurm is asked when a job would start. Chosen is what starts now, of that what\n"
		"is cheapest; else what starts first. Exit status 1 when nothing will do.\n",
	.run = run,
};
