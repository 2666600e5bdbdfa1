/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of accelerators as it is read: see table.h. */
#include "config.h"

#include "common/device/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf/lines.h"
#include "common/device/table_impl.h"

enum {
	MAX_KEYS = 32,	    /* in a record */
	MAX_RECORDS = 4096, /* no table has as many by far */
	MAX_ERRORS = 100,   /* nor is that one with mistakes */
};

struct reader {
	struct tide_table *table;
	size_t had; /* problems before it was read */
	struct tide_problems *problems;
	struct tide_err *err;
	const struct tide_conf_line *line;
	/* The keys of the record that were there. */
	const char *seen[MAX_KEYS];
	size_t n_seen;
};

/* Something is wrong with the record. */
static int complain(struct reader *r, const char *key, const char *value,
		    const char *what)
{
	return tide_problems_add(r->problems, r->line->file, r->line->line,
				 "%.40s=%.200s: %s", key, value, what);
}

static bool is_hopeless(const struct reader *r)
{
	return r->problems->count - r->had > MAX_ERRORS;
}

static int out_of_memory(struct reader *r)
{
	tide_err_set(r->err, ENOMEM, "out of memory");
	errno = ENOMEM;
	return -1;
}

static int family_index(const struct tide_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_families; i++)
		if (!strcasecmp(table->family[i].name, name))
			return (int)i;
	return -1;
}

/* Is it there a second time? */
static bool repeated(struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (!strcasecmp(r->seen[i], key))
			return true;
	if (r->n_seen < MAX_KEYS)
		r->seen[r->n_seen++] = key;
	return false;
}

/* One pair of a record into the object; -1 when it was said to be bad. */
static int read_pair(struct reader *r, enum tide_table_record record,
		     void *object, const char *key, const char *value)
{
	int *family = record == TIDE_TABLE_MODEL
			      ? &((struct tide_model *)object)->family
		      : record == TIDE_TABLE_PART
			      ? &((struct tide_part *)object)->family
			      : NULL;
	struct tide_err err;

	if (repeated(r, key))
		return complain(r, key, value,
				"this key is already on the line");
	if (family && !strcasecmp(key, "Family")) {
		*family = family_index(r->table, value);
		return *family < 0 ? complain(r, key, value,
					      "there is no such family above")
				   : 0;
	}
	if (!tide_table_set(record, object, key, value, &err))
		return 0;
	if (errno == ENOMEM)
		return out_of_memory(r);
	return complain(r, key, value, err.text);
}

/* The rest of a record; every error is said.  -1 when there was one. */
static int read_pairs(struct reader *r, enum tide_table_record record,
		      void *object, char *cursor)
{
	char *key, *value;
	int rc = 0, got = 0;

	while (!is_hopeless(r) &&
	       (got = tide_pair_next(&cursor, &key, &value)) > 0) {
		if (!read_pair(r, record, object, key, value))
			continue;
		if (errno == ENOMEM)
			return -1;
		rc = -1;
	}
	if (got < 0)
		rc = tide_problems_add(r->problems, r->line->file,
				       r->line->line,
				       "'%.200s': Key=Value is wanted", key);
	return rc;
}

static void *grown(void *list, size_t count, size_t size)
{
	return realloc(list, (count + 1) * size);
}

/* What a part's own file does not tell nobody does. */
static bool knows_marks(const struct tide_family *family)
{
	const char *file = family->part_file;
	size_t len = file ? strcspn(file, ",") : 0;

	for (const char *text = family->container_part;
	     text && (text = strchr(text, '%')); text++)
		if (!len || !memmem(file, len, text, 2))
			return false;
	return true;
}

/* Parts are looked for in one folder, which has a name. */
static bool has_folder(const struct tide_family *family)
{
	const char *file = family->part_file;
	size_t len = file ? strcspn(file, ",") : 0;
	const char *slash = file ? memrchr(file, '/', len) : NULL;

	return !file ||
	       (slash > file && !memchr(file, '%', (size_t)(slash - file)));
}

/* What goes together; -1 when it was said not to. */
static int check_family(struct reader *r, const struct tide_family *family)
{
	if (!family->gres || !family->file)
		return complain(r, "Family", family->name,
				"a new family needs Gres= and File=");
	if (!has_folder(family))
		return complain(
			r, "PartFile", family->part_file,
			"the first file is to be in a folder without a number in its name");
	if (!knows_marks(family))
		return complain(
			r, "ContainerPart", family->container_part,
			"the first file of PartFile= does not tell these numbers");
	return 0;
}

static int read_family(struct reader *r, const char *name, char *rest)
{
	struct tide_table *table = r->table;
	struct tide_family family = {0}, *more;
	int known = family_index(table, name);

	if (known >= 0 && tide_family_copy(&family, &table->family[known]))
		return out_of_memory(r);
	errno = 0;
	if (read_pair(r, TIDE_TABLE_FAMILY, &family, "Family", name) ||
	    read_pairs(r, TIDE_TABLE_FAMILY, &family, rest) ||
	    check_family(r, &family))
		goto bad;
	if (known >= 0) {
		tide_family_release(&table->family[known]);
		table->family[known] = family;
		return 0;
	}
	more = grown(table->family, table->n_families, sizeof(*more));
	if (!more) {
		out_of_memory(r);
		goto bad;
	}
	table->family = more;
	more[table->n_families++] = family;
	return 0;
bad:
	tide_family_release(&family);
	return errno == ENOMEM ? -1 : 0;
}

