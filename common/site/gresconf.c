/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.conf of a node: the device files of what slurm.conf gives it in Gres are
 * there.  slurmd finds what AutoDetect finds; that is not seen here.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/site/rules.h"

#define MAX_FILES 100000

struct gres_files {
	struct tide_site *site;
	const char *dev;  /* in front of each name */
	const char *gres; /* what the node is to have */
	int64_t *count;	  /* files of each item of it, there or not */
	int autodetect;
};

static void check_file(struct gres_files *files,
		       const struct tide_slurm_record *record,
		       const char *folder, int len, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s%.*s%s", files->dev, len, folder, name) < 0) {
		files->site->findings->lost = 1;
		return;
	}
	if (access(path, F_OK))
		tide_site_say(
			files->site, TIDE_LEVEL_ERROR, record,
			"load the driver, take it out of the line, or the File= out of all lines of that Name",
			"File=%.*s%s: %s; slurmd does not start, or has no such device",
			len, folder, name, strerror(errno));
	free(path);
}

/* "/dev/mlu[0-3]": how many; those that are missing are said. */
static int64_t check_files(struct gres_files *files,
			   const struct tide_slurm_record *record,
			   const char *list)
{
	const char *name = strrchr(list, '/');
	struct tide_names names = {0};
	int64_t count;

	name = name ? name + 1 : list;
	/* Several folders in one line are for Slurm to read. */
	if (memchr(list, ',', (size_t)(name - list)) ||
	    tide_hostlist_expand(name, MAX_FILES, &names, NULL))
		return 0;
	for (size_t i = 0; i < names.count; i++)
		check_file(files, record, list, (int)(name - list),
			   names.name[i]);
	count = (int64_t)names.count;
	tide_names_release(&names);
	return count;
}

static void check_line(struct gres_files *files,
		       const struct tide_slurm_record *record)
{
	const char *name = tide_slurm_own_value(record, "Name");
	const char *type = tide_slurm_own_value(record, "Type");
	const char *list = tide_slurm_own_value(record, "File");
	const char *item = files->gres;
	char own[200];
	int multiple = 1;
	int64_t n;

	if (tide_slurm_own_value(record, "AutoDetect"))
		files->autodetect = 1;
	if (!list && tide_slurm_own_value(record, "MultipleFiles"))
		list = tide_slurm_own_value(record, "MultipleFiles");
	else
		multiple = 0;
	if (!name || !list)
		return;
	snprintf(own, sizeof(own), "%s%s%s", name, type ? ":" : "",
		 type ? type : "");
	n = check_files(files, record, list);
	if (multiple)
		n = 1;
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
		  const char *node)
{
	size_t bad = files->site->findings->count;

	for (size_t i = 0; i < conf->n_records; i++)
		if (tide_site_is_for(&conf->record[i], node))
			check_line(files, &conf->record[i]);
	if (!files->autodetect)
		check_counts(files);
	if (files->site->findings->count == bad)
		tide_site_say(
			files->site, TIDE_LEVEL_OK, NULL, NULL,
			"the device files that gres.conf names are there");
}

void tide_site_device_files(struct tide_site *site, const char *dir,
			    const char *dev, const char *node, const char *gres)
{
	struct tide_problems problems = {0};
	struct tide_slurm *conf = NULL;
	struct tide_site own = *site;
	struct gres_files files = {.site = &own, .dev = dev, .gres = gres};
	char *path = NULL;

	files.count = calloc(strlen(gres) + 1, sizeof(*files.count));
	if (!files.count || asprintf(&path, "%s/gres.conf", dir) < 0) {
		path = NULL;
		site->findings->lost = 1;
	} else if (!tide_slurm_load(path, &conf, &problems, NULL)) {
		own.path = path;
		check(&files, conf, node);
	}
	tide_problems_release(&problems);
	tide_slurm_destroy(conf);
	free(files.count);
	free(path);
}
