/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of devices: see parts.h.  Sets none up, and asks no library: a part
 * whose profile nobody tells has a type of its own all the same, until one is
 * told.
 */
#include "config.h"

#include "common/device/parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/device.h"
#include "common/util/parse.h"

enum {
	MAX_PARTS = 1024, /* of a family: Slurm's own limit */
};

/* What was found of a part: its device's number, its own, its profile. */
struct seen {
	int n, m;
	char name[64]; /* "" when nobody tells */
};

struct seeing {
	const struct tide_root *root;
	const struct tide_family *family;
	struct tide_problems *problems;
	struct seen *seen;
	size_t count;
};

static void see(struct seeing *seeing, int n, int m, const char *name)
{
	struct seen *seen;

	for (size_t i = 0; i < seeing->count; i++) {
		seen = &seeing->seen[i];
		if (seen->n == n && seen->m == m)
			return;
	}
	if (seeing->count == MAX_PARTS)
		return;
	seen = &seeing->seen[seeing->count++];
	*seen = (struct seen){.n = n, .m = m};
	snprintf(seen->name, sizeof(seen->name), "%s", name);
}

static const char letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

/* The run of digits or of letters at *line into what the mark means. */
static bool read_mark(char mark, const char **line, struct seen *seen)
{
	size_t len = strspn(*line, letters);
	char *end;
	long value;

	if (mark == 't') {
		if (!len || len >= sizeof(seen->name))
			return false;
		snprintf(seen->name, sizeof(seen->name), "%.*s", (int)len,
			 *line);
		*line += len;
		return true;
	}
	if (!isdigit((unsigned char)**line))
		return false;
	value = strtol(*line, &end, 10);
	if (value > TIDE_DEVICE_MAX)
		return false;
	*(mark == 'm' ? &seen->m : &seen->n) = (int)value;
	*line = end;
	return true;
}

/* Does the line begin as the pattern says? */
static bool read_line(const char *pattern, const char *line, struct seen *seen)
{
	while (*pattern) {
		if (*pattern != '%') {
			if (*pattern++ != *line++)
				return false;
		} else if (pattern[1] == '*') {
			size_t len = strcspn(pattern += 2, "%");
			const char *end = strchr(line, '\0');

			while (line < end && strncmp(line, pattern, len))
				line++;
		} else {
			if (!pattern[1] || !read_mark(pattern[1], &line, seen))
				return false;
			pattern += 2;
		}
	}
	return true;
}

/* The family's list of parts, which may not be there. */
static void read_list(struct seeing *seeing)
{
	const struct tide_family *family = seeing->family;
	char *text = NULL, *line, *rest;
	struct tide_err err;

	if (!family->part_list || !family->part_line)
		return;
	if (tide_root_read(seeing->root, family->part_list + 1, &text, &err)) {
		if (errno != ENOENT)
			tide_problems_add(seeing->problems, seeing->root->name,
					  0, "%s", err.text);
		return;
	}
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct seen seen = {.n = -1, .m = -1};

		if (read_line(family->part_line, line, &seen) && seen.n >= 0 &&
		    seen.m >= 0)
			see(seeing, seen.n, seen.m, seen.name);
	}
	free(text);
}

/* The device of a part whose file does not name it. */
static int device_of(const struct tide_family *family, int m)
{
	if (!family->part_step || m < family->part_first)
		return -1;
	return (m - family->part_first) / family->part_step;
}

/* The device files of parts. */
static void read_folder(struct seeing *seeing)
{
	const char *pattern = seeing->family->part_file;
	size_t len = strcspn(pattern, ","), dir = len, n_names = 0;
	char folder[256], path[512], **names = NULL;
	struct tide_err err;

	while (pattern[dir - 1] != '/')
		dir--;
	snprintf(folder, sizeof(folder), "%.*s", (int)dir - 2, pattern + 1);
	if (tide_root_list(seeing->root, folder, &names, &n_names, &err)) {
		tide_problems_add(seeing->problems, seeing->root->name, 0, "%s",
				  err.text);
		return;
	}
	for (size_t i = 0; i < n_names; i++) {
		int n = -1, m = -1;

		snprintf(path, sizeof(path), "/%s/%s", folder, names[i]);
		free(names[i]);
		if (!tide_pattern_scan(pattern, len, path, &n, &m))
			continue;
		for (size_t j = 0; n < 0 && j < seeing->count; j++)
			if (seeing->seen[j].m == m)
				n = seeing->seen[j].n;
		if (n < 0)
			n = device_of(seeing->family, m);
		if (n >= 0)
			see(seeing, n, m, "");
	}
	free(names);
}

