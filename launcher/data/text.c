/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads samples from a text with pread: a file that shrinks under us is an
 * error and not a fault.  No MPI: every rank reads its own samples.
 */
#include "config.h"

#include "launcher/data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/tensor/random.h"

#define PRINT_BYTES ((int64_t)1 << 20)

static int read_at(int fd, void *buf, size_t len, int64_t at)
{
	char *to = buf;

	while (len) {
		ssize_t n = pread(fd, to, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
		to += n;
		at += n;
		len -= n;
	}
	return 0;
}

static int print_parts(struct tide_data *d, EVP_MD_CTX *md, char *buf)
{
	int64_t len = d->size < PRINT_BYTES ? d->size : PRINT_BYTES;

	EVP_DigestUpdate(md, &d->size, sizeof(d->size));
	if (read_at(d->fd, buf, len, 0))
		return -1;
	EVP_DigestUpdate(md, buf, len);
	if (read_at(d->fd, buf, len, d->size - len))
		return -1;
	EVP_DigestUpdate(md, buf, len);
	return 0;
}

static int fingerprint(struct tide_data *d, const char *path,
		       struct tide_err *err)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	char *buf = malloc(PRINT_BYTES);
	int rc = -1;

	if (!md || !buf || !EVP_DigestInit_ex(md, EVP_sha256(), NULL)) {
		tide_err_set(err, ENOMEM, "cannot read '%s': out of memory",
			     path);
		goto out;
	}
	if (print_parts(d, md, buf)) {
		tide_err_set(err, errno, "cannot read '%s': %s", path,
			     strerror(errno));
		goto out;
	}
	EVP_DigestFinal_ex(md, sum, NULL);
	for (int i = 0; i < 32; i++)
		snprintf(d->print + 2 * i, 3, "%02x", sum[i]);
	rc = 0;
out:
	EVP_MD_CTX_free(md);
	free(buf);
	return rc;
}

static int open_text(struct tide_data *d, const char *path,
		     struct tide_err *err)
{
	struct stat st;

	/* Opening a FIFO must not wait for its writer. */
	d->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (d->fd < 0 || fstat(d->fd, &st))
		return tide_err_set(err, errno, "cannot open text '%s': %s",
				    path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tide_err_set(err, EINVAL,
				    "cannot read '%s': not a regular file",
				    path);
	d->size = st.st_size;
	d->pieces = (d->size - 1) / d->context;
	if (d->pieces < 1)
		return tide_err_set(
			err, EINVAL,
			"cannot use '%s': %lld bytes are less than one sequence of %d and the byte after it",
			path, (long long)d->size, d->context);
	d->line = malloc(d->context + 1);
	if (!d->line)
		return tide_err_set(err, ENOMEM,
				    "cannot read '%s': out of memory", path);
	return fingerprint(d, path, err);
}

int tide_data_open(struct tide_data *data, const char *path, int context,
		   uint64_t seed, struct tide_err *err)
{
	memset(data, 0, sizeof(*data));
	data->context = context;
	data->vocabulary = 256;
	data->seed = seed;
	if (open_text(data, path, err)) {
		int saved = errno;

		tide_data_close(data);
		errno = saved;
		return -1;
	}
	return 0;
}

int tide_data_open_random(struct tide_data *data, int vocabulary, int context,
			  uint64_t seed, struct tide_err *err)
{
	memset(data, 0, sizeof(*data));
	data->fd = -1;
	data->context = context;
	data->vocabulary = vocabulary;
	data->seed = seed;
	data->pieces = (int64_t)1 << 40;
	snprintf(data->print, sizeof(data->print), "random");
	return 0;
}

void tide_data_close(struct tide_data *data)
{
	if (data->fd >= 0)
		close(data->fd);
	free(data->line);
	data->fd = -1;
	data->line = NULL;
}

/*
 * A permutation of [0, n) by key: four Feistel rounds over the next power of
 * four, walked until the result is below n (Black & Rogaway 2002).
 */
static uint64_t permute(uint64_t x, uint64_t n, uint64_t key)
{
	int half = 1;
	uint64_t mask;

	while (half < 31 && ((uint64_t)1 << 2 * half) < n)
		half++;
	mask = ((uint64_t)1 << half) - 1;
	do {
		uint64_t l = x >> half, r = x & mask;

		for (int round = 0; round < 4; round++) {
			uint64_t next = l ^ (tide_mix(key + round, r) & mask);

			l = r;
			r = next;
		}
		x = l << half | r;
	} while (x >= n);
	return x;
}

int64_t tide_data_piece(const struct tide_data *data, int64_t number)
{
	uint64_t epoch = number / data->pieces, at = number % data->pieces;

	return permute(at, data->pieces,
		       tide_mix(data->seed ^ tide_hash_name("epoch"), epoch));
}

static void random_sample(const struct tide_data *d, int64_t number,
			  int32_t *ids, int32_t *targets)
{
	uint64_t key = tide_mix(d->seed, number);

	for (int i = 0; i < d->context; i++) {
		ids[i] = tide_mix(key, i) % d->vocabulary;
		targets[i] = tide_mix(key, i + 1) % d->vocabulary;
	}
}

int tide_data_sample(struct tide_data *data, int64_t number, int32_t *ret_ids,
		     int32_t *ret_targets, struct tide_err *err)
{
	int64_t at;

	if (data->fd < 0) {
		random_sample(data, number, ret_ids, ret_targets);
		return 0;
	}
	at = tide_data_piece(data, number) * data->context;
	if (read_at(data->fd, data->line, data->context + 1, at))
		return tide_err_set(
			err, errno,
			"cannot read %d bytes of the text at %lld: %s",
			data->context + 1, (long long)at, strerror(errno));
	for (int i = 0; i < data->context; i++) {
		ret_ids[i] = data->line[i];
		ret_targets[i] = data->line[i + 1];
	}
	return 0;
}
