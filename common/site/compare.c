/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.conf by hand against what was found: see compare.h.  Whether files are
 * there is said in gresconf.c, and which lines Slurm does not take side by side
 * in greslines.c.
 */
#include "config.h"

#include "common/site/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/site/files.h"
#include "common/site/rules.h"
#include "common/util/parse.h"

enum {
	MAX_CORES = 65536,
};

/* A line, and its device files written out. */
struct hand {
	const struct tide_slurm_record *record;
	const char *name, *type, *cores;
	struct tide_names files;
	/* said of one of its devices, and so of the line */
	bool wrong_type, wrong_cores, few_files;
};

struct compare {
	struct tide_site site; /* for tide_site_say() */
	const struct tide_accels *found;
	const char *gres; /* this alone; NULL: all */
	struct hand hand;
	char *named; /* a byte an accelerator */
	char *told;  /* the same: a line was compared with it already */
	char *lines; /* the same: its GRES has lines with files */
	char *bare;  /* the same: and one without */
	/* of each: the line that has its own file */
	const struct tide_slurm_record **line;
	bool none; /* nothing of this GRES was found, and that was said */
	int lost;
};

static const char *text_or(const char *text, const char *other)
{
	return text ? text : other;
}

/* The device files of an accelerator, as in gres.conf. */
static char *files_of(const struct tide_accel *accel)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(accel->n_files > 1 ? "MultipleFiles=" : "File=", out);
	for (size_t i = 0; i < accel->n_files; i++)
		fprintf(out, "%s%s", i ? "," : "", accel->file[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool has_file(const struct tide_accel *accel, const char *path)
{
	for (size_t i = 0; i < accel->n_files; i++)
		if (!strcmp(accel->file[i], path))
			return true;
	return false;
}

static bool is_named(const struct hand *hand, const char *path)
{
	for (size_t i = 0; i < hand->files.count; i++)
		if (!strcmp(hand->files.name[i], path))
			return true;
	return false;
}

static bool same_gres(const struct tide_accel *accel, const char *name)
{
	return !strcasecmp(accel->family->gres, name);
}

/* The cores of a list such as 0-3,8 as bytes; false when it is none. */
static bool read_cores(const char *text, char *set)
{
	char *end;

	memset(set, 0, MAX_CORES);
	while (*text) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || last >= MAX_CORES || last < first)
			return false;
		memset(set + first, 1, last - first + 1);
		text = end + (*end == ',');
	}
	return true;
}

enum cores {
	SAME,
	FEWER,
	FAR, /* some are not near */
};

/* How cores by hand are.  What cannot be read is Slurm's to judge. */
static enum cores cores_by_hand(const char *hand, const char *near, int *lost)
{
	char *x = malloc(MAX_CORES), *y = malloc(MAX_CORES);
	enum cores cores = SAME;

	if (!x || !y)
		*lost = 1;
	else if (read_cores(hand, x) && read_cores(near, y))
		for (int i = 0; i < MAX_CORES && cores != FAR; i++)
			if (x[i] != y[i])
				cores = x[i] ? FAR : FEWER;
	free(x);
	free(y);
	return cores;
}

static void check_type(struct compare *c, const struct tide_accel *accel)
{
	const char *type = c->hand.type;
	char fix[256];

	if (!type || c->hand.wrong_type)
		return;
	if (tide_parse_is_count(type, strlen(type))) {
		c->hand.wrong_type = true;
		snprintf(fix, sizeof(fix),
			 "Type=%s here, and in Gres of slurm.conf",
			 accel->type);
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record, fix,
			"gres.conf says Type=%s: Slurm takes --gres=%s:%s for a count",
			type, accel->family->gres, type);
		return;
	}
	if (tide_accel_is(accel, type))
		return;
	c->hand.wrong_type = true;
	snprintf(
		fix, sizeof(fix),
		"Type=%s here, and in Gres of slurm.conf, or File= of devices of that type",
		accel->type);
	tide_site_say(&c->site, TIDE_LEVEL_WARNING, c->hand.record, fix,
		      "gres.conf says Type=%s of %s, found is %s at %s", type,
		      accel->file[0], accel->type, accel->pci.name);
}

