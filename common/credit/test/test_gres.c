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

/* What no node can serve, in words; NULL: some node can, or Slurm says. */
static const struct {
	const char *text;
	bool whole;
	const char *why;
} lacks[] = {
	{ "gres:mlu:mlu291:1", false,
	  "mlu:mlu291: there are mlu:mlu290, mlu:mlu370" },
	{ "gres:mlu:mlu29:1", true,
	  "mlu:mlu29: there are mlu:mlu290, mlu:mlu370" },
	{ "gres/mlu:mlu290=5", false,
	  "mlu:mlu290:5: a node has 4 at most" },
	{ "gres:mlu:7", false, "mlu:7: a node has 6 at most" },
	{ "gres:mlu:6", false, NULL },
	{ "gres:mlu:mlu290:5", true, NULL },
	{ "gres:gpu:1,gres:npu:1", false,
	  "npu: there are mlu:mlu290, mlu:mlu370, gpu" },
	{ "gres:npu:0,gres:gpu:2", false, NULL },
	{ "gres:gpu:1K", false, "gpu:1K: a node has 2 at most" },
	{ "gres::", false, NULL },
	{ "", false, NULL },
};

static void test_lacks(void)
{
	static const char *const have[] = {
		"mlu:mlu290:4(S:0),mlu:mlu370:2", "", "gpu:2,mlu:mlu290:4",
	};
	char *why;

	for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++) {
		why = NULL;
		ok(!tide_gres_lacks(lacks[i].text, have, 3, lacks[i].whole,
				    &why),
		   "'%s'", lacks[i].text);
		is_str(why, lacks[i].why, "what no node has");
		free(why);
	}
	why = NULL;
	ok(!tide_gres_lacks("gres:mlu:1", NULL, 0, false, &why), "no nodes");
	is_str(why, "mlu: there are none", "have none");
	free(why);
}

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
	test_lacks();
	return tap_done();
}
