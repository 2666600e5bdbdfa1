/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes of transactions.  Reads and writes no database.
 */
#include "config.h"

#include "common/credit/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/credit/credit.h"

static void to_hex(const unsigned char *raw, unsigned int len,
		   char ret[TIDE_HASH_LEN])
{
	unsigned int i;

	for (i = 0; i < len && i < (TIDE_HASH_LEN - 1) / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", raw[i]);
}

static bool put(EVP_MD_CTX *ctx, const char *text)
{
	size_t len = strlen(text);
	char head[32];
	int n;

	n = snprintf(head, sizeof(head), "%zu:", len);
	return EVP_DigestUpdate(ctx, head, (size_t)n) &&
	       EVP_DigestUpdate(ctx, text, len) &&
	       EVP_DigestUpdate(ctx, ",", 1);
}

static bool put_int(EVP_MD_CTX *ctx, int64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, v);
	return put(ctx, text);
}

static bool put_txn(EVP_MD_CTX *ctx, const char *prev,
		    const struct tide_txn *txn)
{
	size_t i;

	if (!put(ctx, "tide-ledger-1") || !put(ctx, prev) ||
	    !put_int(ctx, txn->id) || !put_int(ctx, txn->time) ||
	    !put(ctx, txn->kind) || !put(ctx, txn->ref) || !put(ctx, txn->by) ||
	    !put(ctx, txn->note) || !put(ctx, txn->detail) ||
	    !put_int(ctx, (int64_t)txn->nlines))
		return false;
	for (i = 0; i < txn->nlines; i++)
		if (!put(ctx, txn->lines[i].account) ||
		    !put_int(ctx, txn->lines[i].amount))
			return false;
	return true;
}

int tide_chain_hash(const char *prev, const struct tide_txn *txn,
		    char ret_hash[TIDE_HASH_LEN], struct tide_err *err)
{
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	EVP_MD_CTX *ctx;
	bool good;

	if (strlen(prev) != TIDE_HASH_LEN - 1)
		return tide_err_set(err, EINVAL, "'%s' is no hash", prev);
	ctx = EVP_MD_CTX_new();
	good = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) &&
	       put_txn(ctx, prev, txn) && EVP_DigestFinal_ex(ctx, raw, &len);
	EVP_MD_CTX_free(ctx);
	if (!good)
		return tide_err_set(err, EIO, "could not compute a hash");
	to_hex(raw, len, ret_hash);
	return 0;
}

int tide_txn_balanced(const struct tide_txn *txn, struct tide_err *err)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < txn->nlines; i++)
		if (tide_amount_add(sum, txn->lines[i].amount, &sum, err))
			return -1;
	if (sum)
		return tide_err_set(err, EINVAL,
				    "the lines of transaction %" PRId64
				    " do not sum to zero",
				    txn->id);
	return 0;
}

int tide_digest(const void *data, size_t len, char ret_hash[TIDE_HASH_LEN],
		struct tide_err *err)
{
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (!EVP_Digest(data, len, raw, &n, EVP_sha256(), NULL))
		return tide_err_set(err, EIO, "could not compute a hash");
	to_hex(raw, n, ret_hash);
	return 0;
}
