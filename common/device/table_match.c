/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is found in the table of accelerators, by what: see table.h. */
#include "config.h"

#include "common/device/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/device/device.h"

/* Is the class one that the family has? */
static bool has_class(const struct tide_family *family, uint16_t class)
{
	const char *cursor = family->class, *item;
	char digits[8];
	size_t len;

	if (!cursor)
		return true;
	snprintf(digits, sizeof(digits), "%04x", class);
	while (tide_list_next(&cursor, &item, &len))
		if (!strncasecmp(digits, item, len))
			return true;
	return false;
}

/* 2: the id names the device; 1: all of the vendor; 0: another. */
static int fits(const struct tide_model *model, uint16_t vendor,
		uint16_t device)
{
	int best = 0;

	for (size_t i = 0; i < model->n_ids; i++) {
		if (model->id[i].vendor != vendor)
			continue;
		if (model->id[i].device == device)
			return 2;
		if (model->id[i].device < 0)
			best = 1;
	}
	return best;
}

const struct tide_model *tide_table_match(const struct tide_table *table,
					  uint16_t vendor, uint16_t device,
					  uint16_t class)
{
	const struct tide_model *found = NULL;
	int best = 0;

	for (size_t i = 0; i < table->n_models; i++) {
		const struct tide_model *model = &table->model[i];
		int fit = fits(model, vendor, device);

		if (fit && fit >= best &&
		    has_class(&table->family[model->family], class)) {
			best = fit;
			found = model;
		}
	}
	return found;
}

bool tide_pattern_scan(const char *pattern, size_t len, const char *text,
		       int *n, int *m)
{
	for (size_t i = 0; i < len; i++) {
		int *number;
		char *end;
		long value;

		if (pattern[i] != '%') {
			if (*text++ != pattern[i])
				return false;
			continue;
		}
		number = pattern[++i] == 'm' ? m : n;
		if (!isdigit((unsigned char)*text))
			return false;
		value = strtol(text, &end, 10);
		if (value > TIDE_DEVICE_MAX)
			return false;
		*number = (int)value;
		text = end;
	}
	return !*text;
}

char *tide_pattern_make(const char *pattern, size_t len,
			const struct tide_marks *marks)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (pattern[i] != '%') {
			fputc(pattern[i], out);
			continue;
		}
		i++;
		fprintf(out, "%d",
			pattern[i] == 'n'   ? marks->n
			: pattern[i] == 'm' ? marks->m
			: pattern[i] == 'c' ? marks->c
					    : marks->r);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Is the path one of these files, with some numbers? */
static bool is_one_of(const char *patterns, const char *path)
{
	const char *cursor = patterns, *item;
	size_t len;
	int n, m;

	while (tide_list_next(&cursor, &item, &len))
		if (tide_pattern_scan(item, len, path, &n, &m))
			return true;
	return false;
}

const struct tide_family *tide_table_by_file(const struct tide_table *table,
					     const char *gres, const char *path)
{
	for (size_t i = 0; i < table->n_families; i++) {
		const struct tide_family *family = &table->family[i];

		if (!strcasecmp(family->gres, gres) &&
		    (is_one_of(family->file, path) ||
		     is_one_of(family->part_file, path)))
			return family;
	}
	return NULL;
}

bool tide_family_is_part(const struct tide_family *family, const char *path)
{
	int n, m;

	return family->part_file &&
	       tide_pattern_scan(family->part_file,
				 strcspn(family->part_file, ","), path, &n, &m);
}

bool tide_type_is(const char *type, bool part, const char *by_hand)
{
	return part ? !strcasecmp(type, by_hand)
		    : strcasestr(type, by_hand) != NULL;
}

bool tide_list_has(const char *list, const char *word)
{
	const char *cursor = list, *item;
	size_t len;

	while (word && tide_list_next(&cursor, &item, &len))
		if (strlen(word) == len && !strncasecmp(item, word, len))
			return true;
	return false;
}

const struct tide_part *tide_table_part(const struct tide_table *table,
					const struct tide_family *family,
					const char *type, const char *model,
					const char *name)
{
	const struct tide_part *found = NULL;

	for (size_t i = table->n_parts; i-- > 0;) {
		const struct tide_part *part = &table->part[i];

		if (&table->family[part->family] != family ||
		    (!tide_list_has(part->of, type) &&
		     !tide_list_has(part->of, model)))
			continue;
		if (name &&
		    !strcasecmp(part->name ? part->name : part->type, name))
			return part;
		if (!name && found)
			return NULL;
		found = part;
	}
	return name ? NULL : found;
}

bool tide_table_physical(const struct tide_table *table,
			 const struct tide_family *family, const char *type)
{
	for (size_t i = table->n_models; type && i-- > 0;) {
		const struct tide_model *model = &table->model[i];

		if (&table->family[model->family] == family &&
		    !strcasecmp(model->type, type) && model->physical >= 0)
			return model->physical;
	}
	return family->physical;
}
