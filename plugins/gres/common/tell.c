/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that tell of devices: see tell.h. Knows no family. */
#include "plugins/gres/common/tell.h"

#include "src/common/bitstring.h"
#include "src/common/env.h"
#include "src/common/list.h"

#include "common/device/device.h"
#include "common/device/table.h"
#include "plugins/gres/common/devices.h"
#include "plugins/gres/common/runtimes.h"

/* Of the plugin, e.g. "gres/mlu". */
extern const char plugin_type[];

/* Set each of the names, a list; value NULL: take it away. */
static void set_each(char ***env, const char *names, const char *value)
{
	const char *cursor = names, *item;
	size_t len;

	while (tide_list_next(&cursor, &item, &len)) {
		char *name = xstrndup(item, len);

		if (value)
			env_array_overwrite(env, name, value);
		else
			unsetenvp(*env, name);
		xfree(name);
	}
}

/* Do places count, as parts are among them that have no number? */
static bool is_placed(const struct tide_runtime *runtime, bitstr_t *devices)
{
	return runtime && runtime->placed &&
	       tide_runtime_parts(runtime, devices);
}

/* The numbers as a list; those of seen, where these are counted from 0. */
static char *list_text(const struct tide_node *node,
		       const struct tide_runtime *runtime, bitstr_t *mine,
		       bitstr_t *seen)
{
	bool places = is_placed(runtime, seen ? seen : mine);
	size_t count, seen_count = 0;
	uint32_t *numbers = tide_devices_numbers(node->devices, mine, runtime,
						 places, &count);
	uint32_t *all = NULL;
	struct tide_err err;
	char *text = NULL;
	int rc;

	if (seen) {
		all = tide_devices_numbers(node->devices, seen, runtime, places,
					   &seen_count);
		rc = tide_device_places(numbers, count, all, seen_count, &text,
					&err);
	} else {
		rc = tide_device_list(numbers, count, &text, &err);
	}
	if (rc)
		error("%s: %s", plugin_type, err.text);
	xfree(all);
	xfree(numbers);
	return text;
}

/* What the runtime is told each part of mine as: "FILE,FILE;FILE,FILE". */
static char *parts_text(const struct tide_node *node,
			const struct tide_runtime *runtime, bitstr_t *mine,
			const char *pattern)
{
	const char *file = runtime->part_file;
	list_itr_t *itr = list_iterator_create(node->devices);
	gres_device_t *device;
	char *text = NULL;

	while ((device = list_next(itr))) {
		struct tide_marks marks = {0};
		char *made;

		if (device->index >= bit_size(mine) ||
		    !bit_test(mine, device->index) ||
		    !tide_pattern_scan(file, strlen(file), device->path,
				       &marks.n, &marks.m))
			continue;
		made = tide_pattern_make(pattern, strlen(pattern), &marks);
		if (made)
			xstrfmtcat(text, "%s%s", text ? ";" : "", made);
		free(made);
	}
	list_iterator_destroy(itr);
	return text;
}

/*
 * What a container runtime counts: the numbers of the node. Where parts are
 * told in another way, or cannot be told, theirs would be read as whole
 * devices.
 */
static char *counted_text(const struct tide_node *node,
			  const struct tide_runtime *runtime, bitstr_t *mine)
{
	bitstr_t *counted = mine ? bit_copy(mine) : NULL;
	char *text;

	if (tide_runtime_parts(runtime, mine) &&
	    (runtime->part_file || !runtime->container_part))
		bit_and_not(counted, runtime->parts);
	text = list_text(node, runtime, counted, NULL);
	FREE_NULL_BITMAP(counted);
	return text;
}

/*
 * Without devices the list is empty; beside a variable that tells parts, and
 * nothing else, there is none.
 */
