/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges of runs with two owners, a fee and nodes that nobody lends; limits;
 * prices as text and back.
 */
#include "config.h"

#include "common/credit/charge.h"
#include "common/credit/credit.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stdlib.h>

static const struct tide_frac one = { 1, 1 };

/* lab01-02 are nlp's, cv1 is cv's, ord1 nobody's; an mlu290 costs 100. */
static struct tide_prices *make_prices(int64_t fee_num, int64_t fee_den)
{
	struct tide_prices *p = tide_prices_create();
	struct tide_frac fee = { 0, 1 }, mlu = { 100, 1 }, t4 = { 0, 1 };
	struct tide_err err;
	int bad = !p;

	bad = bad || tide_frac_make(fee_num, fee_den, &fee);
	bad = bad || tide_frac_make(6500, 312, &t4);
	bad = bad || tide_prices_set(p, "pool", "centre", "mint", fee, &err);
	bad = bad || tide_prices_add_device(p, "mlu:mlu290", mlu, &err);
	bad = bad || tide_prices_add_device(p, "gpu:t4", t4, &err);
	mlu.num = 150;
	bad = bad || tide_prices_add_device(p, "mlu:mlu370", mlu, &err);
	bad = bad || tide_prices_add_node(p, "lab02", "nlp", &err);
	bad = bad || tide_prices_add_node(p, "lab01", "nlp", &err);
	bad = bad || tide_prices_add_node(p, "cv1", "cv", &err);
	ok(!bad, "prices with a fee of %" PRId64 "/%" PRId64, fee_num, fee_den);
	return p;
}

struct charge_case {
	const char *name;
	int64_t fee_num, fee_den;
	int64_t seconds, suspended;
	struct tide_frac factor;
	const char *nodes[4];
	struct tide_use uses[3];
	int64_t amount;
	const char *lines; /* "account amount; ..." */
	const char *to;
	const char *rate;
};

static const struct charge_case cases[] = {
	{ "an hour of two devices on each of two lent nodes", 0, 1, 3600, 0,
	  { 1, 1 }, { "lab01", "lab02" }, { { "mlu", 4 }, { "mlu:mlu290", 4 } },
	  INT64_C(400000000), "vision -400000000; nlp 400000000; ", "nlp",
	  "400" },
	{ "two owners and a fee of 10 percent", 1, 10, 3600, 0, { 1, 1 },
	  { "lab01", "cv1" }, { { "mlu:mlu290", 2 } }, INT64_C(200000000),
	  "vision -200000000; nlp 90000000; cv 90000000; centre 20000000; ",
	  "nlp,cv,centre", "200" },
	{ "nodes that nobody lends earn for the pool", 0, 1, 3600, 0, { 1, 1 },
	  { "lab01", "lab02", "ord1" }, { { "mlu:mlu290", 3 } },
	  INT64_C(300000000),
	  "vision -300000000; nlp 200000000; centre 100000000; ", "nlp,centre",
	  "300" },
	{ "a second of three: the odd unit goes somewhere", 1, 3, 1, 0,
	  { 1, 1 }, { "lab01", "cv1" }, { { "mlu:mlu290", 3 } }, 83333,
	  "vision -83333; nlp 27778; cv 27778; centre 27777; ", "nlp,cv,centre",
	  "300" },
	{ "all of it a fee", 1, 1, 3600, 0, { 1, 1 }, { "lab01" },
	  { { "mlu:mlu290", 1 } }, INT64_C(100000000),
	  "vision -100000000; centre 100000000; ", "centre", "100" },
	{ "suspended time is free", 0, 1, 3600, 1800, { 1, 1 }, { "cv1" },
	  { { "mlu:mlu290", 1 } }, 50000000, "vision -50000000; cv 50000000; ",
	  "cv", "100" },
	{ "half price by the QOS", 0, 1, 3600, 0, { 1, 2 }, { "cv1" },
	  { { "mlu:mlu290", 1 } }, 50000000, "vision -50000000; cv 50000000; ",
	  "cv", "50" },
	{ "an unknown type costs the dearest", 0, 1, 3600, 0, { 1, 1 },
	  { "cv1" }, { { "mlu", 1 } }, 150000000,
	  "vision -150000000; cv 150000000; ", "cv", "150" },
	{ "partly typed", 0, 1, 3600, 0, { 1, 1 }, { "cv1" },
	  { { "mlu", 3 }, { "mlu:mlu290", 2 } }, 350000000,
	  "vision -350000000; cv 350000000; ", "cv", "350" },
	{ "a T4 for a night", 0, 1, 43200, 0, { 1, 1 }, { "cv1" },
	  { { "gpu:t4", 1 }, { "gpu", 1 } }, 250000000,
	  "vision -250000000; cv 250000000; ", "cv", "20.833333" },
	{ "a device without a price costs nothing", 0, 1, 3600, 0, { 1, 1 },
	  { "cv1" }, { { "npu:x", 1 }, { "license", 4 } }, 0, "", "cv", "0" },
	{ "no time costs nothing", 0, 1, 0, 0, { 1, 1 }, { "cv1" },
	  { { "mlu:mlu290", 1 } }, 0, "", "cv", "100" },
};

