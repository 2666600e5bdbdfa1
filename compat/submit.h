/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job_submit plugin needs to know of a request, and says to its user.
 */
#ifndef TIDE_COMPAT_SUBMIT_H
#define TIDE_COMPAT_SUBMIT_H

#include "compat/ctld.h"

/* One request; strings belong to Slurm's message. */
struct tide_request {
	const char *partitions; /* comma separated; the default one if none */
	const char *nodelist, *exclude; /* or NULL */
	uint32_t min_nodes;
	uint32_t limit_min;	/* NO_VAL: no --time; INFINITE */
	uint32_t time_min;	/* 0: no --time-min */
	bool batch;		/* not salloc or srun */
	bool reserved;		/* asks for a reservation */
};

/* TIDE_LOOK is held. */
void tide_request_view(const job_desc_msg_t *desc,
		       struct tide_request *ret_request);

/*
 * The limit a request without --time gets in a partition; INFINITE, too, if
 * there is no such one.  TIDE_LOOK.
 */
uint32_t tide_ctld_partition_limit(const char *name);

/* SelectType, as Slurm uses it. */
const char *tide_ctld_select_type(void);

/* The operations of the interface; Slurm has no header for them. */
int job_submit(job_desc_msg_t *desc, uint32_t uid, char **err_msg);
int job_modify(job_desc_msg_t *desc, job_record_t *job, uint32_t uid);

#endif
