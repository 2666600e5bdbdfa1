/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tidectl devices --health: how the devices of this node are, in words. */
#include "config.h"

#include <stdio.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"

static const char *const words[] = {"not known", "ok", "warning", "fault"};
static const char *const levels[] = {"unknown", "ok", "warning", "fault"};

static const char *file_of(const struct tide_accel *accel)
{
	return accel->n_files ? accel->file[0] : NULL;
}

static json_t *json_finding(const struct tide_health_finding *finding)
{
	const struct tide_accel *accel = finding->accel;

	return json_pack(
		"{s:s, s:o, s:o, s:o, s:s, s:o}", "gres", finding->gres, "type",
		tidectl_json_text(accel ? accel->type : NULL), "pci",
		tidectl_json_text(accel ? accel->pci.name : NULL), "file",
		tidectl_json_text(accel ? file_of(accel) : NULL), "health",
		levels[finding->health], "what",
		tidectl_json_text(*finding->text ? finding->text : NULL));
}

static int print_json(const struct tide_health_findings *findings, int ok)
{
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++)
		if (json_array_append_new(
			    list, json_finding(&findings->finding[i]))) {
			json_decref(list);
			return tidectl_print_json(NULL);
		}
	return tidectl_print_json(
		json_pack("{s:b, s:o}", "ok", ok, "findings", list));
}

static void print_text(const struct tide_health_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_health_finding *finding =
			&findings->finding[i];
		const struct tide_accel *accel = finding->accel;

		printf("%s: %s", words[finding->health], finding->gres);
		if (accel)
			printf(" %s", accel->pci.name);
		if (accel && file_of(accel))
			printf(" (%s)", file_of(accel));
		printf("%s%s\n", *finding->text ? ": " : "", finding->text);
	}
	if (!findings->count)
		puts("no accelerator was found");
}

/* An address that is none, as lspci's without its domain, excepts nothing. */
static void check_exceptions(const char *except)
{
	const char *item;
	size_t len;

	while (tide_list_next(&except, &item, &len)) {
		struct tide_pci pci;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)len, item);
		if (tide_pci_parse(name, &pci))
			tidectl_fail(
				"--except '%s' is no PCI address such as 0000:3d:00.0: it is passed over",
				name);
	}
}

int devices_health(const struct tide_health_request *request, int json)
{
	struct tide_health_findings findings;
	int status, ok;

	check_exceptions(request->except);
	if (tide_health(request, &findings))
		return tidectl_fail("out of memory");
	/* faults are first */
	ok = !findings.count || findings.finding[0].health != TIDE_HEALTH_FAULT;
	if (json)
		status = print_json(&findings, ok);
	else
		print_text(&findings);
	if (!json || status == TIDECTL_DONE)
		status = ok ? TIDECTL_DONE : TIDECTL_FAILED;
	tide_health_release(&findings);
	return status;
}
