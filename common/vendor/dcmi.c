/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCMI, Huawei's management library for Ascend, addressed by card and device
 * (the calls without a version in their name).  Ascend 950 answers only to
 * another set, dcmiv2_*, which is not asked here.  Wants root.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/vendor/impl.h"

enum {
	CARDS = 64,
	CODES = 128,
	AI_CORE = 2, /* of dcmi_get_device_utilization_rate() */
	VDIE = 1,
	HCCS = 3, /* of dcmi_get_topo_info_by_device_id() */
};

struct pci {
	unsigned vendor, subvendor, device_id, subdevice;
	int domain;
	unsigned bus, device, function;
	unsigned char reserved[32];
};

struct hbm {
	unsigned long long size; /* MB */
	unsigned frequency;
	unsigned long long used;
	int temperature;
	unsigned bandwidth;
};

struct ddr {
	unsigned long long size, available; /* MB */
	unsigned char rest[128];
};

struct die {
	unsigned part[5];
	unsigned spare[11];
};

struct functions {
	int (*init)(void);
	int (*version)(char *text, int size);
	int (*cards)(int *count, int *list, int size);
	int (*count)(int card, int *count);
	int (*pci)(int card, int device, struct pci *pci);
	int (*logic)(int *logic, int card, int device);
	int (*physical)(unsigned logic, unsigned *physical);
	int (*hbm)(int card, int device, struct hbm *hbm);
	int (*ddr)(int card, int device, struct ddr *ddr);
	int (*utilization)(int card, int device, int of, unsigned *rate);
	int (*power)(int card, int device, int *tenths);
	int (*temperature)(int card, int device, int *degrees);
	int (*health)(int card, int device, unsigned *health);
	int (*errors)(int card, int device, int *count, unsigned *list,
		      unsigned size);
	int (*die)(int card, int device, int which, struct die *die);
	int (*cpus)(int card, int device, char *text, int *size);
	int (*topology)(int card, int device, int card2, int device2,
			int *relation);
};

#define SYMBOL(name, field, needed)                             \
	{                                                       \
		name, offsetof(struct functions, field), needed \
	}

static const struct tide_vendor_symbol symbols[] = {
	SYMBOL("dcmi_init", init, true),
	SYMBOL("dcmi_get_dcmi_version", version, false),
	SYMBOL("dcmi_get_card_list", cards, true),
	SYMBOL("dcmi_get_device_num_in_card", count, true),
	SYMBOL("dcmi_get_device_pcie_info_v2", pci, true),
	SYMBOL("dcmi_get_device_logic_id", logic, false),
	SYMBOL("dcmi_get_device_phyid_from_logicid", physical, false),
	SYMBOL("dcmi_get_device_hbm_info", hbm, false),
	SYMBOL("dcmi_get_device_memory_info_v3", ddr, false),
	SYMBOL("dcmi_get_device_utilization_rate", utilization, false),
	SYMBOL("dcmi_get_device_power_info", power, false),
	SYMBOL("dcmi_get_device_temperature", temperature, false),
	SYMBOL("dcmi_get_device_health", health, false),
	SYMBOL("dcmi_get_device_errorcode_v2", errors, false),
	SYMBOL("dcmi_get_device_die_v2", die, false),
	SYMBOL("dcmi_get_affinity_cpu_info_by_device_id", cpus, false),
	SYMBOL("dcmi_get_topo_info_by_device_id", topology, false),
};

struct place {
	int card, device;
	char pci[24]; /* "" when it was not told */
};

struct session {
	const struct tide_vendor_lib *lib;
	struct functions f;
	struct place place[TIDE_VENDOR_DEVICES];
	size_t count;
};

static void ask_uuid(const struct functions *f, const struct place *at,
		     struct tide_vendor_device *out)
{
	struct die die = {0};

	if (!f->die || f->die(at->card, at->device, VDIE, &die))
		return;
	snprintf(out->uuid, sizeof(out->uuid), "%08X-%08X-%08X-%08X-%08X",
		 die.part[0], die.part[1], die.part[2], die.part[3],
		 die.part[4]);
}

/* The number of /dev/davinciN is the physical one. */
static void ask_number(const struct functions *f, const struct place *at,
		       struct tide_vendor_device *out)
{
	unsigned physical;
	int logic;

	if (f->logic && f->physical &&
	    !f->logic(&logic, at->card, at->device) && logic >= 0 &&
	    !f->physical((unsigned)logic, &physical))
		out->number = physical;
}

static void ask_health(const struct functions *f, const struct place *at,
		       struct tide_vendor_device *out)
{
	static const char *const levels[] = {"", "minor", "major", "critical"};
	unsigned health, codes[CODES] = {0};
	char code[24] = "";
	int count = 0;

