/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tidectl devices: what was found, as a table or JSON.  Looks at nothing. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"

/* Columns of the table, each with its header. */
enum {
	GRES,
	TYPE,
	PCI,
	NUMA,
	CORES,
	MEMORY,
	POWER,
	BUSY,
	HEALTH,
	FILES,
	COLUMNS,
};

static const char *const headers[COLUMNS] = {"GRES",  "TYPE",  "PCI",
					     "NUMA",  "CORES", "MEMORY",
					     "POWER", "BUSY",  "HEALTH",
					     "FILES"};

static const char *const healths[] = {"-", "ok", "warning", "fault"};

static json_t *json_texts(char *const *text, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, tidectl_json_text(text[i])))
			return NULL;
	return list;
}

static json_t *json_links(const struct tide_accel *accel, size_t count)
{
	json_t *list = accel->link ? json_array() : json_null();

	for (size_t i = 0; accel->link && i < count; i++)
		if (json_array_append_new(list, json_integer(accel->link[i])))
			return NULL;
	return list;
}

static json_t *json_hex(unsigned value)
{
	char text[8];

	snprintf(text, sizeof(text), "%04x", value);
	return json_string(text);
}

/* Of the whole device, exactly: "1/2"; null when nobody tells. */
static json_t *json_share(const struct tide_accel *accel)
{
	char text[48];

	if (!accel->share.num)
		return json_null();
	snprintf(text, sizeof(text), "%lld/%lld", (long long)accel->share.num,
		 (long long)accel->share.den);
	return json_string(accel->share.den == 1 ? "1" : text);
}

static json_t *json_vendor_links(const struct tide_accels *accels, size_t index,
				 size_t same,
				 const struct tide_vendor_answers *answers)
{
	int *link = tide_vendor_links(answers, accels, index);
	json_t *list = link ? json_array() : json_null();

	for (size_t i = 0; link && i < same; i++)
		json_array_append_new(list, json_integer(link[i]));
	free(link);
	return list;
}

/* What the vendor's library tells, into the object of the device. */
static int json_add_vendor(json_t *object, const struct tide_accels *accels,
			   size_t index, size_t same,
			   const struct tide_vendor_answers *answers)
{
	static const char *const keys[] = {"uuid",	  "memory",
					   "memory_used", "power",
					   "utilization", "temperature",
					   "health",	  "fault"};
	const struct tide_accel *accel = &accels->accel[index];
	const struct tide_vendor_device *device =
		tide_vendor_device_of(answers, accel);
	bool own = tide_vendor_own_device(answers, accel);
	const struct tide_vendor_part *part =
		tide_vendor_part_of(answers, accel);
	json_t *told = device ? tidectl_json_vendor(device) : NULL;
	int rc = device && !told ? -1 : 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		bool health =
			!strcmp(keys[i], "health") || !strcmp(keys[i], "fault");
		json_t *value =
			own || health ? json_object_get(told, keys[i]) : NULL;

		if (!value && !strcmp(keys[i], "health"))
			rc |= json_object_set_new(object, keys[i],
						  json_string("unknown"));
		else
			rc |= json_object_set_new(object, keys[i],
						  value ? json_incref(value)
							: json_null());
	}
	if (part && *part->uuid)
		rc |= json_object_set_new(object, "uuid",
					  json_string(part->uuid));
	rc |= json_object_set_new(object, "link_ports",
				  json_vendor_links(accels, index, same,
						    answers));
	json_decref(told);
	return rc;
}

