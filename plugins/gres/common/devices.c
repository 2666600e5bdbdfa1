/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's list of devices: see devices.h. Looks at the device files named in
 * gres.conf and at nothing else; knows no vendor.
 */
#include "plugins/gres/common/devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "src/common/hostlist.h"
#include "src/common/list.h"
#include "src/common/pack.h"

#include "common/device/device.h"
#include "plugins/gres/common/places.h"
#include "plugins/gres/common/runtimes.h"

/* Fill in what the kernel must be told about the file; false when it is no
 * device. */
static bool describe(gres_device_t *device)
{
	struct stat st;

	if (stat(device->path, &st)) {
		error("cannot look at device file '%s': %m", device->path);
		return false;
	}
	if (!S_ISCHR(st.st_mode)) {
		error("'%s' in gres.conf is not a character device, as accelerators are",
		      device->path);
		return false;
	}
	device->dev_desc.type = DEV_TYPE_CHAR;
	device->dev_desc.major = major(st.st_rdev);
	device->dev_desc.minor = minor(st.st_rdev);
	return true;
}

static int same_index(void *x, void *key)
{
	return ((gres_device_t *)x)->index == *(int *)key;
}

/*
 * One that has this device already, by whatever path.  Parts of a card have its
 * file, each beside one of its own: what is the first file of neither is no
 * device of theirs alone.
 */
static gres_device_t *same_device(list_t *devices, const gres_device_t *device)
{
	int index = device->index;
	bool own = !list_find_first(devices, same_index, &index);
	list_itr_t *itr = list_iterator_create(devices);
	gres_device_t *other;
	int last = -1;

	while ((other = list_next(itr))) {
		if (other->index != index && (own || other->index != last) &&
		    other->dev_desc.major == device->dev_desc.major &&
		    other->dev_desc.minor == device->dev_desc.minor)
			break;
		last = other->index;
	}
	list_iterator_destroy(itr);
	return other;
}

/* A device file in a record of another GRES. */
struct taken {
	char *path, *name;
	dev_t device;
};

static void free_taken(void *x)
{
	struct taken *taken = x;

	xfree(taken->path);
	xfree(taken->name);
	xfree(taken);
}

static int has_device(void *x, void *key)
{
	return ((struct taken *)x)->device == *(dev_t *)key;
}

static void add_taken(list_t *list, const gres_slurmd_conf_t *record)
{
	tide_hostlist files = hostlist_create(record->file);
	struct taken *taken;
	struct stat st;
	char *path;

	while (files && (path = hostlist_shift(files))) {
		if (!stat(path, &st) && S_ISCHR(st.st_mode)) {
			taken = xmalloc(sizeof(*taken));
			taken->path = xstrdup(path);
			taken->name = xstrdup(record->name);
			taken->device = st.st_rdev;
			list_append(list, taken);
		}
		free(path);
	}
	if (files)
		hostlist_destroy(files);
}

/* Those of all GRES but this. */
static list_t *list_taken(list_t *records, const char *name)
{
	list_t *list = list_create(free_taken);
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;

	while ((record = list_next(itr)))
		if (record->file && xstrcmp(record->name, name))
			add_taken(list, record);
	list_iterator_destroy(itr);
	return list;
}

/* Nobody else has the device; false, and said, when somebody has. */
static bool is_free(list_t *devices, list_t *taken, const char *name,
		    const gres_device_t *device)
{
	dev_t key = makedev(device->dev_desc.major, device->dev_desc.minor);
	struct taken *elsewhere = list_find_first(taken, has_device, &key);
	gres_device_t *other = same_device(devices, device);

	if (other && !xstrcmp(other->path, device->path))
		error("'%s' is there twice in gres.conf", device->path);
	else if (other)
		error("'%s' in gres.conf is the same device as '%s': not used a second time",
		      device->path, other->path);
	else if (elsewhere && !xstrcmp(elsewhere->path, device->path))
		error("'%s' of gres/%s is of gres/%s as well: not used here",
		      device->path, name, elsewhere->name);
	else if (elsewhere)
		error("'%s' of gres/%s is the same device as '%s' of gres/%s: not used here",
		      device->path, name, elsewhere->path, elsewhere->name);
	return !other && !elsewhere;
}

/* Add the device at path; false when it cannot be used. */
static bool add_device(list_t *devices, list_t *taken, const char *name,
		       const char *path, int index)
{
	gres_device_t *device;
	struct tide_err err;
	uint32_t number;

	if (tide_device_number(path, &number, &err)) {
		error("cannot use gres.conf: %s", err.text);
		return false;
	}
	device = xmalloc(sizeof(*device));
	device->index = index;
	device->dev_num = (int)number;
	device->path = xstrdup(path);
	if (!describe(device) || !is_free(devices, taken, name, device)) {
		destroy_gres_device(device);
		return false;
	}
	list_append(devices, device);
	return true;
}

