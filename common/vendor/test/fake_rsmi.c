/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic stand-in for librocm_smi64 as Hygon's is: the four cards of
 * tests/data/devices/dcu.tree.
 */
#include <stdint.h>

#include "common/vendor/test/fake.h"

enum {
	DEVICES = 4,
};

static const uint64_t buses[DEVICES] = {0x33, 0x36, 0xa3, 0xa6};

int rsmi_init(uint64_t flags);
int rsmi_version_get(uint32_t *version);
int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id);
int rsmi_dev_unique_id_get(uint32_t device, uint64_t *id);
int rsmi_dev_memory_total_get(uint32_t device, int type, uint64_t *bytes);
int rsmi_dev_memory_usage_get(uint32_t device, int type, uint64_t *bytes);
int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent);
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *power);
int rsmi_topo_numa_affinity_get(uint32_t device, int32_t *node);
int rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops,
			    int *type);

EXPORT int rsmi_init(uint64_t flags)
{
	fake_noise();
	return fake_is("refuse") || flags ? 8 : 0;
}

EXPORT int rsmi_version_get(uint32_t *version)
{
	version[0] = 2;
	version[1] = 8;
	version[2] = 0;
	return 0;
}

EXPORT int rsmi_num_monitor_devices(uint32_t *count)
{
	*count = fake_is("less") ? DEVICES - 1 : DEVICES;
	return 0;
}

EXPORT int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id)
{
	*id = buses[device] << 8;
	return 0;
}

EXPORT int rsmi_dev_unique_id_get(uint32_t device, uint64_t *id)
{
	fake_act(device);
	*id = device ? 0xabc0 + device : 0;
	return 0;
}

EXPORT int rsmi_dev_memory_total_get(uint32_t device, int type, uint64_t *bytes)
{
	(void)device;
	*bytes = type ? 1 : 64ull << 30;
	return 0;
}

EXPORT int rsmi_dev_memory_usage_get(uint32_t device, int type, uint64_t *bytes)
{
	(void)device;
	*bytes = type ? 1 : 2ull << 30;
	return 0;
}

EXPORT int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent)
{
	*percent = device;
	return 0;
}

EXPORT int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor,
				  uint64_t *power)
{
	(void)device;
	*power = sensor ? 0 : 90400000;
	return 0;
}

EXPORT int rsmi_topo_numa_affinity_get(uint32_t device, int32_t *node)
{
	/* the last one is not where the kernel says */
	*node = device == 2;
	return 0;
}

EXPORT int rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops,
				   int *type)
{
	*hops = 1;
	*type = from / 2 == to / 2 ? 2 : 1;
	return 0;
}
