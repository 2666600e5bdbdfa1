/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runtimes of the devices of a node: see runtimes.h. */
#include "plugins/gres/common/runtimes.h"

#include "src/common/bitstring.h"
#include "src/common/list.h"
#include "src/common/pack.h"

#include "common/device/table.h"

static void destroy(void *x)
{
	struct tide_runtime *runtime = x;

	xfree(runtime->visible);
	xfree(runtime->unset);
	xfree(runtime->container);
	xfree(runtime->container_part);
	xfree(runtime->part_file);
	FREE_NULL_BITMAP(runtime->devices);
	FREE_NULL_BITMAP(runtime->parts);
	xfree(runtime);
}

/* Devices have the indexes below this. */
static int count_indexes(list_t *devices)
{
	list_itr_t *itr = list_iterator_create(devices);
	gres_device_t *device;
	int count = 0;

	while ((device = list_next(itr)))
		if (device->index >= count)
			count = device->index + 1;
	list_iterator_destroy(itr);
	return count;
}

/* The type that gres.conf gives to the device at this place; NULL. */
static const char *type_at(list_t *records, const char *name, int place)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	const char *type = NULL;
	int64_t first = 0;

	while ((record = list_next(itr))) {
		if (xstrcmp(record->name, name) || !record->file)
			continue;
		if (place >= first && place < first + (int64_t)record->count)
			type = record->type_name;
		first += (int64_t)record->count;
	}
	list_iterator_destroy(itr);
	return type;
}

static int has_variable(void *x, void *key)
{
	return !xstrcmp(((struct tide_runtime *)x)->visible, key);
}

/* The runtime that is told by the variable of this family. */
static struct tide_runtime *
runtime_of(list_t *runtimes, const struct tide_family *family, int count)
{
	struct tide_runtime *runtime =
		list_find_first(runtimes, has_variable, family->visible);

	if (runtime)
		return runtime;
	runtime = xmalloc(sizeof(*runtime));
	runtime->visible = xstrdup(family->visible);
	runtime->unset = xstrdup(family->unset);
	if (family->set_container) {
		runtime->container = xstrdup(family->container);
		runtime->container_part = xstrdup(family->container_part);
		if (xstrchr(runtime->container_part, '%'))
			runtime->part_file =
				xstrndup(family->part_file,
					 strcspn(family->part_file, ","));
	}
	runtime->devices = bit_alloc(count);
	runtime->parts = bit_alloc(count);
	list_append(runtimes, runtime);
	return runtime;
}

list_t *tide_runtimes_create(const struct tide_table *table, const char *name,
			     list_t *records, list_t *devices)
{
	list_t *runtimes = list_create(destroy);
	list_itr_t *itr = list_iterator_create(devices);
	int count = count_indexes(devices), place = -1, last = -1;
	struct tide_runtime *runtime;
	gres_device_t *device;
	const struct tide_family *family;

	while ((device = list_next(itr))) {
		/* records count no device that is missing */
		place += device->index != last;
		last = device->index;
		family = tide_table_by_file(table, name, device->path);
		if (!family)
			family = tide_table_family(table, name);
		if (!family) {
			error("no family of gres/%s has a device file '%s': jobs are not told of it, see devices.conf",
			      name, device->path);
			continue;
		}
		runtime = runtime_of(runtimes, family, count);
		runtime->physical |= tide_table_physical(
			table, family, type_at(records, name, place));
		if (family->position &&
		    bit_test(runtime->devices, device->index))
			continue; /* another file of the same */
		if (family->position)
			device->dev_num = bit_set_count(runtime->devices);
		bit_set(runtime->devices, device->index);
		if (tide_family_is_part(family, device->path)) {
			bit_set(runtime->parts, device->index);
			runtime->placed |= !!strstr(family->part_file, "%n");
		}
	}
	list_iterator_destroy(itr);
	return runtimes;
}

void tide_runtimes_pack(list_t *runtimes, buf_t *buffer)
{
	struct tide_runtime *runtime;
	list_itr_t *itr;

	pack32(runtimes ? (uint32_t)list_count(runtimes) : 0, buffer);
	if (!runtimes)
		return;
	itr = list_iterator_create(runtimes);
	while ((runtime = list_next(itr))) {
		packstr(runtime->visible, buffer);
		packstr(runtime->unset, buffer);
		packstr(runtime->container, buffer);
		packstr(runtime->container_part, buffer);
		packstr(runtime->part_file, buffer);
		pack32(runtime->physical, buffer);
		pack_bit_str_hex(runtime->devices, buffer);
		pack_bit_str_hex(runtime->parts, buffer);
		pack32(runtime->placed, buffer);
	}
	list_iterator_destroy(itr);
}

static struct tide_runtime *unpack_runtime(buf_t *buffer)
{
	struct tide_runtime *runtime = xmalloc(sizeof(*runtime));
	uint32_t len, physical, placed;

	safe_unpackstr_xmalloc(&runtime->visible, &len, buffer);
	safe_unpackstr_xmalloc(&runtime->unset, &len, buffer);
	safe_unpackstr_xmalloc(&runtime->container, &len, buffer);
	safe_unpackstr_xmalloc(&runtime->container_part, &len, buffer);
	safe_unpackstr_xmalloc(&runtime->part_file, &len, buffer);
	safe_unpack32(&physical, buffer);
	unpack_bit_str_hex(&runtime->devices, buffer);
	unpack_bit_str_hex(&runtime->parts, buffer);
	safe_unpack32(&placed, buffer);
	runtime->physical = physical;
	runtime->placed = placed;
	return runtime;

unpack_error:
	destroy(runtime);
	return NULL;
}

list_t *tide_runtimes_unpack(buf_t *buffer)
{
	list_t *runtimes = list_create(destroy);
	struct tide_runtime *runtime;
	uint32_t count, i;

	safe_unpack32(&count, buffer);
	for (i = 0; i < count; i++) {
		runtime = unpack_runtime(buffer);
		if (!runtime)
			goto unpack_error;
		list_append(runtimes, runtime);
	}
	return runtimes;

unpack_error:
	error("cannot read the runtimes that slurmd sent");
	FREE_NULL_LIST(runtimes);
	return NULL;
}

bool tide_runtime_has(const struct tide_runtime *runtime, int index)
{
	return runtime->devices && index >= 0 &&
	       index < bit_size(runtime->devices) &&
	       bit_test(runtime->devices, index);
}

bool tide_runtime_parts(const struct tide_runtime *runtime, bitstr_t *alloc)
{
	bitstr_t *parts = runtime->parts;

	/* slurmctld's are longer where the last devices are missing */
	for (int i = 0;
	     alloc && parts && i < bit_size(parts) && i < bit_size(alloc); i++)
		if (bit_test(parts, i) && bit_test(alloc, i))
			return true;
	return false;
}
