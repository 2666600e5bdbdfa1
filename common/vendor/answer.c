/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries' answers beside what was found without them: see answer.h. */
#include "config.h"

#include "common/vendor/answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void tide_vendor_answers_release(struct tide_vendor_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++) {
		free(answers->answer[i].device);
		free(answers->answer[i].part);
	}
	free(answers->answer);
	memset(answers, 0, sizeof(*answers));
}

const struct tide_vendor_answer *
tide_vendor_answer_of(const struct tide_vendor_answers *answers,
		      const struct tide_family *family)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->answer[i].family == family)
			return &answers->answer[i];
	return NULL;
}

/*
 * Of several devices of a function the one with the number of the device file;
 * where the library does not tell it, both are in the same order.
 */
static bool is_device(const struct tide_vendor_device *device,
		      const struct tide_accel *accel, int sub)
{
	return device->number < 0 || accel->guessed
		       ? sub == accel->sub
		       : device->number == accel->number;
}

/* What the library told of the function: the first, and how many. */
static const struct tide_vendor_device *
first_of(const struct tide_vendor_answer *answer, const char *pci,
	 size_t *ret_count)
{
	const struct tide_vendor_device *first = NULL;

	*ret_count = 0;
	for (size_t i = 0; answer && i < answer->count; i++) {
		if (strcasecmp(answer->device[i].pci, pci))
			continue;
		if (!first)
			first = &answer->device[i];
		++*ret_count;
	}
	return first;
}

const struct tide_vendor_device *
tide_vendor_device_of(const struct tide_vendor_answers *answers,
		      const struct tide_accel *accel)
{
	const struct tide_vendor_answer *answer =
		tide_vendor_answer_of(answers, accel->family);
	const struct tide_vendor_device *first;
	size_t count;
	int sub = 0;

	first = first_of(answer, accel->pci.name, &count);
	/* a partition of the function, of which the library knows no parts */
	if (accel->whole && !accel->carved && count == 1)
		return first;
	for (size_t i = 0; answer && i < answer->count; i++)
		if (!strcasecmp(answer->device[i].pci, accel->pci.name) &&
		    is_device(&answer->device[i], accel, sub++))
			return &answer->device[i];
	return NULL;
}

const struct tide_vendor_device *
tide_vendor_own_device(const struct tide_vendor_answers *answers,
		       const struct tide_accel *accel)
{
	size_t count;

	if (accel->whole) {
		first_of(tide_vendor_answer_of(answers, accel->family),
			 accel->pci.name, &count);
		if (accel->carved || count < 2)
			return NULL;
	}
	return tide_vendor_device_of(answers, accel);
}

const struct tide_vendor_part *
tide_vendor_part_of(const struct tide_vendor_answers *answers,
		    const struct tide_accel *accel)
{
	const struct tide_vendor_answer *answer =
		tide_vendor_answer_of(answers, accel->family);

	for (size_t i = 0;
	     answer && accel->carved && accel->n_files && i < answer->n_parts;
	     i++)
		if (!strcmp(answer->part[i].file, accel->file[0]))
			return &answer->part[i];
	return NULL;
}

static const struct tide_accel *accel_of(const struct tide_accels *accels,
					 const struct tide_family *family,
					 const char *pci)
{
	for (size_t i = 0; i < accels->count; i++)
		if (accels->accel[i].family == family &&
		    !strcasecmp(accels->accel[i].pci.name, pci))
			return &accels->accel[i];
	return NULL;
}

/* Devices that the library knows and the kernel does not. */
static void compare_devices(const struct tide_vendor_answer *answer,
			    const struct tide_accels *accels,
			    struct tide_problems *problems)
{
	for (size_t i = 0; i < answer->count; i++) {
		const char *pci = answer->device[i].pci;

		if (*pci && !accel_of(accels, answer->family, pci))
			tide_problems_add(
				problems, answer->path, 0,
				"it tells of %s, which is not among the PCI devices of family %s",
				pci, answer->family->name);
	}
}

static void compare_numa(const char *path, const struct tide_accel *accel,
			 const struct tide_vendor_device *device,
			 struct tide_problems *problems)
{
	const char *pci = accel->pci.name;

	if (device->numa >= 0 && accel->near.numa >= 0 &&
	    device->numa != accel->near.numa)
		tide_problems_add(
			problems, path, 0,
			"%s is near NUMA node %d, it says, the kernel says %d: the kernel is believed",
			pci, (int)device->numa, accel->near.numa);
	if (accel->near.numa >= 0 || accel->near.cores)
		return;
	if (device->numa >= 0)
		tide_problems_add(
			problems, path, 0,
			"%s is near NUMA node %d, it says, the kernel does not tell: --library believes it",
			pci, (int)device->numa);
	else if (*device->cpus)
		tide_problems_add(
			problems, path, 0,
			"%s is near CPUs %s, it says, the kernel does not tell: --library believes it",
			pci, device->cpus);
}

void tide_vendor_compare(const struct tide_vendor_answers *answers,
			 const struct tide_accels *accels,
			 struct tide_problems *problems)
{
	for (size_t i = 0; i < answers->count; i++) {
		const struct tide_vendor_answer *answer = &answers->answer[i];

		if (*answer->text && answer->outcome != TIDE_VENDOR_ABSENT)
			tide_problems_add(problems, answer->path, 0, "%s",
					  answer->text);
		compare_devices(answer, accels, problems);
	}
	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_accel *accel = &accels->accel[i];
		const struct tide_vendor_answer *answer =
			tide_vendor_answer_of(answers, accel->family);
		const struct tide_vendor_device *device =
			tide_vendor_device_of(answers, accel);

		if (device)
			compare_numa(answer->path, accel, device, problems);
		else if (answer && answer->outcome == TIDE_VENDOR_ANSWERED)
			tide_problems_add(
				problems, answer->path, 0,
				"it does not tell of %s, which is a %s among the PCI devices",
				accel->pci.name, accel->type);
	}
}

int *tide_vendor_links(const struct tide_vendor_answers *answers,
		       const struct tide_accels *accels, size_t index)
{
	const struct tide_accel *accel = &accels->accel[index];
	const struct tide_vendor_device *from =
		tide_vendor_device_of(answers, accel);
	size_t first = index, count;
	bool any = false;
	int *links;

	if (!from || !from->n_peers)
		return NULL;
	while (first && !strcmp(accels->accel[first - 1].family->gres,
				accel->family->gres))
		first--;
	count = tide_accels_same_gres(accels, first);
	links = calloc(count, sizeof(*links));
	for (size_t i = 0; links && i < count; i++) {
		const struct tide_vendor_device *to = tide_vendor_device_of(
			answers, &accels->accel[first + i]);

		for (size_t p = 0; to && p < from->n_peers; p++)
			if (!strcasecmp(from->peer[p], to->pci) ||
			    (*to->uuid && !strcasecmp(from->peer[p], to->uuid)))
				links[i]++;
		if (first + i == index)
			links[i] = -1;
		any |= links[i] > 0;
	}
	/* they lead to a switch, or to other hosts */
	if (!any) {
		free(links);
		links = NULL;
	}
	return links;
}
