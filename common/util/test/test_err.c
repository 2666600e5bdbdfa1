/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error texts: format, errno, prefix, and the cut at the buffer's size. */
#include "config.h"

#include "common/util/err.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

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
	free(longtext);
	return tap_done();
}