static int seen_cmp(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->n != y->n ? x->n - y->n : x->m - y->m;
}

static char *copy(const char *text, int *lost)
{
	char *new = text ? strdup(text) : NULL;

	*lost |= text && !new;
	return new;
}

/* A part of the device; its files are given later. */
static int make_part(const struct tide_accel *whole,
		     const struct tide_table *table, const struct seen *seen,
		     struct tide_accel *part)
{
	const struct tide_part *known =
		tide_table_part(table, whole->family, whole->type,
				whole->model->type,
				*seen->name ? seen->name : NULL);
	char type[160];
	int lost = 0;

	if (known)
		snprintf(type, sizeof(type), "%s", known->type);
	else if (*seen->name &&
		 !tide_parse_is_count(seen->name, strlen(seen->name)))
		snprintf(type, sizeof(type), "%s", seen->name);
	else
		snprintf(type, sizeof(type), "%.100s-part", whole->type);
	*part = *whole;
	part->part = seen->m;
	part->carved = true;
	part->untold = !*seen->name;
	part->share = known ? known->share : (struct tide_frac){0, 1};
	part->type = copy(type, &lost);
	part->whole = copy(whole->type, &lost);
	part->board = copy(whole->board, &lost);
	part->path = copy(whole->path, &lost);
	part->near.cores = copy(whole->near.cores, &lost);
	part->near.local = copy(whole->near.local, &lost);
	part->near.cpus = copy(whole->near.cpus, &lost);
	part->near.local_cpus = copy(whole->near.local_cpus, &lost);
	return lost ? -1 : 0;
}

int tide_part_told(const struct tide_table *table, struct tide_accel *part,
		   const char *profile)
{
	const struct tide_part *known = tide_table_part(
		table, part->family, part->whole, part->model->type, profile);
	char *type = NULL;

	if (!*profile || profile[strspn(profile, letters)]) {
		errno = EINVAL;
		return -1;
	}
	if (known)
		type = strdup(known->type);
	else if (asprintf(&type, "%s-%s", part->whole, profile) < 0)
		type = NULL;
	if (!type) {
		errno = ENOMEM;
		return -1;
	}
	free(part->type);
	part->type = type;
	part->share = known ? known->share : (struct tide_frac){0, 1};
	part->untold = false;
	return 0;
}

/* The devices of the family from index on, with parts for those that are cut.
 */
static int split(struct tide_accels *accels, size_t at,
		 const struct tide_table *table, const struct seeing *seeing)
{
	const struct tide_accel whole = accels->accel[at];
	struct tide_accel *more;
	size_t first = 0, parts = 0;

	for (size_t i = 0; i < seeing->count; i++)
		if (seeing->seen[i].n == whole.number && !parts++)
			first = i;
	if (!parts)
		return 0;
	more = realloc(accels->accel, (accels->count + parts) * sizeof(*more));
	if (!more)
		return -1;
	accels->accel = more;
	memmove(&more[at + parts], &more[at + 1],
		(accels->count - at - 1) * sizeof(*more));
	accels->count += parts - 1;
	/* what is not made yet must be as good as empty */
	memset(&more[at], 0, parts * sizeof(*more));
	for (size_t i = 0; i < parts; i++)
		if (make_part(&whole, table, &seeing->seen[first + i],
			      &more[at + i])) {
			tide_accel_release((struct tide_accel *)&whole);
			return -1;
		}
	tide_accel_release((struct tide_accel *)&whole);
	return 0;
}

static int split_family(const struct tide_root *root,
			const struct tide_table *table,
			const struct tide_family *family,
			struct tide_accels *accels,
			struct tide_problems *problems)
{
	struct seeing seeing = {root, family, problems, NULL, 0};
	int rc = 0;

	seeing.seen = calloc(MAX_PARTS, sizeof(*seeing.seen));
	if (!seeing.seen)
		return -1;
	read_list(&seeing);
	read_folder(&seeing);
	qsort(seeing.seen, seeing.count, sizeof(*seeing.seen), seen_cmp);
	/* from the end, as the list grows */
	for (size_t i = accels->count; !rc && seeing.count && i-- > 0;)
		if (accels->accel[i].family == family)
			rc = split(accels, i, table, &seeing);
	free(seeing.seen);
	return rc;
}

int tide_parts_split(const struct tide_root *root,
		     const struct tide_table *table, struct tide_accels *accels,
		     struct tide_problems *problems)
{
	const struct tide_family *done = NULL;

	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_family *family = accels->accel[i].family;

		if (family == done || !family->part_file)
			continue;
		if (split_family(root, table, family, accels, problems))
			return -1;
		done = family;
	}
	return 0;
}
