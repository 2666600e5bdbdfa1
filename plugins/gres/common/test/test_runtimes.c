/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which runtime a device belongs to and by what number it is told, with Slurm's
 * own lists, but without a daemon or a device file.
 */
#include "plugins/gres/common/devices.h"
#include "plugins/gres/common/runtimes.h"

#include "src/common/list.h"
#include "src/common/pack.h"

#include "common/device/table.h"
#include "tests/lib/tap.h"

static void free_record(void *x)
{
	gres_slurmd_conf_t *record = x;

	xfree(record->file);
	xfree(record->name);
	xfree(record->type_name);
	xfree(record);
}

static void add_record(list_t *records, const char *name, const char *type,
		       const char *file, uint64_t count)
{
	gres_slurmd_conf_t *record = xmalloc(sizeof(*record));

	record->name = xstrdup(name);
	record->type_name = xstrdup(type);
	record->file = xstrdup(file);
	record->count = count;
	list_append(records, record);
}

static void add_device(list_t *devices, int index, const char *path, int number)
{
	gres_device_t *device = xmalloc(sizeof(*device));

	device->index = index;
	device->dev_num = number;
	device->path = xstrdup(path);
	list_append(devices, device);
}

/*
 * "VISIBLE-UNSET+physical:BITS" of each, and if wanted "CONTAINER,PART", and
 * "<FILE" that tells the numbers in PART.
 */
static char *told(list_t *runtimes)
{
	list_itr_t *itr = list_iterator_create(runtimes);
	struct tide_runtime *runtime;
	char *text = xstrdup("");

	while ((runtime = list_next(itr))) {
		char *bits = bit_fmt_full(runtime->devices);

		xstrfmtcat(text, "%s%s%s%s%s:%s", *text ? " " : "",
			   runtime->visible, runtime->unset ? "-" : "",
			   runtime->unset ? runtime->unset : "",
			   runtime->physical ? "+physical" : "", bits);
		if (runtime->container)
			xstrfmtcat(text, " %s,%s", runtime->container,
				   runtime->container_part
					   ? runtime->container_part
					   : "-");
		if (runtime->part_file)
			xstrfmtcat(text, "<%s", runtime->part_file);
		xfree(bits);
	}
	list_iterator_destroy(itr);
	return text;
}

static void test_family(const struct tide_table *table, const char *name,
			list_t *records, list_t *devices, const char *want)
{
	list_t *runtimes = tide_runtimes_create(table, name, records, devices);
	buf_t *buffer = init_buf(64);
	char *text = told(runtimes);
	list_t *copy;

	is_str(text, want, name);
	xfree(text);
	tide_runtimes_pack(runtimes, buffer);
	set_buf_offset(buffer, 0);
	copy = tide_runtimes_unpack(buffer);
	text = copy ? told(copy) : NULL;
	is_str(text, want, "slurmstepd gets the same");
	xfree(text);
	FREE_NULL_LIST(copy);
	free_buf(buffer);
	FREE_NULL_LIST(runtimes);
}

static void is_number(list_t *devices, int index, int want, const char *name)
{
	list_itr_t *itr = list_iterator_create(devices);
	gres_device_t *device, *found = NULL;

	while ((device = list_next(itr)))
		if (!found && device->index == index)
			found = device;
	list_iterator_destroy(itr);
	is_int(found ? found->dev_num : -1, want, name);
}

/* Are parts among these devices of the runtime? */
static void has_parts(list_t *runtimes, int size, const char *bits, bool want,
		      const char *name)
{
	bitstr_t *alloc = bit_alloc(size);

	bit_unfmt(alloc, (char *)bits);
	is_int(tide_runtime_parts(list_peek(runtimes), alloc), want, name);
	FREE_NULL_BITMAP(alloc);
}

/* A whole 310P and two parts of another; two parts of a card of MLUs. */
static void test_parts(const struct tide_table *table, list_t *records,
		       list_t *devices)
{
	list_t *runtimes;

	add_record(records, "npu", "ascend310p", "x", 1);
	add_record(records, "npu", "vir04", "x", 2);
	add_device(devices, 0, "/dev/davinci0", 0);
	add_device(devices, 1, "/dev/vdavinci116", 116);
	add_device(devices, 2, "/dev/vdavinci117", 117);
	test_family(table, "npu", records, devices,
		    "ASCEND_RT_VISIBLE_DEVICES+physical:0-2");
	runtimes = tide_runtimes_create(table, "npu", records, devices);
	has_parts(runtimes, 3, "0", false, "a whole device is no part");
	has_parts(runtimes, 3, "1-2", true, "vNPUs are parts");
	has_parts(runtimes, 8, "1-2", true,
		  "also where the last devices of slurm.conf are missing");
	has_parts(runtimes, 8, "0,7", false, "which are none themselves");
	ok(!tide_runtime_parts(list_peek(runtimes), NULL), "nor is nothing");
	is_number(devices, 1, 116, "their numbers are the vendor's");
	FREE_NULL_LIST(runtimes);
	list_flush(devices);
	list_flush(records);

	add_record(records, "mlu", "mim-2m.8gb", "x", 1);
	add_record(records, "mlu", "mim-2m.8gb", "x", 1);
	add_device(devices, 0, "/dev/cambricon-caps/cap_dev3_mi1", 1);
	add_device(devices, 0, "/dev/cambricon_dev3", 3);
	add_device(devices, 1, "/dev/cambricon-caps/cap_dev4_mi1", 1);
	add_device(devices, 1, "/dev/cambricon_dev4", 4);
	runtimes = tide_runtimes_create(table, "mlu", records, devices);
	has_parts(runtimes, 2, "0", true, "instances of MLUs are parts");
	ok(((struct tide_runtime *)list_peek(runtimes))->placed,
	   "and told by their place, as their numbers are those in a card");
	FREE_NULL_LIST(runtimes);
}

