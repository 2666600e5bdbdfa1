/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic stand-in for libdcmi: the cards of
 * tests/data/devices/npu310p.tree, of which the last has two chips behind one
 * function.
 */
#include "common/vendor/test/fake.h"

struct fake_pci {
	unsigned vendor, subvendor, id, subid;
	int domain;
	unsigned bus, device, function;
	unsigned char reserve[32];
};

struct fake_hbm {
	unsigned long long size;
	unsigned frequency;
	unsigned long long used;
	int temperature;
	unsigned bandwidth;
};

struct fake_ddr {
	unsigned long long size, available;
	unsigned frequency;
	unsigned long huge[3];
	unsigned used;
	unsigned char reserve[60];
};

int dcmi_init(void);
int dcmi_get_dcmi_version(char *text, int size);
int dcmi_get_card_list(int *count, int *list, int size);
int dcmi_get_device_num_in_card(int card, int *count);
int dcmi_get_device_pcie_info_v2(int card, int device, struct fake_pci *pci);
int dcmi_get_device_logic_id(int *logic, int card, int device);
int dcmi_get_device_phyid_from_logicid(unsigned logic, unsigned *physical);
int dcmi_get_device_hbm_info(int card, int device, struct fake_hbm *hbm);
int dcmi_get_device_memory_info_v3(int card, int device, struct fake_ddr *ddr);
int dcmi_get_device_utilization_rate(int card, int device, int type,
				     unsigned *rate);
int dcmi_get_device_power_info(int card, int device, int *tenths);
int dcmi_get_device_temperature(int card, int device, int *degrees);
int dcmi_get_device_health(int card, int device, unsigned *health);
int dcmi_get_device_errorcode_v2(int card, int device, int *count,
				 unsigned *list, unsigned size);
int dcmi_get_device_die_v2(int card, int device, int type, unsigned *die);
int dcmi_get_affinity_cpu_info_by_device_id(int card, int device, char *text,
					    int *size);
int dcmi_get_topo_info_by_device_id(int card, int device, int card2,
				    int device2, int *relation);

/* Cards 0, 2 and 5; the last has two devices. */
static int place(int card, int device)
{
	return card == 0 ? 0 : card == 2 ? 1 : 2 + device;
}

EXPORT int dcmi_init(void)
{
	fake_noise();
	return fake_is("refuse") ? -8005 : 0;
}

EXPORT int dcmi_get_dcmi_version(char *text, int size)
{
	snprintf(text, (size_t)size, "24.1.0");
	return 0;
}

EXPORT int dcmi_get_card_list(int *count, int *list, int size)
{
	if (size < 3)
		return -8001;
	*count = fake_is("less") ? 2 : 3;
	list[0] = 0;
	list[1] = 2;
	list[2] = 5;
	return 0;
}

EXPORT int dcmi_get_device_num_in_card(int card, int *count)
{
	*count = card == 5 ? 2 : 1;
	return 0;
}

EXPORT int dcmi_get_device_pcie_info_v2(int card, int device,
					struct fake_pci *pci)
{
	memset(pci, 0xff, sizeof(*pci));
	(void)device;
	pci->domain = 0;
	pci->bus = card == 0 ? 1 : card == 2 ? 2 : 0x82;
	pci->device = pci->function = 0;
	return 0;
}

EXPORT int dcmi_get_device_logic_id(int *logic, int card, int device)
{
	*logic = 10 + place(card, device);
	return 0;
}

EXPORT int dcmi_get_device_phyid_from_logicid(unsigned logic,
					      unsigned *physical)
{
	*physical = logic - 10;
	return 0;
}

EXPORT int dcmi_get_device_hbm_info(int card, int device, struct fake_hbm *hbm)
{
	(void)card;
	(void)device;
	(void)hbm;
	return -8255; /* a 310P has none */
}

EXPORT int dcmi_get_device_memory_info_v3(int card, int device,
					  struct fake_ddr *ddr)
{
	memset(ddr, 0xff, sizeof(*ddr));
	ddr->size = 21527;
	ddr->available = 20000 + (unsigned)place(card, device);
	return 0;
}

EXPORT int dcmi_get_device_utilization_rate(int card, int device, int type,
					    unsigned *rate)
{
	*rate = type == 2 ? 20u * (unsigned)place(card, device) : 99;
	return 0;
}

EXPORT int dcmi_get_device_power_info(int card, int device, int *tenths)
{
	(void)card;
	(void)device;
	*tenths = 726;
	return 0;
}

EXPORT int dcmi_get_device_temperature(int card, int device, int *degrees)
{
	(void)card;
	(void)device;
	*degrees = 44;
	return 0;
}

EXPORT int dcmi_get_device_health(int card, int device, unsigned *health)
{
	int at = place(card, device);

	fake_act((unsigned)at);
	*health = 0;
	if (fake_is("fault"))
		*health = at == 2 ? 3 : at == 1;
	return 0;
}

EXPORT int dcmi_get_device_errorcode_v2(int card, int device, int *count,
					unsigned *list, unsigned size)
{
	(void)card;
	(void)device;
	*count = 1;
	if (size)
		list[0] = 0x80e18005;
	return 0;
}

EXPORT int dcmi_get_device_die_v2(int card, int device, int type, unsigned *die)
{
	for (unsigned i = 0; i < 5; i++)
		die[i] = type == 1 ? 16 * (unsigned)place(card, device) + i : 0;
	return 0;
}

EXPORT int dcmi_get_affinity_cpu_info_by_device_id(int card, int device,
						   char *text, int *size)
{
	if (place(card, device))
		return -8255;
	snprintf(text, (size_t)*size, "0-3");
	return 0;
}

EXPORT int dcmi_get_topo_info_by_device_id(int card, int device, int card2,
					   int device2, int *relation)
{
	(void)device;
	(void)device2;
	*relation = card == card2 ? 3 : 1;
	return 0;
}
