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

/* One item of Gres=, such as gpu:a100:4(S:0): name, and type or "". */
struct gres {
	const char *name, *type;
	size_t name_len, type_len;
};

static struct gres parse_gres(const char *item)
{
	struct gres gres = {.name = item, .type = ""};
	const char *rest;
	size_t digits;

	gres.name_len = strcspn(item, ":,(");
	rest = item + gres.name_len;
	if (*rest != ':')
		return gres;
	rest++;
	digits = strspn(rest, "0123456789");
	/* a number alone is the count, and no type */
	if (digits && rest[strcspn(rest, ":,(")] != ':' &&
	    (!rest[digits] || strchr(",(KMGkmg", rest[digits])))
		return gres;
	gres.type = rest;
	gres.type_len = strcspn(rest, ":,(");
	return gres;
}

/* The last number of an item: 2048 of mlu:mlu290:2K(S:0); 1 when it has none.
 */
static int64_t count_of(const char *item)
{
	size_t len = strcspn(item, ",(");
	const char *digits = item + len, *suffix;
	int64_t value;
	char text[24];

	if (len && strchr("KMGkmg", digits[-1]))
		digits--;
	suffix = digits;
	while (digits > item && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (digits == suffix || digits == item || digits[-1] != ':')
		return 1;
	snprintf(text, sizeof(text), "%.*s", (int)(suffix - digits), digits);
	if (tide_parse_int(text, 0, INT64_MAX >> 30, &value, NULL))
		return 1;
	if (suffix == item + len)
		return value;
	return value << (strchr("Kk", *suffix)	 ? 10
			 : strchr("Mm", *suffix) ? 20
						 : 30);
}

int64_t tide_site_gres_count(const char *list, const char *item)
{
	struct gres wanted = parse_gres(item);
	int64_t count = 0;

	while (list && *list) {
		struct gres gres = parse_gres(list);

		if (gres.name_len == wanted.name_len &&
		    !strncasecmp(gres.name, wanted.name, gres.name_len) &&
		    (!wanted.type_len ||
		     (gres.type_len == wanted.type_len &&
		      !strncasecmp(gres.type, wanted.type, gres.type_len))))
			count += count_of(list);
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return count;
}

static int is_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !strncasecmp(name, text, len);
}

/* What else is in Gres (licences, disks) may have no price by intent. */
static int is_accelerator(const struct gres *gres)
{
	static const char *const names[] = {"gpu", "mlu", "npu", "dcu",
					    "accel"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_name(names[i], gres->name, gres->name_len))
			return 1;
	return 0;
}

static void say_no_price(struct tide_site *site,
			 const struct tide_slurm_record *record,
			 const struct gres *gres)
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
		       const struct gres *gres)
{
	int priced = 0, type_priced = 0;

	for (int i = 0; i < site->conf->n_devices; i++) {
		const struct tide_device *device = &site->conf->device[i];
		int is_type = is_name(device->type, gres->type, gres->type_len);

		if (!is_name(device->gres, gres->name, gres->name_len))
			continue;
		priced = 1;
		type_priced |= is_type;
		/* without a type it may be any of them */
		site->used[i] |= !gres->type_len || is_type;
	}
	if (gres->type_len && (priced ? !type_priced : is_accelerator(gres)))
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
		const char *item =
			tide_slurm_value(site->slurm, record, "Gres");

		while (item && *item) {
			struct gres gres = parse_gres(item);

			check_item(site, record, &gres);
			item += strcspn(item, ",");
			item += *item == ',';
		}
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

/* GresTypes and AccountingStorageTRES have every device that is in use. */
static void check_lists(struct tide_site *site)
{
	size_t n = (size_t)site->conf->n_devices, n_gres = 0, n_names = 0;
	const char **gres = calloc(n, sizeof(*gres));
	char(*tres)[80] = calloc(n, sizeof(*tres));
	const char **names = calloc(n, sizeof(*names));

	if (!gres || !tres || !names) {
		site->findings->lost = 1;
		goto end;
	}
	for (size_t i = 0; i < n; i++) {
		const struct tide_device *device = &site->conf->device[i];
		int seen = 0;

		if (!site->used[i])
			continue;
		for (size_t j = 0; j < n_gres; j++)
			seen |= !strcmp(gres[j], device->gres);
		if (!seen)
			gres[n_gres++] = device->gres;
		snprintf(tres[i], sizeof(tres[i]), "gres/%s", device->name);
		names[n_names++] = tres[i];
	}
	tide_site_words(site, TIDE_LEVEL_ERROR, "GresTypes", gres, n_gres,
			"Slurm does not know these devices");
	tide_site_words(
		site, TIDE_LEVEL_ERROR, "AccountingStorageTRES", names, n_names,
		"their use is not recorded by type, so it is not charged");
end:
	free(gres);
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
	check_lists(site);
	return 0;
}
