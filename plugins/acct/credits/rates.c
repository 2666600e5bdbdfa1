/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of prices.  Does not read tide.conf (poster.c does).
 */
#include "config.h"

#include "plugins/acct/credits/rates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/acct/credits/ledger.h"

struct entry {
	int64_t id;
	int64_t valid_from;
	struct tide_prices *prices;
	char conf[TIDE_HASH_LEN]; /* digest of the tide.conf they are from */
};

/* In the order of the ledger, so of time. */
struct tide_rates {
	struct entry *entries;
	size_t n;
};

struct tide_rates *tide_rates_create(void)
{
	return calloc(1, sizeof(struct tide_rates));
}

void tide_rates_destroy(struct tide_rates *rates)
{
	size_t i;

	if (!rates)
		return;
	for (i = 0; i < rates->n; i++)
		tide_prices_destroy(rates->entries[i].prices);
	free(rates->entries);
	free(rates);
}

static int add(struct tide_rates *rates, int64_t id, int64_t from,
	       const char *text, const char *conf, struct tide_err *err)
{
	struct tide_prices *prices;
	struct entry *more;

	more = realloc(rates->entries, (rates->n + 1) * sizeof(*more));
	if (!more)
		return tide_err_set(err, ENOMEM, "out of memory");
	rates->entries = more;
	if (tide_digest(conf, strlen(conf), more[rates->n].conf, err))
		return -1;
	if (tide_prices_read(text, &prices, err))
		return tide_err_prefix(err, "transaction %" PRId64, id);
	more[rates->n].id = id;
	more[rates->n].valid_from = from;
	more[rates->n++].prices = prices;
	return 0;
}

int tide_rates_load(struct tide_rates *rates, struct tide_db *db,
		    struct tide_err *err)
{
	int64_t last = rates->n ? rates->entries[rates->n - 1].id : 0;
	struct tide_rows *rows;
	char **row;
	int rc = 0;

	if (tide_db_query(
		    db, &rows, err,
		    "select id, time, detail, note from tide_txn where kind='prices' and id>?d order by id",
		    last))
		return -1;
	while (!rc && (row = tide_rows_next(rows)))
		rc = add(rates, tide_rows_int(row[0]), tide_rows_int(row[1]),
			 row[2], row[3], err);
	tide_rows_free(rows);
	return rc;
}

static int same_as_last(const struct tide_rates *rates, const char *text,
			const char *conf)
{
	const struct entry *last;
	char hash[TIDE_HASH_LEN], *old;
	int same;

	if (!rates->n || tide_digest(conf, strlen(conf), hash, NULL))
		return 0;
	last = &rates->entries[rates->n - 1];
	old = tide_prices_write(last->prices);
	same = old && !strcmp(old, text) && !strcmp(hash, last->conf);
	free(old);
	return same;
}

int tide_rates_set(struct tide_rates *rates, struct tide_db *db,
		   const char *holder, const struct tide_prices *prices,
		   const char *conf, int64_t now, struct tide_err *err)
{
	char *text = tide_prices_write(prices);
	struct tide_posting *posting;
	struct tide_txn txn = {.time = now,
			       .kind = "prices",
			       .by = "slurmdbd",
			       .note = conf,
			       .detail = text};
	char ref[64];
	int rc = -1;

	if (!text)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (same_as_last(rates, text, conf)) {
		rc = 1;
		goto out;
	}
	if (tide_ledger_lock(db, holder, &posting, err))
		goto out;
	snprintf(ref, sizeof(ref), "prices %" PRId64,
		 tide_ledger_last(posting) + 1);
	txn.ref = ref;
	if (tide_ledger_append(posting, &txn, err)) {
		tide_ledger_abandon(posting);
		goto out;
	}
	if (tide_ledger_commit(posting, err))
		goto out;
	rc = add(rates, txn.id, now, text, conf, err);
out:
	free(text);
	return rc;
}

const struct tide_prices *tide_rates_at(const struct tide_rates *rates,
					int64_t time, int64_t *ret_id)
{
	size_t i = rates->n;

	if (!rates->n)
		return NULL;
	while (i > 1 && rates->entries[i - 1].valid_from > time)
		i--;
	if (ret_id)
		*ret_id = rates->entries[i - 1].id;
	return rates->entries[i - 1].prices;
}

const struct tide_prices *tide_rates_by_id(const struct tide_rates *rates,
					   int64_t id)
{
	size_t i;

	for (i = 0; i < rates->n; i++)
		if (rates->entries[i].id == id)
			return rates->entries[i].prices;
	return NULL;
}

const struct tide_prices *tide_rates_last(const struct tide_rates *rates)
{
	return rates->n ? rates->entries[rates->n - 1].prices : NULL;
}
