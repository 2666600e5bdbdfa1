/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tide.conf, the last good copy of it, or nothing: see source.h. */
#include "plugins/select/tide/source.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/file.h"

#define GOOD_FILE "tide.conf.good"

static void path_in(char *path, size_t size, const char *dir, const char *name)
{
	snprintf(path, size, "%s/%s", dir, name);
}

/* Takes over conf, also when it fails. */
static int from_conf(struct tide_conf *conf, bool last_good,
		     struct tide_source **ret_source, struct tide_err *err)
{
	struct tide_source *source = calloc(1, sizeof(*source));

	if (!source) {
		tide_conf_destroy(conf);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	source->refs = 1;
	source->conf = conf;
	source->last_good = last_good;
	source->pool = strdup(conf->pool_partition);
	if (!source->pool) {
		tide_source_unref(source);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	if (tide_calendar_create(conf, NULL, NULL, &source->calendar, err) <
	    0) {
		tide_source_unref(source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

int tide_source_read(const char *conf_dir, struct tide_source **ret_source,
		     struct tide_err *err)
{
	struct tide_conf *conf;
	char path[PATH_MAX];

	path_in(path, sizeof(path), conf_dir, "tide.conf");
	if (tide_conf_load(path, NULL, &conf, NULL, err) < 0)
		return -1;
	return from_conf(conf, false, ret_source, err);
}

int tide_source_read_good(const char *state_dir,
			  struct tide_source **ret_source,
			  struct tide_err *err)
{
	struct tide_conf *conf;
	char path[PATH_MAX], *text;
	int rc;

	path_in(path, sizeof(path), state_dir, GOOD_FILE);
	if (tide_file_read(path, &text, err) < 0)
		return -1;
	rc = tide_conf_parse(text, path, NULL, &conf, NULL, err);
	free(text);
	return rc < 0 ? -1 : from_conf(conf, true, ret_source, err);
}

int tide_source_keep(const struct tide_source *source, const char *state_dir,
		     struct tide_err *err)
{
	char path[PATH_MAX], *text;
	bool same;

	if (!source->conf || source->last_good)
		return 1;
	path_in(path, sizeof(path), state_dir, GOOD_FILE);
	if (tide_file_read(path, &text, NULL) == 0) {
		same = !strcmp(text, source->conf->text);
		free(text);
		if (same)
			return 1;
	}
	return tide_file_replace(path, source->conf->text, err);
}

/* The value of a line "PoolPartition=NAME", in the file's memory. */
static char *pool_of(char *text)
{
	static const char key[] = "PoolPartition=";
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		while (isspace((unsigned char)*line))
			line++;
		if (strncasecmp(line, key, strlen(key)))
			continue;
		line += strlen(key);
		line[strcspn(line, " \t\r#")] = '\0';
		if (*line)
			return line;
	}
	return NULL;
}

struct tide_source *tide_source_closed(const char *conf_dir)
{
	struct tide_source *source = calloc(1, sizeof(*source));
	char path[PATH_MAX], *text, *pool;

	if (!source)
		return NULL;
	source->refs = 1;
	path_in(path, sizeof(path), conf_dir, "tide.conf");
	if (tide_file_read(path, &text, NULL) == 0) {
		pool = pool_of(text);
		if (pool)
			source->pool = strdup(pool);
		free(text);
	}
	return source;
}

struct tide_source *tide_source_ref(struct tide_source *source)
{
	__atomic_add_fetch(&source->refs, 1, __ATOMIC_RELAXED);
	return source;
}

void tide_source_unref(struct tide_source *source)
{
	if (!source || __atomic_sub_fetch(&source->refs, 1, __ATOMIC_ACQ_REL))
		return;
	tide_calendar_destroy(source->calendar);
	tide_conf_destroy(source->conf);
	free(source->pool);
	free(source);
}
