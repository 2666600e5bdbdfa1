/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tide.conf, the last good copy of it, or nothing: see source.h. */
#include "compat/plugin.h"

#include "plugins/select/tide/source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/file.h"

#define GOOD_FILE "tide.conf.good"
/* A copy that lost its end could lose owners: their nodes would be open. */
#define GOOD_END "# the end of the last good tide.conf\n"

static void path_in(char *path, size_t size, const char *dir, const char *name)
{
	snprintf(path, size, "%s/%s", dir, name);
}

/* The stretches of one window set, as the gate wants them. */
static int work_out_set(const struct tide_calendar *calendar, size_t set,
			struct tide_stretches *stretches, struct tide_err *err)
{
	struct tide_span *spans;
	struct tide_open *opens;
	size_t count, i;

	if (tide_calendar_spans(calendar, set, stretches->made,
				stretches->made + TIDE_EVER, &spans, &count,
				err) < 0)
		return -1;
	opens = calloc(count ? count : 1, sizeof(*opens));
	for (i = 0; opens && i < count; i++)
		opens[i] = (struct tide_open){
			.open = spans[i].open,
			/* Nobody knows of a close. */
			.close = spans[i].beyond ? TIDE_NEVER : spans[i].close,
			.name = spans[i].window->name,
		};
	free(spans);
	if (!opens)
		return tide_err_set(err, ENOMEM, "out of memory");
	stretches->opens[set] = opens;
	stretches->groups[set].opens = opens;
	stretches->groups[set].count = count;
	return 0;
}

int tide_source_work_out(const struct tide_source *source, int64_t now,
			 struct tide_stretches **ret_stretches,
			 struct tide_err *err)
{
	struct tide_stretches *stretches = calloc(1, sizeof(*stretches));
	size_t i;

	if (!stretches)
		return tide_err_set(err, ENOMEM, "out of memory");
	stretches->refs = 1;
	stretches->made = now;
	stretches->count = (source->conf ? source->conf->n_sets : 0) + 1;
	stretches->groups =
		calloc(stretches->count, sizeof(*stretches->groups));
	stretches->opens = calloc(stretches->count, sizeof(*stretches->opens));
	if (!stretches->groups || !stretches->opens) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto fail;
	}
	/* Without a configuration nobody's node is known to be nobody's. */
	stretches->groups[stretches->count - 1].always = source->conf != NULL;
	for (i = 0; i + 1 < stretches->count; i++)
		if (work_out_set(source->calendar, i, stretches, err) < 0)
			goto fail;
	*ret_stretches = stretches;
	return 0;

fail:
	tide_stretches_unref(stretches);
	return -1;
}

struct tide_stretches *tide_stretches_ref(struct tide_stretches *stretches)
{
	__atomic_add_fetch(&stretches->refs, 1, __ATOMIC_RELAXED);
	return stretches;
}

void tide_stretches_unref(struct tide_stretches *stretches)
{
	size_t i;

	if (!stretches ||
	    __atomic_sub_fetch(&stretches->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; stretches->opens && i < stretches->count; i++)
		free(stretches->opens[i]);
	free(stretches->opens);
	free(stretches->groups);
	free(stretches);
}

/* Takes over conf, also when it fails. */
static int from_conf(struct tide_conf *conf, int64_t now, bool last_good,
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
		    0 ||
	    tide_source_work_out(source, now, &source->stretches, err) < 0) {
		tide_source_unref(source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

int tide_source_read(const char *conf_dir, int64_t now,
		     struct tide_source **ret_source, struct tide_err *err)
{
	struct tide_conf *conf;
	char path[PATH_MAX];

	path_in(path, sizeof(path), conf_dir, "tide.conf");
	if (tide_conf_load(path, NULL, &conf, NULL, err) < 0)
		return -1;
	return from_conf(conf, now, false, ret_source, err);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && !strcmp(text + length - size, end);
}

int tide_source_read_good(const char *state_dir, int64_t now,
			  struct tide_source **ret_source, struct tide_err *err)
{
	struct tide_conf *conf;
	char path[PATH_MAX], *text;
	int rc;

	path_in(path, sizeof(path), state_dir, GOOD_FILE);
	if (tide_file_read(path, &text, err) < 0)
		return -1;
	if (!ends_with(text, GOOD_END)) {
		free(text);
		return tide_err_set(err, EINVAL, "%s: its end is missing",
				    path);
	}
	rc = tide_conf_parse(text, path, NULL, &conf, NULL, err);
	free(text);
	return rc < 0 ? -1 : from_conf(conf, now, true, ret_source, err);
}

int tide_source_keep(const struct tide_source *source, const char *state_dir,
		     struct tide_err *err)
{
	char path[PATH_MAX], *text, *kept;
	int rc;

	if (!source->conf || source->last_good)
		return 1;
	path_in(path, sizeof(path), state_dir, GOOD_FILE);
	if (asprintf(&text, "%s%s", source->conf->text, GOOD_END) < 0)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (tide_file_read(path, &kept, NULL) < 0)
		kept = NULL;
	if (kept && !strcmp(kept, text))
		rc = 1;
	else
		rc = tide_file_replace(path, text, err);
	free(kept);
	free(text);
	return rc;
}

struct tide_source *tide_source_closed(const char *conf_dir)
{
	struct tide_source *source = calloc(1, sizeof(*source));
	char path[PATH_MAX];

	if (!source)
		return NULL;
	source->refs = 1;
	if (tide_source_work_out(source, 0, &source->stretches, NULL) < 0) {
		tide_source_unref(source);
		return NULL;
	}
	path_in(path, sizeof(path), conf_dir, "tide.conf");
	source->pool = tide_conf_pool(path);
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
	tide_stretches_unref(source->stretches);
	tide_calendar_destroy(source->calendar);
	tide_conf_destroy(source->conf);
	free(source->pool);
	free(source);
}
