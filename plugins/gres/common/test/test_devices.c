/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of devices with Slurm's own lists, bitmaps and buffers, but without
 * a daemon: records of gres.conf in, numbers out. The device files are
 * synthetic, made by mknod, which needs root.
 */
#include "plugins/gres/common/devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/common/list.h"
#include "src/common/pack.h"

#include "plugins/gres/common/places.h"
#include "tests/lib/tap.h"

#define MAJOR 120
/* A message is cut every so many bytes; each refusal is logged. */
#define CUT 13

static char folder[] = "/tmp/tide-devices.XXXXXX";

static char *path_of(const char *name)
{
	return xstrdup_printf("%s/%s", folder, name);
}

static void free_record(void *x)
{
	gres_slurmd_conf_t *record = x;

	xfree(record->file);
	xfree(record->links);
	xfree(record->name);
	xfree(record->type_name);
	xfree(record->unique_id);
	xfree(record);
}

/* A record of gres.conf; name of the files without folder, or NULL. */
static gres_slurmd_conf_t *add(list_t *records, const char *gres,
			       const char *files, uint32_t flags)
{
	gres_slurmd_conf_t *record = xmalloc(sizeof(*record));

	record->name = xstrdup(gres);
	record->count = 2;
	record->config_flags = flags;
	if (files) {
		record->file = path_of(files);
		record->config_flags |= GRES_CONF_HAS_FILE;
	}
	list_append(records, record);
	return record;
}

static void is_numbers(list_t *devices, const char *alloc, const char *want,
		       const char *name)
{
	bitstr_t *bits = bit_alloc(8);
	char *text = xstrdup("");
	uint32_t *list;
	size_t count, i;

	bit_unfmt(bits, (char *)alloc);
	list = tide_devices_numbers(devices, bits, NULL, false, &count);
	for (i = 0; i < count; i++)
		xstrfmtcat(text, "%s%u", i ? "," : "", list[i]);
	is_str(text, want, name);
	xfree(list);
	xfree(text);
	FREE_NULL_BITMAP(bits);
}

static list_t *load(list_t *records, int want_count, const char *name)
{
	list_t *devices = tide_devices_load(records, "mlu");

	is_int(list_count(devices), want_count, name);
	return devices;
}

/* What Slurm counts, of all GRES; -1 when a record of none is left. */
static int counted(list_t *records)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	int count = 0;

	while (count >= 0 && (record = list_next(itr)))
		count = record->count ? count + (int)record->count : -1;
	list_iterator_destroy(itr);
	return count;
}

