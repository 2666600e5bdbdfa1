/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of a target's own in memory, for parsers that read files.  Included
 * by one file of a target; the folder goes when the target ends.
 */
#ifndef TIDE_TESTS_FUZZ_FOLDER_H
#define TIDE_TESTS_FUZZ_FOLDER_H

#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static char fuzz_folder[] = "/dev/shm/tide-fuzz-XXXXXX";
static int fuzz_folder_made;

/* The path of a file in the folder. */
static void fuzz_folder_path(char *path, size_t size, const char *name)
{
	int len = snprintf(path, size, "%s/%s", fuzz_folder, name);

	HOLDS(len > 0 && (size_t)len < size);
}

__attribute__((unused)) static void fuzz_folder_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", fuzz_folder);
	if (system(command))
		fprintf(stderr, "could not remove %s\n", fuzz_folder);
}

static void fuzz_folder_make(void)
{
	if (fuzz_folder_made)
		return;
	HOLDS(mkdtemp(fuzz_folder));
	atexit(fuzz_folder_remove);
	fuzz_folder_made = 1;
}

__attribute__((unused)) static void
fuzz_folder_put(const char *name, const void *data, size_t size)
{
	char path[128];
	FILE *file;

	fuzz_folder_make();
	fuzz_folder_path(path, sizeof(path), name);
	file = fopen(path, "we");
	HOLDS(file);
	HOLDS(fwrite(data, 1, size, file) == size);
	HOLDS(!fclose(file));
}

/* The parts of the input as these files; one without a part is not there. */
__attribute__((unused)) static void fuzz_folder_fill(const char *const *names,
						     size_t count,
						     const uint8_t *data,
						     size_t size)
{
	char path[128], *text;

	fuzz_folder_make();
	for (size_t i = 0; i < count; i++) {
		text = fuzz_part(&data, &size);
		if (text) {
			fuzz_folder_put(names[i], text, strlen(text));
			free(text);
			continue;
		}
		fuzz_folder_path(path, sizeof(path), names[i]);
		unlink(path);
	}
}

#endif
