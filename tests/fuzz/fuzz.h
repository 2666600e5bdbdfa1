/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share.  A target is one file, fuzz_NAME.c, with
 * LLVMFuzzerTestOneInput(): it hands the input to one parser, and checks what
 * must hold of everything the parser takes (written out and read again it is
 * the same).  Header only; libFuzzer brings main().
 */
#ifndef TIDE_TESTS_FUZZ_H
#define TIDE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true; else the input is reported. */
#define HOLDS(what)                                                      \
	do {                                                             \
		if (!(what)) {                                           \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, \
				__LINE__, #what);                        \
			abort();                                         \
		}                                                        \
	} while (0)

/*
 * A string of exactly these bytes, so that reading past its end is noticed.
 * What follows a zero byte is lost, as it is in every file we read.
 */
__attribute__((unused)) static char *fuzz_text(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t len = zero ? (size_t)(zero - data) : size;
	char *text = malloc(len + 1);

	HOLDS(text);
	if (len)
		memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

/*
 * The next word of an input that is several: up to the next line that is "==",
 * which is taken off.  NULL after the last.  The caller frees it.
 */
__attribute__((unused)) static char *fuzz_part(const uint8_t **data,
					       size_t *size)
{
	static const char mark[] = "\n==\n";
	const uint8_t *end;
	char *part;
	size_t len;

	if (!*data)
		return NULL;
	end = memmem(*data, *size, mark, sizeof(mark) - 1);
	len = end ? (size_t)(end - *data) : *size;
	part = fuzz_text(*data, len);
	if (end) {
		*size -= len + sizeof(mark) - 1;
		*data = end + sizeof(mark) - 1;
	} else {
		*data = NULL;
	}
	return part;
}

#endif
