/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checkpoint files.  An input that begins with 'P' is patches (offset, value)
 * of a good file, whose digest is made right again, so that HDF5 and our
 * reading of its attributes meet them; any other input is the file itself.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <openssl/evp.h>

#include "launcher/checkpoint/checkpoint.h"
#include "tests/fuzz/folder.h"

#define NAME "step-0000000003.h5"
#define TITLE "TIDEFLOW-SHA256 "

enum {
	TRAILER = sizeof(TITLE) - 1 + 64 + 1,
	PATCH = 3,
};

static float values[2][6];
static const struct tide_ckpt_tensor tensors[] = {
	{"parameter", "a", 2, {2, 3}, values[0]},
	{"adam_m", "b", 1, {4}, values[1]},
};
static int folder = -1;
static uint8_t *good;
static size_t good_size;

/* What HDF5 forgets of a file that it refuses is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libhdf5";
}

static void make_good(void)
{
	const struct tide_ckpt_meta meta = {
		.step = 3,
		.samples = 12,
		.global_batch = 4,
		.seed = 7,
		.shape = {1, 8, 2, 4, 256, true},
		.data_print = "text",
	};
	char path[64];
	struct tide_err err;
	FILE *file;

	fuzz_folder_make();
	folder = open(fuzz_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(folder >= 0);
	HOLDS(!tide_ckpt_write(folder, &meta, tensors, 2, &err));
	fuzz_folder_path(path, sizeof(path), NAME);
	file = fopen(path, "re");
	HOLDS(file && !fseek(file, 0, SEEK_END));
	good_size = (size_t)ftell(file);
	good = malloc(good_size);
	rewind(file);
	HOLDS(good && fread(good, 1, good_size, file) == good_size);
	fclose(file);
}

/* Put the digest of the file at its end. */
static void seal(uint8_t *file)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	char *at = (char *)file + good_size - TRAILER + sizeof(TITLE) - 1;
	unsigned int len;
	char hex[3];

	HOLDS(EVP_Digest(file, good_size - TRAILER, sum, &len, EVP_sha256(),
			 NULL));
	for (unsigned int i = 0; i < len; i++) {
		snprintf(hex, sizeof(hex), "%02x", sum[i]);
		memcpy(at + 2 * i, hex, 2);
	}
}

static void put_patched(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(good_size);

	HOLDS(file);
	memcpy(file, good, good_size);
	for (; size >= PATCH; data += PATCH, size -= PATCH) {
		size_t at = (size_t)data[0] << 8 | data[1];

		file[at % (good_size - TRAILER)] = data[2];
	}
	seal(file);
	fuzz_folder_put(NAME, file, good_size);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tide_ckpt_meta meta;
	struct tide_err err;
	int patched = size && data[0] == 'P';

	if (folder < 0)
		make_good();
	if (patched)
		put_patched(data + 1, size - 1);
	else
		fuzz_folder_put(NAME, data, size);
	if (tide_ckpt_verify(folder, NAME, &err)) {
		HOLDS(!patched && *err.text);
		return 0;
	}
	if (!tide_ckpt_read_meta(folder, NAME, &meta, &err)) {
		HOLDS(meta.step == 3 && meta.global_batch > 0);
		HOLDS(memchr(meta.data_print, '\0', sizeof(meta.data_print)));
	}
	tide_ckpt_read(folder, NAME, tensors, 2, &err);
	return 0;
}
