/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices as sorted tables, and their text form in JSON.  Does not compute
 * charges (charge.c) and does not read tide.conf.
 */
#include "config.h"

#include "common/credit/prices.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct device {
	char *name;
	struct tide_frac rate;
};

struct node {
	char *name;
	char *account;
};

/* Both tables are sorted by name. */
struct tide_prices {
	char *partition;
	char *pool_account;
	char *issue_account;
	struct tide_frac fee;
	struct device *devices;
	size_t ndevices;
	struct node *nodes;
	size_t nnodes;
};

static int no_memory(struct tide_err *err)
{
	return tide_err_set(err, ENOMEM, "out of memory");
}

struct tide_prices *tide_prices_create(void)
{
	struct tide_prices *p = calloc(1, sizeof(*p));

	if (p)
		p->fee.den = 1;
	return p;
}

void tide_prices_destroy(struct tide_prices *p)
{
	int saved = errno;
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->ndevices; i++)
		free(p->devices[i].name);
	for (i = 0; i < p->nnodes; i++) {
		free(p->nodes[i].name);
		free(p->nodes[i].account);
	}
	free(p->devices);
	free(p->nodes);
	free(p->partition);
	free(p->pool_account);
	free(p->issue_account);
	free(p);
	errno = saved;
}

int tide_prices_set(struct tide_prices *p, const char *partition,
		    const char *pool_account, const char *issue_account,
		    struct tide_frac fee, struct tide_err *err)
{
	char *a, *b, *c;

	if (!*partition || !*pool_account || !*issue_account)
		return tide_err_set(
			err, EINVAL,
			"the pool's partition, its account and the issuing account need names");
	if (fee.num < 0 || fee.num > fee.den)
		return tide_err_set(
			err, EINVAL,
			"the fee is not between 0 and the whole charge");
	a = strdup(partition);
	b = strdup(pool_account);
	c = strdup(issue_account);
	if (!a || !b || !c) {
		free(a);
		free(b);
		free(c);
		return no_memory(err);
	}
	free(p->partition);
	free(p->pool_account);
	free(p->issue_account);
	p->partition = a;
	p->pool_account = b;
	p->issue_account = c;
	p->fee = fee;
	return 0;
}

/*
 * Where name is, or ought to be, in a table of n elements of that size whose
 * first member is the name.
 */
