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
 * Fill in link of each.  Where the topology has bandwidths they count, else
 * those of KFD below the root (NULL: there is none), in units of the least one;
 * else 2 for the same card and 1 for the same PCI switch.  NULL where no two of
 * a GRES have a link.  -1 with ENOMEM.
 */
int tide_links_make(struct tide_accels *accels, const struct tide_root *root,
		    struct tide_topology *topology);

/*
 * Are links of these, all of one GRES, of use?  Not where parts are among them:
 * who asks for parts does not ask for what talks fast.  Nor of very many.
 */
bool tide_links_wanted(const struct tide_accel *accel, size_t count);

/*
 * Slurm begins with one device and adds those that are best linked to it, and
 * tells grades up to 4 apart.  Where some are linked only by way of others, as
 * in rings, make 4 of the widest links, 3 of other direct ones, 2 where one
 * device lies between and 1 of a longer way: so the devices of one ring are
 * better than others, and near ones better than far ones.  Where all that are
 * linked are so directly, widths stay, up to 4.
 */
void tide_links_grade(struct tide_accel *accel, size_t count);

#endif
