/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the prices out of a configuration.  Checks nothing: common/conf did.
 */
#include "config.h"

#include "common/credit/from_conf.h"

#include <errno.h>

int tide_prices_from_conf(const struct tide_conf *conf,
			  struct tide_prices **ret_prices, struct tide_err *err)
{
	struct tide_prices *p;
	int i;

	if (!conf->n_devices || !conf->pool_account || !conf->issue_account)
		return tide_err_set(
			err, ENOENT,
			"no Device= has a price, so nothing is charged");
	p = tide_prices_create();
	if (!p)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (tide_prices_set(p, conf->pool_partition, conf->pool_account,
			    conf->issue_account, conf->fee, err))
		goto bad;
	for (i = 0; i < conf->n_devices; i++)
		if (tide_prices_add_device(p, conf->device[i].name,
					   conf->device[i].rate, err))
			goto bad;
	for (i = 0; i < conf->n_nodes; i++)
		if (tide_prices_add_node(
			    p, conf->node[i].name,
			    conf->owner[conf->node[i].owner].account, err))
			goto bad;
	*ret_prices = p;
	return 0;
bad:
	tide_prices_destroy(p);
	return -1;
}
