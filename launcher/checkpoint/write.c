/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and verifies checkpoint files: bytes, digest, durability.  Knows
 * nothing of HDF5 beyond the layout's offsets.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/checkpoint/layout.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "tensors go to the file as they lie in memory");

#define CHUNK ((int64_t)4 << 20)
#define DIGEST_HEX 64
static const char magic[] = "TIDEFLOW-SHA256 ";
/* the last line: magic, digest, newline */
#define TRAILER (sizeof(magic) - 1 + DIGEST_HEX + 1)

/* A file being written from front to end. */
struct sink {
	int fd;
	int64_t at;
	EVP_MD_CTX *md;
};

void tide_ckpt_name(char *ret_name, int64_t step)
{
	snprintf(ret_name, TIDE_CKPT_NAME, "step-%010lld.h5", (long long)step);
}

static int put_all(int fd, const char *from, int64_t len)
{
	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		from += n;
		len -= n;
	}
	return 0;
}

/* Digest and write; the kernel is told to begin with the disk at once, so that
 * the fsync at the end has little left to do. */
static int put(struct sink *s, const void *data, int64_t len)
{
	const char *from = data;

	while (len) {
		int64_t n = len < CHUNK ? len : CHUNK;

		EVP_DigestUpdate(s->md, from, n);
		if (put_all(s->fd, from, n))
			return -1;
		if (n == CHUNK)
			sync_file_range(s->fd, s->at, n, SYNC_FILE_RANGE_WRITE);
		s->at += n;
		from += n;
		len -= n;
	}
	return 0;
}

/* HDF5's own bytes, from the layout, up to the offset `to`. */
static int put_layout(struct sink *s, const struct tide_ckpt_layout *l,
		      int64_t to)
{
	char buf[16384];

	while (s->at < to) {
		int64_t want = to - s->at;
		ssize_t n;

		if (want > (int64_t)sizeof(buf))
			want = sizeof(buf);
		n = pread(l->fd, buf, want, s->at);
		if (n == 0)
			errno = EIO;
		if (n <= 0 || put(s, buf, n))
			return -1;
	}
	return 0;
}

static void digest_line(char *line, EVP_MD_CTX *md)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	char *at = line + sizeof(magic) - 1;

	memcpy(line, magic, sizeof(magic) - 1);
	EVP_DigestFinal_ex(md, sum, NULL);
	for (int i = 0; i < DIGEST_HEX / 2; i++, at += 2)
		snprintf(at, 3, "%02x", sum[i]);
	*at = '\n';
}

struct piece {
	int64_t at;
	const struct tide_ckpt_tensor *tensor;
};

static int by_offset(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int put_file(struct sink *s, const struct tide_ckpt_layout *l,
		    const struct tide_ckpt_tensor *tensors, int n)
{
	struct piece *order = calloc(n, sizeof(*order));
	char line[TRAILER];
	int rc = -1;

	if (!order)
		return -1;
	for (int i = 0; i < n; i++)
		order[i] = (struct piece){l->at[i], &tensors[i]};
	qsort(order, n, sizeof(*order), by_offset);
	for (int i = 0; i < n; i++)
		if (put_layout(s, l, order[i].at) ||
		    put(s, order[i].tensor->data,
			tide_ckpt_bytes(order[i].tensor)))
			goto out;
	if (put_layout(s, l, l->size))
		goto out;
	digest_line(line, s->md);
	if (!put_all(s->fd, line, sizeof(line)))
		rc = fsync(s->fd);
out:
	free(order);
	return rc;
}

/* Close reports what NFS could not write; the first error is the one to tell.
 */
static int close_file(int fd, int rc)
{
	int saved = errno;

	if (close(fd) && !rc)
		return -1;
	errno = saved;
	return rc;
}

static int write_file(int dirfd, const char *temp, const char *name,
		      const struct tide_ckpt_layout *l,
		      const struct tide_ckpt_tensor *tensors, int n)
{
	struct sink s = {.md = EVP_MD_CTX_new()};
	int rc = -1, saved;

	if (!s.md || !EVP_DigestInit_ex(s.md, EVP_sha256(), NULL)) {
		errno = ENOMEM;
		goto out;
	}
	/* A file of our own: never through a link that lies there. */
	unlinkat(dirfd, temp, 0);
	s.fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		      0666);
	if (s.fd < 0)
		goto out;
	rc = close_file(s.fd, put_file(&s, l, tensors, n));
	if (!rc)
		rc = renameat(dirfd, temp, dirfd, name);
	saved = errno;
	if (rc)
		unlinkat(dirfd, temp, 0);
	errno = saved;
	/* EINVAL: a file system that has nothing to sync of a folder. */
	if (!rc && fsync(dirfd) && errno != EINVAL)
		rc = -1;
out:
	saved = errno;
	EVP_MD_CTX_free(s.md);
	errno = saved;
	return rc;
}

