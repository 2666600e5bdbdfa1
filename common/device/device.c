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

int tide_device_list(const uint32_t *numbers, size_t count, char **ret_text,
		     struct tide_err *err)
{
	return tide_device_visible(numbers, count, false, ret_text, err);
}

int tide_device_visible(const uint32_t *numbers, size_t count, bool constrained,
			char **ret_text, struct tide_err *err)
{
	size_t size = count * sizeof("4294967295,") + 1, used = 0, i;
	uint32_t *copy = sorted(numbers, count, err);
	char *text;

	if (!copy)
		return -1;
	text = calloc(1, size);
	if (!text) {
		free(copy);
		return tide_err_set(err, ENOMEM,
				    "cannot list devices: no memory");
	}
	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u",
					 i ? "," : "",
					 constrained ? (uint32_t)i : copy[i]);
	free(copy);
	*ret_text = text;
	return 0;
}
