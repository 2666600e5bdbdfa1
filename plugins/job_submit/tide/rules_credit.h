/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What credits demand of a request for the pool, and of an update: it runs
 * under the QOS of its account, which has the limit; it asks for a device that
 * has a price, with its type; and its account is enrolled.  Nothing of it holds
 * while tide.conf has no Device=, or Slurm enforces no limits.
 */
#ifndef TIDE_JOB_SUBMIT_RULES_CREDIT_H
#define TIDE_JOB_SUBMIT_RULES_CREDIT_H

#include "compat/submit.h"

#include "plugins/select/tide/query.h"

/*
 * Complete the request, or refuse it.  job is the one that is updated, or NULL.
 * Returns SLURM_SUCCESS or a Slurm error; *say gets what the user is to read
 * added to it (xmalloc).  TIDE_LOOK is held.
 */
int tide_rules_credit(const struct tide_layer *layer, job_desc_msg_t *desc,
		      uint32_t uid, const job_record_t *job, char **say);

#endif
