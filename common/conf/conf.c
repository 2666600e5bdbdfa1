/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide.conf: reads records by the table of keys and answers look-ups.  The
 * rules between records are in check.c, node lists in nodes.c.
 */
#include "config.h"

#include "common/conf/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf/build.h"
#include "common/util/err.h"

void tide_conf_destroy(struct tide_conf *conf)
{
	struct tide_build *build = (struct tide_build *)conf;
	int saved = errno;

	if (!conf)
		return;
	for (int i = 0; i < conf->n_devices; i++)
		free((char *)build->device[i].gres);
	for (int i = 0; i < conf->n_nodes; i++)
		free((char *)build->node[i].name);
	free(build->device);
	free(build->owner);
	free(build->window);
	free(build->set);
	free(build->set_windows);
	free(build->node);
	free(build->text);
	free(build->device_state);
	free(build->owner_state);
	free(build->window_state);
	tide_lines_release(&build->lines);
	free(build);
	errno = saved;
}

/* All records, one a line: what tide_conf_parse() can read again. */
static int make_text(struct tide_build *build)
{
	const struct tide_lines *lines = &build->lines;
	size_t size = 1, at = 0;

	for (size_t i = 0; i < lines->count; i++)
		size += 2 * strlen(lines->line[i].text) + 1;
	build->text = malloc(size);
	if (!build->text)
		return -1;
	for (size_t i = 0; i < lines->count; i++) {
		for (const char *p = lines->line[i].text; *p; p++) {
			if (*p == '#')
				build->text[at++] = '\\';
			build->text[at++] = *p;
		}
		build->text[at++] = '\n';
	}
	build->text[at] = '\0';
	build->conf.text = build->text;
	return 0;
}

static enum tide_record record_kind(const char *key)
{
	for (int i = TIDE_RECORD_GLOBAL + 1; i < TIDE_RECORDS; i++)
		if (!strcasecmp(key, tide_record_name((enum tide_record)i)))
			return (enum tide_record)i;
	return TIDE_RECORD_GLOBAL;
}

/* Room for one more in an array of n records and in that of their states. */
static void *add_record(void *array, size_t size, int n,
			struct tide_build_record **states,
			struct tide_build_record **ret_state, void **ret_array)
{
	size_t count = (size_t)n + 1;
	char *more = realloc(array, count * size);
	struct tide_build_record *state;

	if (!more)
		return NULL;
	*ret_array = more;
	state = realloc(*states, count * sizeof(*state));
	if (!state)
		return NULL;
	*states = state;
	*ret_state = state + n;
	memset(state + n, 0, sizeof(*state));
	return memset(more + (size_t)n * size, 0, size);
}