static void test_files(void)
{
	list_t *records = list_create(free_record), *devices;

	add(records, "mlu", "dev[0-1]", 0);
	add(records, "gpu", "dev3", 0);
	add(records, "mlu", "dev4", 0);
	devices = load(records, 3, "File= of two records");
	is_numbers(devices, "0-2", "0,1,4", "all of them");
	is_numbers(devices, "2", "4", "a bit is the place in gres.conf");
	is_numbers(devices, "7", "", "a bit without a device");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

static void test_multiple(void)
{
	list_t *records = list_create(free_record), *devices;
	gres_device_t *device;

	add(records, "mlu", "dev0,ipcm0", GRES_CONF_HAS_MULT);
	xfree(((gres_slurmd_conf_t *)list_peek(records))->file);
	((gres_slurmd_conf_t *)list_peek(records))->file =
		xstrdup_printf("%s/dev0,%s/ipcm0", folder, folder);
	add(records, "mlu", "dev1", 0);
	devices = load(records, 3, "MultipleFiles=");
	is_numbers(devices, "0-1", "0,1", "two files are one device");
	device = list_peek(devices);
	ok(device->dev_desc.major == MAJOR && device->dev_desc.minor == 0 &&
		   device->dev_desc.type == DEV_TYPE_CHAR,
	   "what the cgroup is told");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

/* slurmd goes on, and Slurm counts what can be used. */
static void test_bad(void)
{
	static const struct {
		const char *files;
		int of, count, counted;
		const char *name;
	} bad[] = {
		{"dev9", 1, 0, 0, "a missing file"},
		{"dev[0,9,1]", 3, 2, 2, "one missing among three"},
		{"dev[0-1,0]", 3, 2, 2, "a file named twice"},
		{"plain7", 1, 0, 0, "no device file"},
		{"ctl", 1, 0, 0, "a name without a number"},
		{NULL, 2, 0, 2, "Count= without File="},
	};
	gres_slurmd_conf_t *record;
	list_t *records, *devices;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		records = list_create(free_record);
		add(records, "mlu", bad[i].files, 0);
		record = list_peek(records);
		record->count = (uint64_t)bad[i].of;
		record->links = xstrdup("-1,1,1");
		devices = load(records, bad[i].count, bad[i].name);
		is_int(counted(records), bad[i].counted, "what Slurm counts");
		if (bad[i].files && bad[i].counted)
			ok(!record->links, "links to another number go");
		if (bad[i].count == 2 && strchr(bad[i].files, '9'))
			is_numbers(devices, "0-2", "0,1",
				   "the others keep their bits");
		FREE_NULL_LIST(devices);
		FREE_NULL_LIST(records);
	}
}

/* A device of which one file cannot be used; one that has two owners. */
static void test_whose(void)
{
	list_t *records = list_create(free_record), *devices;
	gres_slurmd_conf_t *record;

	add(records, "mlu", "dev0", GRES_CONF_HAS_MULT);
	record = list_peek(records);
	record->count = 1;
	xstrfmtcat(record->file, ",%s/plain7", folder);
	add(records, "mlu", "dev[1,3]", 0);
	add(records, "accel", "dev[3-4]", 0);
	devices = load(records, 1, "half a device, and another GRES's");
	is_numbers(devices, "1", "1", "the other one keeps its bit");
	is_int(counted(records), 3, "one of gres/mlu is counted");
	FREE_NULL_LIST(devices);
	devices = tide_devices_load(records, "accel");
	is_int(list_count(devices), 1, "nor has the other GRES both");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

/* Files of each line, as MultipleFiles=. */
static list_t *lines(const char *const *files, size_t count)
{
	list_t *records = list_create(free_record);

	for (size_t i = 0; i < count; i++) {
		const char *comma = strchr(files[i], ',');
		char *first = xstrndup(files[i], strcspn(files[i], ","));
		gres_slurmd_conf_t *record =
			add(records, "mlu", first, GRES_CONF_HAS_MULT);

		record->count = 1;
		if (comma)
			xstrfmtcat(record->file, ",%s/%s", folder, comma + 1);
		xfree(first);
	}
	return records;
}

/* One device by several paths: twin1 is dev1, and link3 is dev3. */
static void test_same(void)
{
	static const struct {
		const char *files[3];
		int count, counted;
		const char *name;
	} rows[] = {
		{{"dev0", "twin1", "dev3"}, 3, 3, "three devices"},
		{{"dev1", "twin1", "dev3"}, 2, 2, "another node of the number"},
		{{"link3", "dev0", "dev3"}, 2, 2, "what a link led to"},
		{{"dev0,dev3", "dev1,link3", "dev4"},
		 5,
		 3,
		 "parts of one card"},
		{{"dev0,dev3", "dev1", "link3"}, 3, 2, "a part, and the whole"},
		{{"dev3", "dev1", "dev0,link3"}, 2, 2, "the whole, and a part"},
		{{"dev1,twin1", "dev0", "dev3"},
		 4,
		 3,
		 "a line that has it twice"},
	};
	list_t *records, *devices;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		records = lines(rows[i].files, 3);
		devices = load(records, rows[i].count, rows[i].name);
		is_int(counted(records), rows[i].counted, "what Slurm counts");
		FREE_NULL_LIST(devices);
		FREE_NULL_LIST(records);
	}
	records = list_create(free_record);
	add(records, "mlu", "dev[0-1]", 0);
	add(records, "accel", "twin1", 0);
	devices = load(records, 1, "of another GRES by another path");
	is_numbers(devices, "0-1", "0", "is not used");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

/* Of three the second is gone, though its file is there. */
static void test_gone(void)
{
	list_t *records = list_create(tide_place_free), *devices;
	list_t *wanted = list_create(tide_place_free);
	char *path = path_of("places");

	add(records, "mlu", "dev[0-1,3]", 0);
	tide_places_remember(records, path);
	list_flush(records);
	add(records, "mlu", "dev[0,3]", 0);
	add(wanted, "mlu", NULL, 0);
	((gres_slurmd_conf_t *)list_peek(wanted))->count = 3;
	tide_places_recall(records, wanted, path);
	devices = load(records, 2, "a device that is gone is not used");
	is_numbers(devices, "0-1", "0", "nor is its place");
	is_numbers(devices, "2", "3", "and the next one keeps its own");
	is_int(counted(records), 2, "Slurm counts one less");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
	FREE_NULL_LIST(wanted);
	xfree(path);
}

static void test_pack(void)
{
	list_t *records = list_create(free_record), *devices, *copy;
	buf_t *buffer = init_buf(64), *cut;
	uint32_t size, i, refused = 0;
	char *data;

	add(records, "mlu", "dev[0-1]", 0);
	devices = load(records, 2, "to be sent");
	tide_devices_pack(devices, buffer);
	size = get_buf_offset(buffer);
	set_buf_offset(buffer, 0);
	copy = tide_devices_unpack(buffer);
	is_int(copy ? list_count(copy) : -1, 2, "slurmstepd gets them all");
	is_numbers(copy, "0-1", "0,1", "with their numbers");
	is_str(((gres_device_t *)list_peek(copy))->path,
	       ((gres_device_t *)list_peek(devices))->path, "and paths");
	FREE_NULL_LIST(copy);
	for (i = 0; i < size; i += CUT) {
		data = xmalloc(i + 1);
		memcpy(data, get_buf_data(buffer), i);
		cut = create_buf(data, i);
		copy = tide_devices_unpack(cut);
		refused += !copy;
		FREE_NULL_LIST(copy);
		free_buf(cut);
	}
	is_int(refused, (size + CUT - 1) / CUT, "cut messages are refused");
	set_buf_offset(buffer, 0);
	tide_devices_pack(NULL, buffer);
	set_buf_offset(buffer, 0);
	copy = tide_devices_unpack(buffer);
	is_int(copy ? list_count(copy) : -1, 0, "no list is an empty list");
	FREE_NULL_LIST(copy);
	free_buf(buffer);
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

/* True when the synthetic device files could be made. */
static bool make_files(void)
{
	static const char *const names[] = {"dev0", "dev1",  "dev3",
					    "dev4", "ipcm0", "ctl"};
	bool made = true;
	size_t i;
	char *path;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = path_of(names[i]);
		if (mknod(path, S_IFCHR | 0600, makedev(MAJOR, (unsigned)i)))
			made = false;
		xfree(path);
	}
	path = path_of("plain7");
	if (mknod(path, S_IFREG | 0600, 0))
		made = false;
	xfree(path);
	path = path_of("twin1");
	if (mknod(path, S_IFCHR | 0600, makedev(MAJOR, 1)))
		made = false;
	xfree(path);
	path = path_of("link3");
	if (symlink("dev3", path))
		made = false;
	xfree(path);
	return made;
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	if (make_files()) {
		test_files();
		test_multiple();
		test_bad();
		test_whose();
		test_same();
		test_gone();
		test_pack();
	} else {
		skip("lists of devices", "mknod is not allowed here");
	}
	tap_remove(folder);
	return tap_done();
}
