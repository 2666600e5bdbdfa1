/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jobs ask for (--gres, TRES per job, node, socket, task).  A request
 * that was completed is complete: nothing more is filled in.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/credit/gres.h"

static const char *const priced[] = {"gpu:a100", "gpu:t4", "mlu:mlu290"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *full, *more;
	long count = 0, again = 0;
	struct tide_err err;

	if (!tide_gres_resolve(text, priced, 3, &full, &count, &err)) {
		HOLDS(count >= 0);
		if (full) {
			HOLDS(!tide_gres_resolve(full, priced, 3, &more, &again,
						 &err));
			HOLDS(!more && again == count);
			free(full);
		}
	}
	free(text);
	return 0;
}
