/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of tide.conf that concern more than one key: what must be there,
 * what excludes what, names that must be unique, and the rates that follow.
 * Nodes are checked in nodes.c.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf/build.h"

static int has_global(const struct tide_build *build, const char *key)
{
	return tide_record_has(&build->global, TIDE_RECORD_GLOBAL, key);
}

static void check_global(struct tide_build *build)
{
	static const char *const with_devices[] = {
		"PoolAccount",
		"IssueAccount",
	};

	if (!has_global(build, "PoolPartition"))
		tide_problems_add(
			build->problems, build->name, 0,
			"PoolPartition is missing: it names the partition of the shared pool");
	if (!build->conf.n_devices)
		return;
	for (int i = 0; i < 2; i++)
		if (!has_global(build, with_devices[i]))
			tide_problems_add(
				build->problems, build->name, 0,
				"%s is missing: it is needed where Device lines give prices",
				with_devices[i]);
}

/* A name that an earlier record of its kind has already. */
static void repeated(struct tide_build *build, const char *key,
		     const char *value, const char *file, int line,
		     int first_line)
{
	tide_problems_add(build->problems, file, line,
			  "%s=%s: is repeated, it was given in line %d", key,
			  value, first_line);
}

static struct tide_device *device_named(struct tide_build *build,
					const char *name)
{
	for (int i = 0; i < build->conf.n_devices; i++)
		if (build->device[i].name &&
		    !strcmp(build->device[i].name, name))
			return &build->device[i];
	return NULL;
}

/* Split "gpu:a100"; gres owns the copy of both. */
static int split_device(struct tide_device *device)
{
	char *copy = strdup(device->name);
	char *colon;

	if (!copy)
		return -1;
	colon = strchr(copy, ':');
	*colon = '\0';
	device->gres = copy;
	device->type = colon + 1;
	return 0;
}

/* rate = CreditUnit x TFLOPS / TFLOPS of the reference */
static void set_rate(struct tide_build *build, struct tide_device *device,
		     const struct tide_device *reference)
{
	struct tide_frac rate;

	/* what is missing here was refused already */
	if (!reference || !reference->tflops.num ||
	    !build->conf.credit_unit.den)
		return;
	if (tide_frac_div(device->tflops, reference->tflops, &rate) ||
	    tide_frac_mul(rate, build->conf.credit_unit, &device->rate))
		tide_problems_add(
			build->problems, device->file, device->line,
			"Device=%s: its rate has too many digits: fewer decimals in TFLOPS or CreditUnit are needed",
			device->name);
}

static void check_reference(struct tide_build *build,
			    struct tide_device **ret_reference)
{
	const char *name = build->conf.reference;
	struct tide_device *reference;

	*ret_reference = NULL;
	if (!name)
		return;
	reference = device_named(build, name);
	if (!reference)
		tide_problems_add(build->problems, build->name, 0,
				  "Reference=%s: there is no Device=%s", name,
				  name);
	else if (!reference->tflops.num &&
		 !build->device_state[reference - build->device].broken)
		tide_problems_add(
			build->problems, reference->file, reference->line,
			"Device=%s: it is the Reference, so it needs TFLOPS",
			name);
	*ret_reference = reference;
}

/* Prices are said once: TFLOPS, Rate, or as a part of another device. */
static int one_price(struct tide_build *build, int i)
{
	const struct tide_build_record *state = &build->device_state[i];
	const struct tide_device *device = &build->device[i];
	int tflops = tide_record_has(state, TIDE_RECORD_DEVICE, "TFLOPS");
	int rate = tide_record_has(state, TIDE_RECORD_DEVICE, "Rate");
	int of = tide_record_has(state, TIDE_RECORD_DEVICE, "Of");
	int share = tide_record_has(state, TIDE_RECORD_DEVICE, "Share");

	if (of != share)
		tide_problems_add(
			build->problems, device->file, device->line,
			"Device=%s: Of and Share go together: one is missing",
			device->name);
	else if (tflops + rate + of != 1)
		tide_problems_add(
			build->problems, device->file, device->line,
			"Device=%s: exactly one of TFLOPS, Rate, and Of with Share is needed",
			device->name);
	else
		return 1;
	return 0;
}

static void check_device(struct tide_build *build, int i,
			 const struct tide_device *reference)
{
	struct tide_device *device = &build->device[i];
	const struct tide_build_record *state = &build->device_state[i];
	int tflops = tide_record_has(state, TIDE_RECORD_DEVICE, "TFLOPS");
	const struct tide_device *first;

	if (!device->name)
		return;
	first = device_named(build, device->name);
	if (first != device)
		repeated(build, "Device", device->name, device->file,
			 device->line, first->line);
	if (state->broken || !one_price(build, i))
		return;
	if (tflops && !build->conf.reference && !has_global(build, "Reference"))
		tide_problems_add(
			build->problems, device->file, device->line,
			"Device=%s: TFLOPS needs a Reference= device to measure by",
			device->name);
	else if (tflops)
		set_rate(build, device, reference);
}

