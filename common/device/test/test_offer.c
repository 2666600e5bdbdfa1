/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types that serve a wish, of a cluster in Slurm's own words. */
#include "config.h"

#include "common/device/offer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/tap.h"

/* Gres, GresUsed, and whether the node takes jobs. */
static const struct {
	const char *gres, *used;
	bool takes_jobs;
} nodes[] = {
	{"npu:ascend910b:8(S:0-1)", "npu:ascend910b:7(IDX:0-6)", true},
	{"npu:ascend910b:8(S:0-1)", "npu:ascend910b:8(IDX:0-7)", true},
	{"npu:ascend910a:8", "npu:ascend910a:0(IDX:N/A)", false},
	{"mlu:mlu290:4(S:0),nic:1", "mlu:mlu290:1(IDX:0,2),nic:0", true},
	{"gpu:a100:4,gpu:t4:2", "gpu:a100:2(IDX:1,3),gpu:t4:0(IDX:N/A)", true},
	{"npu:vir04:4,npu:ascend310p:1", "npu:vir04:0", true},
	{"accel:odd:2,:x:3,gpu::2,gpu:t4:x,dcu:k100_ai:0", "", true},
	{"dcu:4(S:0)", "dcu:(null):3(IDX:0,1,3)", true},
};

static const char weights[] =
	"CPU=0,GRES/gpu:a100=100000,gres/npu:ascend910b=80000.5,GRES/gpu:t4=20833.333333,GRES/npu:vir04=x";

/* A wish, and what serves it in that order: "TYPE" or "TYPE*" (not now). */
static const struct {
	const char *name;
	struct tide_wish wish;
	const char *want;
} cases[] = {
	{"one of anything",
	 {1, 1, 0, {0, 1}, NULL},
	 "gpu:t4 npu:ascend910b gpu:a100 npu:vir04 mlu:mlu290 accel:odd dcu: npu:ascend310p npu:ascend910a*"},
	{"two with memory",
	 {2, 1, 32, {0, 1}, NULL},
	 "gpu:a100 mlu:mlu290 npu:ascend910b* npu:ascend910a*"},
	{"two that are fast",
	 {2, 1, 0, {250, 1}, NULL},
	 "gpu:a100 npu:ascend910b* npu:ascend910a*"},
	{"both", {1, 1, 40, {250, 1}, NULL}, "gpu:a100"},
	{"of one kind",
	 {1, 1, 0, {250, 1}, "npu"},
	 "npu:ascend910b npu:ascend910a*"},
	{"of one kind, without a type",
	 {2, 1, 0, {0, 1}, "dcu"},
	 "dcu:*"},
	{"more than a node has", {9, 1, 0, {0, 1}, NULL}, ""},
	{"two nodes", {8, 2, 0, {0, 1}, NULL}, "npu:ascend910b*"},
	{"two nodes, of which one has it free",
	 {1, 2, 0, {0, 1}, NULL},
	 "npu:ascend910b*"},
	{"nothing is as fast", {1, 1, 0, {5000, 1}, NULL}, ""},
};

static void read_nodes(const struct tide_table *table,
		       const struct tide_wish *wish, struct tide_offers *offers)
{
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		if (tide_offers_node(offers, table, wish, nodes[i].gres,
				     nodes[i].used, nodes[i].takes_jobs))
			diag("no memory");
	tide_offers_rates(offers, weights, 1000);
}

static void test_choice(const struct tide_table *table)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_offers offers = {0};
		char text[512] = "";
		size_t fit, at = 0;

		read_nodes(table, &cases[i].wish, &offers);
		fit = tide_offers_choose(&offers, &cases[i].wish);
		for (size_t k = 0; k < fit; k++)
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%s%s:%s%s",
				k ? " " : "", offers.offer[k].gres,
				offers.offer[k].type,
				offers.offer[k].nodes_free ? "" : "*");
		is_str(text, cases[i].want, cases[i].name);
		ok(fit == offers.count || offers.offer[fit].why,
		   "others have a reason");
		tide_offers_release(&offers);
	}
}

