/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks vendors' libraries by tidectl library, a process each, and reads the
 * answers.  Whatever a library does, it ends in an answer that says so.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/fanout.h"
#include "cmd/tidectl/tidectl.h"

/* tidectl itself, whatever its name and folder are. */
#define SELF "/proc/self/exe"

static const char *const healths[] = {"unknown", "ok", "warning", "fault"};

/* A number, or null for one that is not known. */
static json_t *number(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *text(const char *value)
{
	return tidectl_json_text(*value ? value : NULL);
}

json_t *tidectl_json_vendor(const struct tide_vendor_device *device)
{
	json_t *peers = json_array();

	for (size_t i = 0; i < device->n_peers; i++)
		if (json_array_append_new(peers, text(device->peer[i])))
			return NULL;
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}",
		"pci", text(device->pci), "uuid", text(device->uuid), "number",
		number(device->number), "memory", number(device->memory),
		"memory_used", number(device->memory_used), "power",
		number(device->power), "utilization",
		number(device->utilization), "temperature",
		number(device->temperature), "numa", number(device->numa),
		"cpus", text(device->cpus), "health", healths[device->health],
		"fault", text(device->fault), "peers", peers);
}

static void get_text(const json_t *object, const char *key, char *to,
		     size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	snprintf(to, size, "%s", value ? value : "");
}

static int64_t get_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void read_device(const json_t *object, struct tide_vendor_device *device)
{
	const json_t *peers = json_object_get(object, "peers");
	char health[16];

	memset(device, 0, sizeof(*device));
	get_text(object, "pci", device->pci, sizeof(device->pci));
	get_text(object, "uuid", device->uuid, sizeof(device->uuid));
	get_text(object, "cpus", device->cpus, sizeof(device->cpus));
	get_text(object, "fault", device->fault, sizeof(device->fault));
	device->number = get_number(object, "number");
	device->memory = get_number(object, "memory");
	device->memory_used = get_number(object, "memory_used");
	device->power = get_number(object, "power");
	device->utilization = get_number(object, "utilization");
	device->temperature = get_number(object, "temperature");
	device->numa = get_number(object, "numa");
	get_text(object, "health", health, sizeof(health));
	for (int i = TIDE_HEALTH_FAULT; i > 0; i--)
		if (!strcmp(health, healths[i]))
			device->health = (enum tide_vendor_health)i;
	for (size_t i = 0; i < json_array_size(peers); i++) {
		const char *peer = json_string_value(json_array_get(peers, i));

		if (peer && device->n_peers < TIDE_VENDOR_PEERS)
			snprintf(device->peer[device->n_peers++],
				 sizeof(device->peer[0]), "%s", peer);
	}
}

static void read_part(struct tide_vendor_answer *answer, const json_t *object)
{
	struct tide_vendor_part *part;

	if (answer->n_parts == TIDE_VENDOR_PARTS)
		return;
	part = &answer->part[answer->n_parts++];
	get_text(object, "part", part->file, sizeof(part->file));
	get_text(object, "profile", part->profile, sizeof(part->profile));
	get_text(object, "uuid", part->uuid, sizeof(part->uuid));
}

/* One line of the answer; 1 when it is the last one. */
static int read_line(struct tide_vendor_answer *answer, const json_t *object)
{
	const char *failed;

	if (json_object_get(object, "library")) {
		get_text(object, "library", answer->path, sizeof(answer->path));
		get_text(object, "version", answer->version,
			 sizeof(answer->version));
	} else if (json_object_get(object, "asking")) {
		get_text(object, "asking", answer->at, sizeof(answer->at));
	} else if (json_object_get(object, "health")) {
		if (answer->count < TIDE_VENDOR_DEVICES)
			read_device(object, &answer->device[answer->count++]);
	} else if (json_object_get(object, "part")) {
		read_part(answer, object);
	} else if (json_object_get(object, "failed")) {
		failed = json_string_value(json_object_get(object, "failed"));
		get_text(object, "text", answer->text, sizeof(answer->text));
		answer->outcome = !failed || !strcmp(failed, "refused")
					  ? TIDE_VENDOR_REFUSED
				  : !strcmp(failed, "absent")
					  ? TIDE_VENDOR_ABSENT
					  : TIDE_VENDOR_UNFIT;
		return 1;
	} else if (json_object_get(object, "done")) {
		answer->outcome = TIDE_VENDOR_ANSWERED;
		return 1;
	}
	return 0;
}

