/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of a site as a whole: tide.conf against slurm.conf and
 * slurmdbd.conf, read as text.  Says whether TideFlow's rules can hold with
 * what Slurm is told.  Asks no daemon and changes nothing.
 */
#ifndef TIDE_SITE_SITE_H
#define TIDE_SITE_SITE_H

#include "common/site/findings.h"

struct tide_err;

/*
 * Check the files in the folder dir: tide.conf, slurm.conf, and slurmdbd.conf
 * when it is there.  zoneinfo is the folder of zone files, NULL the system's.
 * Everything found is added to findings.  Returns 0, whatever was found, or -1
 * with errno and the error text when the check itself failed: ENOMEM.
 */
int tide_site_check(const char *dir, const char *zoneinfo,
		    struct tide_findings *findings, struct tide_err *err);

#endif /* TIDE_SITE_SITE_H */
