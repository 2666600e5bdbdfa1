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