/* It ended without its last line: in which way? */
static void tell_end(struct tide_vendor_answer *answer,
		     const struct fanout_run *run, int limit_s)
{
	const char *at = *answer->at ? " when it was asked about " : "";

	if (run->timed_out) {
		answer->outcome = TIDE_VENDOR_SILENT;
		snprintf(answer->text, sizeof(answer->text),
			 "it gave no answer in %d s%s%s", limit_s, at,
			 answer->at);
	} else if (run->status < 0) {
		answer->outcome = TIDE_VENDOR_CRASHED;
		snprintf(answer->text, sizeof(answer->text),
			 "no process can be had to ask it");
	} else if (WIFSIGNALED(run->status)) {
		answer->outcome = TIDE_VENDOR_CRASHED;
		snprintf(answer->text, sizeof(answer->text),
			 "it crashed (%s)%s%s",
			 strsignal(WTERMSIG(run->status)), at, answer->at);
	} else {
		answer->outcome = TIDE_VENDOR_CRASHED;
		snprintf(answer->text, sizeof(answer->text),
			 "it ended the process that asked it%s%s", at,
			 answer->at);
	}
}

static void read_answer(struct tide_vendor_answer *answer,
			struct fanout_run *run, int limit_s)
{
	char *cursor = run->out, *next;
	int last = 0;

	for (; cursor && *cursor && !last; cursor = next) {
		json_t *object;

		next = cursor + strcspn(cursor, "\n");
		if (*next)
			*next++ = '\0';
		object = json_loads(cursor, 0, NULL);
		if (object)
			last = read_line(answer, object);
		json_decref(object);
	}
	if (!last)
		tell_end(answer, run, limit_s);
	else
		answer->at[0] = '\0';
}

static int is_here(const struct tide_accels *accels,
		   const struct tide_family *family)
{
	for (size_t i = 0; i < accels->count; i++)
		if (accels->accel[i].family == family)
			return 1;
	return 0;
}

/* An answer to be filled in for each family; -1 with ENOMEM. */
static int prepare(const struct tide_table *table,
		   const struct tide_accels *accels,
		   struct tide_vendor_answers *answers)
{
	answers->answer =
		calloc(table->n_families + 1, sizeof(*answers->answer));
	if (!answers->answer)
		return -1;
	for (size_t i = 0; i < table->n_families; i++) {
		const struct tide_family *family = &table->family[i];
		struct tide_vendor_answer *answer;

		if (!family->library || !family->api ||
		    !is_here(accels, family))
			continue;
		answer = &answers->answer[answers->count++];
		answer->family = family;
		snprintf(answer->path, sizeof(answer->path), "%.*s",
			 (int)strcspn(family->library, ","), family->library);
		answer->device =
			calloc(TIDE_VENDOR_DEVICES, sizeof(*answer->device));
		answer->part = calloc(TIDE_VENDOR_PARTS, sizeof(*answer->part));
		if (!answer->device || !answer->part)
			return -1;
	}
	return 0;
}

int devices_ask(const struct tide_table *table,
		const struct tide_accels *accels, int limit_s,
		struct tide_vendor_answers *ret_answers)
{
	struct fanout_run *run;
	char *(*argv)[5];

	memset(ret_answers, 0, sizeof(*ret_answers));
	if (prepare(table, accels, ret_answers)) {
		tide_vendor_answers_release(ret_answers);
		errno = ENOMEM;
		return -1;
	}
	run = calloc(ret_answers->count + 1, sizeof(*run));
	argv = calloc(ret_answers->count + 1, sizeof(*argv));
	for (size_t i = 0; run && argv && i < ret_answers->count; i++) {
		const struct tide_family *family =
			ret_answers->answer[i].family;

		argv[i][0] = (char *)SELF;
		argv[i][1] = (char *)"library";
		argv[i][2] = family->api;
		argv[i][3] = family->library;
		run[i].argv = argv[i];
	}
	if (run && argv) {
		fanout_run_all(run, ret_answers->count, limit_s);
		for (size_t i = 0; i < ret_answers->count; i++)
			read_answer(&ret_answers->answer[i], &run[i], limit_s);
		fanout_release(run, ret_answers->count);
	} else {
		tide_vendor_answers_release(ret_answers);
		errno = ENOMEM;
	}
	free(argv);
	free(run);
	return ret_answers->answer ? 0 : -1;
}
