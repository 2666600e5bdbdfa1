/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.conf of a node: the device files of what slurm.conf gives it in Gres are
 * there, each for a device of its own.  slurmd finds what AutoDetect finds;
 * that is not seen here.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/site/files.h"
#include "common/site/rules.h"
#include "common/util/err.h"

struct gres_files {
	struct tide_site *site;
	const char *dev;  /* in front of each name */
	const char *gres; /* what the node is to have */
	int64_t *count;	  /* files of each item of it, there or not */
	struct tide_site_seen seen;
	int autodetect;
};

static void check_file(struct gres_files *files, struct tide_site_file *file)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s", files->dev, file->path) < 0) {
		files->site->findings->lost = 1;
		return;
	}
	if (stat(path, &file->st))
		tide_site_say(
			files->site, TIDE_LEVEL_ERROR, file->record,
			"load the driver, take it out of the line, or the File= out of all lines of that Name",
			"File=%s: %s; slurmd does not start, or has no such device",
			file->path, strerror(errno));
	else if (tide_site_seen_add(&files->seen, file))
		files->site->findings->lost = 1;
	free(path);
}

/* "/dev/mlu[0-3]": how many devices; files that are missing are said. */
static int64_t check_files(struct gres_files *files,
			   const struct tide_slurm_record *record,
			   const char *list, bool multiple)
{
	struct tide_names names;
	int64_t count;

	/* the rest is for Slurm to read */
	if (tide_site_files(list, &names)) {
		files->site->findings->lost |= errno == ENOMEM;
		return multiple;
	}
	for (size_t i = 0; i < names.count; i++) {
		struct tide_site_file file = {
			.record = record,
			.device = multiple ? 0 : i,
			.own = !multiple || !i,
			.path = names.name[i],
		};

		check_file(files, &file);
	}
	count = multiple ? 1 : (int64_t)names.count;
	tide_names_release(&names);
	return count;
}

/* slurmd takes types for the same whatever their letters; slurmctld does not.
 */
static void check_letters(struct gres_files *files,
			  const struct tide_slurm_record *record,
			  const char *own)
{
	const char *list = files->gres;
	struct tide_gres line, item;

	if (!tide_gres_next(&own, &line) || !line.type_len)
		return;
	while (tide_gres_next(&list, &item))
		if (tide_gres_is(&item, &line) &&
		    strncmp(item.type, line.type, line.type_len) != 0)
			tide_site_say(
				files->site, TIDE_LEVEL_ERROR, record,
				"the same letters in Gres of slurm.conf and in gres.conf",
				"Type=%.*s here, %.*s in Gres of slurm.conf: slurmctld takes them for two types, and jobs are refused",
				(int)line.type_len, line.type,
				(int)item.type_len, item.type);
}

static void check_line(struct gres_files *files,
		       const struct tide_slurm_record *record)
{
	const char *name = tide_slurm_own_value(record, "Name");
	const char *type = tide_slurm_own_value(record, "Type");
	const char *list = tide_slurm_own_value(record, "File");
	const char *item = files->gres;
	char own[200];
	bool multiple = true;
	int64_t n;

	if (tide_slurm_own_value(record, "AutoDetect"))
		files->autodetect = 1;
	if (!list && tide_slurm_own_value(record, "MultipleFiles"))
		list = tide_slurm_own_value(record, "MultipleFiles");
	else
		multiple = false;
	if (!name)
		return;
	snprintf(own, sizeof(own), "%s%s%s", name, type ? ":" : "",
		 type ? type : "");
	if (type)
		check_letters(files, record, own);
	if (!list)
		return;
	n = check_files(files, record, list, multiple);
	for (size_t i = 0; *item; i++) {
		if (tide_site_gres_count(own, item))
			files->count[i] += n;
		item += strcspn(item, ",");
		item += *item == ',';
	}
}

/* Items of which gres.conf names no file at all may be counts by intent. */
static void check_counts(struct gres_files *files)
{
	const char *item = files->gres;

	for (size_t i = 0; *item; i++) {
		size_t len = strcspn(item, ",");
		char text[200];
		int64_t want;

		snprintf(text, sizeof(text), "%.*s", (int)len, item);
		want = tide_site_gres_count(text, text);
		if (files->count[i] && files->count[i] < want)
			tide_site_say(
				files->site, TIDE_LEVEL_WARNING, NULL,
				"a File in gres.conf for each device, or another Gres",
				"Gres=%s, but gres.conf has %lld device files for it",
				text, (long long)files->count[i]);
		item += len + (item[len] == ',');
	}
}

static void check(struct gres_files *files, const struct tide_slurm *conf,
		  const char *node, const struct tide_accels *found)
{
	size_t bad = files->site->findings->count;

	for (size_t i = 0; i < conf->n_records; i++)
		if (tide_site_is_for(&conf->record[i], node))
			check_line(files, &conf->record[i]);
	tide_site_seen_say(files->site, &files->seen, found);
	if (!files->autodetect)
		check_counts(files);
	if (files->site->findings->count == bad)
		tide_site_say(
			files->site, TIDE_LEVEL_OK, NULL, NULL,
			"the device files that gres.conf names are there");
}

void tide_site_device_files(struct tide_site *site, const char *dir,
			    const char *dev, const char *node, const char *gres,
			    const struct tide_accels *found)
{
	struct tide_problems problems = {0};
	struct tide_slurm *conf = NULL;
	struct tide_site own = *site;
	struct gres_files files = {.site = &own, .dev = dev, .gres = gres};
	struct tide_err why;
	char *path = NULL;

	files.count = calloc(strlen(gres) + 1, sizeof(*files.count));
	if (!files.count || asprintf(&path, "%s/gres.conf", dir) < 0) {
		path = NULL;
		site->findings->lost = 1;
	} else {
		own.path = path;
		if (!tide_slurm_load(path, &conf, &problems, &why))
			check(&files, conf, node, found);
		else if (errno != ENOENT)
			tide_site_say(&own, TIDE_LEVEL_ERROR, NULL,
				      "see gres.conf(5)", "%s", why.text);
	}
	tide_site_seen_release(&files.seen);
	tide_problems_release(&problems);
	tide_slurm_destroy(conf);
	free(files.count);
	free(path);
}
