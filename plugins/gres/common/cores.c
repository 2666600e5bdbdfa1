/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cores near devices: see cores.h. */
#include "plugins/gres/common/cores.h"

#include "src/common/bitstring.h"

#include "compat/shape.h"

/* The cores of these CPUs; NULL when slurmd does not know them. */
static bitstr_t *cores_of(const char *cpus, const node_config_load_t *config)
{
	uint32_t count = tide_shape_sockets() * tide_shape_cores();
	bitstr_t *bits = count ? bit_alloc(count) : NULL;
	char *list = NULL;

	if (!bits || !config->xcpuinfo_mac_to_abs ||
	    config->xcpuinfo_mac_to_abs((char *)cpus, &list) || !list ||
	    bit_unfmt(bits, list))
		FREE_NULL_BITMAP(bits);
	xfree(list);
	return bits;
}

/* Make whole sockets of them; true when these are not all. */
static bool widen(bitstr_t *bits)
{
	uint32_t sockets = tide_shape_sockets(), cores = tide_shape_cores();
	uint32_t near = 0;

	for (uint32_t i = 0; i < sockets; i++) {
		bitoff_t first = (bitoff_t)i * cores, last = first + cores - 1;

		if (!bit_set_count_range(bits, (int32_t)first,
					 (int32_t)last + 1))
			continue;
		bit_nset(bits, first, last);
		near++;
	}
	return near && (near < sockets || sockets == 1);
}

/* Slurm's own bitmap of a record: CPUs of the operating system. */
static bitstr_t *cpus_of(const char *cores, uint32_t count)
{
	bitstr_t *bits = bit_alloc(count);
	char *cpus = tide_shape_cpus(cores);

	if (!cpus || bit_unfmt(bits, cpus))
		FREE_NULL_BITMAP(bits);
	xfree(cpus);
	return bits;
}

void tide_cores_give(gres_slurmd_conf_t *record, const char *cpus,
		     const node_config_load_t *config)
{
	bitstr_t *bits = cores_of(cpus, config);
	char *near = bits ? bit_fmt_full(bits) : NULL;

	if (!bits) {
		error("gres/%s: that CPUs %s are near %s is not used: slurmd does not know these CPUs",
		      record->name, cpus, record->file);
		return;
	}
	if (widen(bits)) {
		record->cpus = bit_fmt_full(bits);
		record->cpus_bitmap = cpus_of(record->cpus, config->cpu_cnt);
		if (xstrcmp(record->cpus, near))
			info("gres/%s: Cores=%s of %s are whole sockets, as Slurm takes no less: near it are %s",
			     record->name, record->cpus, record->file, near);
	}
	xfree(near);
	FREE_NULL_BITMAP(bits);
}

bool tide_cores_compare(const gres_slurmd_conf_t *record, const char *file,
			const char *cpus, const node_config_load_t *config)
{
	bitstr_t *near = cores_of(cpus, config);
	bitstr_t *hand = near ? bit_alloc(bit_size(near)) : NULL;
	char *list;
	bool far = false;

	if (hand && widen(near) && !bit_unfmt(hand, record->cpus) &&
	    !bit_super_set(hand, near)) {
		far = true;
		list = bit_fmt_full(near);
		error("gres/%s: gres.conf says Cores=%s of %s, found near it are %s: jobs get cores that are far from it; remedy: Cores=%s",
		      record->name, record->cpus, file, list, list);
		xfree(list);
	}
	FREE_NULL_BITMAP(near);
	FREE_NULL_BITMAP(hand);
	return far;
}