static int read_model(struct reader *r, const char *type, char *rest)
{
	struct tide_table *table = r->table;
	struct tide_model model = {
		.family = -1, .devices = 1, .physical = -1, .tflops = {0, 1}};
	struct tide_model *more;

	errno = 0;
	if (read_pair(r, TIDE_TABLE_MODEL, &model, "Model", type) ||
	    read_pairs(r, TIDE_TABLE_MODEL, &model, rest))
		goto bad;
	if (model.family < 0 ||
	    (!model.n_ids && !model.tflops.num && !model.memory)) {
		complain(r, "Model", type, "a model needs Family= and Id=");
		goto bad;
	}
	more = grown(table->model, table->n_models, sizeof(*more));
	if (!more) {
		out_of_memory(r);
		goto bad;
	}
	table->model = more;
	more[table->n_models++] = model;
	return 0;
bad:
	tide_model_release(&model);
	return errno == ENOMEM ? -1 : 0;
}

static int read_part(struct reader *r, const char *type, char *rest)
{
	struct tide_table *table = r->table;
	struct tide_part part = {.family = -1}, *more;

	errno = 0;
	if (read_pair(r, TIDE_TABLE_PART, &part, "Part", type) ||
	    read_pairs(r, TIDE_TABLE_PART, &part, rest))
		goto bad;
	if (part.family < 0 || !part.of || !part.share.num) {
		complain(r, "Part", type,
			 "a part needs Family=, Of= and Share=");
		goto bad;
	}
	more = grown(table->part, table->n_parts, sizeof(*more));
	if (!more) {
		out_of_memory(r);
		goto bad;
	}
	table->part = more;
	more[table->n_parts++] = part;
	return 0;
bad:
	tide_part_release(&part);
	return errno == ENOMEM ? -1 : 0;
}

/* -1 when memory is out; what is wrong with the record is in problems. */
static int read_record(struct reader *r, const struct tide_conf_line *line)
{
	char *cursor = line->text, *key, *value;

	r->line = line;
	r->n_seen = 0;
	if (tide_pair_next(&cursor, &key, &value) < 0) {
		tide_problems_add(r->problems, line->file, line->line,
				  "'%.200s': Key=Value is wanted", key);
		return 0;
	}
	if (!strcasecmp(key, "Family"))
		return read_family(r, value, cursor);
	if (!strcasecmp(key, "Model"))
		return read_model(r, value, cursor);
	if (!strcasecmp(key, "Part"))
		return read_part(r, value, cursor);
	complain(r, key, value, "a line begins with Family=, Model= or Part=");
	return 0;
}

static int read_lines(struct tide_table *table, struct tide_lines *lines,
		      struct tide_problems *problems, struct tide_err *err)
{
	struct reader r = {.table = table,
			   .had = problems->count,
			   .problems = problems,
			   .err = err};

	if (lines->count > MAX_RECORDS)
		return tide_err_set(err, E2BIG,
				    "%s: more than %d lines: it is no table",
				    lines->line[0].file, MAX_RECORDS);
	for (size_t i = 0; i < lines->count; i++) {
		if (read_record(&r, &lines->line[i]))
			return -1;
		if (is_hopeless(&r))
			return tide_err_set(
				err, E2BIG,
				"%s: more than %d mistakes: it is no table",
				lines->line[i].file, MAX_ERRORS);
	}
	return 0;
}

static int read_text(struct tide_table *table, const char *text,
		     const char *name, struct tide_problems *problems,
		     struct tide_err *err)
{
	struct tide_lines lines = {0};
	int rc = tide_lines_parse(text, name, &lines, problems, err);

	if (!rc)
		rc = read_lines(table, &lines, problems, err);
	tide_lines_release(&lines);
	return rc;
}

int tide_table_parse(const char *text, const char *name,
		     struct tide_table **ret_table,
		     struct tide_problems *problems, struct tide_err *err)
{
	struct tide_table *table = calloc(1, sizeof(*table));

	if (!table) {
		tide_err_set(err, ENOMEM, "out of memory");
		return -1;
	}
	if (read_text(table, text, name, problems, err)) {
		tide_table_destroy(table);
		return -1;
	}
	*ret_table = table;
	return 0;
}

int tide_table_load(const char *path, struct tide_table **ret_table,
		    struct tide_problems *problems, struct tide_err *err)
{
	struct tide_lines lines = {0};
	struct tide_table *table = NULL;
	int rc;

	if (tide_table_parse(tide_table_builtin, "built-in table", &table,
			     problems, err))
		return -1;
	rc = path ? tide_lines_load(path, &lines, problems, err) : 0;
	if (rc)
		tide_err_prefix(err, "%s", path);
	else
		rc = read_lines(table, &lines, problems, err);
	tide_lines_release(&lines);
	if (rc)
		tide_table_destroy(table);
	else
		*ret_table = table;
	return rc;
}

void tide_table_destroy(struct tide_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_families; i++)
		tide_family_release(&table->family[i]);
	for (size_t i = 0; i < table->n_models; i++)
		tide_model_release(&table->model[i]);
	for (size_t i = 0; i < table->n_parts; i++)
		tide_part_release(&table->part[i]);
	free(table->family);
	free(table->model);
	free(table->part);
	free(table);
}

const struct tide_family *tide_table_family(const struct tide_table *table,
					    const char *name)
{
	int i = family_index(table, name);

	return i < 0 ? NULL : &table->family[i];
}
