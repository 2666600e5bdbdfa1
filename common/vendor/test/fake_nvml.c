/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synthetic stand-in for libnvidia-ml: three GPUs and NVLink in a row. */
#include "common/vendor/test/fake.h"

enum {
	DEVICES = 3,
	LOST = 15,
};

struct fake_pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

int nvmlInit_v2(void);
const char *nvmlErrorString(int rc);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPciInfo_v3(void *device, struct fake_pci *pci);
int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetRemappedRows(void *device, unsigned *correctable,
			      unsigned *uncorrectable, unsigned *pending,
			      unsigned *failed);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
					struct fake_pci *pci);

static char devices[DEVICES];

static unsigned place(const void *device)
{
	return (unsigned)((const char *)device - devices);
}

static int lost(const void *device)
{
	return fake_is("fault") && place(device) == 2;
}

static void write_pci(struct fake_pci *pci, unsigned device)
{
	memset(pci, 0xff, sizeof(*pci));
	pci->domain = pci->device = 0;
	pci->bus = 0x34 + device;
}

EXPORT int nvmlInit_v2(void)
{
	fake_noise();
	return fake_is("refuse") ? 18 : 0;
}

EXPORT const char *nvmlErrorString(int rc)
{
	return rc == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	snprintf(text, size, "550.54.15");
	return 0;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = DEVICES;
	return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &devices[index];
	return 0;
}

EXPORT int nvmlDeviceGetPciInfo_v3(void *device, struct fake_pci *pci)
{
	write_pci(pci, place(device));
	return 0;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	snprintf(text, size, "GPU-%u", place(device));
	return 0;
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory)
{
	if (lost(device))
		return LOST;
	memory[0] = 80ull << 30;
	memory[1] = 79ull << 30;
	memory[2] = 1ull << 30;
	return 0;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	*milliwatts = 70600;
	return lost(device) ? LOST : 0;
}

EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates)
{
	rates[0] = 7;
	rates[1] = 99;
	return lost(device) ? LOST : 0;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
	*degrees = sensor ? 0 : 31;
	return lost(device) ? LOST : 0;
}

EXPORT int nvmlDeviceGetRemappedRows(void *device, unsigned *correctable,
				     unsigned *uncorrectable, unsigned *pending,
				     unsigned *failed)
{
	fake_act(place(device));
	*correctable = *uncorrectable = *failed = 0;
	*pending = fake_is("fault") && place(device) == 1;
	return lost(device) ? LOST : 0;
}

EXPORT int nvmlDeviceGetNvLinkState(void *device, unsigned link,
				    unsigned *active)
{
	*active = link == 0 && place(device) < 2;
	return 0;
}

EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
					       struct fake_pci *pci)
{
	(void)link;
	write_pci(pci, place(device) + 1);
	return 0;
}