	if (!f->health || f->health(at->card, at->device, &health))
		return;
	out->health = TIDE_HEALTH_OK;
	if (!health)
		return;
	if (f->errors &&
	    !f->errors(at->card, at->device, &count, codes, CODES) && count > 0)
		snprintf(code, sizeof(code), ", error 0x%08X", codes[0]);
	if (health < sizeof(levels) / sizeof(*levels))
		tide_vendor_fault(out,
				  health == 1 ? TIDE_HEALTH_WARNING
					      : TIDE_HEALTH_FAULT,
				  "%s alarm%s", levels[health], code);
	else
		tide_vendor_fault(out, TIDE_HEALTH_FAULT,
				  "the device is not there or not started%s",
				  code);
}

static void ask_numbers(const struct functions *f, const struct place *at,
			struct tide_vendor_device *out)
{
	struct hbm hbm = {0};
	struct ddr ddr = {0};
	unsigned rate;
	int value, size = sizeof(out->cpus);

	if (f->hbm && !f->hbm(at->card, at->device, &hbm) && hbm.size) {
		out->memory = (int64_t)hbm.size;
		out->memory_used = (int64_t)hbm.used;
	} else if (f->ddr && !f->ddr(at->card, at->device, &ddr) && ddr.size) {
		out->memory = (int64_t)ddr.size;
		out->memory_used = (int64_t)(ddr.size - ddr.available);
	}
	if (f->utilization &&
	    !f->utilization(at->card, at->device, AI_CORE, &rate) &&
	    rate <= 100)
		out->utilization = rate;
	if (f->power && !f->power(at->card, at->device, &value) && value >= 0)
		out->power = (value + 5) / 10;
	if (f->temperature && !f->temperature(at->card, at->device, &value))
		out->temperature = value;
	if (f->cpus && f->cpus(at->card, at->device, out->cpus, &size))
		out->cpus[0] = '\0';
	out->cpus[sizeof(out->cpus) - 1] = '\0';
	tide_err_clean(out->cpus);
}

static void ask_links(const struct session *s, size_t i,
		      struct tide_vendor_device *out)
{
	const struct place *at = &s->place[i];

	for (size_t j = 0; s->f.topology && j < s->count; j++) {
		const struct place *to = &s->place[j];
		int relation = 0;

		if (i != j &&
		    !s->f.topology(at->card, at->device, to->card, to->device,
				   &relation) &&
		    relation == HCCS)
			tide_vendor_add_peer(out, to->pci);
	}
}

static void ask_device(const struct session *s, size_t i)
{
	const struct tide_vendor_sink *sink = s->lib->sink;
	struct tide_vendor_device out;

	tide_vendor_clear(&out);
	memcpy(out.pci, s->place[i].pci, sizeof(out.pci));
	sink->asking(sink->arg, out.pci);
	ask_uuid(&s->f, &s->place[i], &out);
	ask_number(&s->f, &s->place[i], &out);
	ask_health(&s->f, &s->place[i], &out);
	ask_numbers(&s->f, &s->place[i], &out);
	ask_links(s, i, &out);
	sink->told(sink->arg, &out);
}

/* Where devices are; links need all of them. */
static int list_places(struct session *s, struct tide_err *err)
{
	int n_cards = 0, cards[CARDS] = {0}, rc, n;

	rc = s->f.cards(&n_cards, cards, CARDS);
	if (rc)
		return tide_err_set(err, EIO, "it lists no cards: error %d",
				    rc);
	for (int i = 0; i < n_cards && i < CARDS; i++) {
		if (s->f.count(cards[i], &n))
			continue;
		for (int d = 0; d < n && s->count < TIDE_VENDOR_DEVICES; d++) {
			struct place *place = &s->place[s->count++];
			struct tide_vendor_device named = {0};
			struct pci pci = {0};

			place->card = cards[i];
			place->device = d;
			if (s->f.pci(cards[i], d, &pci))
				continue;
			tide_vendor_pci(&named, (unsigned)pci.domain, pci.bus,
					pci.device, pci.function);
			memcpy(place->pci, named.pci, sizeof(place->pci));
		}
	}
	return 0;
}

int tide_vendor_dcmi(const struct tide_vendor_lib *lib, struct tide_err *err)
{
	struct session s = {.lib = lib};
	char version[64] = "";
	int rc;

	if (tide_vendor_symbols(lib, symbols,
				sizeof(symbols) / sizeof(*symbols), &s.f, err))
		return -1;
	rc = s.f.init();
	if (rc)
		return tide_err_set(err, EIO, "it does not start: error %d",
				    rc);
	if (s.f.version && s.f.version(version, sizeof(version) - 1))
		version[0] = '\0';
	tide_err_clean(version);
	lib->sink->library(lib->sink->arg, lib->path, version);
	if (list_places(&s, err))
		return -1;
	for (size_t i = 0; i < s.count; i++)
		ask_device(&s, i);
	return 0;
}