static void check_cores(struct compare *c, const struct tide_accel *accel)
{
	const char *hand = c->hand.cores, *near = accel->near.cores;
	enum cores cores;
	char fix[256];

	if (!hand || !near || c->hand.wrong_cores)
		return;
	cores = cores_by_hand(hand, near, &c->lost);
	if (cores == SAME)
		return;
	c->hand.wrong_cores = true;
	snprintf(fix, sizeof(fix), "Cores=%s", near);
	if (cores == FAR)
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record, fix,
			"gres.conf says Cores=%s of %s, found near it are %s: jobs get cores that are far from it",
			hand, accel->file[0], near);
	else
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record, fix,
			"gres.conf says Cores=%s of %s, the sockets near it are %s: Slurm takes no less than whole sockets, and from 24.11 on drains the node",
			hand, accel->file[0], near);
}

/* Files of the same device that the line leaves out. */
static void check_files(struct compare *c, const struct tide_accel *accel)
{
	for (size_t i = 0; i < accel->n_files; i++) {
		char *fix;

		if (is_named(&c->hand, accel->file[i]) || c->hand.few_files)
			continue;
		c->hand.few_files = true;
		fix = files_of(accel);
		c->lost |= !fix;
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record, fix,
			"gres.conf leaves out %s, which belongs to the device of %s: other jobs can open it",
			accel->file[i], accel->file[0]);
		free(fix);
		return;
	}
}

/* A control file, such as /dev/davinci_manager? */
static bool is_shared(const struct compare *c, const char *path)
{
	for (size_t i = 0; i < c->found->count; i++) {
		const char *cursor = c->found->accel[i].family->shared, *item;
		size_t len;

		while (tide_list_next(&cursor, &item, &len))
			if (strlen(path) == len && !strncmp(item, path, len))
				return true;
	}
	return false;
}

static void say_unknown(struct compare *c, const char *path)
{
	if (is_shared(c, path))
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record,
			"take it out of the line: it needs none",
			"gres.conf names %s, which all devices share: jobs that have none of this line cannot open it",
			path);
	else
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record,
			"take it out, or see tidectl devices for what is there",
			"gres.conf names %s, but no device was found that has it",
			path);
}

/*
 * The device's own file a second time: jobs of both would get it.  Of a line
 * alone Slurm takes care.
 */
static void check_twice(struct compare *c, size_t i)
{
	const struct tide_accel *accel = &c->found->accel[i];
	const struct tide_slurm_record *other = c->line[i];

	c->line[i] = c->hand.record;
	if (other && other != c->hand.record)
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record,
			"take it out of one of the lines",
			"gres.conf names %s here and on line %d: two jobs would get the same device",
			accel->file[0], other->line);
}

/* A file of the line: the devices that have it are named. */
static void check_file(struct compare *c, const char *path)
{
	const struct tide_accels *found = c->found;
	bool known = false;

	for (size_t i = 0; i < found->count; i++) {
		const struct tide_accel *accel = &found->accel[i];

		if (!same_gres(accel, c->hand.name) || !has_file(accel, path))
			continue;
		known = true;
		/* a file that parts share is not a part's alone */
		if (accel->whole && accel->n_files > 1 &&
		    !is_named(&c->hand, accel->file[0]))
			continue;
		if (!strcmp(path, accel->file[0]))
			check_twice(c, i);
		if (c->told[i])
			continue;
		c->told[i] = c->named[i] = 1;
		check_type(c, accel);
		check_cores(c, accel);
		check_files(c, accel);
	}
	if (!known)
		say_unknown(c, path);
}

static bool is_found(const struct compare *c)
{
	for (size_t i = 0; i < c->found->count; i++)
		if (same_gres(&c->found->accel[i], c->hand.name))
			return true;
	return false;
}

/* Not for each file: who does not know the cards knows none of them. */
static void say_none(struct compare *c)
{
	if (!c->none)
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, c->hand.record,
			"load the driver, or name the cards in devices.conf",
			"gres.conf has lines for %s, but no such device was found: they are not compared",
			c->hand.name);
	c->none = true;
}

