/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CNDEV, Cambricon's management library.  Most of its records begin with the
 * version of the interface that the caller speaks, which the library checks; 6
 * and 5 are known here.  Of parts, MIM and sMLU, the records are those of
 * version 6.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vendor/impl.h"

enum {
	SUCCESS = 0,
	OTHER_VERSION = 3,
	DRIVER_RUNNING = 4,
	UUID_SIZE = 37,
	PORTS = 16,  /* of a device; no board has as many */
	PARTS = 128, /* of a device; more are not asked for */
	PARTS_VERSION = 6,
	MODE_ON = 1,
	/* room behind records that a later version may have made longer */
	SPARE = 512,
};

struct count {
	int32_t version;
	uint32_t number;
};

struct library_version {
	int32_t version;
	uint32_t part[3];
};

struct pci {
	uint32_t subsystem, device_id;
	uint16_t vendor, subsystem_vendor;
	uint32_t domain, bus, device, function;
};

/* The same up to version 5. */
struct old_pci {
	int32_t version;
	struct pci pci;
	const char *slot;
	int slot_id;
};

struct uuid {
	int32_t version;
	uint8_t uuid[UUID_SIZE];
	uint64_t ncs;
};

struct memory {
	int64_t total, used;
};

struct old_memory {
	int32_t version;
	struct memory memory;
};

struct power {
	int32_t usage;
};

struct old_power {
	int32_t version;
	int32_t usage;
};

struct utilization {
	int32_t version;
	int32_t average;
	int32_t core[80];
};

struct temperature {
	int32_t version;
	int32_t board;
	int32_t cluster[20];
	int32_t memory_die[8];
	int32_t chip;
};

struct health {
	int32_t version;
	int32_t health;
	int32_t device;
	int32_t driver;
};

struct numa {
	int32_t version;
	int32_t node;
};

struct link {
	int32_t mac, serdes, presence;
};

struct remote {
	int32_t version;
	uint64_t mezzanine, board;
	uint32_t slot, port;
	uint8_t address[16];
	uint8_t uuid[UUID_SIZE];
};

struct mode {
	int32_t version;
	int32_t on;
};

/* One of MIM. */
struct instance {
	int32_t version;
	int32_t parent, id, profile_id;
	uint8_t uuid[UUID_SIZE];
	int32_t domain, bus, device, function;
	int32_t placement[3];
	int32_t cores, vpus, jpus, gdmas, memory;
	char profile[100], file[100], ipcm[100], name[100];
	uint32_t reserved[128];
};

/* One of sMLU. */
struct slice {
	int32_t version;
	int32_t profile_id, id;
	uint8_t uuid[UUID_SIZE];
	int32_t domain, bus, device, function;
	char profile[100], name[100], file[100];
	uint32_t quota[2];
	uint64_t memory[2];
	uint32_t reserved[128];
};

/* The library writes them side by side. */
_Static_assert(sizeof(struct instance) == 1016, "a record of MIM");
_Static_assert(sizeof(struct slice) == 904, "a record of sMLU");

/* Any of them, and what a later version may write behind it. */
union record {
	struct count count;
	struct library_version library;
	struct pci pci;
	struct old_pci old_pci;
	struct uuid uuid;
	struct memory memory;
	struct old_memory old_memory;
	struct power power;
	struct old_power old_power;
	struct utilization utilization;
	struct temperature temperature;
	struct health health;
	struct numa numa;
	struct link link;
	struct remote remote;
	struct mode mode;
	int32_t version;
	char spare[sizeof(struct utilization) + SPARE];
};

typedef int (*get)(void *record, int32_t device);

struct functions {
	int (*init)(int reserved);
	const char *(*error_string)(int rc);
	int (*library_version)(void *record);
	int (*count)(void *record);
	int (*handle)(int32_t index, int32_t *handle);
	get pci, old_pci, uuid, memory, old_memory, power, old_power;
	get utilization, temperature, health, numa;
	int (*ports)(int32_t device);
	int (*link)(void *record, int32_t device, int32_t port);
	int (*remote)(void *record, int32_t device, int32_t port);
	get instance_mode, slice_mode;
	int (*instances)(int32_t *count, void *records, int32_t device);
	int (*slices)(int32_t *count, void *records, int32_t device);
};

#define SYMBOL(name, field, needed)                             \
	{                                                       \
		name, offsetof(struct functions, field), needed \
	}

