/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each check needs to find its lines and to say what is wrong.  Stands
 * alone, so that a program with one check does not get all of them.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/site/rules.h"

void tide_site_say(struct tide_site *site, enum tide_level level,
		   const struct tide_slurm_record *record, const char *fix,
		   const char *fmt, ...)
{
	va_list ap;
	char *what;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&what, fmt, ap);
	va_end(ap);
	if (n < 0) {
		site->findings->lost = 1;
		return;
	}
	tide_findings_add(site->findings, level,
			  record ? record->file : site->path,
			  record ? record->line : 0, what, fix);
	free(what);
}

/* A line without NodeName is for every node. */
int tide_site_is_for(const struct tide_slurm_record *record, const char *node)
{
	const char *list = tide_slurm_own_value(record, "NodeName");

	return !list || (node && tide_slurm_place(list, node) >= 0);
}
