/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of a transaction: a known value, and that every field counts.
 */
#include "config.h"

#include "common/credit/chain.h"
#include "tests/lib/tap.h"

#include <errno.h>

static char acct_a[] = "vision", acct_b[] = "nlp", acct_c[] = "n";
static struct tide_line lines[] = { { acct_a, -5 }, { acct_b, 5 } };

static const struct tide_txn good = {
	.id = 1,
	.time = 1700000000,
	.kind = "charge",
	.ref = "c 1 2 3",
	.by = "slurmdbd",
	.note = "",
	.detail = "{}",
	.lines = lines,
	.nlines = 2,
};

int main(void)
{
	static const char *known =
		"5ac95e48788b627afc1778abbb60c6f8454ea67a7364be7986a0057e267400e6";
	char hash[TIDE_HASH_LEN], other[TIDE_HASH_LEN];
	struct tide_line changed[2];
	struct tide_txn t;
	struct tide_err err;

	ok(!tide_digest("abc", 3, hash, &err), "a digest");
	is_str(hash,
	       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	       "is SHA-256 as FIPS 180-4 has it");
	ok(!tide_chain_hash(TIDE_HASH_ZERO, &good, hash, &err), "a hash");
	is_str(hash, known, "does not change between releases");

#define DIFFERS(change, name)                                                  \
	do {                                                                   \
		t = good;                                                      \
		memcpy(changed, lines, sizeof(changed));                       \
		t.lines = changed;                                             \
		change;                                                        \
		ok(!tide_chain_hash(TIDE_HASH_ZERO, &t, other, &err) &&        \
			   strcmp(hash, other),                                \
		   "%s counts", name);                                         \
	} while (0)

	DIFFERS(t.id = 2, "the number");
	DIFFERS(t.time++, "the time");
	DIFFERS(t.kind = "refund", "the kind");
	DIFFERS(t.ref = "c 1 2 4", "what it is about");
	DIFFERS(t.by = "root", "who made it");
	DIFFERS(t.note = "x", "the note");
	DIFFERS(t.detail = "{ }", "the detail");
	DIFFERS((t.by = "slurmdb", t.note = "d"), "where a field ends");
	DIFFERS(t.nlines = 1, "the number of lines");
	DIFFERS(changed[0].amount = -6, "an amount");
	DIFFERS(changed[1].account = acct_c, "an account");
	DIFFERS((changed[0] = lines[1], changed[1] = lines[0]),
		"the order of the lines");
	ok(!tide_chain_hash(hash, &good, other, &err) && strcmp(hash, other),
	   "the hash before counts");
	errno = 0;
	ok(tide_chain_hash("short", &good, other, &err) == -1 &&
		   errno == EINVAL,
	   "what is no hash is refused");

	ok(!tide_txn_balanced(&good, &err), "lines that sum to zero");
	memcpy(changed, lines, sizeof(changed));
	t = good;
	t.lines = changed;
	changed[1].amount = 4;
	errno = 0;
	ok(tide_txn_balanced(&t, &err) == -1 && errno == EINVAL,
	   "lines that do not: %s", err.text);
	changed[0].amount = changed[1].amount = INT64_MAX;
	errno = 0;
	ok(tide_txn_balanced(&t, &err) == -1 && errno == EOVERFLOW,
	   "lines that overflow: %s", err.text);
	return tap_done();
}
