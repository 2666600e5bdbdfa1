/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl request: options of sbatch for any accelerator that will do.  Which
 * one it is says common/device/offer.h; submits nothing.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/credit/credit.h"
#include "common/device/offer.h"
#include "common/util/err.h"
#include "common/util/parse.h"
#include "compat/client.h"
#include "compat/stock.h"

struct request {
	struct tide_wish wish;
	const char *partition;
	int list, json, nodes_given;
};

/* "--gres=npu:ascend910b:2" with what else was asked for. */
static void print_options(FILE *out, const struct request *request,
			  const struct tide_offer *offer)
{
	if (request->partition)
		fprintf(out, "--partition=%s ", request->partition);
	if (request->nodes_given)
		fprintf(out, "--nodes=%llu ",
			(unsigned long long)request->wish.nodes);
	fprintf(out, "--gres=%s:%s:%llu", offer->gres, offer->type,
		(unsigned long long)request->wish.count);
}

/* What the whole request costs an hour; "no price" or "160 credits". */
static void cost(const struct request *request, const struct tide_offer *offer,
		 char *text, size_t size)
{
	const struct tide_frac many = {
		(int64_t)(request->wish.count * request->wish.nodes), 1};
	struct tide_frac sum;
	char amount[48];

	snprintf(text, size, "no price");
	if (!offer->rate.num || tide_frac_mul(offer->rate, many, &sum))
		return;
	tide_frac_format(sum, amount, sizeof(amount));
	snprintf(text, size, "%s credits an hour for %lld", amount,
		 (long long)many.num);
}

static int print_choice(const struct request *request,
			const struct tide_offers *offers, size_t fit)
{
	const struct tide_offer *offer = offers->offer;
	char price[128];

	cost(request, offer, price, sizeof(price));
	fprintf(stderr, "tidectl: %s:%s: %s; %s; %zu other type%s would do\n",
		offer->gres, offer->type,
		offer->nodes_free ? "free now" : "not free now", price, fit - 1,
		fit == 2 ? "" : "s");
	print_options(stdout, request, offer);
	putchar('\n');
	return TIDECTL_DONE;
}

static int print_none(const struct request *request,
		      const struct tide_offers *offers, const char *partition)
{
	for (size_t i = 0; i < offers->count; i++)
		if (!request->wish.gres ||
		    !strcmp(request->wish.gres, offers->offer[i].gres))
			tidectl_fail("%s:%s %s", offers->offer[i].gres,
				     offers->offer[i].type,
				     offers->offer[i].why);
	return tidectl_fail("nothing in partition '%s' will do", partition);
}

static void number(char *text, size_t size, struct tide_frac frac)
{
	if (frac.num)
		tide_frac_format(frac, text, size);
	else
		snprintf(text, size, "-");
}

static int print_list(const struct tide_offers *offers)
{
	char tflops[48], rate[48], memory[16];

	printf("%-28s %7s %6s %12s %7s %6s  %s\n", "TYPE", "TFLOPS", "GB",
	       "CREDITS/HOUR", "DEVICES", "FREE", "WILL DO");
	for (size_t i = 0; i < offers->count; i++) {
		const struct tide_offer *offer = &offers->offer[i];
		char name[160];

		snprintf(name, sizeof(name), "%s:%s", offer->gres, offer->type);
		number(tflops, sizeof(tflops), offer->tflops);
		number(rate, sizeof(rate), offer->rate);
		number(memory, sizeof(memory),
		       (struct tide_frac){offer->memory, 1});
		printf("%-28s %7s %6s %12s %7llu %6llu  %s\n", name, tflops,
		       memory, rate, (unsigned long long)offer->devices,
		       (unsigned long long)offer->free,
		       offer->why	   ? offer->why
		       : offer->nodes_free ? "now"
					   : "later");
	}
	return TIDECTL_DONE;
}

static json_t *json_frac(struct tide_frac frac)
{
	char text[48];

	if (!frac.num)
		return json_null();
	tide_frac_format(frac, text, sizeof(text));
	return json_string(text);
}

static json_t *json_offer(const struct request *request,
			  const struct tide_offer *offer)
{
	char *options = NULL;
	size_t size;
	FILE *out = offer->fits ? open_memstream(&options, &size) : NULL;
	json_t *value;

	if (out) {
		print_options(out, request, offer);
		fclose(out);
	}
	value = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o}",
		"gres", tidectl_json_text(offer->gres), "type",
		tidectl_json_text(offer->type), "tflops",
		json_frac(offer->tflops), "memory",
		offer->memory ? json_integer(offer->memory) : json_null(),
		"rate", json_frac(offer->rate), "devices",
		(json_int_t)offer->devices, "free", (json_int_t)offer->free,
		"nodes", (json_int_t)offer->nodes, "nodes_free",
		(json_int_t)offer->nodes_free, "fits", offer->fits, "why",
		tidectl_json_text(offer->why), "options",
		tidectl_json_text(options));
	free(options);
	return value;
}

static int print_json(const struct request *request,
		      const struct tide_offers *offers)
{
	json_t *list = json_array();

	for (size_t i = 0; i < offers->count; i++)
		if (json_array_append_new(
			    list, json_offer(request, &offers->offer[i]))) {
			json_decref(list);
			return tidectl_print_json(NULL);
		}
	return tidectl_print_json(list);
}

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

static int answer(const struct request *request, const struct tide_table *table)
{
	struct tide_offers offers = {0};
	struct tide_stock stock = {0};
	int status = TIDECTL_FAILED;
	struct tide_err err;
	size_t fit;

	tide_client_start();
	if (tide_stock_ask(request->partition, &stock, &err)) {
		tidectl_fail("%s", err.text);
	} else if (!read_offers(request, table, &stock, &offers)) {
		fit = tide_offers_choose(&offers, &request->wish);
		if (request->json)
			status = print_json(request, &offers);
		else if (request->list)
			status = print_list(&offers);
		else if (fit)
			status = print_choice(request, &offers, fit);
		else
			status = print_none(request, &offers, stock.partition);
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
	tidectl_usage(&tidectl_request, "%s '%s': %s", name, text, err.text);
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
	case 'g':
		request->wish.gres = optarg;
		return 0;
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
		"COUNT [--memory GB] [--tflops N] [--nodes N] [--gres NAME] [--partition NAME] [--list | --json]",
	.help = "  COUNT            so many devices, on each node\n"
		"  --memory GB      each with as much memory at least\n"
		"  --tflops N       each as fast at least, in dense FP16\n"
		"  --nodes N        on as many nodes\n"
		"  --gres NAME      of that kind alone, such as npu\n"
		"  --partition NAME of that partition; default: the cluster's default\n"
		"  --list           all types, and why one will not do\n"
		"  --json           the same as an array; keys in tidectl(1)\n"
		"\n"
		"  opts=$(tidectl request 2 --memory 32) && sbatch $opts job.sh\n"
		"\n"
		"Chosen is what is free now, then what is cheapest. Exit status 1 when nothing\n"
		"will do.\n",
	.run = run,
};
