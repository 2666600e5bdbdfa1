/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accelerators as lines of gres.conf. */
#ifndef TIDE_DEVICE_GRESCONF_H
#define TIDE_DEVICE_GRESCONF_H

#include "common/device/find.h"

/*
 * The lines, above them Gres= of slurm.conf's node line as a comment, and above
 * those of a GRES what is a part of what, as "# part: Device=NAME:TYPE
 * Of=NAME:TYPE Share=N/M".  Devices that have only one file, no links and the
 * same cores share a line.  One whose file is missing is a comment.  They are
 * for the nodes of node, for NULL for all that read them.  NULL with ENOMEM;
 * the caller frees it.
 */
char *tide_gresconf_write(const struct tide_accels *accels, const char *node);

/*
 * Which CPUs are near each, as the operating system counts them: comments
 * "#near: FILE CPUS" for who counts cores himself.  NULL with ENOMEM.
 */
char *tide_gresconf_near(const struct tide_accels *accels);

#endif