static struct tide_run make_run(const struct charge_case *c)
{
	struct tide_run run = { .account = "vision", .start = 1000 };

	run.end = run.start + c->seconds;
	run.suspended = c->suspended;
	run.factor = c->factor;
	run.nodes = c->nodes;
	while (run.nnodes < 4 && c->nodes[run.nnodes])
		run.nnodes++;
	run.uses = c->uses;
	while (run.nuses < 3 && c->uses[run.nuses].device)
		run.nuses++;
	return run;
}

static void test_charges(void)
{
	char text[512], rate[TIDE_AMOUNT_LEN];
	struct tide_charge charge;
	struct tide_prices *p;
	struct tide_run run;
	struct tide_err err;
	int64_t sum;
	size_t i, k, len;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p = make_prices(cases[i].fee_num, cases[i].fee_den);
		run = make_run(&cases[i]);
		if (!ok(!tide_charge_compute(p, &run, &charge, &err), "%s",
			cases[i].name)) {
			diag("%s", err.text);
			tide_prices_destroy(p);
			continue;
		}
		is_int(charge.amount, cases[i].amount, "the amount");
		text[0] = '\0';
		for (len = 0, sum = 0, k = 0; k < charge.nlines; k++) {
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s %" PRId64 "; ",
						charge.lines[k].account,
						charge.lines[k].amount);
			sum += charge.lines[k].amount;
		}
		is_str(text, cases[i].lines, "the lines");
		is_int(sum, 0, "they sum to zero");
		is_str(charge.to, cases[i].to, "who earns");
		is_str(tide_rate_format(charge.rate, rate), cases[i].rate,
		       "the rate");
		tide_charge_release(&charge);
		tide_prices_destroy(p);
	}
}

/* The same numbers everywhere: a test that fails has to fail again. */
static int64_t next_random(uint64_t *seed, int64_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return (int64_t)((*seed >> 33) % (uint64_t)below);
}

/* Whatever the run, the fee and the owners: nothing is made or lost. */
static void test_random_charges(void)
{
	static const char *const names[] = { "lab01", "lab02", "cv1", "ord1" };
	struct tide_use uses[2] = { { "mlu:mlu290", 0 }, { "gpu:t4", 0 } };
	const char *nodes[8];
	struct tide_charge charge;
	struct tide_prices *p;
	struct tide_run run = { .account = "nlp", .uses = uses, .nuses = 2 };
	uint64_t seed = 20261130;
	int64_t sum, amount;
	struct tide_err err;
	int i, bad = 0;
	size_t k;

	p = make_prices(7, 300);
	for (i = 0; i < 5000; i++) {
		run.start = next_random(&seed, 1000000);
		run.end = run.start + next_random(&seed, 1000000);
		run.suspended = next_random(&seed, run.end - run.start + 1);
		run.factor.num = next_random(&seed, 7);
		run.factor.den = 1 + next_random(&seed, 3) * 6;
		uses[0].count = next_random(&seed, 9);
		uses[1].count = next_random(&seed, 9);
		run.nnodes = 1 + (size_t)next_random(&seed, 8);
		for (k = 0; k < run.nnodes; k++)
			nodes[k] = names[next_random(&seed, 4)];
		run.nodes = nodes;
		if (tide_charge_compute(p, &run, &charge, &err)) {
			bad++;
			continue;
		}
		for (sum = 0, k = 0; k < charge.nlines; k++) {
			sum += charge.lines[k].amount;
			bad += k && charge.lines[k].amount < 0;
		}
		amount = -1;
		bad += sum || tide_amount_of(run.end - run.start -
						     run.suspended,
					     charge.rate, &amount, &err);
		bad += amount != charge.amount;
		tide_charge_release(&charge);
	}
	is_int(bad, 0, "5,000 charges at random add up");
	tide_prices_destroy(p);
}

static void test_bad_runs(void)
{
	struct tide_prices *p = make_prices(0, 1);
	struct tide_charge charge = { .amount = -7 };
	struct tide_run run, good = make_run(&cases[0]);
	struct tide_use use = { "mlu:mlu290", -1 };
	struct tide_err err;

#define BAD(change, want, name)                                               \
	do {                                                                  \
		run = good;                                                   \
		change;                                                       \
		errno = 0;                                                    \
		ok(tide_charge_compute(p, &run, &charge, &err) == -1 &&       \
			   errno == (want) && charge.amount == -7,            \
		   "%s is refused", name);                                    \
	} while (0)

	BAD(run.end = run.start - 1, EINVAL, "an end before the start");
	BAD(run.suspended = 3601, EINVAL, "too long a suspension");
	BAD(run.suspended = -1, EINVAL, "a negative suspension");
	BAD(run.nnodes = 0, EINVAL, "a run without a node");
	BAD(run.factor.num = -1, EINVAL, "a negative factor");
	BAD((run.uses = &use, run.nuses = 1), EINVAL, "a negative count");
	use.count = INT64_MAX;
	BAD((run.uses = &use, run.nuses = 1), EOVERFLOW, "too many devices");
#undef BAD
	tide_prices_destroy(p);
	tide_charge_release(NULL);
	tide_prices_destroy(NULL);
}