/* A new, empty record of that kind for the line; NULL when memory is out. */
static void *begin_record(struct tide_build *build, enum tide_record kind,
			  const struct tide_conf_line *line,
			  struct tide_build_record **ret_state)
{
	struct tide_conf *conf = &build->conf;
	struct tide_device *device;
	struct tide_owner *owner;
	struct tide_window *window;

#define ADD(type)                                                        \
	add_record(build->type, sizeof(*build->type), conf->n_##type##s, \
		   &build->type##_state, ret_state, (void **)&build->type)
	switch (kind) {
	case TIDE_RECORD_DEVICE:
		device = ADD(device);
		if (!device)
			return NULL;
		conf->device = build->device;
		conf->n_devices++;
		device->file = line->file;
		device->line = line->line;
		return device;
	case TIDE_RECORD_OWNER:
		owner = ADD(owner);
		if (!owner)
			return NULL;
		conf->owner = build->owner;
		conf->n_owners++;
		owner->file = line->file;
		owner->line = line->line;
		return owner;
	case TIDE_RECORD_WINDOW:
		window = ADD(window);
		if (!window)
			return NULL;
		conf->window = build->window;
		conf->n_windows++;
		window->file = line->file;
		window->line = line->line;
		return window;
	case TIDE_RECORD_GLOBAL:
	case TIDE_RECORDS:
		break;
	}
#undef ADD
	*ret_state = &build->global;
	return conf;
}

/* Why there is no such key in that kind of record. */
static void unknown_key(struct tide_build *build,
			const struct tide_conf_line *line,
			enum tide_record kind, const char *key,
			const char *value)
{
	for (int i = 0; i < tide_n_keys; i++) {
		const char *record = tide_record_name(tide_keys[i].record);

		if (strcasecmp(tide_keys[i].name, key))
			continue;
		if (record)
			tide_problems_add(
				build->problems, line->file, line->line,
				"%s=%s: belongs on a line that begins with %s=",
				key, value, record);
		else
			tide_problems_add(
				build->problems, line->file, line->line,
				"%s=%s: belongs on a line of its own, not behind %s=",
				key, value, tide_record_name(kind));
		return;
	}
	tide_problems_add(build->problems, line->file, line->line,
			  "%s=%s: unknown key", key, value);
}

static void read_pair(struct tide_build *build,
		      const struct tide_conf_line *line, enum tide_record kind,
		      void *record, struct tide_build_record *state,
		      const char *name, char *value)
{
	int i = tide_key_find(kind, name);
	const struct tide_key *key = i < 0 ? NULL : &tide_keys[i];
	struct tide_err err;

	if (!key) {
		unknown_key(build, line, kind, name, value);
		state->broken = 1;
		return;
	}
	if (state->seen & (UINT64_C(1) << i)) {
		tide_problems_add(build->problems, line->file, line->line,
				  "%s=%s: the key is repeated", name, value);
		state->broken = 1;
		return;
	}
	state->seen |= UINT64_C(1) << i;
	if (tide_value_set(build, key, record, value, &err)) {
		tide_problems_add(build->problems, line->file, line->line,
				  "%s=%s: %s", name, value, err.text);
		state->broken = 1;
	}
}

static int read_line(struct tide_build *build,
		     const struct tide_conf_line *line)
{
	char *cursor = line->text, *name, *value;
	struct tide_build_record *state = NULL;
	enum tide_record kind = TIDE_RECORD_GLOBAL;
	void *record = NULL;
	int more;

	while ((more = tide_pair_next(&cursor, &name, &value))) {
		if (more < 0) {
			tide_problems_add(build->problems, line->file,
					  line->line, "'%s' is no Key=Value",
					  name);
			if (state)
				state->broken = 1;
			continue;
		}
		if (!record) {
			kind = record_kind(name);
			record = begin_record(build, kind, line, &state);
			if (!record)
				return -1;
		}
		read_pair(build, line, kind, record, state, name, value);
	}
	return 0;
}

int tide_record_has(const struct tide_build_record *state,
		    enum tide_record record, const char *key)
{
	return state->seen >> tide_key_find(record, key) & 1;
}

/* Fill in the defaults of the keys that a record did not have. */
static void set_defaults(struct tide_build *build, enum tide_record kind,
			 void *record, const struct tide_build_record *state)
{
	for (int i = 0; i < tide_n_keys; i++) {
		char value[32];

		if (tide_keys[i].record != kind || !tide_keys[i].fallback ||
		    (state->seen >> i & 1))
			continue;
		snprintf(value, sizeof(value), "%s", tide_keys[i].fallback);
		/* cannot fail: test_keys sets every default */
		(void)tide_value_set(build, &tide_keys[i], record, value, NULL);
	}
}

static int read_records(struct tide_build *build)
{
	struct tide_conf *conf = &build->conf;

	/* fractions of zero have the denominator 1 */
	conf->credit_price.den = 1;
	for (size_t i = 0; i < build->lines.count; i++)
		if (read_line(build, &build->lines.line[i]))
			return -1;
	set_defaults(build, TIDE_RECORD_GLOBAL, conf, &build->global);
	for (int i = 0; i < conf->n_owners; i++)
		set_defaults(build, TIDE_RECORD_OWNER, &build->owner[i],
			     &build->owner_state[i]);
	for (int i = 0; i < conf->n_windows; i++)
		set_defaults(build, TIDE_RECORD_WINDOW, &build->window[i],
			     &build->window_state[i]);
	return tide_check(build) || tide_nodes_build(build) ? -1 : 0;
}

/* The states are of no use once everything is read. */
static void drop_states(struct tide_build *build)
{
	free(build->device_state);
	free(build->owner_state);
	free(build->window_state);
	build->device_state = NULL;
	build->owner_state = NULL;
	build->window_state = NULL;
	build->zoneinfo = NULL;
	build->name = NULL;
	build->problems = NULL;
}

/* Read into build; path: of a file, or the name that stands for text. */
static int conf_fill(struct tide_build *build, const char *path,
		     const char *text, struct tide_err *err)
{
	struct tide_problems *problems = build->problems;
	size_t before = problems->count;
	struct tide_err why;
	int rc;

	rc = text ? tide_lines_parse(text, path, &build->lines, problems, &why)
		  : tide_lines_load(path, &build->lines, problems, &why);
	if (rc) {
		int saved = errno;

		tide_problems_add(problems, path, 0, "%s", why.text);
		return tide_err_set(err, saved, "%s: %s", path, why.text);
	}
	if (make_text(build) || read_records(build) || problems->lost)
		return tide_err_set(err, ENOMEM, "out of memory");
	tide_problems_sort(problems);
	return problems->count > before ? tide_problems_first(problems, err)
					: 0;
}

static int conf_read(const char *path, const char *text, const char *zoneinfo,
		     struct tide_conf **ret_conf,
		     struct tide_problems *problems, struct tide_err *err)
{
	struct tide_problems own = {0};
	struct tide_build *build = calloc(1, sizeof(*build));
	int saved, rc;

