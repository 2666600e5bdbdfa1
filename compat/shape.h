/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How slurmd counts the cores of its node, and where it keeps its files: what
 * it calls a socket is a package, a NUMA node or an L3 cache, or whatever
 * slurm.conf says.  Outside of slurmd nothing is known.
 */
#ifndef TIDE_COMPAT_SHAPE_H
#define TIDE_COMPAT_SHAPE_H

#include <stdint.h>

/* 0 outside of slurmd. */
uint32_t tide_shape_sockets(void);
uint32_t tide_shape_cores(void); /* of a socket */

/* slurmd's spool directory; NULL outside of slurmd, and of slurmd -G. */
const char *tide_shape_spool(void);

/*
 * The CPUs of the operating system that are these cores of Slurm; both are
 * lists, as 0-7.  The caller xfree()s it; NULL when slurmd cannot tell.
 */
char *tide_shape_cpus(const char *cores);

#endif
