/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI functions as sysfs lists them below a root. */
#ifndef TIDE_DEVICE_PCI_H
#define TIDE_DEVICE_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/conf/problems.h"
#include "common/device/root.h"
#include "common/util/err.h"

/* The folder of functions, relative to the root. */
#define TIDE_PCI_FOLDER "sys/bus/pci/devices"

struct tide_pci {
	uint32_t domain;
	uint8_t bus, dev, fn;
	uint16_t vendor, device, class;
	bool vf;       /* a virtual function of another one */
	char name[24]; /* 0000:3d:00.0 */
};

/* Read "0000:3d:00.0" (a domain may have up to 8 digits) into the address. */
int tide_pci_parse(const char *name, struct tide_pci *ret_pci);

/* Write the name from the address, as sysfs does. */
void tide_pci_name(struct tide_pci *pci);

/* By address. */
int tide_pci_cmp(const void *a, const void *b);

/*
 * All functions in order of address; the caller frees the list.  One that
 * cannot be read becomes a problem and is left out.  -1 with ENOMEM, or errno
 * when the folder is there and cannot be read; no folder: none.
 */
int tide_pci_list(const struct tide_root *root, struct tide_pci **ret_list,
		  size_t *ret_count, struct tide_problems *problems,
		  struct tide_err *err);

#endif
