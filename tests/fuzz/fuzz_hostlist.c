/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node lists: written out, folded and written out again they are the same. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/util/err.h"
#include "common/util/hostlist.h"

enum {
	MAX_NODES = 1000
};

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order, each once. */
static size_t tidy(struct tide_names *names)
{
	size_t kept = 0;

	qsort(names->name, names->count, sizeof(*names->name), name_cmp);
	for (size_t i = 0; i < names->count; i++) {
		if (kept && !strcmp(names->name[kept - 1], names->name[i]))
			free(names->name[i]);
		else
			names->name[kept++] = names->name[i];
	}
	names->count = kept;
	return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *folded;
	struct tide_names names, again;
	struct tide_err err;

	if (!tide_hostlist_expand(text, MAX_NODES, &names, &err)) {
		HOLDS(names.count && names.count <= MAX_NODES);
		folded = tide_hostlist_fold((const char *const *)names.name,
					    names.count);
		HOLDS(folded);
		HOLDS(!tide_hostlist_expand(folded, MAX_NODES, &again, &err));
		HOLDS(tidy(&names) == again.count);
		HOLDS(tidy(&again) == names.count);
		for (size_t i = 0; i < names.count; i++)
			HOLDS(!strcmp(names.name[i], again.name[i]));
		tide_names_release(&again);
		tide_names_release(&names);
		free(folded);
	}
	free(text);
	return 0;
}