static const struct tide_vendor_symbol symbols[] = {
	SYMBOL("cndevInit", init, true),
	SYMBOL("cndevGetErrorString", error_string, false),
	SYMBOL("cndevGetLibVersion", library_version, false),
	SYMBOL("cndevGetDeviceCount", count, true),
	SYMBOL("cndevGetDeviceHandleByIndex", handle, false),
	SYMBOL("cndevGetPCIeInfoV2", pci, false),
	SYMBOL("cndevGetPCIeInfo", old_pci, false),
	SYMBOL("cndevGetUUID", uuid, false),
	SYMBOL("cndevGetMemoryUsageV2", memory, false),
	SYMBOL("cndevGetMemoryUsage", old_memory, false),
	SYMBOL("cndevGetDevicePowerInfo", power, false),
	SYMBOL("cndevGetPowerInfo", old_power, false),
	SYMBOL("cndevGetDeviceUtilizationInfo", utilization, false),
	SYMBOL("cndevGetTemperatureInfo", temperature, false),
	SYMBOL("cndevGetCardHealthState", health, false),
	SYMBOL("cndevGetNUMANodeIdByDevId", numa, false),
	SYMBOL("cndevGetMLULinkPortNumber", ports, false),
	SYMBOL("cndevGetMLULinkStatusV2", link, false),
	SYMBOL("cndevGetMLULinkRemoteInfo", remote, false),
	SYMBOL("cndevGetMimMode", instance_mode, false),
	SYMBOL("cndevGetSMLUMode", slice_mode, false),
	SYMBOL("cndevGetAllMluInstanceInfo", instances, false),
	SYMBOL("cndevGetAllSMluInstanceInfo", slices, false),
};

struct session {
	const struct tide_vendor_lib *lib;
	struct functions f;
	int32_t version;
};

static int refuse(const struct session *s, int rc, struct tide_err *err)
{
	const char *text = s->f.error_string ? s->f.error_string(rc) : NULL;

	return tide_err_set(err, EIO, "it says: %s (%d)", text ? text : "error",
			    rc);
}

/* Ask one thing of a device; false when the library does not tell. */
static bool ask(const struct session *s, get function, union record *record,
		int32_t device)
{
	memset(record, 0, sizeof(*record));
	record->version = s->version;
	return function && function(record, device) == SUCCESS;
}

static bool ask_pci(const struct session *s, int32_t device,
		    struct tide_vendor_device *out)
{
	const struct pci *pci;
	union record r;

	if (ask(s, s->f.pci, &r, device))
		pci = &r.pci;
	else if (ask(s, s->f.old_pci, &r, device))
		pci = &r.old_pci.pci;
	else
		return false;
	tide_vendor_pci(out, pci->domain, pci->bus, pci->device, pci->function);
	return true;
}

static void ask_health(const struct session *s, int32_t device,
		       struct tide_vendor_device *out)
{
	union record r;

	if (!ask(s, s->f.health, &r, device))
		return;
	out->health = TIDE_HEALTH_OK;
	if (!r.health.health)
		tide_vendor_fault(out, TIDE_HEALTH_FAULT,
				  "the device is not in good condition");
	/* before version 6 there is only the flag */
	if (s->version < 6)
		return;
	if (r.health.driver > DRIVER_RUNNING)
		tide_vendor_fault(out, TIDE_HEALTH_FAULT,
				  "its driver is in error state %d",
				  r.health.driver);
	else if (r.health.driver != DRIVER_RUNNING)
		tide_vendor_fault(out, TIDE_HEALTH_WARNING,
				  "its driver is starting (state %d)",
				  r.health.driver);
}

static void ask_numbers(const struct session *s, int32_t device,
			struct tide_vendor_device *out)
{
	union record r;

	if (ask(s, s->f.memory, &r, device)) {
		out->memory = r.memory.total;
		out->memory_used = r.memory.used;
	} else if (ask(s, s->f.old_memory, &r, device)) {
		out->memory = r.old_memory.memory.total;
		out->memory_used = r.old_memory.memory.used;
	}
	if (ask(s, s->f.power, &r, device))
		out->power = r.power.usage;
	else if (ask(s, s->f.old_power, &r, device))
		out->power = r.old_power.usage;
	if (ask(s, s->f.utilization, &r, device))
		out->utilization = r.utilization.average;
	if (ask(s, s->f.temperature, &r, device))
		out->temperature = r.temperature.chip;
	if (ask(s, s->f.numa, &r, device))
		out->numa = r.numa.node;
}

static void ask_links(const struct session *s, int32_t device,
		      struct tide_vendor_device *out)
{
	int ports =
		s->f.ports && s->f.link && s->f.remote ? s->f.ports(device) : 0;
	char uuid[UUID_SIZE + 8];
	union record r;

	for (int port = 0; port < ports && port < PORTS; port++) {
		memset(&r, 0, sizeof(r));
		if (s->f.link(&r, device, port) != SUCCESS || !r.link.mac)
			continue;
		memset(&r, 0, sizeof(r));
		r.version = s->version;
		if (s->f.remote(&r, device, port) != SUCCESS)
			continue;
		snprintf(uuid, sizeof(uuid), "MLU-%.*s", UUID_SIZE,
			 (const char *)r.remote.uuid);
		if (r.remote.uuid[0])
			tide_vendor_add_peer(out, uuid);
	}
}

