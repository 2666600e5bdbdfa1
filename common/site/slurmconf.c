/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.conf and slurmdbd.conf as text.  See slurmconf.h. */
#include "config.h"

#include "common/site/slurmconf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/err.h"
#include "common/util/hostlist.h"

enum {
	MAX_NODES = 100000
};

void tide_slurm_destroy(struct tide_slurm *slurm)
{
	int saved = errno;

	if (!slurm)
		return;
	for (size_t i = 0; slurm->record && i < slurm->n_records; i++)
		free(slurm->record[i].pair);
	free(slurm->record);
	tide_lines_release(&slurm->lines);
	free(slurm);
	errno = saved;
}

static int read_pairs(const struct tide_conf_line *line,
		      struct tide_slurm_record *record)
{
	char *cursor = line->text, *key, *value;

	while (tide_pair_next(&cursor, &key, &value) > 0) {
		struct tide_slurm_pair *more = realloc(
			record->pair, (record->n_pairs + 1) * sizeof(*more));

		if (!more)
			return -1;
		record->pair = more;
		more[record->n_pairs++] = (struct tide_slurm_pair){key, value};
	}
	return 0;
}

int tide_slurm_load(const char *path, struct tide_slurm **ret_slurm,
		    struct tide_problems *problems, struct tide_err *err)
{
	struct tide_slurm *slurm = calloc(1, sizeof(*slurm));

	if (!slurm)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (tide_lines_load(path, &slurm->lines, problems, err))
		goto fail;
	slurm->record = calloc(slurm->lines.count + 1, sizeof(*slurm->record));
	if (!slurm->record)
		goto no_memory;
	for (size_t i = 0; i < slurm->lines.count; i++) {
		struct tide_slurm_record *record =
			&slurm->record[slurm->n_records++];

		record->file = slurm->lines.line[i].file;
		record->line = slurm->lines.line[i].line;
		if (read_pairs(&slurm->lines.line[i], record))
			goto no_memory;
	}
	*ret_slurm = slurm;
	return 0;
no_memory:
	tide_err_set(err, ENOMEM, "out of memory");
fail:
	tide_slurm_destroy(slurm);
	return -1;
}

/* Lines whose other keys belong to them alone. */
static int is_record(const struct tide_slurm_record *record)
{
	static const char *const kinds[] = {
		"NodeName",  "PartitionName", "NodeSet",
		"DownNodes", "FrontendName",  "SwitchName",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (record->n_pairs &&
		    !strcasecmp(record->pair[0].key, kinds[i]))
			return 1;
	return 0;
}

const char *tide_slurm_get(const struct tide_slurm *slurm, const char *key,
			   const struct tide_slurm_record **ret_record)
{
	for (size_t i = slurm->n_records; i-- > 0;) {
		const struct tide_slurm_record *record = &slurm->record[i];

		if (is_record(record))
			continue;
		for (size_t k = record->n_pairs; k-- > 0;) {
			if (strcasecmp(record->pair[k].key, key))
				continue;
			if (ret_record)
				*ret_record = record;
			return record->pair[k].value;
		}
	}
	return NULL;
}

static int is_kind(const struct tide_slurm_record *record, const char *kind)
{
	return record->n_pairs && !strcasecmp(record->pair[0].key, kind);
}

static int is_default(const struct tide_slurm_record *record)
{
	return !strcasecmp(record->pair[0].value, "DEFAULT");
}

const struct tide_slurm_record *
tide_slurm_next(const struct tide_slurm *slurm, const char *kind,
		const struct tide_slurm_record *after)
{
	size_t i = after ? (size_t)(after - slurm->record) + 1 : 0;

	for (; i < slurm->n_records; i++)
		if (is_kind(&slurm->record[i], kind) &&
		    !is_default(&slurm->record[i]))
			return &slurm->record[i];
	return NULL;
}

const struct tide_slurm_record *tide_slurm_find(const struct tide_slurm *slurm,
						const char *kind,
						const char *name)
{
	const struct tide_slurm_record *record = NULL;

	while ((record = tide_slurm_next(slurm, kind, record)))
		if (!strcmp(record->pair[0].value, name))
			return record;
	return NULL;
}

const char *tide_slurm_own_value(const struct tide_slurm_record *record,
				 const char *key)
{
	for (size_t i = record->n_pairs; i-- > 0;)
		if (!strcasecmp(record->pair[i].key, key))
			return record->pair[i].value;
	return NULL;
}

const char *tide_slurm_value(const struct tide_slurm *slurm,
			     const struct tide_slurm_record *record,
			     const char *key)
{
	const char *value = tide_slurm_own_value(record, key);
	const char *kind = record->pair[0].key;

	while (!value && record-- > slurm->record)
		if (is_kind(record, kind) && is_default(record))
			value = tide_slurm_own_value(record, key);
	return value;
}

int tide_slurm_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n >= len && !strncasecmp(list, word, len) &&
		    (n == len || list[len] == '='))
			return 1;
		list += n + (list[n] == ',');
	}
	return 0;
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_names(struct tide_names *names)
{
	if (names->count)
		qsort(names->name, names->count, sizeof(*names->name),
		      name_cmp);
}