static void set_container(char ***env, const struct tide_node *node,
			  const struct tide_runtime *runtime, bitstr_t *mine)
{
	bool parts = tide_runtime_parts(runtime, mine);
	char *list, *name, *value, *text = NULL;

	if (!runtime->container)
		return;
	list = counted_text(node, runtime, mine);
	if (parts && runtime->part_file && list && !*list)
		set_each(env, runtime->container, NULL);
	else
		set_each(env, runtime->container, list ? list : "");
	free(list);
	if (!runtime->container_part)
		return;
	name = xstrdup(runtime->container_part);
	value = strchr(name, '=');
	*value++ = '\0';
	if (parts && runtime->part_file)
		text = parts_text(node, runtime, mine, value);
	else if (parts)
		text = xstrdup(value);
	set_each(env, name, text);
	xfree(text);
	xfree(name);
}

/* Tell a runtime what it may use. */
static void set_visible(char ***env, const struct tide_node *node,
			const struct tide_runtime *runtime,
			const struct tide_scope *scope)
{
	bool local = tide_runtime_parts(runtime, scope->mine) ||
		     (scope->constrained && !runtime->physical);
	char *list = list_text(node, runtime, scope->mine,
			       local ? scope->seen : NULL);

	set_each(env, runtime->unset, NULL);
	/* rather none than all, or what the submitter has set */
	set_each(env, runtime->visible, list ? list : "");
	free(list);
	set_container(env, node, runtime, scope->mine);
}

/* Places among the devices of the node. */
static char *places_text(bitstr_t *mine)
{
	char *text = NULL;

	for (int i = 0; i < bit_size(mine); i++)
		if (bit_test(mine, i))
			xstrfmtcat(text, "%s%d", text ? "," : "", i);
	return text;
}

/*
 * Physical numbers of all devices. Those of several runtimes may be the same,
 * as may those of parts: then the place among the devices of the node.
 */
static void set_numbers(char ***env, const struct tide_node *node,
			bitstr_t *mine, const char *name)
{
	struct tide_runtime *runtime = list_peek(node->runtimes);
	char *list;

	if (!mine || !bit_set_count(mine)) {
		unsetenvp(*env, name);
	} else if (list_count(node->runtimes) > 1 || is_placed(runtime, mine)) {
		list = places_text(mine);
		env_array_overwrite(env, name, list);
		xfree(list);
	} else if ((list = list_text(node, NULL, mine, NULL))) {
		env_array_overwrite(env, name, list);
		free(list);
	}
}

void tide_tell(char ***env, const struct tide_node *node,
	       const struct tide_scope *scope)
{
	struct tide_runtime *runtime;
	list_itr_t *itr = list_iterator_create(node->runtimes);

	while ((runtime = list_next(itr)))
		set_visible(env, node, runtime, scope);
	list_iterator_destroy(itr);
	set_numbers(env, node, scope->mine, scope->numbers);
}

void tide_tell_own(char ***env, const struct tide_node *node, int count)
{
	struct tide_runtime *runtime = list_peek(node->runtimes);
	char *list = xstrdup("");

	if (runtime && list_count(node->runtimes) == 1 && !runtime->physical) {
		for (int i = 0; i < count; i++)
			xstrfmtcat(list, "%s%d", i ? "," : "", i);
		set_each(env, runtime->visible, list);
	}
	xfree(list);
}

void tide_tell_prolog(char ***env, const struct tide_node *node,
		      bitstr_t *devices, const char *numbers)
{
	struct tide_runtime *runtime;
	list_itr_t *itr = list_iterator_create(node->runtimes);

	while ((runtime = list_next(itr))) {
		char *list = list_text(node, runtime, devices, NULL);

		if (list && *list)
			set_each(env, runtime->visible, list);
		free(list);
	}
	list_iterator_destroy(itr);
	set_numbers(env, node, devices, numbers);
}

bitstr_t *tide_task_devices(bitstr_t *step, bitstr_t *alloc, bitstr_t *usable)
{
	bool pushed = !bit_equal(step, alloc);
	bitstr_t *mine = bit_alloc(bit_size(step));
	int place = 0;

	for (int i = 0; i < bit_size(step); i++) {
		int at = pushed ? place : i;

		if (!bit_test(step, i))
			continue;
		if (at < bit_size(usable) && bit_test(usable, at))
			bit_set(mine, i);
		place++;
	}
	return mine;
}
