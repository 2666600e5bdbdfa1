/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running cluster knows against what the files say: accounts, the QOS
 * of paying accounts, and what slurmctld was started with.  The facts come as
 * plain records, from compat/live.c or from a test.
 */
#ifndef TIDE_SITE_LIVE_H
#define TIDE_SITE_LIVE_H

#include <stddef.h>

#include "common/site/findings.h"
#include "common/util/hostlist.h"

struct tide_err;

struct tide_live_qos {
	char *name;
	int no_decay;	 /* flag NoDecay */
	int factor_safe; /* flag UsageFactorSafe */
};

/* Starts as {0}; ended by tide_live_release(). */
struct tide_live {
	/* what Slurm says of slurm.conf when it refuses it; nothing else then
	 */
	char *refused_why;
	/* of slurmdbd; why is set when it could not be asked */
	char *slurmdbd_why;
	struct tide_names accounts;
	struct tide_live_qos *qos;
	size_t n_qos;
	/* of slurmctld; why is set when it could not be asked */
	char *slurmctld_why;
	char *version; /* "22.05.8" */
	char *plugin_dir;
};

void tide_live_release(struct tide_live *live);

/*
 * Hold the facts against tide.conf and slurm.conf in dir.  Files that cannot
 * be read are passed over: tide_site_check() has said so.  plugins_for is the
 * version of Slurm that our plugins were built for.  Returns 0, whatever was
 * found, or -1 with errno ENOMEM and the error text.
 */
int tide_live_check(const char *dir, const char *zoneinfo,
		    const struct tide_live *live, const char *plugins_for,
		    struct tide_findings *findings, struct tide_err *err);

#endif /* TIDE_SITE_LIVE_H */
