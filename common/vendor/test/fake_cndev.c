/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic stand-in for libcndev: the four MLU370-X8 of
 * tests/data/devices/mlu370.tree in a ring.  Records have the length that they
 * have in version 6, and are written to their last byte.
 */
#include <stdint.h>

#include "common/vendor/test/fake.h"

enum {
	DEVICES = 4,
	BAD_VERSION = 3,
	NO_DRIVER = 1,
	NOT_SUPPORTED = 6,
	NO_SPACE = 9,
};

static const uint32_t buses[DEVICES] = {0x9d, 0x9e, 0x3d, 0x3e};

int cndevInit(int reserved);
const char *cndevGetErrorString(int rc);
int cndevGetLibVersion(int32_t *v);
int cndevGetDeviceCount(int32_t *v);
int cndevGetDeviceHandleByIndex(int32_t index, int32_t *handle);
int cndevGetPCIeInfoV2(void *to, int32_t device);
int cndevGetUUID(void *to, int32_t device);
int cndevGetMemoryUsageV2(void *to, int32_t device);
int cndevGetDevicePowerInfo(void *to, int32_t device);
int cndevGetDeviceUtilizationInfo(void *to, int32_t device);
int cndevGetTemperatureInfo(void *to, int32_t device);
int cndevGetCardHealthState(void *to, int32_t device);
int cndevGetNUMANodeIdByDevId(void *to, int32_t device);
int cndevGetMLULinkPortNumber(int32_t device);
int cndevGetMLULinkStatusV2(void *to, int32_t device, int32_t port);
int cndevGetMLULinkRemoteInfo(void *to, int32_t device, int32_t port);
int cndevGetMimMode(void *to, int32_t device);
int cndevGetSMLUMode(void *to, int32_t device);
int cndevGetAllMluInstanceInfo(int32_t *count, void *to, int32_t device);
int cndevGetAllSMluInstanceInfo(int32_t *count, void *to, int32_t device);

/* A handle is no index. */
static unsigned place(int32_t device)
{
	return (unsigned)(device - 100);
}

static int fits(const void *record)
{
	int32_t version;

	memcpy(&version, record, sizeof(version));
	return version == (fake_is("old") ? 5 : 6) && !fake_is("version");
}

EXPORT int cndevInit(int reserved)
{
	fake_noise();
	return fake_is("refuse") || reserved ? NO_DRIVER : 0;
}

EXPORT const char *cndevGetErrorString(int rc)
{
	return rc == NO_DRIVER ? "No Driver" : "Unknown error";
}

EXPORT int cndevGetLibVersion(int32_t *v)
{
	if (!fits(v))
		return BAD_VERSION;
	v[1] = 6;
	v[2] = 5;
	v[3] = 24;
	return 0;
}

EXPORT int cndevGetDeviceCount(int32_t *v)
{
	if (!fits(v))
		return BAD_VERSION;
	v[1] = fake_is("less") ? DEVICES - 1 : DEVICES;
	return 0;
}

EXPORT int cndevGetDeviceHandleByIndex(int32_t index, int32_t *handle)
{
	*handle = index + 100;
	return 0;
}

EXPORT int cndevGetPCIeInfoV2(void *to, int32_t device)
{
	struct {
		uint32_t subsystem, id;
		uint16_t vendor, subvendor;
		uint32_t domain, bus, device, function;
		uint16_t module, slot;
		uint32_t reserved[8];
	} r;

	memset(&r, 0xff, sizeof(r));
	r.domain = r.device = r.function = 0;
	r.bus = buses[place(device)];
	memcpy(to, &r, sizeof(r));
	return 0;
}

/* UUIDs have no end of a string. */
static void write_uuid(uint8_t *to, unsigned device)
{
	char text[48];

	snprintf(text, sizeof(text), "00000000-0000-0000-0000-00000000%04x",
		 device);
	memcpy(to, text, 37);
}

EXPORT int cndevGetUUID(void *to, int32_t device)
{
	struct {
		int32_t version;
		uint8_t uuid[37];
		uint64_t ncs;
	} r;

	if (!fits(to))
		return BAD_VERSION;
	memset(&r, 0xff, sizeof(r));
	write_uuid(r.uuid, place(device));
	memcpy(to, &r, sizeof(r));
	return 0;
}

EXPORT int cndevGetMemoryUsageV2(void *to, int32_t device)
{
	struct {
		int64_t total, used, reserved, virtual_total, virtual_used;
		uint64_t global, spare[16];
	} r;

	memset(&r, 0xff, sizeof(r));
	r.total = 24576;
	r.used = 100 + place(device);
	memcpy(to, &r, sizeof(r));
	return 0;
}

