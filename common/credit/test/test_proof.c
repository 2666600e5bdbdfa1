/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proofs: the vector of RFC 4231, and files that are no key.
 */
#include "config.h"

#include "common/credit/proof.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_key(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ok(file && fputs(text, file) >= 0 && !fclose(file), "a key file");
}

int main(void)
{
	char path[] = "/tmp/tide-proof-XXXXXX";
	int fd = mkstemp(path);
	struct tide_err err;
	char *proof = NULL;

	ok(fd >= 0 && !close(fd), "a temporary file");
	errno = 0;
	ok(tide_proof_make("x", path, &proof, &err) == -1 && errno == EINVAL,
	   "an empty key is refused: %s", err.text);
	/* Test case 2 of RFC 4231. */
	write_key(path, "Jefe");
	ok(!tide_proof_make("what do ya want for nothing?", path, &proof, &err),
	   "a proof");
	is_str(proof,
	       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
	       "is HMAC-SHA-256");
	free(proof);
	unlink(path);
	errno = 0;
	proof = NULL;
	ok(tide_proof_make("x", path, &proof, &err) == -1 && errno == ENOENT &&
		   !proof,
	   "a missing key is refused: %s", err.text);
	ok(!mkfifo(path, 0600) &&
		   tide_proof_make("x", path, &proof, &err) == -1 &&
		   errno == EINVAL,
	   "a pipe is not waited for: %s", err.text);
	unlink(path);
	return tap_done();
}
