/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes a run's charge and its lines.  Knows no database; what was posted
 * is the ledger's business.
 */
#include "config.h"

#include "common/credit/charge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/credit/credit.h"

static int no_memory(struct tide_err *err)
{
	return tide_err_set(err, ENOMEM, "out of memory");
}

/* How many devices of this bare name the typed uses account for. */
static int64_t typed_count(const struct tide_run *run, const char *name)
{
	size_t i, len = strlen(name);
	int64_t count = 0;

	for (i = 0; i < run->nuses; i++)
		if (!strncmp(run->uses[i].device, name, len) &&
		    run->uses[i].device[len] == ':')
			count += run->uses[i].count;
	return count;
}

/* The rate of the whole run: every use at its price, times the factor. */
static int run_rate(const struct tide_prices *prices,
		    const struct tide_run *run, struct tide_frac *ret,
		    struct tide_err *err)
{
	struct tide_frac sum = {0, 1}, part;
	const struct tide_frac *rate;
	int64_t count;
	size_t i;

	for (i = 0; i < run->nuses; i++) {
		const struct tide_use *use = &run->uses[i];

		count = use->count;
		if (strchr(use->device, ':')) {
			rate = tide_prices_rate(prices, use->device);
		} else {
			rate = tide_prices_rate_untyped(prices, use->device);
			count -= typed_count(run, use->device);
		}
		if (!rate || count <= 0)
			continue;
		if (tide_frac_make(count, 1, &part) ||
		    tide_frac_mul(part, *rate, &part) ||
		    tide_frac_add(sum, part, &sum))
			return tide_err_set(err, EOVERFLOW,
					    "the rate does not fit");
	}
	if (tide_frac_mul(sum, run->factor, &sum))
		return tide_err_set(err, EOVERFLOW, "the rate does not fit");
	*ret = sum;
	return 0;
}

/* The accounts that earn, each once, with the weight of its share. */
struct earners {
	const char **account;
	int64_t *weight;
	size_t n;
};

static int earner_add(struct earners *e, const char *account, int64_t weight,
		      struct tide_err *err)
{
	size_t i;

	for (i = 0; i < e->n && strcmp(e->account[i], account); i++)
		;
	if (i == e->n) {
		e->account[e->n] = account;
		e->weight[e->n++] = 0;
	}
	return tide_amount_add(e->weight[i], weight, &e->weight[i], err);
}

/*
 * Each node weighs the denominator of the fee: its owner has that less the
 * numerator, the pool's account the rest, so every weight is an integer.
 */
static int weigh(const struct tide_prices *prices, const struct tide_run *run,
		 struct earners *e, struct tide_err *err)
{
	struct tide_frac fee = tide_prices_fee(prices);
	const char *owner;
	int64_t pool = 0;
	size_t i;

	for (i = 0; i < run->nnodes; i++) {
		owner = tide_prices_owner(prices, run->nodes[i]);
		if (owner && earner_add(e, owner, fee.den - fee.num, err))
			return -1;
		if (tide_amount_add(pool, owner ? fee.num : fee.den, &pool,
				    err))
			return -1;
	}
	if (!pool)
		return 0;
	return earner_add(e, tide_prices_pool_account(prices), pool, err);
}

static int add_line(struct tide_charge *c, const char *account, int64_t amount,
		    struct tide_err *err)
{
	if (!amount)
		return 0;
	c->lines[c->nlines].account = strdup(account);
	if (!c->lines[c->nlines].account)
		return no_memory(err);
	c->lines[c->nlines++].amount = amount;
	return 0;
}

static int fill_lines(struct tide_charge *c, const struct tide_run *run,
		      const struct earners *e, struct tide_err *err)
{
	int64_t *share = calloc(e->n + 1, sizeof(*share));
	size_t i;
	int rc = -1;

	c->lines = calloc(e->n + 1, sizeof(*c->lines));
	if (!share || !c->lines) {
		no_memory(err);
		goto out;
	}
	if (tide_split(c->amount, e->weight, e->n, share, err) ||
	    add_line(c, run->account, -c->amount, err))
		goto out;
	for (i = 0; i < e->n; i++)
		if (add_line(c, e->account[i], share[i], err))
			goto out;
	rc = 0;
out:
	free(share);
	return rc;
}

