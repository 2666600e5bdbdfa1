/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libraries told, into what was found: see answer.h. */
#include "config.h"

#include "common/vendor/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/links.h"
#include "common/device/parts.h"

int tide_vendor_name_parts(const struct tide_table *table,
			   const struct tide_vendor_answers *answers,
			   struct tide_accels *accels,
			   struct tide_problems *problems)
{
	for (size_t i = 0; i < accels->count; i++) {
		struct tide_accel *accel = &accels->accel[i];
		const struct tide_vendor_part *part =
			tide_vendor_part_of(answers, accel);

		if (!part || !accel->untold ||
		    !tide_part_told(table, accel, part->profile))
			continue;
		if (errno == ENOMEM)
			return -1;
		tide_problems_add(
			problems,
			tide_vendor_answer_of(answers, accel->family)->path, 0,
			"the profile of %s is '%s', it says, which cannot be a type of Slurm",
			accel->file[0], part->profile);
	}
	return 0;
}

static int give_near(const struct tide_vendor_device *device,
		     struct tide_topology *topology, struct tide_accel *accel,
		     const char *path, struct tide_problems *problems)
{
	const char *cpus = *device->cpus ? device->cpus : NULL;
	struct tide_near near;
	struct tide_err err;

	if (tide_topology_near(topology, &accel->pci, cpus, (int)device->numa,
			       &near, &err)) {
		if (errno == ENOMEM)
			return -1;
		tide_problems_add(problems, path, 0, "CPUs of %s: %s",
				  accel->pci.name, err.text);
		return 0;
	}
	tide_near_release(&accel->near);
	accel->near = near;
	return 0;
}

/* Where the kernel knows no place. */
static int give_places(const struct tide_vendor_answers *answers,
		       struct tide_topology *topology,
		       struct tide_accels *accels,
		       struct tide_problems *problems)
{
	for (size_t i = 0; i < accels->count; i++) {
		struct tide_accel *accel = &accels->accel[i];
		const struct tide_vendor_device *device =
			tide_vendor_device_of(answers, accel);

		if (!device || accel->near.numa >= 0 || accel->near.cores ||
		    (device->numa < 0 && !*device->cpus))
			continue;
		if (give_near(
			    device, topology, accel,
			    tide_vendor_answer_of(answers, accel->family)->path,
			    problems))
			return -1;
	}
	return 0;
}

/* Of the devices of one GRES, where the library tells them of all. */
static int give_links(const struct tide_vendor_answers *answers,
		      struct tide_accels *accels, size_t first, size_t count)
{
	int **link;
	size_t told = 0;

	if (!tide_links_wanted(&accels->accel[first], count))
		return 0;
	link = calloc(count, sizeof(*link));
	if (!link)
		return -1;
	for (; told < count; told++) {
		link[told] = tide_vendor_links(answers, accels, first + told);
		if (!link[told])
			break;
	}
	for (size_t i = 0; i < told; i++) {
		if (told == count) {
			free(accels->accel[first + i].link);
			accels->accel[first + i].link = link[i];
		} else {
			free(link[i]);
		}
	}
	if (told == count)
		tide_links_grade(&accels->accel[first], count);
	free(link);
	return 0;
}

int tide_vendor_apply(const struct tide_where *where,
		      const struct tide_vendor_answers *answers,
		      struct tide_accels *accels,
		      struct tide_problems *problems)
{
	struct tide_topology *topology = NULL;
	struct tide_root root = {.fd = -1};
	struct tide_err err;
	int rc = 0;

	/* what is wrong with it was said when they were found */
	if (!where->root || !tide_root_open(&root, where->root, &err))
		tide_topology_load(&root, where->xml, where->socket, &topology,
				   &err);
	rc = give_places(answers, topology, accels, problems);
	for (size_t i = 0; !rc && i < accels->count;) {
		size_t count = tide_accels_same_gres(accels, i);

		rc = give_links(answers, accels, i, count);
		i += count;
	}
	tide_topology_destroy(topology);
	if (root.fd >= 0)
		tide_root_close(&root);
	if (rc)
		errno = ENOMEM;
	return rc;
}