static void test_prices_text(void)
{
	static const char *bad[] = {
		"",
		"{}",
		"[1]",
		"{\"partition\":\"p\",\"partition\":\"q\"}",
		"{\"partition\":\"\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[0,1],\"devices\":{},\"nodes\":{}}",
		"{\"partition\":\"p\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[2,1],\"devices\":{},\"nodes\":{}}",
		"{\"partition\":\"p\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[0,0],\"devices\":{},\"nodes\":{}}",
		"{\"partition\":\"p\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[0,1],\"devices\":{\"a\":1},\"nodes\":{}}",
		"{\"partition\":\"p\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[0,1],\"devices\":{\"a\":[-1,1]},\"nodes\":{}}",
		"{\"partition\":\"p\",\"pool_account\":\"c\",\"issue_account\":\"m\",\"fee\":[0,1],\"devices\":{},\"nodes\":{\"n\":1}}",
	};
	struct tide_prices *p = make_prices(1, 20), *q = NULL;
	char *a = tide_prices_write(p), *b = NULL;
	struct tide_frac rate = { 1, 1 };
	struct tide_err err;
	size_t i;

	is_str(a,
	       "{\"devices\":{\"gpu:t4\":[125,6],\"mlu:mlu290\":[100,1],\"mlu:mlu370\":[150,1]},\"fee\":[1,20],\"issue_account\":\"mint\",\"nodes\":{\"cv1\":\"cv\",\"lab01\":\"nlp\",\"lab02\":\"nlp\"},\"partition\":\"pool\",\"pool_account\":\"centre\"}",
	       "prices as text");
	ok(a && !tide_prices_read(a, &q, &err), "are read back");
	if (q)
		b = tide_prices_write(q);
	is_str(b, a, "and are the same");
	ok(q && !tide_prices_owner(q, "lab03"), "a node without an owner");
	is_str(tide_prices_device(p, 2, &rate), "mlu:mlu370", "third device");
	ok(!tide_prices_device(p, 3, &rate), "there is no fourth");
	ok(!tide_prices_rate_untyped(p, "ml"), "'ml' is not 'mlu'");
	ok(tide_prices_add_node(p, "cv1", "nlp", &err) && errno == EEXIST,
	   "a node has one owner: %s", err.text);
	ok(tide_prices_add_device(p, "gpu:t4", one, &err) && errno == EEXIST,
	   "a device has one rate: %s", err.text);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tide_prices *r = NULL;

		errno = 0;
		ok(tide_prices_read(bad[i], &r, &err) && !r && errno,
		   "text %zu is refused: %s", i, err.text);
	}
	free(a);
	free(b);
	tide_prices_destroy(p);
	tide_prices_destroy(q);
}

static void test_limit(void)
{
	static const struct {
		int64_t balance, billing_seconds, minutes;
	} rows[] = {
		{ 0, 0, 0 },
		{ TIDE_CREDIT, 0, 60000 },
		{ 150000 * TIDE_CREDIT, 0, INT64_C(9000000000) },
		/* 5 credits came, 2 were spent, Slurm counted the same 2 */
		{ 3 * TIDE_CREDIT, 2 * 60000 * 60, 300000 },
		/* the 2 were refunded, Slurm's count stays */
		{ 5 * TIDE_CREDIT, 2 * 60000 * 60, 420000 },
		{ -TIDE_CREDIT, 0, 0 },
		{ -TIDE_CREDIT, 60000 * 60 * 3, 120000 },
		{ 16, 0, 0 }, /* 0.96 of a minute */
		{ 17, 0, 1 },
		{ -1, 120, 1 }, /* rounded down below zero too */
	};
	struct tide_err err;
	int64_t v;
	size_t i;
	char *name;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v = -7;
		ok(!tide_limit_minutes(rows[i].balance, rows[i].billing_seconds,
				       &v, &err),
		   "limit %zu", i);
		is_int(v, rows[i].minutes, "its minutes");
	}
	v = -7;
	ok(tide_limit_minutes(INT64_MAX, INT64_MAX, &v, &err) == 0,
	   "the largest balance still has a limit");
	name = tide_qos_name("vision");
	is_str(name, "tide_vision", "the QOS of an account");
	free(name);
}

int main(void)
{
	test_charges();
	test_random_charges();
	test_bad_runs();
	test_prices_text();
	test_limit();
	return tap_done();
}