static json_t *json_accel(const struct tide_accels *accels, size_t index,
			  size_t same,
			  const struct tide_vendor_answers *answers)
{
	const struct tide_accel *accel = &accels->accel[index];
	const struct tide_near *near = &accel->near;
	json_t *object = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:i, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"gres", accel->family->gres, "type", accel->type, "family",
		accel->family->name, "pci", accel->pci.name, "files",
		json_texts(accel->file, accel->n_files), "cores",
		tidectl_json_text(near->cores), "local_cores",
		tidectl_json_text(near->local), "cpus",
		tidectl_json_text(near->cpus), "numa", near->numa, "links",
		json_links(accel, same), "number", accel->number, "guessed",
		accel->guessed, "missing", accel->missing, "board",
		tidectl_json_text(accel->board), "vendor_id",
		json_hex(accel->pci.vendor), "device_id",
		json_hex(accel->pci.device), "class",
		json_hex(accel->pci.class), "part",
		accel->whole ? json_integer(accel->part) : json_null(), "whole",
		tidectl_json_text(accel->whole), "share", json_share(accel));

	if (object && json_add_vendor(object, accels, index, same, answers)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

int devices_print_json(const struct tide_accels *accels,
		       const struct tide_vendor_answers *answers)
{
	json_t *list = json_array();
	size_t end = 0, same = 0;

	for (size_t i = 0; i < accels->count; i++) {
		if (i == end) {
			same = tide_accels_same_gres(accels, i);
			end = i + same;
		}
		if (json_array_append_new(list, json_accel(accels, i, same,
							   answers))) {
			json_decref(list);
			return tidectl_print_json(NULL);
		}
	}
	return tidectl_print_json(list);
}

static char *join(const struct tide_accel *accel)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < accel->n_files; i++)
		fprintf(out, "%s%s", i ? "," : "", accel->file[i]);
	if (accel->missing)
		fputs(" (missing)", out);
	fclose(out);
	return text;
}

/* What a library told; room is for it. */
static const char *amount(int64_t value, const char *unit, char *room)
{
	snprintf(room, 24, "%" PRId64 "%s", value, unit);
	return value < 0 ? "-" : room;
}

/* A cell of the table; room is for a number. */
static const char *cell(const struct tide_accel *accel, int column,
			const struct tide_vendor_answers *answers, char *room)
{
	const struct tide_vendor_device *device =
		column == HEALTH ? tide_vendor_device_of(answers, accel)
				 : tide_vendor_own_device(answers, accel);

	switch (column) {
	case GRES:
		return accel->family->gres;
	case TYPE:
		return accel->type;
	case PCI:
		return accel->pci.name;
	case NUMA:
		snprintf(room, 24, "%d", accel->near.numa);
		return accel->near.numa < 0 ? "-" : room;
	case MEMORY:
		return amount(device ? device->memory : -1, "M", room);
	case POWER:
		return amount(device ? device->power : -1, "W", room);
	case BUSY:
		return amount(device ? device->utilization : -1, "%", room);
	case HEALTH:
		return healths[device ? device->health : TIDE_HEALTH_UNKNOWN];
	default:
		return accel->near.cores ? accel->near.cores : "-";
	}
}

/* What libraries tell has columns where one told something. */
static bool has_column(int column, const struct tide_vendor_answers *answers)
{
	if (column < MEMORY || column > HEALTH)
		return true;
	for (size_t i = 0; i < answers->count; i++)
		if (answers->answer[i].count)
			return true;
	return false;
}

int devices_print_none(const struct tide_accels *accels, FILE *out)
{
	for (size_t i = 0; i < accels->strangers; i++) {
		const struct tide_pci *pci = &accels->stranger[i];

		tidectl_fail(
			"%s may be an accelerator, but no Model= of the table has Id=%04x:%04x (class %04x): see devices.conf in docs/devices.md",
			pci->name, pci->vendor, pci->device, pci->class);
	}
	fputs("no accelerator was found\n", out);
	return TIDECTL_DONE;
}

int devices_print_table(const struct tide_accels *accels,
			const struct tide_vendor_answers *answers)
{
	int width[COLUMNS];
	char room[24], *files;

	for (int c = 0; c < FILES; c++) {
		width[c] = (int)strlen(headers[c]);
		for (size_t i = 0; i < accels->count; i++) {
			const struct tide_accel *accel = &accels->accel[i];
			int len = (int)strlen(cell(accel, c, answers, room));

			width[c] = len > width[c] ? len : width[c];
		}
		if (has_column(c, answers))
			printf("%-*s  ", width[c], headers[c]);
	}
	puts(headers[FILES]);
	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_accel *accel = &accels->accel[i];

		for (int c = 0; c < FILES; c++)
			if (has_column(c, answers))
				printf("%-*s  ", width[c],
				       cell(accel, c, answers, room));
		files = join(accel);
		if (!files)
			return tidectl_fail("out of memory");
		puts(files);
		free(files);
	}
	return TIDECTL_DONE;
}