/* Its file, or one of them, cannot be used: then none of them is. */
static void drop_device(list_t *devices, gres_slurmd_conf_t *record, int index)
{
	list_delete_all(devices, same_index, &index);
	if (record->count)
		record->count--;
}

/*
 * The files of one record. A device that cannot be used keeps its index, which
 * jobs that run may have been given; true if there is one.
 */
static bool add_record(list_t *devices, list_t *taken,
		       gres_slurmd_conf_t *record, int *index)
{
	bool multiple = record->config_flags & GRES_CONF_HAS_MULT;
	tide_hostlist files = hostlist_create(record->file);
	bool good = true, bad = false;
	char *path;

	if (!files) {
		error("cannot read File=%s in gres.conf", record->file);
		record->count = 0;
		return true;
	}
	while ((path = hostlist_shift(files))) {
		if (!add_device(devices, taken, record->name, path, *index))
			good = false;
		free(path);
		if (multiple && hostlist_count(files))
			continue;
		if (!good)
			drop_device(devices, record, *index);
		bad |= !good;
		good = true;
		(*index)++;
	}
	hostlist_destroy(files);
	return bad;
}

/* Slurm takes links to as many devices as it counts. */
static int forget_links(void *x, void *key)
{
	gres_slurmd_conf_t *record = x;

	if (!xstrcmp(record->name, key))
		xfree(record->links);
	return 0;
}

static int is_empty(void *x, void *key)
{
	gres_slurmd_conf_t *record = x;

	return !xstrcmp(record->name, key) && record->file && !record->count;
}

list_t *tide_devices_load(list_t *records, const char *name)
{
	list_t *devices = list_create(destroy_gres_device);
	list_t *taken = list_taken(records, name);
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	bool bad = false;
	int index = 0;

	while ((record = list_next(itr))) {
		/* those without a file were filled in, or could not be */
		if (xstrcmp(record->name, name) || !record->file)
			continue;
		if (tide_place_is_gone(record)) {
			record->count = 0;
			bad = true;
			index++;
		} else {
			bad |= add_record(devices, taken, record, &index);
		}
	}
	list_iterator_destroy(itr);
	FREE_NULL_LIST(taken);
	if (bad) {
		list_for_each(records, forget_links, (void *)name);
		list_delete_all(records, is_empty, (void *)name);
	}
	return devices;
}

void tide_devices_pack(list_t *devices, buf_t *buffer)
{
	list_itr_t *itr;
	gres_device_t *device;

	pack32(devices ? (uint32_t)list_count(devices) : 0, buffer);
	if (!devices)
		return;
	itr = list_iterator_create(devices);
	while ((device = list_next(itr))) {
		pack32((uint32_t)device->index, buffer);
		pack32((uint32_t)device->dev_num, buffer);
		pack32(device->dev_desc.type, buffer);
		pack32(device->dev_desc.major, buffer);
		pack32(device->dev_desc.minor, buffer);
		packstr(device->path, buffer);
	}
	list_iterator_destroy(itr);
}

static gres_device_t *unpack_device(buf_t *buffer)
{
	gres_device_t *device = xmalloc(sizeof(*device));
	uint32_t index, number, type, len;

	safe_unpack32(&index, buffer);
	safe_unpack32(&number, buffer);
	safe_unpack32(&type, buffer);
	safe_unpack32(&device->dev_desc.major, buffer);
	safe_unpack32(&device->dev_desc.minor, buffer);
	safe_unpackstr_xmalloc(&device->path, &len, buffer);
	device->index = (int)index;
	device->dev_num = (int)number;
	device->dev_desc.type = type;
	return device;

unpack_error:
	destroy_gres_device(device);
	return NULL;
}

list_t *tide_devices_unpack(buf_t *buffer)
{
	list_t *devices = list_create(destroy_gres_device);
	gres_device_t *device;
	uint32_t count, i;

	safe_unpack32(&count, buffer);
	for (i = 0; i < count; i++) {
		device = unpack_device(buffer);
		if (!device)
			goto unpack_error;
		list_append(devices, device);
	}
	return devices;

unpack_error:
	error("cannot read the devices that slurmd sent");
	FREE_NULL_LIST(devices);
	return NULL;
}

static bool has_bit(bitstr_t *bits, int index)
{
	return bits && index < bit_size(bits) && bit_test(bits, index);
}

uint32_t *tide_devices_numbers(list_t *devices, bitstr_t *bits,
			       const struct tide_runtime *runtime, bool places,
			       size_t *ret_count)
{
	uint32_t *numbers = xcalloc(list_count(devices) + 1, sizeof(*numbers));
	list_itr_t *itr = list_iterator_create(devices);
	gres_device_t *device;
	int last = -1;

	*ret_count = 0;
	while ((device = list_next(itr))) {
		if (device->index == last || !has_bit(bits, device->index) ||
		    (runtime && !tide_runtime_has(runtime, device->index)))
			continue;
		numbers[(*ret_count)++] =
			(uint32_t)(places ? device->index : device->dev_num);
		last = device->index;
	}
	list_iterator_destroy(itr);
	return numbers;
}