/* What a site's devices.conf does: one line. */
static void test_container(const char *line, const char *name, const char *file,
			   const char *want)
{
	list_t *records = list_create(free_record);
	list_t *devices = list_create(destroy_gres_device);
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	char *text = xstrdup_printf("%s%s\n", tide_table_builtin, line);

	ok(!tide_table_parse(text, "t", &table, &problems, NULL) &&
		   !problems.count,
	   "%s", line);
	add_record(records, name, NULL, file, 1);
	add_device(devices, 0, file, 0);
	test_family(table, name, records, devices, want);
	xfree(text);
	tide_problems_release(&problems);
	tide_table_destroy(table);
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
}

int main(void)
{
	list_t *records = list_create(free_record);
	list_t *devices = list_create(destroy_gres_device);
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;

	if (tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	add_record(records, "mlu", "mlu290", "x", 2);
	add_device(devices, 0, "/dev/cambricon_dev0", 0);
	add_device(devices, 1, "/dev/odd7", 7);
	test_family(table, "mlu", records, devices, "MLU_VISIBLE_DEVICES:0-1");
	is_number(devices, 1, 7, "numbers are those of the files");
	list_flush(devices);
	list_flush(records);

	add_record(records, "dcu", "k100_ai", "x", 1);
	add_record(records, "dcu", "k100_ai", "x", 1);
	add_device(devices, 0, "/dev/dri/card1", 1);
	add_device(devices, 0, "/dev/dri/renderD128", 128);
	add_device(devices, 1, "/dev/dri/card2", 2);
	add_device(devices, 1, "/dev/dri/renderD129", 129);
	test_family(table, "dcu", records, devices,
		    "HIP_VISIBLE_DEVICES-ROCR_VISIBLE_DEVICES:0-1");
	is_number(devices, 1, 1, "a DCU is told by its place");
	list_flush(devices);
	list_flush(records);

	add_record(records, "npu", "ascend910b", "x", 2);
	add_record(records, "npu", "ascend310p", "x", 1);
	add_device(devices, 0, "/dev/davinci0", 0);
	add_device(devices, 1, "/dev/davinci1", 1);
	add_device(devices, 2, "/dev/davinci2", 2);
	test_family(table, "npu", records, devices,
		    "ASCEND_RT_VISIBLE_DEVICES+physical:0-2");
	list_flush(devices);
	list_flush(records);

	/* files of one device are at one place */
	add_record(records, "npu", "ascend910b", "x", 1);
	add_record(records, "npu", "ascend910b", "x", 1);
	add_record(records, "npu", "ascend310p", "x", 1);
	add_device(devices, 0, "/dev/davinci0", 0);
	add_device(devices, 0, "/dev/davinci1", 1);
	add_device(devices, 1, "/dev/davinci2", 2);
	test_family(table, "npu", records, devices,
		    "ASCEND_RT_VISIBLE_DEVICES:0-1");
	list_flush(devices);
	list_flush(records);

	add_record(records, "accel", "s60", "x", 2);
	add_record(records, "accel", "iluvatar", "x", 1);
	add_device(devices, 0, "/dev/gcu0", 0);
	add_device(devices, 1, "/dev/gcu1", 1);
	add_device(devices, 2, "/dev/iluvatar5", 5);
	add_device(devices, 3, "/dev/unknown0", 0);
	test_family(table, "accel", records, devices,
		    "TOPS_VISIBLE_DEVICES:0-1 CUDA_VISIBLE_DEVICES:2");
	is_number(devices, 2, 0, "by place among its kind");
	list_flush(devices);
	list_flush(records);
	test_parts(table, records, devices);
	test_container(
		"Family=npu SetContainer=yes", "npu", "/dev/davinci0",
		"ASCEND_RT_VISIBLE_DEVICES:0 ASCEND_VISIBLE_DEVICES,ASCEND_RUNTIME_OPTIONS=VIRTUAL");
	test_container(
		"Family=mlu SetContainer=yes", "mlu", "/dev/cambricon_dev0",
		"MLU_VISIBLE_DEVICES:0 CAMBRICON_VISIBLE_DEVICES,VIRTUAL_DEVICES=/dev/cambricon_dev%n,/dev/cambricon_ipcm%n,/dev/cambricon-caps/cap_dev%n_mi%m</dev/cambricon-caps/cap_dev%n_mi%m");
	test_container("Family=iluvatar SetContainer=yes", "accel",
		       "/dev/iluvatar0",
		       "CUDA_VISIBLE_DEVICES:0 IX_VISIBLE_DEVICES,-");
	test_container("Family=npu SetContainer=no", "npu", "/dev/davinci0",
		       "ASCEND_RT_VISIBLE_DEVICES:0");
	FREE_NULL_LIST(devices);
	FREE_NULL_LIST(records);
	tide_table_destroy(table);
	tide_problems_release(&problems);
	return tap_done();
}
