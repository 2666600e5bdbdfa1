/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVML, NVIDIA's management library.  GPUs are Slurm's own gres/gpu; here they
 * are only looked at.  MIG instances are not asked for.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/vendor/impl.h"

enum {
	GPU_IS_LOST = 15,
	RESET_REQUIRED = 16,
	NVLINKS = 18,
	MIB = 1 << 20,
};

struct pci {
	char legacy_id[16];
	unsigned domain, bus, device, id, subsystem;
	char id_text[32];
};

struct memory {
	unsigned long long total, free, used;
};

struct utilization {
	unsigned gpu, memory;
};

typedef struct nvml_device *handle;

struct functions {
	int (*init)(void);
	const char *(*error_string)(int rc);
	int (*version)(char *text, unsigned size);
	int (*count)(unsigned *count);
	int (*device)(unsigned index, handle *device);
	int (*pci)(handle device, struct pci *pci);
	int (*uuid)(handle device, char *text, unsigned size);
	int (*memory)(handle device, struct memory *memory);
	int (*power)(handle device, unsigned *milliwatts);
	int (*utilization)(handle device, struct utilization *utilization);
	int (*temperature)(handle device, int sensor, unsigned *degrees);
	int (*remapped)(handle device, unsigned *correctable,
			unsigned *uncorrectable, unsigned *pending,
			unsigned *failed);
	int (*link)(handle device, unsigned link, unsigned *active);
	int (*remote)(handle device, unsigned link, struct pci *pci);
};

#define SYMBOL(name, field, needed)                             \
	{                                                       \
		name, offsetof(struct functions, field), needed \
	}

static const struct tide_vendor_symbol symbols[] = {
	SYMBOL("nvmlInit_v2", init, true),
	SYMBOL("nvmlErrorString", error_string, true),
	SYMBOL("nvmlSystemGetDriverVersion", version, false),
	SYMBOL("nvmlDeviceGetCount_v2", count, true),
	SYMBOL("nvmlDeviceGetHandleByIndex_v2", device, true),
	SYMBOL("nvmlDeviceGetPciInfo_v3", pci, true),
	SYMBOL("nvmlDeviceGetUUID", uuid, false),
	SYMBOL("nvmlDeviceGetMemoryInfo", memory, false),
	SYMBOL("nvmlDeviceGetPowerUsage", power, false),
	SYMBOL("nvmlDeviceGetUtilizationRates", utilization, false),
	SYMBOL("nvmlDeviceGetTemperature", temperature, false),
	SYMBOL("nvmlDeviceGetRemappedRows", remapped, false),
	SYMBOL("nvmlDeviceGetNvLinkState", link, false),
	SYMBOL("nvmlDeviceGetNvLinkRemotePciInfo_v2", remote, false),
};

struct session {
	const struct tide_vendor_lib *lib;
	struct functions f;
};

static int refuse(const struct session *s, int rc, struct tide_err *err)
{
	const char *text = s->f.error_string(rc);

	return tide_err_set(err, EIO, "it says: %s (%d)", text ? text : "error",
			    rc);
}

/* Did that call go well? That a device is lost any call may tell. */
static bool well(int rc, struct tide_vendor_device *out)
{
	if (rc == GPU_IS_LOST)
		tide_vendor_fault(out, TIDE_HEALTH_FAULT, "the GPU is lost");
	else if (rc == RESET_REQUIRED)
		tide_vendor_fault(out, TIDE_HEALTH_FAULT,
				  "the GPU wants a reset");
	return !rc;
}

static void ask_health(const struct functions *f, handle device,
		       struct tide_vendor_device *out)
{
	unsigned correctable, uncorrectable, pending, failed;

	if (!f->remapped ||
	    !well(f->remapped(device, &correctable, &uncorrectable, &pending,
			      &failed),
		  out))
		return;
	if (out->health == TIDE_HEALTH_UNKNOWN)
		out->health = TIDE_HEALTH_OK;
	if (failed)
		tide_vendor_fault(out, TIDE_HEALTH_FAULT,
				  "a row of its memory could not be remapped");
	else if (pending)
		tide_vendor_fault(
			out, TIDE_HEALTH_WARNING,
			"rows of its memory are remapped at the next reset");
}

static void ask_numbers(const struct functions *f, handle device,
			struct tide_vendor_device *out)
{
	struct utilization utilization;
	struct memory memory;
	unsigned value;

	if (f->uuid &&
	    !well(f->uuid(device, out->uuid, sizeof(out->uuid) - 1), out))
		out->uuid[0] = '\0';
	tide_err_clean(out->uuid);
	if (f->memory && well(f->memory(device, &memory), out)) {
		out->memory = (int64_t)(memory.total / MIB);
		out->memory_used = (int64_t)(memory.used / MIB);
	}
	if (f->power && well(f->power(device, &value), out))
		out->power = (value + 500) / 1000;
	if (f->utilization && well(f->utilization(device, &utilization), out))
		out->utilization = utilization.gpu;
	if (f->temperature && well(f->temperature(device, 0, &value), out))
		out->temperature = value;
}

static void ask_links(const struct functions *f, handle device,
		      struct tide_vendor_device *out)
{
	for (unsigned link = 0; f->link && f->remote && link < NVLINKS;
	     link++) {
		struct tide_vendor_device named = {0};
		struct pci pci = {0};
		unsigned active = 0;

		if (f->link(device, link, &active) || !active ||
		    f->remote(device, link, &pci))
			continue;
		tide_vendor_pci(&named, pci.domain, pci.bus, pci.device, 0);
		tide_vendor_add_peer(out, named.pci);
	}
}

static void ask_device(const struct session *s, handle device)
{
	const struct tide_vendor_sink *sink = s->lib->sink;
	struct tide_vendor_device out;
	struct pci pci = {0};

	tide_vendor_clear(&out);
	sink->asking(sink->arg, "");
	if (well(s->f.pci(device, &pci), &out)) {
		tide_vendor_pci(&out, pci.domain, pci.bus, pci.device, 0);
		sink->asking(sink->arg, out.pci);
	}
	ask_numbers(&s->f, device, &out);
	ask_health(&s->f, device, &out);
	ask_links(&s->f, device, &out);
	sink->told(sink->arg, &out);
}

int tide_vendor_nvml(const struct tide_vendor_lib *lib, struct tide_err *err)
{
	struct session s = {.lib = lib};
	char version[80] = "";
	unsigned count = 0;
	handle device;
	int rc;

	if (tide_vendor_symbols(lib, symbols,
				sizeof(symbols) / sizeof(*symbols), &s.f, err))
		return -1;
	rc = s.f.init();
	if (rc)
		return refuse(&s, rc, err);
	if (s.f.version && s.f.version(version, sizeof(version) - 1))
		version[0] = '\0';
	tide_err_clean(version);
	lib->sink->library(lib->sink->arg, lib->path, version);
	rc = s.f.count(&count);
	if (rc)
		return refuse(&s, rc, err);
	for (unsigned i = 0; i < count && i < TIDE_VENDOR_DEVICES; i++)
		if (!s.f.device(i, &device))
			ask_device(&s, device);
	return 0;
}
