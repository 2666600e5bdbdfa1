/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of gres.conf that Slurm does not take side by side, and ends slurmd
 * for.  Looks at no device.
 */
#include "config.h"

#include <stdio.h>
#include <strings.h>

#include "common/site/rules.h"

static bool has_files(const struct tide_slurm_record *record)
{
	return tide_slurm_own_value(record, "File") ||
	       tide_slurm_own_value(record, "MultipleFiles");
}

static bool has_type(const struct tide_slurm_record *record)
{
	return tide_slurm_own_value(record, "Type");
}

/* The name of the record, if slurmd of the node takes it as it stands. */
static const char *name_of(const struct tide_slurm_record *record,
			   const char *node)
{
	if (!tide_site_is_for(record, node) ||
	    tide_slurm_own_value(record, "AutoDetect"))
		return NULL;
	return tide_slurm_own_value(record, "Name");
}

/* Slurm's own rule, which ends slurmd: all lines of a GRES have it, or none. */
static void check_mixed(struct tide_site *site, const struct tide_slurm *conf,
			const char *node, const char *key,
			bool (*has)(const struct tide_slurm_record *))
{
	for (size_t i = 0; i < conf->n_records; i++) {
		const struct tide_slurm_record *record = &conf->record[i];
		const char *name = name_of(record, node);
		bool differs = false;
		char fix[128];

		for (size_t j = 0; name && !differs && j < i; j++) {
			const char *other = name_of(&conf->record[j], node);

			differs = other && !strcasecmp(other, name) &&
				  has(&conf->record[j]) != has(record);
		}
		if (!differs)
			continue;
		snprintf(fix, sizeof(fix), "%s= in all lines of %.64s, or none",
			 key, name);
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record, fix,
			"gres.conf has lines of %s with %s= and without: slurmd does not start",
			name, key);
		return;
	}
}

/* Slurm's other rule: one line alone may have neither. */
static void check_repeated(struct tide_site *site,
			   const struct tide_slurm *conf, const char *node)
{
	for (size_t i = 0; i < conf->n_records; i++) {
		const struct tide_slurm_record *record = &conf->record[i];
		const struct tide_slurm_record *first = NULL;
		const char *name = name_of(record, node);

		if (!name || has_files(record) || has_type(record))
			continue;
		for (size_t j = 0; !first && j < i; j++) {
			const char *other = name_of(&conf->record[j], node);

			if (other && !strcasecmp(other, name) &&
			    !has_files(&conf->record[j]) &&
			    !has_type(&conf->record[j]))
				first = &conf->record[j];
		}
		if (first)
			tide_site_say(
				site, TIDE_LEVEL_ERROR, record, "one line",
				"gres.conf has Name=%s here and on line %d, and no File= or Type= tells them apart: slurmd does not start",
				name, first->line);
	}
}

void tide_site_gres_lines(struct tide_site *site, const struct tide_slurm *conf,
			  const char *node)
{
	check_mixed(site, conf, node, "File", has_files);
	check_mixed(site, conf, node, "Type", has_type);
	check_repeated(site, conf, node);
}
