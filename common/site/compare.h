/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of gres.conf that somebody has written against the accelerators that
 * are found on the node.  Changes nothing, and judges nobody: the lines are
 * what Slurm goes by.
 */
#ifndef TIDE_SITE_COMPARE_H
#define TIDE_SITE_COMPARE_H

#include "common/device/find.h"
#include "common/site/findings.h"

/*
 * Compare the lines of that file that are for the node (NULL: those without
 * NodeName) with what was found; every difference is a warning with the remedy.
 * A line without File= stands for the devices that no line names.  No file is
 * a file without lines.  With gres those are of that GRES alone, and that there
 * is none of it is said, and the lines are what Slurm has made of the file;
 * else lines of what was not found are passed over, and lines of one GRES that
 * Slurm does not take side by side are an error.
 *
 * *ret_named, unless NULL, gets a byte for each accelerator, which the caller
 * frees: 1 when a line names its files.  Returns 0, or -1 with errno ENOMEM, or
 * that of a file that cannot be read, and the error text.
 */
int tide_compare(const char *path, const char *node, const char *gres,
		 const struct tide_accels *found,
		 struct tide_findings *findings, char **ret_named,
		 struct tide_err *err);

/* Has the file lines for the node that name device files of this GRES? */
bool tide_compare_by_hand(const char *path, const char *node, const char *gres);

#endif /* TIDE_SITE_COMPARE_H */
