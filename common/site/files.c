/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device files of gres.conf: see files.h.  Opens none. */
#include "config.h"

#include "common/site/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/file.h"

#define MAX_FILES 1024 /* Slurm's own limit */

/* "b[0-3]" in the folder, of which len bytes count; -1 with errno. */
static int add_names(struct tide_names *files, const char *folder, size_t len,
		     const char *item)
{
	struct tide_names names = {0};
	int rc = tide_hostlist_expand(item, MAX_FILES, &names, NULL);
	char **more;

	if (rc)
		return -1;
	more = realloc(files->name,
		       (files->count + names.count + 1) * sizeof(*more));
	if (more)
		files->name = more;
	else
		rc = -1;
	for (size_t i = 0; !rc && i < names.count; i++) {
		if (asprintf(&more[files->count], "%.*s%s", (int)len, folder,
			     names.name[i]) < 0)
			rc = -1;
		else
			files->count++;
	}
	tide_names_release(&names);
	if (rc)
		errno = ENOMEM;
	return rc;
}

int tide_site_files(const char *list, struct tide_names *ret_files)
{
	memset(ret_files, 0, sizeof(*ret_files));
	while (*list) {
		const char *name = list, *end = list;
		char item[512];
		int depth = 0;

		for (; *end && (*end != ',' || depth); end++) {
			depth += (*end == '[') - (*end == ']');
			if (*end == '/' && !depth)
				name = end + 1;
		}
		snprintf(item, sizeof(item), "%.*s", (int)(end - name), name);
		if (add_names(ret_files, list, (size_t)(name - list), item)) {
			int why = errno;

			tide_names_release(ret_files);
			errno = why;
			return -1;
		}
		list = end + (*end == ',');
	}
	return 0;
}

int tide_site_seen_add(struct tide_site_seen *seen,
		       const struct tide_site_file *file)
{
	struct tide_site_file *more =
		realloc(seen->file, (seen->count + 1) * sizeof(*more));

	if (!more)
		return -1;
	seen->file = more;
	more += seen->count;
	*more = *file;
	more->order = seen->count;
	more->path = strdup(file->path);
	if (!more->path)
		return -1;
	seen->count++;
	return 0;
}

static int in_order(const void *a, const void *b)
{
	const struct tide_site_file *x = a, *y = b;
	int cmp = tide_file_cmp(&x->st, &y->st);

	return cmp ? cmp : x->order < y->order ? -1 : 1;
}

static const char *gres_of(const struct tide_site_file *file)
{
	return tide_slurm_own_value(file->record, "Name");
}

/* Slurm's own GRES that share devices of another. */
static bool is_share(const struct tide_site_file *file)
{
	return !strcasecmp(gres_of(file), "mps") ||
	       !strcasecmp(gres_of(file), "shard");
}

/* Would jobs that have them get the same device? */
static bool is_twice(const struct tide_site_file *a,
		     const struct tide_site_file *b)
{
	return !tide_file_cmp(&a->st, &b->st) && (a->own || b->own) &&
	       (a->record != b->record || a->device != b->device) &&
	       !is_share(a) && !is_share(b);
}

static bool is_compared(const struct tide_accels *found,
			const struct tide_site_file *a,
			const struct tide_site_file *b)
{
	if (!found || a->record == b->record || strcmp(a->path, b->path) ||
	    strcasecmp(gres_of(a), gres_of(b)))
		return false;
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->accel[i].file[0], a->path) &&
		    !strcasecmp(found->accel[i].family->gres, gres_of(a)))
			return true;
	return false;
}

static void say(struct tide_site *site, const struct tide_site_file *first,
		const struct tide_site_file *file)
{
	static const char fix[] = "take it out of one of the lines";

	if (!strcmp(first->path, file->path))
		tide_site_say(
			site, TIDE_LEVEL_ERROR, file->record, fix,
			"File=%s is on line %d as well: two jobs would get the same device",
			file->path, first->record->line);
	else
		tide_site_say(
			site, TIDE_LEVEL_ERROR, file->record, fix,
			"File=%s is the same device as %s of line %d: two jobs would get it",
			file->path, first->path, first->record->line);
}

void tide_site_seen_say(struct tide_site *site, struct tide_site_seen *seen,
			const struct tide_accels *found)
{
	struct tide_site_file *file = seen->file;

	if (seen->count)
		qsort(file, seen->count, sizeof(*file), in_order);
	for (size_t i = 1; i < seen->count; i++) {
		size_t first = i;

		while (first &&
		       !tide_file_cmp(&file[first - 1].st, &file[i].st))
			first--;
		while (first < i && !is_twice(&file[first], &file[i]))
			first++;
		if (first < i && !is_compared(found, &file[first], &file[i]))
			say(site, &file[first], &file[i]);
	}
}

void tide_site_seen_release(struct tide_site_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		free(seen->file[i].path);
	free(seen->file);
	memset(seen, 0, sizeof(*seen));
}
