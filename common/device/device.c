/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of device files and the lists made of them; see device.h.  Opens
 * nothing and knows no vendor.
 */
#include "config.h"

#include "common/device/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tide_device_number(const char *path, uint32_t *ret_number,
		       struct tide_err *err)
{
	size_t len = strlen(path), start = len;
	uint32_t number = 0;

	while (start && path[start - 1] >= '0' && path[start - 1] <= '9')
		start--;
	if (start == len)
		return tide_err_set(err, EINVAL,
				    "device file '%s' does not end in a number",
				    path);
	for (; start < len; start++) {
		number = number * 10 + (uint32_t)(path[start] - '0');
		if (number > TIDE_DEVICE_MAX)
			return tide_err_set(
				err, ERANGE,
				"number of device file '%s' is above %d", path,
				TIDE_DEVICE_MAX);
	}
	*ret_number = number;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* A sorted copy; NULL with errno when it cannot be had. */
static uint32_t *sorted(const uint32_t *numbers, size_t count,
			struct tide_err *err)
{
	uint32_t *copy = calloc(count + 1, sizeof(*copy));
	size_t i;

	if (!copy) {
		tide_err_set(err, ENOMEM, "cannot list devices: no memory");
		return NULL;
	}
	if (count)
		memcpy(copy, numbers, count * sizeof(*copy));
	qsort(copy, count, sizeof(*copy), compare);
	for (i = 1; i < count; i++) {
		if (copy[i] != copy[i - 1])
			continue;
		tide_err_set(err, EINVAL, "device %u is there twice", copy[i]);
		free(copy);
		errno = EINVAL;
		return NULL;
	}
	return copy;
}

/* Numbers in order as text. */
static int join(const uint32_t *numbers, size_t count, char **ret_text,
		struct tide_err *err)
{
	size_t size = count * sizeof("4294967295,") + 1, used = 0, i;
	char *text = calloc(1, size);

	if (!text)
		return tide_err_set(err, ENOMEM,
				    "cannot list devices: no memory");
	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u",
					 i ? "," : "", numbers[i]);
	*ret_text = text;
	return 0;
}

int tide_device_list(const uint32_t *numbers, size_t count, char **ret_text,
		     struct tide_err *err)
{
	uint32_t *copy = sorted(numbers, count, err);
	int rc;

	if (!copy)
		return -1;
	rc = join(copy, count, ret_text, err);
	free(copy);
	return rc;
}

/* Make each number its place in seen; both are sorted. */
static int to_places(uint32_t *numbers, size_t count, const uint32_t *seen,
		     size_t seen_count, struct tide_err *err)
{
	size_t place = 0, i;

	for (i = 0; i < count; i++) {
		while (place < seen_count && seen[place] < numbers[i])
			place++;
		if (place == seen_count || seen[place] != numbers[i])
			return tide_err_set(err, EINVAL,
					    "device %u cannot be opened",
					    numbers[i]);
		numbers[i] = (uint32_t)place;
	}
	return 0;
}

int tide_device_places(const uint32_t *numbers, size_t count,
		       const uint32_t *seen, size_t seen_count, char **ret_text,
		       struct tide_err *err)
{
	uint32_t *mine = sorted(numbers, count, err);
	uint32_t *all = mine ? sorted(seen, seen_count, err) : NULL;
	int rc = -1;

	if (all && !to_places(mine, count, all, seen_count, err))
		rc = join(mine, count, ret_text, err);
	free(all);
	free(mine);
	return rc;
}