static size_t position(const void *table, size_t n, size_t size,
		       const char *name, bool *ret_found)
{
	size_t low = 0, high = n, mid;
	const char *key;
	int order;

	*ret_found = false;
	while (low < high) {
		mid = low + (high - low) / 2;
		memcpy(&key, (const char *)table + mid * size, sizeof(key));
		order = strcmp(name, key);
		if (!order) {
			*ret_found = true;
			return mid;
		}
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Make room for one element at place i of *table; NULL with ENOMEM. */
static void *open_gap(void **table, size_t n, size_t size, size_t i)
{
	char *t = realloc(*table, (n + 1) * size);

	if (!t)
		return NULL;
	*table = t;
	memmove(t + (i + 1) * size, t + i * size, (n - i) * size);
	return t + i * size;
}

int tide_prices_add_device(struct tide_prices *p, const char *device,
			   struct tide_frac rate, struct tide_err *err)
{
	void *table = p->devices;
	struct device *d;
	bool found;
	size_t i;
	char *name;

	if (rate.num < 0)
		return tide_err_set(err, EINVAL, "device '%s': negative rate",
				    device);
	i = position(p->devices, p->ndevices, sizeof(*d), device, &found);
	if (found)
		return tide_err_set(err, EEXIST, "device '%s' has two rates",
				    device);
	name = strdup(device);
	if (!name)
		return no_memory(err);
	d = open_gap(&table, p->ndevices, sizeof(*d), i);
	if (!d) {
		free(name);
		return no_memory(err);
	}
	p->devices = table;
	d->name = name;
	d->rate = rate;
	p->ndevices++;
	return 0;
}

int tide_prices_add_node(struct tide_prices *p, const char *node,
			 const char *account, struct tide_err *err)
{
	void *table = p->nodes;
	char *name, *owner;
	struct node *n;
	bool found;
	size_t i;

	i = position(p->nodes, p->nnodes, sizeof(*n), node, &found);
	if (found)
		return tide_err_set(err, EEXIST,
				    "node '%s' is lent by '%s' and by '%s'",
				    node, p->nodes[i].account, account);
	name = strdup(node);
	owner = strdup(account);
	n = name && owner ? open_gap(&table, p->nnodes, sizeof(*n), i) : NULL;
	if (!n) {
		free(name);
		free(owner);
		return no_memory(err);
	}
	p->nodes = table;
	n->name = name;
	n->account = owner;
	p->nnodes++;
	return 0;
}

const char *tide_prices_partition(const struct tide_prices *p)
{
	return p->partition;
}

const char *tide_prices_pool_account(const struct tide_prices *p)
{
	return p->pool_account;
}

const char *tide_prices_issue_account(const struct tide_prices *p)
{
	return p->issue_account;
}

struct tide_frac tide_prices_fee(const struct tide_prices *p)
{
	return p->fee;
}

const char *tide_prices_owner(const struct tide_prices *p, const char *node)
{
	bool found;
	size_t i;

	i = position(p->nodes, p->nnodes, sizeof(p->nodes[0]), node, &found);
	return found ? p->nodes[i].account : NULL;
}

const struct tide_frac *tide_prices_rate(const struct tide_prices *p,
					 const char *device)
{
	bool found;
	size_t i;

	i = position(p->devices, p->ndevices, sizeof(p->devices[0]), device,
		     &found);
	return found ? &p->devices[i].rate : NULL;
}

const struct tide_frac *tide_prices_rate_untyped(const struct tide_prices *p,
						 const char *name)
{
	const struct tide_frac *best = tide_prices_rate(p, name);
	size_t i, len = strlen(name);

	if (best)
		return best;
	for (i = 0; p->devices && i < p->ndevices; i++) {
		const struct device *d = &p->devices[i];

		if (!strncmp(d->name, name, len) && d->name[len] == ':' &&
		    (!best || tide_frac_cmp(d->rate, *best) > 0))
			best = &d->rate;
	}
	return best;
}

const char *tide_prices_device(const struct tide_prices *p, size_t i,
			       struct tide_frac *ret_rate)
{
	if (i >= p->ndevices)
		return NULL;
	*ret_rate = p->devices[i].rate;
	return p->devices[i].name;
}

static json_t *frac_to_json(struct tide_frac f)
{
	return json_pack("[I,I]", (json_int_t)f.num, (json_int_t)f.den);
}

static int frac_from_json(const json_t *j, struct tide_frac *ret)
{
	json_int_t num, den;

	if (json_unpack((json_t *)j, "[I,I!]", &num, &den)) {
		errno = EINVAL;
		return -1;
	}
	return tide_frac_make(num, den, ret);
}

char *tide_prices_write(const struct tide_prices *p)
{
	json_t *devices = json_object(), *nodes = json_object(), *all;
	char *text = NULL;
	int bad = 0;
	size_t i;

	for (i = 0; i < p->ndevices; i++)
		bad |= json_object_set_new(devices, p->devices[i].name,
					   frac_to_json(p->devices[i].rate));
	for (i = 0; i < p->nnodes; i++)
		bad |= json_object_set_new(nodes, p->nodes[i].name,
					   json_string(p->nodes[i].account));
	all = json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "partition", p->partition,
			"pool_account", p->pool_account, "issue_account",
			p->issue_account, "fee", frac_to_json(p->fee),
			"devices", devices, "nodes", nodes);
	if (all && !bad)
		text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	if (!text)
		errno = ENOMEM;
	return text;
}

static int read_tables(struct tide_prices *p, json_t *devices, json_t *nodes,
		       struct tide_err *err)
{
	struct tide_frac rate;
	const char *key;
	json_t *value;

	json_object_foreach(devices, key, value)
	{
		if (frac_from_json(value, &rate))
			return tide_err_set(err, EINVAL, "device '%s': no rate",
					    key);
		if (tide_prices_add_device(p, key, rate, err))
			return -1;
	}
	json_object_foreach(nodes, key, value)
	{
		if (!json_is_string(value))
			return tide_err_set(err, EINVAL, "node '%s': no owner",
					    key);
		if (tide_prices_add_node(p, key, json_string_value(value), err))
			return -1;
	}
	return 0;
}

int tide_prices_read(const char *text, struct tide_prices **ret_prices,
		     struct tide_err *err)
{
	const char *partition, *pool, *issue;
	json_t *fee, *devices, *nodes, *all;
	struct tide_prices *p = NULL;
	struct tide_frac f;
	json_error_t jerr;
	int rc = -1;

	all = json_loads(text, JSON_REJECT_DUPLICATES, &jerr);
	if (!all)
		return tide_err_set(err, EINVAL, "the prices are no JSON: %s",
				    jerr.text);
	if (json_unpack_ex(all, &jerr, 0, "{s:s,s:s,s:s,s:o,s:o,s:o!}",
			   "partition", &partition, "pool_account", &pool,
			   "issue_account", &issue, "fee", &fee, "devices",
			   &devices, "nodes", &nodes)) {
		tide_err_set(err, EINVAL, "the prices are not complete: %s",
			     jerr.text);
		goto out;
	}
	if (frac_from_json(fee, &f)) {
		tide_err_set(err, EINVAL, "the prices have no fee");
		goto out;
	}
	p = tide_prices_create();
	if (!p) {
		no_memory(err);
		goto out;
	}
	if (tide_prices_set(p, partition, pool, issue, f, err) ||
	    read_tables(p, devices, nodes, err))
		goto out;
	*ret_prices = p;
	p = NULL;
	rc = 0;
out:
	tide_prices_destroy(p);
	json_decref(all);
	return rc;
}