EXPORT int cndevGetDevicePowerInfo(void *to, int32_t device)
{
	int32_t r[21];

	memset(r, 0xff, sizeof(r));
	r[0] = 50 + (int32_t)place(device);
	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetDeviceUtilizationInfo(void *to, int32_t device)
{
	int32_t r[82];

	if (!fits(to))
		return BAD_VERSION;
	memset(r, 0xff, sizeof(r));
	r[1] = 10 * (int32_t)place(device);
	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetTemperatureInfo(void *to, int32_t device)
{
	int32_t r[37];

	if (!fits(to))
		return BAD_VERSION;
	memset(r, 0, sizeof(r));
	r[1 + 1 + 20 + 8] = 40 + (int32_t)place(device);
	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetCardHealthState(void *to, int32_t device)
{
	int32_t r[4] = {0, 1, 1, 4};

	fake_act(place(device));
	if (!fits(to))
		return BAD_VERSION;
	if (fake_is("old"))
		memset(&r[2], 0, 2 * sizeof(*r));
	if (fake_is("fault") && place(device) == 2)
		r[1] = r[2] = 0;
	memcpy(to, r, fake_is("old") ? 2 * sizeof(*r) : sizeof(r));
	return 0;
}

EXPORT int cndevGetNUMANodeIdByDevId(void *to, int32_t device)
{
	int32_t r[2] = {6, place(device) < 2};

	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetMLULinkPortNumber(int32_t device)
{
	(void)device;
	return 3;
}

EXPORT int cndevGetMLULinkStatusV2(void *to, int32_t device, int32_t port)
{
	uint32_t r[11];

	(void)device;
	memset(r, 0, sizeof(r));
	/* the third port is down */
	r[0] = port < 2 ? 3 : 0;
	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetMLULinkRemoteInfo(void *to, int32_t device, int32_t port)
{
	struct {
		int32_t version;
		uint64_t mezzanine, board;
		uint32_t slot, port;
		uint8_t ip[16];
		uint8_t uuid[37];
		uint32_t ip_version, valid;
		int32_t type;
		uint64_t ncs;
		uint8_t mac[6];
		char name[64];
	} r;

	if (!fits(to))
		return BAD_VERSION;
	memset(&r, 0xff, sizeof(r));
	write_uuid(r.uuid, (place(device) + (port ? 1 : 3)) % DEVICES);
	memcpy(to, &r, sizeof(r));
	return 0;
}

static int tell_mode(void *to, int on)
{
	int32_t r[2] = {6, on};

	if (!fits(to))
		return BAD_VERSION;
	memcpy(to, r, sizeof(r));
	return 0;
}

EXPORT int cndevGetMimMode(void *to, int32_t device)
{
	return tell_mode(to, fake_is("parts") && place(device) == 3);
}

EXPORT int cndevGetSMLUMode(void *to, int32_t device)
{
	return tell_mode(to, fake_is("parts") && place(device) == 2);
}

/* The records' own version is that of the first alone. */
EXPORT int cndevGetAllMluInstanceInfo(int32_t *count, void *to, int32_t device)
{
	static const char *const profiles[] = {"2m.8gb", "4m.16gb"};
	struct {
		int32_t version, parent, id, profile_id;
		uint8_t uuid[37];
		int32_t domain, bus, device, function;
		int32_t placement_version, start, size;
		int32_t cores, vpus, jpus, gdmas, memory;
		char profile[100], file[100], ipcm[100], name[100];
		uint32_t reserved[128];
	} r[2];

	if (!fits(to))
		return BAD_VERSION;
	if (place(device) != 3)
		return NOT_SUPPORTED;
	if (*count < 2) {
		*count = 2;
		return NO_SPACE;
	}
	memset(r, 0xff, sizeof(r));
	for (unsigned i = 0; i < 2; i++) {
		write_uuid(r[i].uuid, 0x30 + i);
		snprintf(r[i].profile, sizeof(r->profile), "%s", profiles[i]);
		snprintf(r[i].file, sizeof(r->file),
			 "/dev/cambricon-caps/cap_dev3_mi%u", i + 1);
	}
	memcpy(to, r, sizeof(r));
	*count = 2;
	return 0;
}

EXPORT int cndevGetAllSMluInstanceInfo(int32_t *count, void *to, int32_t device)
{
	struct {
		int32_t version, profile_id, id;
		uint8_t uuid[37];
		int32_t domain, bus, device, function;
		char profile[100], name[100], file[100];
		uint32_t quota[2];
		uint64_t memory[2];
		uint32_t reserved[128];
	} r;

	if (!fits(to))
		return BAD_VERSION;
	if (place(device) != 2)
		return NOT_SUPPORTED;
	if (*count < 1) {
		*count = 1;
		return NO_SPACE;
	}
	memset(&r, 0xff, sizeof(r));
	write_uuid(r.uuid, 0x20);
	snprintf(r.profile, sizeof(r.profile), "12.000m.78.784gb");
	snprintf(r.file, sizeof(r.file), "/dev/cambricon-caps/cap_dev2_mi1");
	memcpy(to, &r, sizeof(r));
	*count = 1;
	return 0;
}