int tide_ckpt_write(int dirfd, const struct tide_ckpt_meta *meta,
		    const struct tide_ckpt_tensor *tensors, int n,
		    struct tide_err *err)
{
	char name[TIDE_CKPT_NAME], temp[TIDE_CKPT_NAME + 8];
	struct tide_ckpt_layout l;
	int rc;

	tide_ckpt_name(name, meta->step);
	snprintf(temp, sizeof(temp), "%s.tmp", name);
	if (tide_ckpt_layout_create(&l, meta, tensors, n, err))
		return tide_err_prefix(err, "cannot write checkpoint '%s'",
				       name);
	rc = write_file(dirfd, temp, name, &l, tensors, n);
	tide_ckpt_layout_release(&l);
	if (rc)
		return tide_err_set(err, errno,
				    "cannot write checkpoint '%s': %s", name,
				    strerror(errno));
	return 0;
}

static int damaged(struct tide_err *err, const char *name, const char *why)
{
	return tide_err_set(err, EBADMSG, "checkpoint '%s' is damaged: %s",
			    name, why);
}

/* Digest of the first len bytes; -1 with errno. */
static int digest_of(int fd, int64_t len, EVP_MD_CTX *md)
{
	char *buf = malloc(CHUNK);
	int64_t at = 0;

	while (buf && at < len) {
		int64_t want = len - at < CHUNK ? len - at : CHUNK;
		ssize_t n = pread(fd, buf, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			break;
		EVP_DigestUpdate(md, buf, n);
		at += n;
	}
	free(buf);
	return at < len ? -1 : 0;
}

static int verify_fd(int fd, const char *name, EVP_MD_CTX *md,
		     struct tide_err *err)
{
	char want[TRAILER], got[TRAILER];
	struct stat st;
	int64_t size;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return tide_err_set(
			err, EINVAL,
			"cannot read checkpoint '%s': not a regular file",
			name);
	size = st.st_size;
	if (size < (int64_t)TRAILER)
		return damaged(err, name, "it is cut short");
	if (pread(fd, got, TRAILER, size - TRAILER) != (ssize_t)TRAILER ||
	    digest_of(fd, size - TRAILER, md))
		return tide_err_set(err, errno,
				    "cannot read checkpoint '%s': %s", name,
				    strerror(errno));
	digest_line(want, md);
	if (memcmp(got, magic, sizeof(magic) - 1) || got[TRAILER - 1] != '\n')
		return damaged(err, name,
			       "its digest is missing (cut short or changed)");
	if (memcmp(got, want, TRAILER))
		return damaged(err, name, "its bytes do not match its digest");
	return 0;
}

int tide_ckpt_verify(int dirfd, const char *name, struct tide_err *err)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int fd, rc = -1, saved;

	if (!md || !EVP_DigestInit_ex(md, EVP_sha256(), NULL)) {
		tide_err_set(err, ENOMEM, "cannot verify '%s': out of memory",
			     name);
		goto out;
	}
	/* Opening a FIFO must not wait for its writer. */
	fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		tide_err_set(err, errno, "cannot open checkpoint '%s': %s",
			     name, strerror(errno));
		goto out;
	}
	rc = verify_fd(fd, name, md, err);
	saved = errno;
	close(fd);
	errno = saved;
out:
	EVP_MD_CTX_free(md);
	return rc;
}
