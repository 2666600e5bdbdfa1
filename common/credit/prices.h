/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tide.conf says about money at one moment: which partition is the pool,
 * what each device type costs an hour, who owns which node, the fee and the two
 * accounts of the centre.  It is kept in the ledger's database as text with the
 * time from which it holds, so that a run can be charged, and a charge checked,
 * years later.
 *
 * Not here: windows, and reading tide.conf (common/conf).
 *
 * Functions return 0, or -1 with errno and err written; outputs are untouched
 * on failure.  A prices object may be read by several threads at once.
 */
#ifndef TIDE_CREDIT_PRICES_H
#define TIDE_CREDIT_PRICES_H

#include <stddef.h>

#include "common/util/err.h"
#include "common/util/frac.h"

struct tide_prices;

/* An empty set; NULL with ENOMEM.  Destroyed by tide_prices_destroy(). */
struct tide_prices *tide_prices_create(void);
void tide_prices_destroy(struct tide_prices *prices);

/*
 * The three names, and the fee as a fraction of a charge (not in percent): 0
 * to 1.  EINVAL: an empty name, or a fee out of range.  ENOMEM.
 */
int tide_prices_set(struct tide_prices *prices, const char *partition,
		    const char *pool_account, const char *issue_account,
		    struct tide_frac fee, struct tide_err *err);

/*
 * The rate of a device such as "mlu:mlu290" in credits an hour.  EINVAL: a
 * negative rate.  EEXIST.  ENOMEM.
 */
int tide_prices_add_device(struct tide_prices *prices, const char *device,
			   struct tide_frac rate, struct tide_err *err);

/*
 * A node that account lends.  EEXIST: the node has an owner already.  ENOMEM.
 */
int tide_prices_add_node(struct tide_prices *prices, const char *node,
			 const char *account, struct tide_err *err);

const char *tide_prices_partition(const struct tide_prices *prices);
const char *tide_prices_pool_account(const struct tide_prices *prices);
const char *tide_prices_issue_account(const struct tide_prices *prices);
struct tide_frac tide_prices_fee(const struct tide_prices *prices);

/* The account that lends the node, or NULL when nobody does. */
const char *tide_prices_owner(const struct tide_prices *prices,
			      const char *node);

/* The rate of a device, typed as it was added, or NULL. */
const struct tide_frac *tide_prices_rate(const struct tide_prices *prices,
					 const char *device);

/*
 * The rate of a device whose type is not known ("mlu"): its own when there is
 * a price for the bare name, else that of the dearest type; NULL when none of
 * its types has a price.
 */
const struct tide_frac *
tide_prices_rate_untyped(const struct tide_prices *prices, const char *name);

/*
 * The i-th device in the order of names, or NULL past the last.
 */
const char *tide_prices_device(const struct tide_prices *prices, size_t i,
			       struct tide_frac *ret_rate);

/*
 * The text form: one JSON object, the same bytes for the same prices.  The
 * caller frees it; NULL with ENOMEM.
 */
char *tide_prices_write(const struct tide_prices *prices);

/* Read the text form.  EINVAL: it is not one.  ENOMEM. */
int tide_prices_read(const char *text, struct tide_prices **ret_prices,
		     struct tide_err *err);

#endif
