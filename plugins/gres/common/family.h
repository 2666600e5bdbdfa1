/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one family of accelerators adds to the operations that all share: each
 * plugin (gres/mlu, ...) defines exactly one tide_family and the three names
 * that Slurm's loader reads, and links gres.c and devices.c.
 */
#ifndef TIDE_GRES_FAMILY_H
#define TIDE_GRES_FAMILY_H

struct tide_family {
	/* Slurm's name of the GRES, e.g. mlu. */
	const char *name;
	/* Variable by which the vendor's runtime is told its devices. */
	const char *visible;
	/* Physical numbers, in a batch script and in a step. */
	const char *job_numbers;
	const char *step_numbers;
};

extern const struct tide_family tide_family;

#endif
