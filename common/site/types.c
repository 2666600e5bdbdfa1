/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices of nodes, priced or not: Slurm knows their names, counts the types of
 * accelerators, and gres.conf has the types that slurm.conf has.  What is found
 * on a node is host.c's.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/site/rules.h"
#include "common/util/parse.h"

/* Texts, each once. */
struct words {
	char **word;
	size_t count;
};

static void release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
}

/* Adds prefix and the first len letters of text. */
static void add(struct tide_site *site, struct words *words, const char *prefix,
		const char *text, size_t len)
{
	char *word = NULL, **more;

	if (asprintf(&word, "%s%.*s", prefix, (int)len, text) < 0)
		word = NULL;
	for (size_t i = 0; word && i < words->count; i++)
		if (!strcmp(words->word[i], word)) {
			free(word);
			return;
		}
	more = word ? realloc(words->word, (words->count + 1) * sizeof(*more))
		    : NULL;
	if (!more) {
		free(word);
		site->findings->lost = 1;
		return;
	}
	words->word = more;
	more[words->count++] = word;
}

/* Priced ones that are in use are devices.c's, as without them nobody pays. */
static int is_priced(const struct tide_site *site, const char *name, size_t len)
{
	for (int i = 0; i < site->conf->n_devices; i++)
		if (tide_site_is_text(site->conf->device[i].name, name, len))
			return 1;
	return 0;
}

static void check_count_like(struct tide_site *site,
			     const struct tide_slurm_record *record,
			     const struct tide_gres *item)
{
	if (item->type_len && tide_parse_is_count(item->type, item->type_len))
		tide_site_say(
			site, TIDE_LEVEL_WARNING, record,
			"a type that begins with a letter, here and in gres.conf: tidectl devices --gres-conf prints both",
			"node '%s' has the type '%.*s' in Gres: --gres=%.*s:%.*s asks for so many of any type",
			record->pair[0].value, (int)item->type_len, item->type,
			(int)item->name_len, item->name, (int)item->type_len,
			item->type);
}

static void look_at_items(struct tide_site *site,
			  const struct tide_slurm_record *record,
			  const char *list, struct words *names,
			  struct words *tres)
{
	struct tide_gres item;

	while (tide_gres_next(&list, &item)) {
		size_t len = item.name_len + 1 + item.type_len;

		add(site, names, "", item.name, item.name_len);
		check_count_like(site, record, &item);
		if (!tide_site_is_accelerator(&item))
			continue;
		add(site, tres, "gres/", item.name, item.name_len);
		if (item.type_len && !is_priced(site, item.name, len))
			add(site, tres, "gres/", item.name, len);
	}
}

/*
 * The types of that name that lines of gres.conf have for the node, with "or"
 * between, for the caller to free; NULL when these lines do not tell.
 */
static char *types_by_hand(const struct tide_slurm *gres_conf, const char *node,
			   const struct tide_gres *item, int *ret_found)
{
	char *types = NULL, *more = NULL;

	for (size_t i = 0; i < gres_conf->n_records; i++) {
		const struct tide_slurm_record *line = &gres_conf->record[i];
		const char *name = tide_slurm_own_value(line, "Name");
		const char *type = tide_slurm_own_value(line, "Type");

		if (!name || !tide_site_is_for(line, node) ||
		    !tide_site_is_text(name, item->name, item->name_len))
			continue;
		if (!type || tide_slurm_own_value(line, "AutoDetect")) {
			free(types);
			return NULL;
		}
		*ret_found |= strlen(type) == item->type_len &&
			      !strncmp(type, item->type, item->type_len);
		if (types && strstr(types, type))
			continue;
		if (asprintf(&more, "%s%s%s", types ? types : "",
			     types ? " or " : "", type) < 0)
			more = NULL;
		free(types);
		types = more;
	}
	return types;
}

/* The first node of the record whose lines have other types is said. */
static void compare_item(struct tide_site *site,
			 const struct tide_slurm *gres_conf,
			 const struct tide_slurm_record *record,
			 const struct tide_names *nodes,
			 const struct tide_gres *item)
{
	for (size_t i = 0; i < nodes->count; i++) {
		int found = 0;
		char *types =
			types_by_hand(gres_conf, nodes->name[i], item, &found);

		if (types && !found) {
			tide_site_say(
				site, TIDE_LEVEL_WARNING, record,
				"one word for a type, in Gres of the node and in Type of gres.conf",
				"node '%s' has %.*s:%.*s in Gres, but gres.conf has Type=%s for it: Slurm drains the node, or counts none",
				nodes->name[i], (int)item->name_len, item->name,
				(int)item->type_len, item->type, types);
			free(types);
			return;
		}
		free(types);
	}
}

static void compare_types(struct tide_site *site,
			  const struct tide_slurm *gres_conf)
{
	const struct tide_slurm_record *record = NULL;

	while ((record = tide_slurm_next(site->slurm, "NodeName", record))) {
		const char *list =
			tide_slurm_value(site->slurm, record, "Gres");
		struct tide_names nodes = {0};
		struct tide_gres item;

		if (!list || tide_slurm_record_nodes(record, &nodes))
			continue;
		while (tide_gres_next(&list, &item))
			if (item.type_len)
				compare_item(site, gres_conf, record, &nodes,
					     &item);
		tide_names_release(&nodes);
	}
}

/* Where there is no gres.conf slurmd finds the devices by itself. */
static void check_gres_conf(struct tide_site *site, const char *dir)
{
	struct tide_problems problems = {0};
	struct tide_slurm *gres_conf = NULL;
	char *path = NULL;

	if (asprintf(&path, "%s/gres.conf", dir) < 0) {
		site->findings->lost = 1;
		return;
	}
	if (!tide_slurm_load(path, &gres_conf, &problems, NULL))
		compare_types(site, gres_conf);
	tide_problems_release(&problems);
	tide_slurm_destroy(gres_conf);
	free(path);
}

void tide_site_types(struct tide_site *site, const char *dir)
{
	const struct tide_slurm_record *record = NULL;
	struct words names = {0}, tres = {0};
	const char *type =
		tide_slurm_get(site->slurm, "AccountingStorageType", NULL);

	while ((record = tide_slurm_next(site->slurm, "NodeName", record))) {
		const char *list =
			tide_slurm_value(site->slurm, record, "Gres");

		if (list)
			look_at_items(site, record, list, &names, &tres);
	}
	tide_site_words(site, TIDE_LEVEL_ERROR, "GresTypes",
			(const char *const *)names.word, names.count,
			"Slurm does not know these devices");
	if (type && strstr(type, "slurmdbd"))
		tide_site_words(
			site, TIDE_LEVEL_WARNING, "AccountingStorageTRES",
			(const char *const *)tres.word, tres.count,
			"sacct, squeue and limits do not know their use");
	check_gres_conf(site, dir);
	release(&names);
	release(&tres);
}
