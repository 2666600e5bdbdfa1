/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules a request for the pool has to meet, one function each, in one
 * table (rules.c): refuse it in words, or say something to its user.
 */
#ifndef TIDE_JOB_SUBMIT_RULES_H
#define TIDE_JOB_SUBMIT_RULES_H

#include "compat/submit.h"

#include "plugins/select/tide/query.h"

/*
 * Judge a request by every rule, in order.  Returns SLURM_SUCCESS, or a Slurm
 * error of the first that refuses.  ret_say gets what the user is to read, to
 * be freed with xfree(), or NULL; also with success.  TIDE_LOOK is held.
 */
int tide_rules(const struct tide_layer *layer,
	       const struct tide_request *request, char **ret_say);

#endif