int tide_slurm_has_node(const struct tide_names *names, const char *name)
{
	return names->count && bsearch(&name, names->name, names->count,
				       sizeof(*names->name), name_cmp);
}

/* Move the names of `more` behind those of `names`. */
static int append(struct tide_names *names, struct tide_names *more)
{
	char **name = realloc(names->name,
			      (names->count + more->count + 1) * sizeof(*name));

	if (!name)
		return -1;
	names->name = name;
	/* memcpy() takes no NULL, not even for nothing. */
	if (more->count)
		memcpy(name + names->count, more->name,
		       more->count * sizeof(*more->name));
	names->count += more->count;
	free(more->name);
	*more = (struct tide_names){0};
	return 0;
}

int tide_slurm_record_nodes(const struct tide_slurm_record *record,
			    struct tide_names *ret_names)
{
	if (!tide_hostlist_expand(record->pair[0].value, MAX_NODES, ret_names,
				  NULL))
		return 0;
	return errno == ENOMEM ? -1 : 1;
}

long tide_slurm_place(const char *list, const char *name)
{
	struct tide_names names = {0};
	long place = -1;

	if (!list || tide_hostlist_expand(list, MAX_NODES, &names, NULL))
		return -1;
	for (size_t i = 0; place < 0 && i < names.count; i++)
		if (!strcmp(names.name[i], name))
			place = (long)i;
	tide_names_release(&names);
	return place;
}

int tide_slurm_nodes(const struct tide_slurm *slurm,
		     struct tide_names *ret_names)
{
	const struct tide_slurm_record *record = NULL;
	struct tide_names names = {0};

	while ((record = tide_slurm_next(slurm, "NodeName", record))) {
		struct tide_names more = {0};

		if (tide_slurm_record_nodes(record, &more) < 0)
			goto fail;
		if (append(&names, &more)) {
			tide_names_release(&more);
			goto fail;
		}
	}
	sort_names(&names);
	*ret_names = names;
	return 0;
fail:
	tide_names_release(&names);
	errno = ENOMEM;
	return -1;
}

static int copy_names(const struct tide_names *from, struct tide_names *ret)
{
	struct tide_names names = {0};

	names.name = calloc(from->count + 1, sizeof(*names.name));
	if (!names.name)
		return -1;
	for (size_t i = 0; i < from->count; i++) {
		names.name[i] = strdup(from->name[i]);
		if (!names.name[i]) {
			tide_names_release(&names);
			return -1;
		}
		names.count++;
	}
	*ret = names;
	return 0;
}

int tide_slurm_partition_nodes(const struct tide_slurm *slurm,
			       const struct tide_slurm_record *partition,
			       const struct tide_names *all_nodes,
			       struct tide_names *ret_names)
{
	const char *nodes = tide_slurm_value(slurm, partition, "Nodes");
	struct tide_names names = {0};

	if (!nodes) {
		*ret_names = names;
		return 0;
	}
	if (!strcasecmp(nodes, "ALL"))
		return copy_names(all_nodes, ret_names);
	if (tide_hostlist_expand(nodes, MAX_NODES, &names, NULL))
		return errno == ENOMEM ? -1 : 1;
	for (size_t i = 0; i < names.count; i++)
		if (tide_slurm_find(slurm, "NodeSet", names.name[i])) {
			tide_names_release(&names);
			return 1;
		}
	sort_names(&names);
	*ret_names = names;
	return 0;
}
