/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ROCm SMI, AMD's management library, and Hygon's for DCU, which has the same
 * functions.  It has no word for health.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/vendor/impl.h"

enum {
	VRAM = 0,
	EDGE = 0,
	CURRENT = 0,
	XGMI = 2,
	MIB = 1 << 20,
};

struct version {
	uint32_t major, minor, patch;
	const char *build;
};

struct functions {
	int (*init)(uint64_t flags);
	int (*version)(struct version *version);
	int (*count)(uint32_t *count);
	int (*pci)(uint32_t device, uint64_t *id);
	int (*unique)(uint32_t device, uint64_t *id);
	int (*total)(uint32_t device, int type, uint64_t *bytes);
	int (*used)(uint32_t device, int type, uint64_t *bytes);
	int (*busy)(uint32_t device, uint32_t *percent);
	int (*power)(uint32_t device, uint32_t sensor, uint64_t *microwatts);
	int (*temperature)(uint32_t device, uint32_t sensor, int metric,
			   int64_t *millidegrees);
	int (*numa)(uint32_t device, int32_t *node);
	int (*link)(uint32_t from, uint32_t to, uint64_t *hops, int *type);
};

#define SYMBOL(name, field, needed)                             \
	{                                                       \
		name, offsetof(struct functions, field), needed \
	}

static const struct tide_vendor_symbol symbols[] = {
	SYMBOL("rsmi_init", init, true),
	SYMBOL("rsmi_version_get", version, false),
	SYMBOL("rsmi_num_monitor_devices", count, true),
	SYMBOL("rsmi_dev_pci_id_get", pci, true),
	SYMBOL("rsmi_dev_unique_id_get", unique, false),
	SYMBOL("rsmi_dev_memory_total_get", total, false),
	SYMBOL("rsmi_dev_memory_usage_get", used, false),
	SYMBOL("rsmi_dev_busy_percent_get", busy, false),
	SYMBOL("rsmi_dev_power_ave_get", power, false),
	SYMBOL("rsmi_dev_temp_metric_get", temperature, false),
	SYMBOL("rsmi_topo_numa_affinity_get", numa, false),
	SYMBOL("rsmi_topo_get_link_type", link, false),
};

/* Bits 0-2 function, 3-7 device, 8-15 bus, 28-31 partition, 32-63 domain. */
static void name_pci(uint64_t id, struct tide_vendor_device *out)
{
	tide_vendor_pci(out, (unsigned)(id >> 32), id >> 8 & 0xff,
			id >> 3 & 0x1f, id & 7);
}

static void ask_numbers(const struct functions *f, uint32_t device,
			struct tide_vendor_device *out)
{
	uint64_t value;
	uint32_t percent;
	int64_t degrees;
	int32_t node;

	/* some boards all say 0 */
	if (f->unique && !f->unique(device, &value) && value)
		snprintf(out->uuid, sizeof(out->uuid), "GPU-%016" PRIx64,
			 value);
	if (f->total && !f->total(device, VRAM, &value))
		out->memory = (int64_t)(value / MIB);
	if (f->used && !f->used(device, VRAM, &value))
		out->memory_used = (int64_t)(value / MIB);
	if (f->busy && !f->busy(device, &percent))
		out->utilization = percent;
	if (f->power && !f->power(device, 0, &value))
		out->power = (int64_t)((value + 500000) / 1000000);
	if (f->temperature && !f->temperature(device, EDGE, CURRENT, &degrees))
		out->temperature = degrees / 1000;
	if (f->numa && !f->numa(device, &node))
		out->numa = node;
}

static void ask_links(const struct functions *f, uint32_t device,
		      uint32_t count, struct tide_vendor_device *out)
{
	for (uint32_t to = 0; f->link && to < count; to++) {
		struct tide_vendor_device named = {0};
		uint64_t hops, id;
		int type = 0;

		if (to == device || f->link(device, to, &hops, &type) ||
		    type != XGMI || f->pci(to, &id))
			continue;
		name_pci(id, &named);
		tide_vendor_add_peer(out, named.pci);
	}
}

static void ask_device(const struct tide_vendor_lib *lib,
		       const struct functions *f, uint32_t device,
		       uint32_t count)
{
	struct tide_vendor_device out;
	uint64_t id;

	tide_vendor_clear(&out);
	lib->sink->asking(lib->sink->arg, "");
	if (!f->pci(device, &id)) {
		name_pci(id, &out);
		lib->sink->asking(lib->sink->arg, out.pci);
	}
	ask_numbers(f, device, &out);
	ask_links(f, device, count, &out);
	lib->sink->told(lib->sink->arg, &out);
}

int tide_vendor_rsmi(const struct tide_vendor_lib *lib, struct tide_err *err)
{
	struct version version = {0};
	struct functions f;
	uint32_t count = 0;
	char text[64] = "";
	int rc;

	if (tide_vendor_symbols(lib, symbols,
				sizeof(symbols) / sizeof(*symbols), &f, err))
		return -1;
	rc = f.init(0);
	if (!rc)
		rc = f.count(&count);
	if (rc)
		return tide_err_set(err, EIO, "it does not start: error %d",
				    rc);
	if (f.version && !f.version(&version))
		snprintf(text, sizeof(text), "%u.%u.%u", version.major,
			 version.minor, version.patch);
	lib->sink->library(lib->sink->arg, lib->path, text);
	if (count > TIDE_VENDOR_DEVICES)
		count = TIDE_VENDOR_DEVICES;
	for (uint32_t i = 0; i < count; i++)
		ask_device(lib, &f, i, count);
	return 0;
}
