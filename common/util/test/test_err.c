/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error texts: format, errno, prefix, and the cut at the buffer's size. */
#include "config.h"

#include "common/util/err.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

/* What a text is made of that came from outside. */
static void test_clean(void)
{
	static const struct {
		const char *from, *want;
	} rows[] = {
		{ "one line", "one line" },
		{ "two\nlines\t\x1b[31m\x7f", "two?lines??[31m?" },
		{ "\xe6\xb7\xb1 \xc3\xa9 \xf0\x9f\x8c\x8a",
		  "\xe6\xb7\xb1 \xc3\xa9 \xf0\x9f\x8c\x8a" },
		{ "\xe9t\xe9", "?t?" },
		{ "\xe6\xb7", "??" },
		{ "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff",
		  "?? ??? ???? ?" },
		{ "\xe0\x9f\xbf \xf0\x8f\xbf\xbf", "??? ????" },
	};
	struct tide_err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tide_err_set(&err, EINVAL, "%s", rows[i].from);
		is_str(err.text, rows[i].want, rows[i].want);
	}
	errno = 0;
	tide_err_set(&err, EINVAL, "x");
	tide_err_prefix(&err, "a\nb");
	is_str(err.text, "a?b: x", "also a prefix");
}

int main(void)
{
	struct tide_err err;
	char *longtext;

	is_int(tide_err_set(&err, EINVAL, "cannot read '%s'", "x"), -1,
	       "set returns -1");
	is_int(errno, EINVAL, "set sets errno");
	is_str(err.text, "cannot read 'x'", "set formats the text");
	errno = ENOENT;
	is_int(tide_err_prefix(&err, "%s:%d", "tide.conf", 3), -1,
	       "prefix returns -1");
	is_int(errno, ENOENT, "prefix keeps errno");
	is_str(err.text, "tide.conf:3: cannot read 'x'", "prefix goes in front");
	is_int(tide_err_set(NULL, ERANGE, "unwanted"), -1, "NULL is accepted");
	is_int(errno, ERANGE, "errno is set without a buffer");
	longtext = malloc(2 * sizeof(err.text));
	if (!longtext)
		return 1;
	memset(longtext, 'a', 2 * sizeof(err.text) - 1);
	longtext[2 * sizeof(err.text) - 1] = '\0';
	tide_err_set(&err, EINVAL, "%s", longtext);
	is_int(strlen(err.text), sizeof(err.text) - 1, "a long text is cut");
	tide_err_prefix(&err, "%s", longtext);
	is_int(strlen(err.text), sizeof(err.text) - 1, "also with a prefix");
	/* the last character is cut in two */
	for (size_t i = 0; i + 1 < 2 * sizeof(err.text); i += 2)
		memcpy(longtext + i, "\xc3\xa9", 2);
	longtext[2 * sizeof(err.text) - 2] = '\0';
	tide_err_set(&err, EINVAL, "%s", longtext);
	is_int((unsigned char)err.text[sizeof(err.text) - 2], '?',
	       "a text is not cut in a character");
	free(longtext);
	test_clean();
	return tap_done();
}
