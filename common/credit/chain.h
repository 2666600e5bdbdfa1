/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash chain over the ledger.  Every transaction, with its lines, is hashed
 * together with the hash of the one before, so that no row can be changed,
 * added, removed or moved without all later hashes changing too.  A seal is
 * the number and hash of the last transaction, kept outside the database: who
 * can write the database can build the whole chain anew, but not so that an
 * earlier seal still fits.
 *
 * SHA-256 (FIPS 180-4, by libcrypto) over every field as "LENGTH:BYTES,", so
 * that no two different transactions have the same text.
 *
 * Threads: no state.
 */
#ifndef TIDE_CREDIT_CHAIN_H
#define TIDE_CREDIT_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/credit/charge.h"
#include "common/util/err.h"

#define TIDE_HASH_LEN 65 /* 64 hexadecimal digits and the end */

/* The hash "before" the first transaction. */
#define TIDE_HASH_ZERO \
	"0000000000000000000000000000000000000000000000000000000000000000"

/* One transaction as it is kept; strings are the caller's, none is NULL. */
struct tide_txn {
	int64_t id;   /* 1, 2, 3 ... without a gap */
	int64_t time; /* of posting, seconds since the epoch */
	const char *kind;
	const char *ref;    /* what it is about, e.g. the run */
	const char *by;	    /* who made it */
	const char *note;   /* free text */
	const char *detail; /* what it was computed from */
	const struct tide_line *lines;
	size_t nlines;
};

/*
 * The hash of txn that follows prev.  EINVAL: prev is no hash.  EIO: libcrypto
 * failed.
 */
int tide_chain_hash(const char *prev, const struct tide_txn *txn,
		    char ret_hash[TIDE_HASH_LEN], struct tide_err *err);

/* 0, or -1 with EINVAL when the lines do not sum to zero, EOVERFLOW. */
int tide_txn_balanced(const struct tide_txn *txn, struct tide_err *err);

/* SHA-256 of some bytes, for what is compared and not chained.  EIO. */
int tide_digest(const void *data, size_t len, char ret_hash[TIDE_HASH_LEN],
		struct tide_err *err);

#endif
