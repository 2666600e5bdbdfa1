/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine tells of one PCI function that is an accelerator, or several.
 */
#ifndef TIDE_DEVICE_DETAIL_H
#define TIDE_DEVICE_DETAIL_H

#include "common/device/table.h"
#include "common/device/topology.h"

/* Accelerators of one function, at most. */
#define TIDE_DETAIL_MAX 64

/* Numbers are -1 where nobody tells; texts NULL. */
struct tide_detail {
	size_t count; /* accelerators, 1 at least */
	int number[TIDE_DETAIL_MAX];
	int card[TIDE_DETAIL_MAX];
	int render[TIDE_DETAIL_MAX];
	char *type;
	char *board;
	char *mode; /* how it is cut into parts, NULL: not at all */
	char *path; /* the function's place in sysfs */
};

/*
 * Ask the driver's files below the root (NULL: there is none) and the topology.
 * What is broken becomes a problem.  -1 with ENOMEM.
 */
int tide_detail(const struct tide_root *root, struct tide_topology *topology,
		const struct tide_family *family,
		const struct tide_model *model, const struct tide_pci *pci,
		struct tide_detail *ret_detail, struct tide_problems *problems,
		struct tide_err *err);

void tide_detail_release(struct tide_detail *detail);

#endif
