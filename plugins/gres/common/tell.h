/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process is told of its devices: the variables of jobs, steps and
 * tasks, and those of prolog and epilog.  Which devices these are the caller
 * knows; nothing here constrains or remembers anything.
 *
 * Bits are by the index of Slurm's bitmaps, env a list of Slurm's (env.h).
 * Slurm holds its gres lock around every call.
 */
#ifndef TIDE_GRES_TELL_H
#define TIDE_GRES_TELL_H

#include "compat/gres.h"

/* The devices of this node and the runtimes they belong to. */
struct tide_node {
	list_t *devices;
	list_t *runtimes;
};

/* What a process has. */
struct tide_scope {
	bitstr_t *mine;	     /* its devices; NULL: none */
	bitstr_t *seen;	     /* mine, and others of its job that it can open */
	bool constrained;    /* it cannot open any more than these */
	const char *numbers; /* variable for their numbers, SLURM_JOB_MLUS */
};

/*
 * Set the variables of a job, step or task. Without devices a list is empty,
 * not missing: a runtime that finds no variable takes every device. The
 * variable for the numbers is taken away then.
 */
void tide_tell(char ***env, const struct tide_node *node,
	       const struct tide_scope *scope);

/*
 * Set those of a task that a cgroup keeps to count devices of its step's, where
 * nobody says which: they are counted from 0. Where a runtime keeps its numbers
 * all the same, or there are several, what the step was told stays, as do the
 * numbers.
 */
void tide_tell_own(char ***env, const struct tide_node *node, int count);

/* Set those of prolog and epilog, which are not constrained. */
void tide_tell_prolog(char ***env, const struct tide_node *node,
		      bitstr_t *devices, const char *numbers);

/*
 * A new list of a task's devices, out of what Slurm hands over: those of its
 * step, or the same pushed together at the low end (--gres-flags=
 * allow-task-sharing, from 23.11 on), and usable by the same count.
 */
bitstr_t *tide_task_devices(bitstr_t *step, bitstr_t *alloc, bitstr_t *usable);

#endif
