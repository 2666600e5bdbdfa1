/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tide.conf said, and from when: the "prices" transactions of the ledger,
 * kept in memory.  A run takes what was valid when it started.
 *
 * Errors are those of db.h.  Threads: one at a time.
 */
#ifndef TIDE_ACCT_RATES_H
#define TIDE_ACCT_RATES_H

#include <stdint.h>

#include "common/credit/prices.h"
#include "plugins/acct/credits/db.h"

struct tide_rates;

/* NULL with ENOMEM. */
struct tide_rates *tide_rates_create(void);
void tide_rates_destroy(struct tide_rates *rates);

/* Read what the ledger has and we have not. */
int tide_rates_load(struct tide_rates *rates, struct tide_db *db,
		    struct tide_err *err);

/*
 * Make prices valid from now on, by a transaction of the poster `holder`; conf
 * is the whole tide.conf that they are from, kept beside them.  Returns 1 when
 * they are those that are valid already.
 */
int tide_rates_set(struct tide_rates *rates, struct tide_db *db,
		   const char *holder, const struct tide_prices *prices,
		   const char *conf, int64_t now, struct tide_err *err);

/*
 * Those valid at a time; before the first there were none, so the first stand
 * in.  NULL when there are none at all.  ret_id (may be NULL) is the number of
 * their transaction.
 */
const struct tide_prices *tide_rates_at(const struct tide_rates *rates,
					int64_t time, int64_t *ret_id);
/* Those of a transaction, or NULL. */
const struct tide_prices *tide_rates_by_id(const struct tide_rates *rates,
					   int64_t id);
/* The newest, or NULL. */
const struct tide_prices *tide_rates_last(const struct tide_rates *rates);

#endif
