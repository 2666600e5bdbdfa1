/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI functions out of sysfs: see pci.h. */
#include "config.h"

#include "common/device/pci.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hexadecimal digits, min to max of them, and the character behind. */
static bool take_hex(const char **cursor, int min, int max, char end,
		     uint32_t *ret_value)
{
	uint32_t value = 0;
	int digits = 0;

	while (isxdigit((unsigned char)**cursor) && digits < max) {
		int c = tolower((unsigned char)*(*cursor)++);

		value = value * 16 +
			(uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
		digits++;
	}
	if (digits < min || **cursor != end)
		return false;
	*cursor += end != '\0';
	*ret_value = value;
	return true;
}

int tide_pci_parse(const char *name, struct tide_pci *ret_pci)
{
	uint32_t domain, bus, dev, fn;

	if (!take_hex(&name, 4, 8, ':', &domain) ||
	    !take_hex(&name, 2, 2, ':', &bus) ||
	    !take_hex(&name, 2, 2, '.', &dev) ||
	    !take_hex(&name, 1, 1, '\0', &fn) || dev > 31 || fn > 7) {
		errno = EINVAL;
		return -1;
	}
	ret_pci->domain = domain;
	ret_pci->bus = (uint8_t)bus;
	ret_pci->dev = (uint8_t)dev;
	ret_pci->fn = (uint8_t)fn;
	tide_pci_name(ret_pci);
	return 0;
}

void tide_pci_name(struct tide_pci *pci)
{
	snprintf(pci->name, sizeof(pci->name), "%04x:%02x:%02x.%x", pci->domain,
		 pci->bus, pci->dev, pci->fn);
}

int tide_pci_cmp(const void *a, const void *b)
{
	const struct tide_pci *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->bus != y->bus)
		return x->bus < y->bus ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->fn > y->fn) - (x->fn < y->fn);
}

/* An attribute of the form 0x1d94; digits is how many there are. */
static int read_hex(const struct tide_root *root, const struct tide_pci *pci,
		    const char *name, int digits, uint32_t *ret_value,
		    struct tide_problems *problems)
{
	char path[sizeof(TIDE_PCI_FOLDER) + 64];
	struct tide_err err;
	const char *cursor;
	char *text = NULL;
	bool good;

	snprintf(path, sizeof(path), TIDE_PCI_FOLDER "/%s/%s", pci->name, name);
	if (tide_root_read(root, path, &text, &err))
		return tide_problems_add(problems, root->name, 0, "%s",
					 err.text);
	cursor = text;
	good = !strncmp(cursor, "0x", 2);
	cursor += good ? 2 : 0;
	good = good && take_hex(&cursor, digits, digits, '\0', ret_value);
	if (!good) {
		text[strcspn(text, "\n")] = '\0';
		tide_problems_add(
			problems, root->name, 0,
			"'%s' holds '%.32s': a number such as 0x%0*x is wanted",
			path, text, digits, 0x12);
	}
	free(text);
	return good ? 0 : -1;
}

static int read_function(const struct tide_root *root, struct tide_pci *pci,
			 struct tide_problems *problems)
{
	char path[sizeof(TIDE_PCI_FOLDER) + 64];
	uint32_t vendor = 0, device = 0, class = 0;

	if (read_hex(root, pci, "vendor", 4, &vendor, problems) ||
	    read_hex(root, pci, "device", 4, &device, problems) ||
	    read_hex(root, pci, "class", 6, &class, problems))
		return -1;
	pci->vendor = (uint16_t)vendor;
	pci->device = (uint16_t)device;
	pci->class = (uint16_t)(class >> 8);
	snprintf(path, sizeof(path), TIDE_PCI_FOLDER "/%s/physfn", pci->name);
	pci->vf = tide_root_has(root, path);
	return 0;
}

int tide_pci_list(const struct tide_root *root, struct tide_pci **ret_list,
		  size_t *ret_count, struct tide_problems *problems,
		  struct tide_err *err)
{
	struct tide_pci *list;
	char **names = NULL;
	size_t n = 0, count = 0;
	bool lost;

	if (tide_root_list(root, TIDE_PCI_FOLDER, &names, &n, err))
		return -1;
	list = calloc(n + 1, sizeof(*list));
	lost = !list;
	for (size_t i = 0; i < n; i++) {
		if (!lost && tide_pci_parse(names[i], &list[count]))
			tide_problems_add(problems, root->name, 0,
					  "'" TIDE_PCI_FOLDER
					  "/%s' is no PCI address",
					  names[i]);
		else if (!lost && !read_function(root, &list[count], problems))
			count++;
		else
			lost |= errno == ENOMEM;
		free(names[i]);
	}
	free(names);
	if (lost) {
		free(list);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	qsort(list, count, sizeof(*list), tide_pci_cmp);
	*ret_list = list;
	*ret_count = count;
	return 0;
}
