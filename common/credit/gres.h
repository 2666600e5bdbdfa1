/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job asks for, as Slurm writes it ("gres:mlu:2,gres:gpu:t4:1"), against
 * the devices that have a price.  No state; safe from any thread.
 */
#ifndef TIDE_CREDIT_GRES_H
#define TIDE_CREDIT_GRES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/util/err.h"

/*
 * Give every device its type where only one can be meant, as limits are checked
 * on what is asked for, before Slurm knows which type it will be.
 *
 * priced has n names such as "mlu:mlu290": those that have a price and that
 * nodes of the job have.  ret_text gets the request with types filled in, for
 * the caller to free, or NULL when nothing had to be; *ret_priced is raised by
 * the number of priced devices that are asked for (of a node, job, task,
 * whatever the request is about), at most to LONG_MAX.
 *
 * 0, or -1 with errno and err: EINVAL: several types could be meant (err says
 * which), or a word is no request.  ENOMEM.
 */
int tide_gres_resolve(const char *text, const char *const *priced, size_t n,
		      char **ret_text, long *ret_priced, struct tide_err *err);

/*
 * Why no node can ever serve a request, where that is so: a GRES or a type that
 * none has, or more than any has.  have has n texts as of Gres= in slurm.conf;
 * with `whole` the request is that of a whole job, whose nodes may share it.
 * *ret_why gets the words, which begin with what is lacked, for the caller to
 * free, or NULL.  What is no request is for Slurm to refuse.  -1 with ENOMEM.
 */
int tide_gres_lacks(const char *text, const char *const *have, size_t n,
		    bool whole, char **ret_why);

#endif