static void test_counts(const struct tide_table *table)
{
	const struct tide_wish wish = {2, 1, 0, {0, 1}, NULL};
	const struct tide_offer *offer = NULL;
	struct tide_offers offers = {0};
	char rate[48];

	read_nodes(table, &wish, &offers);
	is_int((int64_t)offers.count, 9, "types, and nothing else");
	for (size_t i = 0; i < offers.count; i++)
		if (!strcmp(offers.offer[i].type, "ascend910b"))
			offer = &offers.offer[i];
	if (ok(offer != NULL, "910B")) {
		is_int((int64_t)offer->devices, 16, "devices");
		is_int((int64_t)offer->free, 1, "free");
		is_int((int64_t)offer->nodes, 2, "nodes that have two");
		is_int((int64_t)offer->nodes_free, 0, "that have them free");
		tide_frac_format(offer->rate, rate, sizeof(rate));
		is_str(rate, "80.0005", "its rate");
	}
	tide_offers_release(&offers);
	ok(!tide_offers_node(&offers, table, &wish, NULL, NULL, true) &&
		   !offers.count && !tide_offers_choose(&offers, &wish),
	   "a node without any");
}

/* What Slurm says of the start goes before what is free. */
static void test_order(const struct tide_table *table)
{
	static const struct {
		const char *type;
		int64_t start; /* 0: refused; -1: not asked */
	} said[] = {
		{"vir04", 2000},   {"ascend910b", 1059}, {"t4", 0},
		{"a100", 1500},	   {"mlu290", 1000},	 {"odd", -1},
		{"ascend310p", -1}, {"ascend910a", -1},	 {"", -1},
	};
	const struct tide_wish wish = {1, 1, 0, {0, 1}, NULL};
	struct tide_offers offers = {0};
	char text[512] = "";
	size_t fit, at = 0;

	read_nodes(table, &wish, &offers);
	tide_offers_choose(&offers, &wish);
	for (size_t i = 0; i < offers.count; i++)
		for (size_t k = 0; k < sizeof(said) / sizeof(*said); k++) {
			struct tide_offer *offer = &offers.offer[i];

			if (strcmp(offer->type, said[k].type))
				continue;
			if (said[k].start > 0)
				tide_offer_starts(offer, said[k].start, 1000);
			else if (!said[k].start &&
				 tide_offer_refused(offer, "is not taken"))
				diag("no memory");
		}
	fit = tide_offers_order(&offers);
	for (size_t k = 0; k < offers.count; k++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s",
				       k == fit ? " | "
				       : k	? " "
						: "",
				       offers.offer[k].type,
				       offers.offer[k].now ? "!" : "");
	is_str(text,
	       "ascend910b! mlu290! a100 vir04 odd  ascend310p ascend910a | t4",
	       "starts now, by price; then by start; then not asked");
	is_str(offers.offer[fit].why, "is not taken", "and Slurm's reason");
	tide_offers_release(&offers);
}

static void test_best(const struct tide_table *table)
{
	static const struct {
		struct tide_wish wish;
		const char *want;
	} cases[] = {
		{{1, 1, 0, {5000, 1}, NULL},
		 "the fastest is gpu:a100 with 312 TFLOPS"},
		{{1, 1, 500, {5000, 1}, "npu"},
		 "the fastest is npu:ascend910b with 280 TFLOPS, the largest is npu:ascend910a with 32 GB"},
		{{1, 1, 100, {0, 1}, "mlu"},
		 "the largest is mlu:mlu290 with 32 GB"},
		{{1, 1, 0, {1, 1}, "accel"}, ""},
		{{9, 1, 0, {0, 1}, NULL}, ""},
		{{9, 1, 32, {200, 1}, NULL}, ""},
		{{1, 1, 500, {200, 1}, "npu"},
		 "the largest is npu:ascend910a with 32 GB"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_offers offers = {0};
		char text[200];

		read_nodes(table, &cases[i].wish, &offers);
		tide_offers_choose(&offers, &cases[i].wish);
		tide_offers_best(&offers, &cases[i].wish, text, sizeof(text));
		is_str(text, cases[i].want, "the best that there is");
		tide_offers_release(&offers);
	}
}

static void test_able(const struct tide_table *table)
{
	struct tide_frac tflops;
	char text[48];
	int memory;

	tide_table_able(table, "npu", "ascend910a-vir16", &tflops, &memory);
	tide_frac_format(tflops, text, sizeof(text));
	is_str(text, "2048/15", "a part is as fast as its share");
	is_int(memory, 17, "and has its share of memory");
	tide_table_able(table, "npu", "vir04", &tflops, &memory);
	is_int(memory, 12, "or what is said");
	tide_table_able(table, "gpu", "ascend910b", &tflops, &memory);
	ok(!tflops.num && !memory, "a type of another GRES is not known");
}

int main(void)
{
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;

	if (tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	test_choice(table);
	test_counts(table);
	test_order(table);
	test_best(table);
	test_able(table);
	tide_table_destroy(table);
	return tap_done();
}