static void check_line(struct compare *c,
		       const struct tide_slurm_record *record)
{
	const char *list = tide_slurm_own_value(record, "File");
	const char *multiple = tide_slurm_own_value(record, "MultipleFiles");

	c->hand = (struct hand){
		.record = record,
		.name = tide_slurm_own_value(record, "Name"),
		.type = tide_slurm_own_value(record, "Type"),
		.cores = tide_slurm_own_value(record, "Cores"),
	};
	list = text_or(list, multiple);
	if (!c->hand.name || (c->gres && strcasecmp(c->gres, c->hand.name)))
		return;
	if (!is_found(c)) {
		if (list && c->gres)
			say_none(c);
		return;
	}
	for (size_t i = 0; i < c->found->count; i++)
		if (same_gres(&c->found->accel[i], c->hand.name))
			*(list ? &c->lines[i] : &c->bare[i]) = 1;
	memset(c->told, 0, c->found->count);
	if (list && tide_site_files(list, &c->hand.files))
		c->lost |= errno == ENOMEM;
	for (size_t i = 0; i < c->hand.files.count; i++)
		check_file(c, c->hand.files.name[i]);
	tide_names_release(&c->hand.files);
}

/* Devices that no line names, where lines name others. */
static void check_rest(struct compare *c)
{
	for (size_t i = 0; i < c->found->count; i++) {
		const struct tide_accel *accel = &c->found->accel[i];
		char *files, *fix = NULL;

		if (c->named[i] || accel->missing || !c->lines[i] || c->bare[i])
			continue;
		files = files_of(accel);
		if (!files ||
		    asprintf(
			    &fix,
			    "Name=%s Type=%s %s, and one more in Gres of slurm.conf",
			    accel->family->gres, accel->type, files) < 0) {
			fix = NULL;
			c->lost = 1;
		}
		tide_site_say(
			&c->site, TIDE_LEVEL_WARNING, NULL, fix,
			"%s, %s at %s, is in no line of gres.conf: no job gets it, and every job can open it",
			accel->file[0], accel->type, accel->pci.name);
		free(files);
		free(fix);
	}
}

static int compare(struct compare *c, const struct tide_slurm *conf,
		   const char *node)
{
	size_t count = c->found->count + 1;

	c->named = calloc(count, 1);
	c->told = calloc(count, 1);
	c->lines = calloc(count, 1);
	c->bare = calloc(count, 1);
	c->line = calloc(count, sizeof(*c->line));
	if (!c->named || !c->told || !c->lines || !c->bare || !c->line)
		return -1;
	for (size_t i = 0; conf && i < conf->n_records; i++)
		if (tide_site_is_for(&conf->record[i], node))
			check_line(c, &conf->record[i]);
	check_rest(c);
	/* slurmd asks for one GRES, when Slurm has taken and completed them */
	if (conf && !c->gres)
		tide_site_gres_lines(&c->site, conf, node);
	return c->lost || c->site.findings->lost ? -1 : 0;
}

int tide_compare(const char *path, const char *node, const char *gres,
		 const struct tide_accels *found,
		 struct tide_findings *findings, char **ret_named,
		 struct tide_err *err)
{
	struct compare c = {
		.site = {.path = path, .findings = findings},
		.found = found,
		.gres = gres,
	};
	struct tide_problems problems = {0};
	struct tide_slurm *conf = NULL;
	struct tide_err why;
	int rc;

	rc = tide_slurm_load(path, &conf, &problems, &why);
	tide_problems_release(&problems);
	if (rc && errno != ENOENT)
		return tide_err_set(err, errno, "%s: %s", path, why.text);
	rc = compare(&c, conf, node);
	if (rc)
		tide_err_set(err, ENOMEM, "out of memory");
	if (!rc && ret_named) {
		*ret_named = c.named;
		c.named = NULL;
	}
	free(c.named);
	free(c.told);
	free(c.lines);
	free(c.bare);
	free(c.line);
	tide_slurm_destroy(conf);
	return rc;
}

bool tide_compare_by_hand(const char *path, const char *node, const char *gres)
{
	struct tide_problems problems = {0};
	struct tide_slurm *conf = NULL;
	bool found = false;

	if (!tide_slurm_load(path, &conf, &problems, NULL))
		for (size_t i = 0; !found && i < conf->n_records; i++) {
			const struct tide_slurm_record *record =
				&conf->record[i];
			const char *name = tide_slurm_own_value(record, "Name");

			found = name && !strcasecmp(name, gres) &&
				tide_site_is_for(record, node) &&
				(tide_slurm_own_value(record, "File") ||
				 tide_slurm_own_value(record, "MultipleFiles"));
		}
	tide_problems_release(&problems);
	tide_slurm_destroy(conf);
	return found;
}
