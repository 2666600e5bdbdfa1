/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of accelerators.  A record that is taken has what it needs, is
 * found by its ids, and every refused one is named.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/device/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tide_problems problems = {0};
	struct tide_table *table;
	struct tide_err err;

	HOLDS(!tide_table_parse(text, "fuzz", &table, &problems, &err));
	for (size_t i = 0; i < problems.count; i++)
		HOLDS(problems.problem[i].line > 0);
	for (size_t i = 0; i < table->n_families; i++) {
		const struct tide_family *family = &table->family[i];

		HOLDS(family->gres && *family->file == '/');
		HOLDS(!strstr(family->file, "/.."));
		HOLDS(tide_table_family(table, family->name) == family);
	}
	for (size_t i = 0; i < table->n_models; i++) {
		const struct tide_model *model = &table->model[i];
		const struct tide_family *family =
			&table->family[model->family];

		HOLDS(model->devices > 0);
		HOLDS(model->n_ids || model->tflops.num || model->memory);
		if (!family->class && model->n_ids && model->id[0].device >= 0)
			HOLDS(tide_table_match(table, model->id[0].vendor,
					       (uint16_t)model->id[0].device,
					       0));
	}
	for (size_t i = 0; i < table->n_parts; i++) {
		const struct tide_part *part = &table->part[i];

		HOLDS(part->share.num > 0 &&
		      part->share.num <= part->share.den);
		HOLDS(*part->of);
	}
	tide_table_destroy(table);
	tide_problems_release(&problems);
	free(text);
	return 0;
}
