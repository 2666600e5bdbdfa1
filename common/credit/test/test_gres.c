/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests for devices, completed and counted.
 */
#include "config.h"

#include "common/credit/gres.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static const char *const priced[] = { "gpu:a100", "gpu:t4", "mlu:mlu290" };

static const struct {
	const char *text;
	const char *result; /* NULL: nothing had to be filled in */
	long count;
} good[] = {
	{ "gres:mlu:2", "gres:mlu:mlu290:2", 2 },
	{ "gres:mlu", "gres:mlu:mlu290", 1 },
	{ "mlu:4", "mlu:mlu290:4", 4 },
	{ "gres:mlu:mlu290:2", NULL, 2 },
	{ "gres:mlu:mlu290", NULL, 1 },
	{ "gres:gpu:t4:3,gres:mlu:1", "gres:gpu:t4:3,gres:mlu:mlu290:1", 4 },
	{ "gres/mlu:mlu290=2", NULL, 2 },
	{ "gres/mlu=2", "gres/mlu:mlu290=2", 2 },
	/* "gres:mlu:2" would be another request */
	{ "gres=mlu:2,mlu", "gres=mlu:2,mlu:mlu290", 1 },
	{ "gres:mlu:mlu370:2", NULL, 0 },
	{ "gres:tmpdisk:4G", NULL, 0 },
	{ "gres:ml:1", NULL, 0 },
	{ "", NULL, 0 },
};

static const char *const bad[] = {
	"gres:gpu:2", "gpu", "gres:", "gres::2", "gres:mlu:mlu290:x", "mlu:",
};

int main(void)
{
	struct tide_err err;
	char *text;
	long count;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		text = NULL;
		count = 10;
		ok(!tide_gres_resolve(good[i].text, priced, 3, &text, &count,
				      &err),
		   "'%s'", good[i].text);
		is_str(text, good[i].result, "is completed");
		is_int(count, 10 + good[i].count, "and counted");
		free(text);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		text = NULL;
		count = 10;
		errno = 0;
		ok(tide_gres_resolve(bad[i], priced, 3, &text, &count, &err) ==
				   -1 &&
			   errno == EINVAL && !text && count == 10,
		   "'%s' is refused: %s", bad[i], err.text);
	}
	text = NULL;
	count = 10;
	ok(!tide_gres_resolve(
		   "gres:mlu:mlu290:9223372036854775807,gres:mlu:mlu290:9223372036854775807",
		   priced, 3, &text, &count, &err) &&
		   !text && count == LONG_MAX,
	   "more than fits is as many as fit");
	text = NULL;
	count = 0;
	ok(!tide_gres_resolve("gres:mlu:2", NULL, 0, &text, &count, &err) &&
		   !text && !count,
	   "nothing has a price");
	return tap_done();
}
