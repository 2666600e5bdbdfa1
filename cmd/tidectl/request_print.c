/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tidectl request in print: options, a list, JSON.  Chooses nothing. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/tidectl/request.h"
#include "common/util/zone.h"

void request_gres(const struct request *request, const struct tide_offer *offer,
		  char *text, size_t size)
{
	snprintf(text, size, "%s%s%s:%llu", offer->gres,
		 *offer->type ? ":" : "", offer->type,
		 (unsigned long long)request->wish.count);
}

/* "npu:ascend910b"; "npu" without a type. */
static const char *name_of(const struct tide_offer *offer, char *text,
			   size_t size)
{
	snprintf(text, size, "%s%s%s", offer->gres, *offer->type ? ":" : "",
		 offer->type);
	return text;
}

static void print_option(FILE *out, const char *name, const char *value)
{
	if (value)
		fprintf(out, "--%s=%s ", name, value);
}

/* "--gres=npu:ascend910b:2" with what else was asked for. */
static void print_options(FILE *out, const struct request *request,
			  const struct tide_offer *offer)
{
	char gres[200];

	print_option(out, "account", request->account);
	print_option(out, "partition", request->partition);
	print_option(out, "time", request->limit);
	print_option(out, "time-min", request->time_min);
	if (request->nodes_given)
		fprintf(out, "--nodes=%llu ",
			(unsigned long long)request->wish.nodes);
	request_gres(request, offer, gres, sizeof(gres));
	fprintf(out, "--gres=%s", gres);
}

/* In local time, to the minute: windows and limits are no finer. */
static const char *start_of(const struct tide_offer *offer, char *text,
			    size_t size)
{
	time_t start = offer->start;
	struct tm tm;

	snprintf(text, size, "later");
	if (offer->now)
		snprintf(text, size, "now");
	else if (offer->start && localtime_r(&start, &tm))
		strftime(text, size, "%FT%T", &tm);
	return text;
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
	char price[128], name[160], start[40], others[24] = "no";

	cost(request, offer, price, sizeof(price));
	if (fit > 1)
		snprintf(others, sizeof(others), "%zu", fit - 1);
	fprintf(stderr,
		"tidectl: %s: starts %s; %s; %s other type%s would do\n",
		name_of(offer, name, sizeof(name)),
		start_of(offer, start, sizeof(start)), price, others,
		fit > 2 ? "s" : "");
	print_options(stdout, request, offer);
	putchar('\n');
	return TIDECTL_DONE;
}

static int print_none(const struct request *request,
		      const struct tide_offers *offers, const char *partition)
{
	const char *gres = request->wish.gres;
	char best[400], name[160];
	size_t said = 0;

	for (size_t i = 0; i < offers->count; i++) {
		const struct tide_offer *offer = &offers->offer[i];

		if (gres && strcasecmp(gres, offer->gres))
			continue;
		tidectl_fail("%s %s", name_of(offer, name, sizeof(name)),
			     offer->why);
		said++;
	}
	if (!said)
		return tidectl_fail("there is no %s%s in partition '%s'",
				    gres ? "gres/" : "accelerator",
				    gres ? gres : "", partition);
	tide_offers_best(offers, &request->wish, best, sizeof(best));
	return tidectl_fail("nothing in partition '%s' will do%s%s", partition,
			    *best ? ": " : "", best);
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
		char name[160], start[40];

		number(tflops, sizeof(tflops), offer->tflops);
		number(rate, sizeof(rate), offer->rate);
		number(memory, sizeof(memory),
		       (struct tide_frac){offer->memory, 1});
		printf("%-28s %7s %6s %12s %7llu %6llu  %s\n",
		       name_of(offer, name, sizeof(name)), tflops, memory, rate,
		       (unsigned long long)offer->devices,
		       (unsigned long long)offer->free,
		       offer->why ? offer->why
				  : start_of(offer, start, sizeof(start)));
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
	char start[TIDE_TIME_SIZE];
	json_t *value;

	tide_utc_format(offer->start, start);
	if (out) {
		print_options(out, request, offer);
		fclose(out);
	}
	value = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:b, s:o, s:o}",
		"gres", tidectl_json_text(offer->gres), "type",
		tidectl_json_text(*offer->type ? offer->type : NULL), "tflops",
		json_frac(offer->tflops), "memory",
		offer->memory ? json_integer(offer->memory) : json_null(),
		"rate", json_frac(offer->rate), "devices",
		(json_int_t)offer->devices, "free", (json_int_t)offer->free,
		"nodes", (json_int_t)offer->nodes, "nodes_free",
		(json_int_t)offer->nodes_free, "start",
		offer->start ? json_string(start) : json_null(), "fits",
		offer->fits, "why", tidectl_json_text(offer->why), "options",
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

int request_print(const struct request *request,
		  const struct tide_offers *offers, size_t fit,
		  const char *partition)
{
	if (request->json)
		return print_json(request, offers);
	if (request->list)
		return print_list(offers);
	if (fit)
		return print_choice(request, offers, fit);
	return print_none(request, offers, partition);
}
