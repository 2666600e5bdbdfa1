/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links= of gres.conf, where more is better, as cons_tres of this Slurm takes
 * them.
 */
#ifndef TIDE_GRES_LINKS_H
#define TIDE_GRES_LINKS_H

#include "compat/gres.h"

/*
 * Some releases take the device with the least sum of links to those a job has:
 * turn the numbers of all records of this GRES round, so that it is the best
 * linked one.  Elsewhere nothing is done.
 */
void tide_links_turn(list_t *records, const char *name);

#endif
