/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger says about an account, as JSON (keys: tidectl(1)).  Who may
 * see it was decided before.  Errors are those of db.h.
 *
 * Threads: as the connection.
 */
#ifndef TIDE_ACCT_STATEMENT_H
#define TIDE_ACCT_STATEMENT_H

#include <jansson.h>
#include <stdint.h>

#include "plugins/acct/credits/db.h"

/*
 * {"account", "balance", "granted", "earned", "spent", "enrolled", "qos",
 * "limit_minutes"}; all amounts are decimal strings; refunds are taken off
 * earned and spent.  The caller drops the reference.
 */
int tide_statement_balance(struct tide_db *db, const char *account,
			   json_t **ret_data, struct tide_err *err);

/*
 * The postings of an account after a transaction and line, at most limit: an
 * array of {"transaction", "line", "time", "kind", "amount", "balance",
 * "counterparty", "by", "note", "cluster", "job", "submit", "start", "end",
 * "nodes", "devices"}, the last seven null when no run is concerned.
 */
int tide_statement(struct tide_db *db, const char *account, int64_t after_txn,
		   int64_t after_line, int64_t limit, json_t **ret_data,
		   struct tide_err *err);

#endif
