/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that somebody has cut into parts: each part is an accelerator. */
#ifndef TIDE_DEVICE_PARTS_H
#define TIDE_DEVICE_PARTS_H

#include "common/device/find.h"
#include "common/device/root.h"

/*
 * Put the parts in the place of the devices that have any, by their device
 * files and the family's list below the root.  The numbers of the devices are
 * known.  What is broken becomes a problem.  -1 with ENOMEM.
 */
int tide_parts_split(const struct tide_root *root,
		     const struct tide_table *table, struct tide_accels *accels,
		     struct tide_problems *problems);

/*
 * Somebody else tells the profile of a part that is untold: its type is what
 * the table calls that, else both names in one, and its share the table's.  -1
 * with EINVAL when the profile is no name for a type, and ENOMEM.
 */
int tide_part_told(const struct tide_table *table, struct tide_accel *part,
		   const char *profile);

#endif
