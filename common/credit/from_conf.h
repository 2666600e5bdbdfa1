/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prices that a tide.conf says.  No state; safe from any thread.
 */
#ifndef TIDE_CREDIT_FROM_CONF_H
#define TIDE_CREDIT_FROM_CONF_H

#include "common/conf/conf.h"
#include "common/credit/prices.h"

/*
 * Returns 0 with prices that the caller destroys, or -1 with errno:
 *	ENOENT	it has no Device=, so nothing is ever charged
 *	ENOMEM
 */
int tide_prices_from_conf(const struct tide_conf *conf,
			  struct tide_prices **ret_prices,
			  struct tide_err *err);

#endif
