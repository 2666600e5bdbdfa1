/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priced devices: nodes have them, by type, and Slurm knows and accounts them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/site/rules.h"
#include "common/util/parse.h"

int64_t tide_site_gres_count(const char *list, const char *item)
{
	struct tide_gres wanted, gres;
	int64_t count = 0;

	if (!tide_gres_next(&item, &wanted))
		return 0;
	while (tide_gres_next(&list, &gres))
		if (tide_gres_is(&gres, &wanted) &&
		    __builtin_add_overflow(count, gres.count, &count))
			count = INT64_MAX;
	return count;
}

int tide_site_is_text(const char *text, const char *part, size_t len)
{
	return strlen(text) == len && !strncasecmp(text, part, len);
}

int tide_site_is_accelerator(const struct tide_gres *item)
{
	static const char *const names[] = {"gpu", "mlu", "npu", "dcu",
					    "accel"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (tide_site_is_text(names[i], item->name, item->name_len))
			return 1;
	return 0;
}

static void say_no_price(struct tide_site *site,
			 const struct tide_slurm_record *record,
			 const struct tide_gres *gres)
{
	char fix[200];

	snprintf(fix, sizeof(fix), "Device=%.*s:%.*s Rate=... in tide.conf",
		 (int)gres->name_len, gres->name, (int)gres->type_len,
		 gres->type);
	tide_site_say(
		site, TIDE_LEVEL_WARNING, record, fix,
		"node '%s' has %.*s:%.*s in Gres, which has no price: its use is not charged, and a pool job that asks for nothing else is refused",
		record->pair[0].value, (int)gres->name_len, gres->name,
		(int)gres->type_len, gres->type);
}

/* One item of a node: which prices are in use, and is its type there? */
static void check_item(struct tide_site *site,
		       const struct tide_slurm_record *record,
		       const struct tide_gres *gres)
{
	int priced = 0, type_priced = 0;

	for (int i = 0; i < site->conf->n_devices; i++) {
		const struct tide_device *device = &site->conf->device[i];
		int is_type = tide_site_is_text(device->type, gres->type,
						gres->type_len);

		if (!tide_site_is_text(device->gres, gres->name,
				       gres->name_len))
			continue;
		priced = 1;
		type_priced |= is_type;
		/* without a type it may be any of them */
		site->used[i] |= !gres->type_len || is_type;
	}
	/* what else is in Gres may have no price by intent */
	if (gres->type_len &&
	    (priced ? !type_priced : tide_site_is_accelerator(gres)))
		say_no_price(site, record, gres);
	if (priced && !gres->type_len)
		tide_site_say(
			site, TIDE_LEVEL_WARNING, record,
			"write name:type:count, as in Gres=gpu:a100:4",
			"node '%s' has %.*s in Gres without a type, but prices are by type",
			record->pair[0].value, (int)gres->name_len, gres->name);
}

static void check_nodes(struct tide_site *site)
{
	const struct tide_slurm_record *record = NULL;

	while ((record = tide_slurm_next(site->slurm, "NodeName", record))) {
		const char *list =
			tide_slurm_value(site->slurm, record, "Gres");
		struct tide_gres gres;

		while (tide_gres_next(&list, &gres))
			check_item(site, record, &gres);
	}
}

/* Are others parts of it?  They may be all that there is of it. */
static int is_whole(const struct tide_conf *conf,
		    const struct tide_device *device)
{
	for (int i = 0; i < conf->n_devices; i++)
		if (conf->device[i].of &&
		    !strcmp(conf->device[i].of, device->name))
			return 1;
	return 0;
}

/* The reference is a measure; there need not be one. */
static void check_unused(struct tide_site *site)
{
	for (int i = 0; i < site->conf->n_devices; i++) {
		const struct tide_device *device = &site->conf->device[i];
		char what[128];

		if (site->used[i] || is_whole(site->conf, device) ||
		    (site->conf->reference &&
		     !strcmp(site->conf->reference, device->name)))
			continue;
		snprintf(what, sizeof(what),
			 "Device=%s: no node in slurm.conf has it in Gres",
			 device->name);
		tide_findings_add(site->findings, TIDE_LEVEL_WARNING,
				  device->file, device->line, what,
				  "correct the name, or take the line out");
	}
}

/* AccountingStorageTRES has every device that is in use. */
static void check_tres(struct tide_site *site)
{
	size_t n = (size_t)site->conf->n_devices, n_names = 0;
	char(*tres)[80] = calloc(n, sizeof(*tres));
	const char **names = calloc(n, sizeof(*names));

	if (!tres || !names) {
		site->findings->lost = 1;
		goto end;
	}
	for (size_t i = 0; i < n; i++) {
		if (!site->used[i])
			continue;
		snprintf(tres[i], sizeof(tres[i]), "gres/%s",
			 site->conf->device[i].name);
		names[n_names++] = tres[i];
	}
	tide_site_words(
		site, TIDE_LEVEL_ERROR, "AccountingStorageTRES", names, n_names,
		"their use is not recorded by type, so it is not charged");
end:
	free(tres);
	free(names);
}

int tide_site_devices(struct tide_site *site)
{
	site->used = calloc((size_t)site->conf->n_devices, 1);
	if (!site->used) {
		site->findings->lost = 1;
		return -1;
	}
	check_nodes(site);
	check_unused(site);
	check_tres(site);
	return 0;
}
