/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file `owner` of a checkpoint folder.  Whoever claims the folder has it
 * or is told why not; a refusal leaves the file as it was.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>

#include "launcher/checkpoint/folder.h"
#include "tests/fuzz/folder.h"

enum {
	ROOM = 4096
};

static size_t read_back(char *text)
{
	char path[64];
	ssize_t n;
	int fd;

	fuzz_folder_path(path, sizeof(path), "owner");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HOLDS(fd >= 0);
	n = read(fd, text, ROOM);
	HOLDS(n >= 0);
	close(fd);
	return (size_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tide_claim claim = {
		.job = "train",
		.model = "layers 2 width 8",
		.holder = "process 1 on n1",
	};
	struct tide_folder folder;
	char text[ROOM];
	struct tide_err err;

	if (size > ROOM)
		return 0;
	fuzz_folder_put("owner", data, size);
	HOLDS(!tide_folder_open(&folder, fuzz_folder, &err));
	if (tide_folder_claim(&folder, &claim, &err)) {
		HOLDS(*err.text);
		HOLDS(read_back(text) == size && !memcmp(text, data, size));
	} else {
		HOLDS(read_back(text) > 0);
	}
	tide_folder_close(&folder);
	return 0;
}
