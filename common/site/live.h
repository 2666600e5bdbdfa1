/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running cluster knows against what the files say: accounts, the QOS
 * of paying accounts, what slurmctld was started with, and its jobs.  The facts
 * come as plain records, from compat/live.c or from a test.
 */
#ifndef TIDE_SITE_LIVE_H
#define TIDE_SITE_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "common/site/findings.h"
#include "common/util/hostlist.h"

struct tide_err;

struct tide_live_qos {
	char *name;
	int no_decay;	 /* flag NoDecay */
	int factor_safe; /* flag UsageFactorSafe */
	char *limits;	 /* "GrpJobs=2 MaxWall=60", or "" */
};

/* A job that runs or waits; strings are never NULL. */
struct tide_live_job {
	char *id;	/* as scontrol takes it: 12, 12_3 */
	int64_t number; /* as slurmdbd has it */
	char *user;
	char *account;
	char *partition;
	char *qos; /* "" when it is gone */
	int pending;
	int qos_gone; /* it waits because of that: the reason InvalidQOS */
};

/* A node; strings are never NULL. */
struct tide_live_node {
	char *name;
	char *version; /* of its slurmd; "" when that never answered */
	char *reason;  /* why it is down or drained, or "" */
	char *gres;    /* "mlu:mlu290:2(S:0)" */
	int away;      /* down or not answering, and not powered off */
};

/* An association of a user with an account, or of an account (user ""). */
struct tide_live_assoc {
	char *user;
	char *account;
	char *qos;    /* names that it may use: "normal,long" */
	char *limits; /* with those of its account: "GrpJobs=2", or "" */
	int is_default;
};

/* Runs of a user without an association with the account, which may be "". */
struct tide_live_stray {
	char *user;
	char *account;
	int64_t uid;
	size_t jobs;
};

enum {
	TIDE_LIVE_RECENT_DAYS =
		30 /* so long back they are looked for at most */
};

/* Starts as {0}; ended by tide_live_release(). */
struct tide_live {
	int must; /* the daemons have to answer: no answer is an error */
	/* what Slurm says of slurm.conf when it refuses it; nothing else then
	 */
	char *refused_why;
	/* of slurmdbd; why is set when it could not be asked */
	char *slurmdbd_why;
	struct tide_names accounts;
	struct tide_live_qos *qos;
	size_t n_qos;
	struct tide_live_assoc *assoc; /* of this cluster */
	size_t n_assocs;
	struct tide_live_stray *stray; /* while Slurm does not enforce */
	size_t n_strays;
	int stray_days; /* they are of so many days */
	/* of slurmctld; why is set when it could not be asked */
	char *slurmctld_why;
	char *version; /* "22.05.8" */
	char *plugin_dir;
	char *tres;   /* AccountingStorageTRES, or NULL */
	int enforces; /* AccountingStorageEnforce: associations, limits, qos */
	struct tide_live_job *job;
	size_t n_jobs;
	struct tide_live_node *node;
	size_t n_nodes;
	/* how far the clock there is ahead of ours, seconds; 0 when unknown */
	int64_t slurmctld_ahead;
	/* the same of slurmdbd's host and of the database, where the credits
	 * plugin tells */
	int has_clocks;
	int64_t slurmdbd_ahead, database_ahead;
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