static void tell_part(const struct session *s, const char *kind,
		      const char *profile, const char *file,
		      const uint8_t *uuid)
{
	const struct tide_vendor_sink *sink = s->lib->sink;
	struct tide_vendor_part part = {.file = ""};

	if (!*profile || !*file)
		return;
	tide_vendor_text(part.file, sizeof(part.file), file, 100);
	snprintf(part.profile, sizeof(part.profile), "%s-%.100s", kind,
		 profile);
	tide_err_clean(part.profile);
	if (*uuid)
		snprintf(part.uuid, sizeof(part.uuid), "MLU-%.*s", UUID_SIZE,
			 (const char *)uuid);
	tide_err_clean(part.uuid);
	sink->part(sink->arg, &part);
}

/*
 * The records of a device's parts, of which there are *ret_count; NULL when it
 * has none.  Only the first record says which version we speak.
 */
static void *ask_parts(const struct session *s, int32_t device, get mode,
		       int (*parts)(int32_t *, void *, int32_t), size_t size,
		       int32_t *ret_count)
{
	int32_t *records;
	union record r;

	if (s->version < PARTS_VERSION || !parts || !ask(s, mode, &r, device) ||
	    r.mode.on != MODE_ON)
		return NULL;
	records = calloc(1, PARTS * size + SPARE);
	if (!records)
		return NULL;
	*records = s->version;
	*ret_count = PARTS;
	if (parts(ret_count, records, device) == SUCCESS)
		return records;
	free(records);
	return NULL;
}

static void tell_parts(const struct session *s, int32_t device)
{
	struct instance *instance;
	struct slice *slice;
	int32_t count;

	instance = ask_parts(s, device, s->f.instance_mode, s->f.instances,
			     sizeof(*instance), &count);
	for (int32_t i = 0; instance && i < count && i < PARTS; i++)
		tell_part(s, "mim", instance[i].profile, instance[i].file,
			  instance[i].uuid);
	free(instance);
	slice = ask_parts(s, device, s->f.slice_mode, s->f.slices,
			  sizeof(*slice), &count);
	for (int32_t i = 0; slice && i < count && i < PARTS; i++)
		tell_part(s, "smlu", slice[i].profile, slice[i].file,
			  slice[i].uuid);
	free(slice);
}

static void ask_device(const struct session *s, int32_t device)
{
	const struct tide_vendor_sink *sink = s->lib->sink;
	struct tide_vendor_device out;
	union record r;

	tide_vendor_clear(&out);
	sink->asking(sink->arg, "");
	if (ask_pci(s, device, &out))
		sink->asking(sink->arg, out.pci);
	if (ask(s, s->f.uuid, &r, device) && r.uuid.uuid[0])
		snprintf(out.uuid, sizeof(out.uuid), "MLU-%.*s", UUID_SIZE,
			 (const char *)r.uuid.uuid);
	tide_err_clean(out.uuid);
	ask_health(s, device, &out);
	ask_numbers(s, device, &out);
	ask_links(s, device, &out);
	sink->told(sink->arg, &out);
	tell_parts(s, device);
}

/* Count the devices with a version that both of us speak. */
static int open_session(struct session *s, uint32_t *ret_count,
			struct tide_err *err)
{
	union record r;
	int rc = s->f.init(0);

	if (rc != SUCCESS)
		return refuse(s, rc, err);
	for (s->version = 6; s->version >= 5; s->version--) {
		memset(&r, 0, sizeof(r));
		r.version = s->version;
		rc = s->f.count(&r);
		if (rc != OTHER_VERSION)
			break;
	}
	if (rc == OTHER_VERSION)
		return tide_err_set(
			err, ENOTSUP,
			"it speaks neither version 6 nor 5 of its interface");
	if (rc != SUCCESS)
		return refuse(s, rc, err);
	*ret_count = r.count.number;
	return 0;
}

static void tell_library(const struct session *s)
{
	char text[64] = "";
	union record r;

	memset(&r, 0, sizeof(r));
	r.version = s->version;
	if (s->f.library_version && s->f.library_version(&r) == SUCCESS)
		snprintf(text, sizeof(text), "%u.%u.%u", r.library.part[0],
			 r.library.part[1], r.library.part[2]);
	s->lib->sink->library(s->lib->sink->arg, s->lib->path, text);
}

int tide_vendor_cndev(const struct tide_vendor_lib *lib, struct tide_err *err)
{
	struct session s = {.lib = lib};
	uint32_t count = 0;

	if (tide_vendor_symbols(lib, symbols,
				sizeof(symbols) / sizeof(*symbols), &s.f, err))
		return -1;
	if (open_session(&s, &count, err))
		return -1;
	tell_library(&s);
	for (uint32_t i = 0; i < count && i < TIDE_VENDOR_DEVICES; i++) {
		int32_t device = (int32_t)i;

		/* up to version 5 a device is its index */
		if (s.f.handle && s.f.handle((int32_t)i, &device) != SUCCESS)
			continue;
		ask_device(&s, device);
	}
	return 0;
}
