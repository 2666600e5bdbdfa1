/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of `tidectl check` share: cmd_check.c has the command line and
 * prints, check_nodes.c asks other hosts.
 */
#ifndef TIDE_TIDECTL_CHECK_H
#define TIDE_TIDECTL_CHECK_H

#include <jansson.h>

#include "common/site/findings.h"

struct tide_err;

/* The findings as an array; NULL when memory is out. */
json_t *check_json(const struct tide_findings *findings);

/*
 * Have every host of the list (NULL: the nodes of slurm.conf in dir) check
 * itself, by `tidectl check --here` that rsh starts there: "ssh", say, to which
 * the host and the command are added.  What they find is added with their
 * names.  0, or -1 with errno and the error text when nobody could be asked:
 *	EINVAL	list or rsh make no sense
 *	ENOMEM, or that of reading slurm.conf
 */
int check_nodes(const char *dir, const char *list, const char *rsh,
		struct tide_findings *findings, struct tide_err *err);

#endif
