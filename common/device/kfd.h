/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's driver of AMD's and Hygon's devices, KFD, says of links. */
#ifndef TIDE_DEVICE_KFD_H
#define TIDE_DEVICE_KFD_H

#include "common/device/find.h"

/*
 * How wide the direct links (XGMI) between these accelerators are, into link, a
 * row each, in units of the narrowest: 0 where there is none.  True when there
 * is any.
 */
bool tide_kfd_links(const struct tide_root *root,
		    const struct tide_accel *accel, size_t count,
		    uint64_t *link);

/* The value of "key value" in a list of such lines; -1. */
long tide_kfd_property(const char *text, const char *key);

#define TIDE_KFD_FOLDER "sys/class/kfd/kfd/topology/nodes"

#endif
