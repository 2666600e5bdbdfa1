/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job_submit plugin needs to know of a request, and says to its user.
 */
#ifndef TIDE_COMPAT_SUBMIT_H
#define TIDE_COMPAT_SUBMIT_H

#include "compat/ctld.h"

#include "compat/ops_job_submit.h"

/*
 * The parameters of job_modify, and its way to say something to the user, or
 * xfree() it: where Slurm shows no text the log has it.
 */
#if TIDE_MODIFY_SAYS
#define TIDE_MODIFY_PARAMS \
	job_desc_msg_t *desc, job_record_t *job, uint32_t uid, char **err_msg
#define TIDE_MODIFY_SAY(text) tide_say(err_msg, text)
#else
#define TIDE_MODIFY_PARAMS job_desc_msg_t *desc, job_record_t *job, uint32_t uid
#define TIDE_MODIFY_SAY(text) xfree(text)
#endif

/* Add a line to what the user reads; text, which may be NULL, is xfree()d. */
void tide_say(char **err_msg, char *text);

/* One request; strings belong to Slurm's message. */
struct tide_request {
	const char *partitions; /* comma separated; the default one if none */
	const char *nodelist, *exclude; /* or NULL */
	uint32_t min_nodes;
	uint32_t limit_min; /* NO_VAL: no --time; INFINITE */
	uint32_t time_min;  /* 0: no --time-min */
	/* What it asks for a job, node, socket and task; NULL where nothing. */
	const char *tres[4];
	bool batch;    /* not salloc or srun */
	bool reserved; /* asks for a reservation */
};

/* TIDE_LOOK is held. */
void tide_request_view(const job_desc_msg_t *desc,
		       struct tide_request *ret_request);

/*
 * The limit a request without --time gets in a partition; INFINITE, too, if
 * there is no such one.  TIDE_LOOK.
 */
uint32_t tide_ctld_partition_limit(const char *name);

/*
 * What the nodes of a partition have by slurm.conf, as Gres= is written: each
 * text once where neighbours are alike.  How many, 0 for a list of partitions;
 * the array is the caller's to xfree(), the texts are Slurm's.  TIDE_LOOK.
 */
size_t tide_ctld_partition_gres(const char *name, const char ***ret_texts);

/* SelectType, as Slurm uses it. */
const char *tide_ctld_select_type(void);

/*
 * What credits are about in a request, or in an update of a job: what it has,
 * or will have after it.  Strings belong to Slurm's records, but account.
 */
struct tide_pay_request {
	const char *partitions; /* comma separated; the default one if none */
	char *account;		/* the user's default if none; NULL: no such */
	const char *qos;	/* given in this request, or NULL */
	const char *old_qos;	/* of the job that is updated, or NULL */
	bool update;
	bool moves; /* it is new, or changes partition or account */
	const char *nodelist, *exclude;
	/* What it asks for a job, node, socket and task; NULL where nothing. */
	const char *tres[4];
	bool asks; /* some of it is in this request */
};

/*
 * job is NULL for a new request.  TIDE_LOOK; takes the lock of associations.
 * Released by tide_pay_request_release().
 */
void tide_pay_request_view(const job_desc_msg_t *desc, uint32_t uid,
			   const job_record_t *job,
			   struct tide_pay_request *ret_request);
void tide_pay_request_release(struct tide_pay_request *request);

/* Change the request before Slurm reads it; which is the index of tres[]. */
void tide_pay_set_qos(job_desc_msg_t *desc, const char *qos);
void tide_pay_set_tres(job_desc_msg_t *desc, int which, const char *text);

/* Does Slurm enforce QOS and limits at all?  Any time. */
bool tide_ctld_enforces_limits(void);

/* Is there a QOS of this name?  Takes the lock of associations. */
bool tide_ctld_has_qos(const char *name);

/*
 * Do some of the nodes that the request may use have this device, such as
 * "mlu:mlu290", by slurm.conf?  TIDE_LOOK.
 */
bool tide_pay_nodes_have(const struct tide_pay_request *request,
			 const char *device);

#endif