	if (!build)
		return tide_err_set(err, ENOMEM, "out of memory");
	build->zoneinfo = zoneinfo;
	build->name = path;
	build->problems = problems ? problems : &own;
	rc = conf_fill(build, path, text, err);
	if (rc) {
		tide_conf_destroy(&build->conf);
	} else {
		drop_states(build);
		*ret_conf = &build->conf;
	}
	saved = errno;
	tide_problems_release(&own);
	errno = saved;
	return rc;
}

int tide_conf_load(const char *path, const char *zoneinfo,
		   struct tide_conf **ret_conf, struct tide_problems *problems,
		   struct tide_err *err)
{
	return conf_read(path, NULL, zoneinfo, ret_conf, problems, err);
}

int tide_conf_parse(const char *text, const char *name, const char *zoneinfo,
		    struct tide_conf **ret_conf, struct tide_problems *problems,
		    struct tide_err *err)
{
	return conf_read(name, text, zoneinfo, ret_conf, problems, err);
}

static int node_cmp(const void *name, const void *node)
{
	return strcmp(name, ((const struct tide_node *)node)->name);
}

const struct tide_node *tide_conf_node(const struct tide_conf *conf,
				       const char *name)
{
	if (!conf->n_nodes)
		return NULL;
	return bsearch(name, conf->node, (size_t)conf->n_nodes,
		       sizeof(*conf->node), node_cmp);
}

char *tide_conf_pool(const char *path)
{
	struct tide_problems problems = {0};
	struct tide_lines lines = {0};
	char *cursor, *key, *value, *pool = NULL;

	(void)tide_lines_load(path, &lines, &problems, NULL);
	for (size_t i = 0; !pool && i < lines.count; i++) {
		cursor = lines.line[i].text;
		while (!pool && tide_pair_next(&cursor, &key, &value) > 0)
			if (!strcasecmp(key, "PoolPartition") && *value)
				pool = strdup(value);
	}
	tide_lines_release(&lines);
	tide_problems_release(&problems);
	return pool;
}
