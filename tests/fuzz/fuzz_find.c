/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What drivers tell of a device, in /sys and /proc of a recorded machine: one
 * function of Ascend and one of Cambricon, whose files are the parts of the
 * input.  Whatever they say, at most one device of a number comes out, or its
 * parts.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>

#include "common/device/find.h"
#include "common/device/gresconf.h"
#include "tests/fuzz/folder.h"

#define PCI "sys/bus/pci/devices/"
#define NPU PCI "0000:01:00.0/"
#define MLU PCI "0000:02:00.0/"
#define INFO "proc/driver/cambricon/mlus/0000:02:00.0/"

static const char *const folders[] = {
	"etc",
	"sys",
	"sys/bus",
	"sys/bus/pci",
	"sys/bus/pci/devices",
	"sys/bus/pci/devices/0000:01:00.0",
	"sys/bus/pci/devices/0000:02:00.0",
	"proc",
	"proc/driver",
	"proc/driver/cambricon",
	"proc/driver/cambricon/mlus",
	"proc/driver/cambricon/mlus/0000:02:00.0",
};

static const struct {
	const char *name, *text;
} fixed[] = {
	{NPU "vendor", "0x19e5\n"},  {NPU "device", "0xd501\n"},
	{NPU "class", "0x120000\n"}, {MLU "vendor", "0xcabc\n"},
	{MLU "device", "0x0290\n"},
};

/* Parts of the input, in this order. */
static const char *const parts[] = {
	INFO "information",  NPU "devdrv_sysfs_bdf_to_devid",
	NPU "dev_id",	     NPU "davinci_dev_num",
	NPU "local_cpulist", MLU "numa_node",
	MLU "class",	     "etc/vnpu.cfg",
};

static struct tide_table *table;

static void prepare(void)
{
	struct tide_problems problems = {0};
	char path[128];

	fuzz_folder_make();
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", fuzz_folder, folders[i]);
		HOLDS(!mkdir(path, 0755));
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		fuzz_folder_put(fixed[i].name, fixed[i].text,
				strlen(fixed[i].text));
	HOLDS(!tide_table_load(NULL, &table, &problems, NULL));
	HOLDS(!problems.count);
}

static void check(const struct tide_accels *accels)
{
	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_accel *a = &accels->accel[i];

		HOLDS(a->number >= 0 && a->n_files && *a->type);
		for (size_t j = 0; j < i; j++)
			HOLDS(accels->accel[j].family != a->family ||
			      accels->accel[j].number != a->number ||
			      accels->accel[j].part != a->part);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tide_problems problems = {0};
	struct tide_accels accels = {0};
	struct tide_where where = {.root = fuzz_folder};
	struct tide_err err;
	char *text;

	if (!table)
		prepare();
	where.table = table;
	fuzz_folder_fill(parts, sizeof(parts) / sizeof(*parts), data, size);
	HOLDS(!tide_find(&where, &accels, &problems, &err));
	check(&accels);
	text = tide_gresconf_write(&accels, NULL);
	HOLDS(text);
	free(text);
	tide_accels_release(&accels);
	tide_problems_release(&problems);
	return 0;
}