/* rate = Share x that of the whole device, which has one of its own */
static void check_part(struct tide_build *build, struct tide_device *device)
{
	const struct tide_device *whole = device_named(build, device->of);

	if (!whole)
		tide_problems_add(build->problems, device->file, device->line,
				  "Of=%s: there is no Device=%s", device->of,
				  device->of);
	else if (whole->of)
		tide_problems_add(
			build->problems, device->file, device->line,
			"Of=%s: that is a part itself: a whole device is wanted",
			device->of);
	else if (whole->rate.num &&
		 tide_frac_mul(device->share, whole->rate, &device->rate))
		tide_problems_add(
			build->problems, device->file, device->line,
			"Device=%s: its rate has too many digits: a simpler Share is needed",
			device->name);
}

static int check_devices(struct tide_build *build)
{
	struct tide_device *reference;

	for (int i = 0; i < build->conf.n_devices; i++) {
		struct tide_device *device = &build->device[i];

		if (!device->tflops.den)
			device->tflops.den = 1;
		if (device->name && split_device(device))
			return -1;
	}
	check_reference(build, &reference);
	for (int i = 0; i < build->conf.n_devices; i++)
		check_device(build, i, reference);
	for (int i = 0; i < build->conf.n_devices; i++) {
		struct tide_device *device = &build->device[i];

		/* those with two prices were refused */
		if (device->of && device->share.num && !device->rate.num &&
		    !device->tflops.num && !build->device_state[i].broken)
			check_part(build, device);
	}
	return 0;
}

static void check_owners(struct tide_build *build)
{
	for (int i = 0; i < build->conf.n_owners; i++) {
		const struct tide_owner *owner = &build->owner[i];

		if (!owner->account)
			continue;
		for (int j = 0; j < i; j++)
			if (build->owner[j].account &&
			    !strcmp(build->owner[j].account, owner->account)) {
				repeated(build, "OwnerAccount", owner->account,
					 owner->file, owner->line,
					 build->owner[j].line);
				break;
			}
		if (!owner->nodes && !build->owner_state[i].broken)
			tide_problems_add(build->problems, owner->file,
					  owner->line,
					  "OwnerAccount=%s: Nodes is missing",
					  owner->account);
	}
}

static int has_window(const struct tide_build *build, int i, const char *key)
{
	return tide_record_has(&build->window_state[i], TIDE_RECORD_WINDOW,
			       key);
}

/* What is wrong with the times of a window, or NULL. */
static const char *window_times(struct tide_build *build, int i)
{
	struct tide_window *window = &build->window[i];
	int weekly = has_window(build, i, "Days") ||
		     has_window(build, i, "Start") ||
		     has_window(build, i, "End");
	int from = has_window(build, i, "From");
	int until = has_window(build, i, "Until");

	if (weekly && (from || until))
		return "From and Until do not go with Days, Start and End";
	if (from != until)
		return "From and Until go together: one is missing";
	if (from)
		return window->from < window->until
			       ? NULL
			       : "From must be before Until";
	if (!weekly)
		return "it has no times: Days, Start, End or From, Until are needed";
	if (!window->days)
		window->days = TIDE_ALL_DAYS;
	if (window->start == 86400)
		return "Start must be before 24:00";
	if (window->start == window->end)
		return "Start and End are equal";
	return NULL;
}

static void check_window(struct tide_build *build, int i)
{
	const struct tide_window *window = &build->window[i];
	const char *why;

	if (!window->name)
		return;
	for (int j = 0; j < i; j++)
		if (build->window[j].name &&
		    !strcmp(build->window[j].name, window->name)) {
			repeated(build, "WindowName", window->name,
				 window->file, window->line,
				 build->window[j].line);
			break;
		}
	if (build->window_state[i].broken)
		return;
	if (!window->nodes)
		tide_problems_add(build->problems, window->file, window->line,
				  "WindowName=%s: Nodes is missing",
				  window->name);
	why = window_times(build, i);
	if (why)
		tide_problems_add(build->problems, window->file, window->line,
				  "WindowName=%s: %s", window->name, why);
}

int tide_check(struct tide_build *build)
{
	check_global(build);
	if (check_devices(build))
		return -1;
	check_owners(build);
	for (int i = 0; i < build->conf.n_windows; i++)
		check_window(build, i);
	return 0;
}
