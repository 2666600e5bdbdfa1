/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types that serve a wish: see offer.h. */
#include "config.h"

#include "common/device/offer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/gres.h"

static bool is_text(const char *text, const char *part, size_t len)
{
	return strlen(text) == len && !strncasecmp(text, part, len);
}

static struct tide_offer *offer_of(const struct tide_offers *offers,
				   const struct tide_gres *item)
{
	for (size_t i = 0; i < offers->count; i++)
		if (is_text(offers->offer[i].gres, item->name,
			    item->name_len) &&
		    is_text(offers->offer[i].type, item->type, item->type_len))
			return &offers->offer[i];
	return NULL;
}

static bool is_accelerator(const struct tide_table *table,
			   const struct tide_gres *item)
{
	for (size_t i = 0; i < table->n_families; i++)
		if (is_text(table->family[i].gres, item->name, item->name_len))
			return true;
	return false;
}

static struct tide_offer *add_offer(struct tide_offers *offers,
				    const struct tide_table *table,
				    const struct tide_gres *item)
{
	struct tide_offer *more =
		realloc(offers->offer, (offers->count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	offers->offer = more;
	more += offers->count;
	*more = (struct tide_offer){
		.gres = strndup(item->name, item->name_len),
		.type = strndup(item->type, item->type_len),
		.rate = {0, 1},
	};
	if (!more->gres || !more->type) {
		free(more->gres);
		free(more->type);
		return NULL;
	}
	offers->count++;
	tide_table_able(table, more->gres, more->type, &more->tflops,
			&more->memory);
	return more;
}

/* How many of the item's type there are in a list. */
static uint64_t count_in(const char *list, const struct tide_gres *of)
{
	uint64_t count = 0;
	struct tide_gres item;

	while (tide_gres_next(&list, &item))
		if (item.type_len == of->type_len && tide_gres_is(&item, of))
			count += (uint64_t)item.count;
	return count;
}

int tide_offers_node(struct tide_offers *offers, const struct tide_table *table,
		     const struct tide_wish *wish, const char *gres,
		     const char *used, bool takes_jobs)
{
	const char *cursor = gres;
	struct tide_gres item;

	while (tide_gres_next(&cursor, &item)) {
		uint64_t in_use = count_in(used, &item), idle;
		uint64_t count = (uint64_t)item.count;
		struct tide_offer *offer = offer_of(offers, &item);

		if (!is_accelerator(table, &item) || !count)
			continue;
		if (!offer)
			offer = add_offer(offers, table, &item);
		if (!offer) {
			errno = ENOMEM;
			return -1;
		}
		idle = takes_jobs && in_use < count ? count - in_use : 0;
		offer->devices += count;
		offer->free += idle;
		if (count > offer->most)
			offer->most = count;
		offer->nodes += count >= wish->count;
		offer->nodes_free += idle >= wish->count;
	}
	return 0;
}

void tide_offers_rates(struct tide_offers *offers, const char *weights,
		       int64_t scale)
{
	while (weights && *weights) {
		size_t len = strcspn(weights, ","),
		       name = strcspn(weights, "=,");
		char device[160], value[64];
		struct tide_frac weight;

		snprintf(value, sizeof(value), "%.*s",
			 name < len ? (int)(len - name - 1) : 0,
			 weights + name + (name < len));
		for (size_t i = 0; i < offers->count; i++) {
			struct tide_offer *offer = &offers->offer[i];

			snprintf(device, sizeof(device), "gres/%s%s%s",
				 offer->gres, *offer->type ? ":" : "",
				 offer->type);
			if (!is_text(device, weights, name) ||
			    tide_frac_parse(value, &weight))
				continue;
			if (tide_frac_div(weight, (struct tide_frac){scale, 1},
					  &offer->rate))
				offer->rate = (struct tide_frac){0, 1};
		}
		weights += len + (weights[len] == ',');
	}
}

/* Why a type does not do; NULL when it does. */
static const char *why_not(const struct tide_offer *offer,
			   const struct tide_wish *wish)
{
	if (wish->gres && strcasecmp(wish->gres, offer->gres))
		return "is of another kind";
	if (wish->memory && !offer->memory)
		return "is of unknown memory";
	if (wish->memory > offer->memory)
		return "has less memory";
	if (wish->tflops.num && !offer->tflops.num)
		return "is of unknown speed";
	if (wish->tflops.num && tide_frac_cmp(offer->tflops, wish->tflops) < 0)
		return "is slower";
	if (offer->most < wish->count)
		return "has too few on one node";
	if (offer->nodes < wish->nodes)
		return "is on too few nodes";
	return NULL;
}

static int by_choice(const void *a, const void *b)
{
	const struct tide_offer *x = a, *y = b;
	int cmp;

	if (x->fits != y->fits)
		return x->fits ? -1 : 1;
	if (x->fits && x->now != y->now)
		return x->now ? -1 : 1;
	if (x->fits && !x->now && x->start != y->start)
		return !y->start || (x->start && x->start < y->start) ? -1 : 1;
	/* of those that do not fit the order is that of names */
	if (x->fits && !x->nodes_free != !y->nodes_free)
		return x->nodes_free ? -1 : 1;
	if (x->fits && !x->rate.num != !y->rate.num)
		return x->rate.num ? -1 : 1;
	cmp = x->fits ? tide_frac_cmp(x->rate, y->rate) : 0;
	if (cmp)
		return cmp;
	if (x->fits && x->free != y->free)
		return x->free > y->free ? -1 : 1;
	cmp = strcmp(x->gres, y->gres);
	return cmp ? cmp : strcmp(x->type, y->type);
}

size_t tide_offers_choose(struct tide_offers *offers,
			  const struct tide_wish *wish)
{
	size_t fit = 0;

	for (size_t i = 0; i < offers->count; i++) {
		struct tide_offer *offer = &offers->offer[i];

		offer->why = why_not(offer, wish);
		offer->fits = !offer->why;
		fit += offer->fits;
		/* free for this wish are enough nodes, or none */
		if (offer->nodes_free < wish->nodes)
			offer->nodes_free = 0;
	}
	tide_offers_order(offers);
	return fit;
}

/* A minute is less than it takes to write the script. */
void tide_offer_starts(struct tide_offer *offer, int64_t start, int64_t now)
{
	offer->start = start;
	offer->now = start <= now + 60;
}

int tide_offer_refused(struct tide_offer *offer, const char *why)
{
	char *copy = strdup(why);

	if (!copy)
		return -1;
	free(offer->refused);
	offer->why = offer->refused = copy;
	offer->fits = false;
	return 0;
}

size_t tide_offers_order(struct tide_offers *offers)
{
	size_t fit = 0;

	if (offers->count)
		qsort(offers->offer, offers->count, sizeof(*offers->offer),
		      by_choice);
	while (fit < offers->count && offers->offer[fit].fits)
		fit++;
	return fit;
}

/* Of the kind that is wished for: the fastest, or the one with most memory. */
static const struct tide_offer *best(const struct tide_offers *offers,
				     const struct tide_wish *wish, bool speed)
{
	const struct tide_offer *best = NULL;

	for (size_t i = 0; i < offers->count; i++) {
		const struct tide_offer *offer = &offers->offer[i];

		if (wish->gres && strcasecmp(wish->gres, offer->gres))
			continue;
		if (speed ? !offer->tflops.num : !offer->memory)
			continue;
		if (!best ||
		    (speed ? tide_frac_cmp(offer->tflops, best->tflops) > 0
			   : offer->memory > best->memory))
			best = offer;
	}
	return best;
}

void tide_offers_best(const struct tide_offers *offers,
		      const struct tide_wish *wish, char *text, size_t size)
{
	const struct tide_offer *fastest = NULL, *largest = NULL;
	char tflops[48];
	int n = 0;

	if (size)
		*text = '\0';
	if (wish->tflops.num)
		fastest = best(offers, wish, true);
	if (wish->memory)
		largest = best(offers, wish, false);
	if (fastest && tide_frac_cmp(fastest->tflops, wish->tflops) < 0) {
		tide_frac_format(fastest->tflops, tflops, sizeof(tflops));
		n = snprintf(text, size, "the fastest is %s:%s with %s TFLOPS",
			     fastest->gres, fastest->type, tflops);
	}
	if (largest && largest->memory < wish->memory && n >= 0 &&
	    (size_t)n < size)
		snprintf(text + n, size - (size_t)n,
			 "%sthe largest is %s:%s with %d GB", n ? ", " : "",
			 largest->gres, largest->type, largest->memory);
}

void tide_offers_release(struct tide_offers *offers)
{
	for (size_t i = 0; i < offers->count; i++) {
		free(offers->offer[i].gres);
		free(offers->offer[i].type);
		free(offers->offer[i].refused);
	}
	free(offers->offer);
	*offers = (struct tide_offers){0};
}

static bool of_gres(const struct tide_table *table, int family,
		    const char *gres)
{
	return !strcasecmp(table->family[family].gres, gres);
}

/* By models alone; the last that tells counts. */
static void model_able(const struct tide_table *table, const char *gres,
		       const char *type, size_t len, struct tide_frac *tflops,
		       int *memory)
{
	for (size_t i = 0; i < table->n_models; i++) {
		const struct tide_model *model = &table->model[i];

		if (!of_gres(table, model->family, gres) ||
		    !is_text(model->type, type, len))
			continue;
		if (model->tflops.num)
			*tflops = model->tflops;
		if (model->memory)
			*memory = model->memory;
	}
}

void tide_table_able(const struct tide_table *table, const char *gres,
		     const char *type, struct tide_frac *ret_tflops,
		     int *ret_memory)
{
	struct tide_frac tflops = {0, 1}, share = {0, 1};
	int memory = 0;

	model_able(table, gres, type, strlen(type), &tflops, &memory);
	for (size_t i = 0; i < table->n_parts; i++) {
		const struct tide_part *part = &table->part[i];
		const char *cursor = part->of, *whole;
		size_t len;

		if (strcasecmp(part->type, type) ||
		    !of_gres(table, part->family, gres) ||
		    !tide_list_next(&cursor, &whole, &len))
			continue;
		tflops = (struct tide_frac){0, 1};
		memory = 0;
		model_able(table, gres, whole, len, &tflops, &memory);
		if (tide_frac_mul(tflops, part->share, &share))
			share = (struct tide_frac){0, 1};
		tflops = share;
		memory = part->memory ? part->memory
				      : (int)(memory * part->share.num /
					      part->share.den);
	}
	*ret_tflops = tflops;
	*ret_memory = memory;
}
