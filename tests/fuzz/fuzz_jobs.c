/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the layer keeps over a restart.  A text that is taken is written again
 * with the same records, whatever their order was.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/window/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *first, *second;
	struct tide_jobs *jobs = tide_jobs_create(), *again;
	struct tide_err err;

	HOLDS(jobs);
	if (!tide_jobs_parse(jobs, text, &err)) {
		first = tide_jobs_text(jobs);
		again = tide_jobs_create();
		HOLDS(first && again && !tide_jobs_parse(again, first, &err));
		second = tide_jobs_text(again);
		HOLDS(second && !strcmp(first, second));
		/* one record a line, and none that was not there */
		HOLDS(strlen(first) <= strlen(text) || !*text);
		tide_jobs_destroy(again);
		free(second);
		free(first);
	}
	tide_jobs_destroy(jobs);
	free(text);
	return 0;
}
