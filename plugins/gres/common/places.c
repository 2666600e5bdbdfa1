/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places of devices that are gone: see places.h. Looks at no device. */
#include "plugins/gres/common/places.h"

#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"

#include "common/conf/lines.h"
#include "common/util/file.h"

/* In the one field of a record that devices of ours have no use for. */
#define GONE "gone"

bool tide_place_is_gone(const gres_slurmd_conf_t *record)
{
	return !xstrcmp(record->unique_id, GONE);
}

void tide_place_free(void *x)
{
	gres_slurmd_conf_t *record = x;

	xfree(record->file);
	xfree(record->cpus);
	FREE_NULL_BITMAP(record->cpus_bitmap);
	xfree(record->links);
	xfree(record->name);
	xfree(record->type_name);
	xfree(record->unique_id);
	xfree(record);
}

static bool is_multiple(const gres_slurmd_conf_t *record)
{
	return record->config_flags & GRES_CONF_HAS_MULT;
}

/* A line a record. */
static char *write_text(list_t *records)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	char *text = NULL;

	while ((record = list_next(itr)))
		xstrfmtcat(text, "%s%s%s=%s\n",
			   record->type_name ? "Type=" : "",
			   record->type_name ? record->type_name : "",
			   is_multiple(record) ? " MultipleFiles" : " File",
			   record->file);
	list_iterator_destroy(itr);
	return text;
}

/* A record of the device with this file, which is like that one. */
static gres_slurmd_conf_t *copy(const gres_slurmd_conf_t *record,
				const char *file)
{
	gres_slurmd_conf_t *new = xmalloc(sizeof(*new));

	new->config_flags = record->config_flags;
	new->count = 1;
	new->cpu_cnt = record->cpu_cnt;
	new->cpus = xstrdup(record->cpus);
	if (record->cpus_bitmap)
		new->cpus_bitmap = bit_copy(record->cpus_bitmap);
	new->file = xstrdup(file);
	new->links = xstrdup(record->links);
	new->name = xstrdup(record->name);
	new->type_name = xstrdup(record->type_name);
	new->plugin_id = record->plugin_id;
	return new;
}

/* Put a record for each device of this one at the end of the list. */
static void add_each(list_t *list, const gres_slurmd_conf_t *record)
{
	tide_hostlist files;
	char *file;

	if (is_multiple(record)) {
		list_append(list, copy(record, record->file));
		return;
	}
	files = hostlist_create(record->file);
	while (files && (file = hostlist_shift(files))) {
		list_append(list, copy(record, file));
		free(file);
	}
	if (files)
		hostlist_destroy(files);
}

static list_t *each_of(list_t *records)
{
	list_itr_t *itr = list_iterator_create(records);
	list_t *list = list_create(tide_place_free);
	gres_slurmd_conf_t *record;

	while ((record = list_next(itr)))
		add_each(list, record);
	list_iterator_destroy(itr);
	return list;
}

/* One line; like is a record of the same GRES. */
static void read_line(list_t *list, char *line, const gres_slurmd_conf_t *like)
{
	gres_slurmd_conf_t record = {
		.config_flags = like->config_flags | GRES_CONF_HAS_FILE,
		.cpu_cnt = like->cpu_cnt,
		.name = like->name,
		.plugin_id = like->plugin_id,
	};
	char *key, *value;

	record.config_flags &= ~(uint32_t)GRES_CONF_HAS_MULT;
	while (tide_pair_next(&line, &key, &value) > 0) {
		if (!xstrcmp(key, "Type"))
			record.type_name = value;
		else
			record.file = value;
		if (!xstrcmp(key, "MultipleFiles"))
			record.config_flags |= GRES_CONF_HAS_MULT;
	}
	if (record.type_name)
		record.config_flags |= GRES_CONF_HAS_TYPE;
	if (record.file)
		add_each(list, &record);
}

/* A record for each device that the file has. */
static list_t *read_file(const char *path, const gres_slurmd_conf_t *like)
{
	list_t *list = list_create(tide_place_free);
	char *text = NULL, *line, *rest = NULL;
	struct tide_err err;

	if (tide_file_read(path, &text, &err)) {
		if (errno != ENOENT)
			error("cannot read %s: %s", path, err.text);
		return list;
	}
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		read_line(list, line, like);
	free(text);
	return list;
}

/* Of this type, or of any. */
static uint64_t count_type(list_t *devices, const char *type)
{
	list_itr_t *itr = list_iterator_create(devices);
	gres_slurmd_conf_t *record;
	uint64_t count = 0;

	while ((record = list_next(itr)))
		count += !type || !xstrcasecmp(record->type_name, type);
	list_iterator_destroy(itr);
	return count;
}

/* Are these as many of each type as are wanted? */
static bool is_wanted(list_t *devices, list_t *wanted)
{
	list_itr_t *itr = list_iterator_create(wanted);
	gres_slurmd_conf_t *record;
	bool good = true;
	uint64_t all = 0;

	while ((record = list_next(itr))) {
		good &= count_type(devices, record->type_name) == record->count;
		all += record->count;
	}
	list_iterator_destroy(itr);
	return good && all == count_type(devices, NULL);
}

static int has_file(void *x, void *key)
{
	return !xstrcmp(((gres_slurmd_conf_t *)x)->file, key);
}

/*
 * Take the devices that were there off the list of those that are, into their
 * places; what is not there is marked.
 */
static bool take_places(list_t *were, list_t *are, list_t *places)
{
	gres_slurmd_conf_t *record, *found;
	bool gone = false;

	while ((record = list_pop(were))) {
		found = list_remove_first(are, has_file, record->file);
		if (!found) {
			record->unique_id = xstrdup(GONE);
			list_append(places, record);
			gone = true;
			continue;
		}
		list_append(places, found);
		tide_place_free(record);
	}
	return gone && !list_count(are);
}

static void say_gone(list_t *places)
{
	list_itr_t *itr = list_iterator_create(places);
	gres_slurmd_conf_t *record;

	while ((record = list_next(itr)))
		if (tide_place_is_gone(record))
			error("gres/%s: %s is gone, which was there before: nothing takes its place",
			      record->name, record->file);
	list_iterator_destroy(itr);
}

void tide_places_remember(list_t *records, const char *path)
{
	char *text = write_text(records), *old = NULL;
	struct tide_err err;

	if (!text)
		return;
	if ((tide_file_read(path, &old, &err) || xstrcmp(old, text)) &&
	    tide_file_replace(path, text, &err))
		error("cannot write down the places of devices: %s", err.text);
	free(old);
	xfree(text);
}

void tide_places_recall(list_t *records, list_t *wanted, const char *path)
{
	list_t *were = read_file(path, list_peek(wanted));
	list_t *are = each_of(records);
	list_t *places = list_create(tide_place_free);
	gres_slurmd_conf_t *record;

	if (is_wanted(were, wanted) && take_places(were, are, places)) {
		say_gone(places);
		list_flush(records);
		while ((record = list_pop(places)))
			list_append(records, record);
	}
	FREE_NULL_LIST(places);
	FREE_NULL_LIST(are);
	FREE_NULL_LIST(were);
}
