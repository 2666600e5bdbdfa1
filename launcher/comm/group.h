/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication through named groups of ranks.  Code above knows groups, never
 * MPI: today the data group holds every rank, and the tensor and pipeline
 * groups hold one rank each.
 *
 * Every function is collective over its group and is called by one thread.  A
 * broken connection or a dead rank ends the process (MPI's own error handler):
 * the launcher above restarts from a checkpoint.
 */
#ifndef TIDE_COMM_GROUP_H
#define TIDE_COMM_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

enum tide_group_name {
	TIDE_GROUP_DATA,     /* ranks with the same parameters, other samples */
	TIDE_GROUP_TENSOR,   /* ranks that share each layer */
	TIDE_GROUP_PIPELINE, /* ranks that hold successive layers */
	TIDE_GROUPS
};

struct tide_comm;
struct tide_group;

/*
 * Start MPI (argc and argv as main got them) and make the groups.  Refuses,
 * with the remedy, when a launcher started several tasks but MPI sees only
 * itself (PMIx is not working).  Errors: EINVAL, ENOTCONN, ENOMEM.
 */
int tide_comm_create(struct tide_comm **ret_comm, int *argc, char ***argv,
		     struct tide_err *err);

/* Collective over all ranks; ends MPI.  Takes NULL. */
void tide_comm_destroy(struct tide_comm *comm);

/* End every rank at once, for an error that only one of them met. */
_Noreturn void tide_comm_abort(struct tide_comm *comm, int status);

struct tide_group *tide_comm_group(struct tide_comm *comm,
				   enum tide_group_name name);

/*
 * CPUs that this rank may use: what the affinity masks of this host's ranks
 * cover together, but at most `on_host`, divided by their number; at least 1.
 * Collective over all ranks.
 */
int tide_comm_cpus_per_rank(struct tide_comm *comm, int on_host);

int tide_group_rank(const struct tide_group *group);
int tide_group_size(const struct tide_group *group);

/*
 * Sum of buf over the ranks, in place, on every rank the same bits: each
 * element is added in the order of a balanced binary tree over the ranks, see
 * tree.h, so that the bits do not depend on how samples are dealt to 2^k ranks.
 * Sends 2 (n-1)/n of the bytes.
 */
void tide_group_sum(struct tide_group *group, float *buf, size_t count);

/* count doubles of each rank, in rank order, into ret_all (size x count). */
void tide_group_gather(struct tide_group *group, const double *mine, int count,
		       double *ret_all);

/* The bytes of the root rank, to every rank. */
void tide_group_send_all(struct tide_group *group, void *buf, size_t bytes,
			 int root);

/* The least value over the ranks. */
int tide_group_min(struct tide_group *group, int value);

void tide_group_barrier(struct tide_group *group);

/* Seconds spent in this group's functions since it was last asked. */
double tide_group_seconds(struct tide_group *group);

#endif
