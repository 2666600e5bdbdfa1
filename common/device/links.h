/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well accelerators of a machine talk to each other, as Slurm's Links=
 * wants it: a number for each of the same GRES, more is better, 0 no link of
 * their own, -1 itself.
 */
#ifndef TIDE_DEVICE_LINKS_H
#define TIDE_DEVICE_LINKS_H

#include "common/device/find.h"

/*
 * Fill in link of each.  Where the topology has bandwidths they count, in units
 * of the least one; else 2 for the same card and 1 for the same PCI switch.
 * NULL where no two of a GRES have a link.  -1 with ENOMEM.
 */
int tide_links_make(struct tide_accels *accels, struct tide_topology *topology);

#endif