static int join_accounts(struct tide_charge *c, const struct earners *e,
			 struct tide_err *err)
{
	size_t i, size = 1, len = 0;

	for (i = 0; i < e->n; i++)
		size += strlen(e->account[i]) + 1;
	c->to = calloc(1, size);
	if (!c->to)
		return no_memory(err);
	for (i = 0; i < e->n; i++) {
		if (!e->weight[i])
			continue;
		len += (size_t)snprintf(c->to + len, size - len, "%s%s",
					len ? "," : "", e->account[i]);
	}
	return 0;
}

/* Counts are added up later, in whatever groups. */
static int check_uses(const struct tide_run *run, struct tide_err *err)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < run->nuses; i++) {
		if (run->uses[i].count < 0)
			return tide_err_set(err, EINVAL,
					    "a negative count of '%s'",
					    run->uses[i].device);
		if (__builtin_add_overflow(sum, run->uses[i].count, &sum))
			return tide_err_set(err, EOVERFLOW,
					    "the devices do not fit");
	}
	return 0;
}

static int check_run(const struct tide_run *run, struct tide_err *err)
{
	if (run->start < 0 || run->end < run->start)
		return tide_err_set(err, EINVAL,
				    "the run ends before it starts");
	if (run->suspended < 0 || run->suspended > run->end - run->start)
		return tide_err_set(
			err, EINVAL,
			"the run was suspended for longer than it took");
	if (!run->nnodes)
		return tide_err_set(err, EINVAL, "the run has no node");
	if (run->factor.num < 0)
		return tide_err_set(err, EINVAL, "a negative usage factor");
	return check_uses(run, err);
}

int tide_charge_compute(const struct tide_prices *prices,
			const struct tide_run *run, struct tide_charge *ret,
			struct tide_err *err)
{
	struct tide_charge c = {0};
	struct earners e = {0};
	int rc = -1;

	if (check_run(run, err))
		return -1;
	e.account = calloc(run->nnodes + 1, sizeof(*e.account));
	e.weight = calloc(run->nnodes + 1, sizeof(*e.weight));
	if (!e.account || !e.weight) {
		no_memory(err);
		goto out;
	}
	if (run_rate(prices, run, &c.rate, err) ||
	    tide_posting(run->end - run->start - run->suspended, c.rate, 0,
			 &c.amount, err) ||
	    weigh(prices, run, &e, err) || join_accounts(&c, &e, err))
		goto out;
	if (c.amount && fill_lines(&c, run, &e, err))
		goto out;
	*ret = c;
	memset(&c, 0, sizeof(c));
	rc = 0;
out:
	tide_charge_release(&c);
	free(e.account);
	free(e.weight);
	return rc;
}

void tide_charge_release(struct tide_charge *c)
{
	int saved = errno;
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nlines; i++)
		free(c->lines[i].account);
	free(c->lines);
	free(c->to);
	memset(c, 0, sizeof(*c));
	errno = saved;
}

char *tide_qos_name(const char *account)
{
	size_t len = strlen(account) + sizeof("tide_");
	char *name = malloc(len);

	if (name)
		snprintf(name, len, "tide_%s", account);
	return name;
}

int tide_limit_minutes(int64_t balance, int64_t billing_seconds,
		       int64_t *ret_minutes, struct tide_err *err)
{
	/* 60,000 billing-minutes a credit are 6 for 100 micro-credits. */
	int64_t whole = balance / 100 * 6;
	int64_t part = balance % 100 * 6;
	int64_t minutes;

	/* Rounded down, also below zero. */
	part = part >= 0 ? part / 100 : -((-part + 99) / 100);
	if (__builtin_add_overflow(whole + part, billing_seconds / 60,
				   &minutes))
		return tide_err_set(err, EOVERFLOW, "the limit does not fit");
	*ret_minutes = minutes > 0 ? minutes : 0;
	return 0;
}
