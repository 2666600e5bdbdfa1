/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keyed digests of requests.  Decides nothing about who may do what.
 */
#include "config.h"

#include "common/credit/proof.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/file.h"

#define MAX_KEY (1024 * 1024)

static int read_key(const char *path, unsigned char *key, size_t *ret_len,
		    struct tide_err *err)
{
	FILE *file;
	size_t len;

	if (tide_file_plain(path, err))
		return -1;
	file = fopen(path, "re");
	if (!file)
		return tide_err_set(err, errno, "could not read %s: %s", path,
				    strerror(errno));
	len = fread(key, 1, MAX_KEY, file);
	if (ferror(file) || !len || len == MAX_KEY) {
		fclose(file);
		return tide_err_set(err, EINVAL,
				    "%s is empty, too large or not readable",
				    path);
	}
	fclose(file);
	*ret_len = len;
	return 0;
}

int tide_proof_make(const char *request, const char *path, char **ret_proof,
		    struct tide_err *err)
{
	unsigned char raw[EVP_MAX_MD_SIZE], *key = malloc(MAX_KEY);
	unsigned int n = 0, i;
	char *text = malloc(2 * EVP_MAX_MD_SIZE + 1);
	size_t len = 0;
	int rc = -1;

	if (!key || !text) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	if (read_key(path, key, &len, err))
		goto out;
	if (!HMAC(EVP_sha256(), key, (int)len, (const unsigned char *)request,
		  strlen(request), raw, &n)) {
		tide_err_set(err, EIO, "could not compute a digest");
		goto out;
	}
	for (i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", raw[i]);
	*ret_proof = text;
	text = NULL;
	rc = 0;
out:
	if (key)
		OPENSSL_cleanse(key, MAX_KEY);
	free(key);
	free(text);
	return rc;
}
