/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups over MPI.  The one file that calls MPI.
 *
 * The sum is our own (all-to-all of slices, a fixed tree, all-gather) and not
 * MPI_Allreduce: MPI is free to add in another order on another number of
 * ranks, message size or network, and the loss curve would follow.  It moves
 * as few bytes as a ring.
 */
#include "config.h"

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util/parse.h"
#include "launcher/comm/group.h"
#include "launcher/comm/tree.h"

/* A sum goes in buckets of this many floats (4 MiB): the inbox stays small, and
 * in cache between receiving and adding. From 2^18 to 2^24 it takes the same
 * time; smaller ones are slower. */
#define BUCKET ((size_t)1 << 20)

struct tide_group {
	MPI_Comm comm; /* MPI_COMM_NULL: alone */
	int rank, size;
	double seconds;
	float *inbox;	  /* one slice from every rank, BUCKET + padding */
	int *counts, *at; /* slices of a bucket, one a rank */
	MPI_Request *requests;
};

struct tide_comm {
	struct tide_group groups[TIDE_GROUPS];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Tasks of this Slurm step, 1 if there is none. */
static int step_tasks(void)
{
	const char *text = getenv("SLURM_STEP_NUM_TASKS");
	int64_t n;

	if (!text || tide_parse_int(text, 1, INT32_MAX, &n, NULL))
		return 1;
	return n;
}

/* mpirun inside a job also shows the step's variables; it has its own. */
static bool by_mpirun(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
}

static int no_pmix(struct tide_err *err, int tasks)
{
	return tide_err_set(
		err, ENOTCONN,
		"cannot connect the ranks: Slurm started %d tasks but MPI sees 1; start with 'srun --mpi=pmix' ('srun --mpi=list' must name pmix, and MPI must be built with PMIx)",
		tasks);
}

static int make_groups(struct tide_comm *c, struct tide_err *err)
{
	for (int i = 0; i < TIDE_GROUPS; i++) {
		struct tide_group *g = &c->groups[i];
		size_t room;

		g->comm = MPI_COMM_NULL;
		g->size = 1;
		if (i != TIDE_GROUP_DATA)
			continue;
		MPI_Comm_dup(MPI_COMM_WORLD, &g->comm);
		MPI_Comm_rank(g->comm, &g->rank);
		MPI_Comm_size(g->comm, &g->size);
		room = BUCKET + (size_t)g->size * 16;
		g->inbox = malloc(room * sizeof(*g->inbox));
		g->counts = calloc(g->size, sizeof(*g->counts));
		g->at = calloc(g->size, sizeof(*g->at));
		g->requests = calloc(2 * g->size, sizeof(*g->requests));
		if (!g->inbox || !g->counts || !g->at || !g->requests)
			return tide_err_set(
				err, ENOMEM,
				"cannot make a group of ranks: out of memory");
	}
	return 0;
}

int tide_comm_create(struct tide_comm **ret_comm, int *argc, char ***argv,
		     struct tide_err *err)
{
	struct tide_comm *c;
	int tasks = by_mpirun() ? 1 : step_tasks(), size;

	/* Without PMIx MPI_Init would abort, or make n jobs of one rank. */
	if (tasks > 1 && !getenv("PMIX_RANK") && !getenv("PMI_RANK"))
		return no_pmix(err, tasks);
	c = calloc(1, sizeof(*c));
	if (!c)
		return tide_err_set(err, ENOMEM,
				    "cannot start MPI: out of memory");
	/* Ranks that share a core must not spin while they wait. */
	setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
	MPI_Init(argc, argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (tasks > 1 && size == 1) {
		no_pmix(err, tasks);
		goto fail;
	}
	if (make_groups(c, err))
		goto fail;
	*ret_comm = c;
	return 0;
fail:
	tide_comm_destroy(c);
	errno = ENOTCONN;
	return -1;
}

void tide_comm_destroy(struct tide_comm *comm)
{
	if (!comm)
		return;
	for (int i = 0; i < TIDE_GROUPS; i++) {
		struct tide_group *g = &comm->groups[i];

		free(g->inbox);
		free(g->counts);
		free(g->at);
		free(g->requests);
		if (g->comm != MPI_COMM_NULL)
			MPI_Comm_free(&g->comm);
	}
	MPI_Finalize();
	free(comm);
}

void tide_comm_abort(struct tide_comm *comm, int status)
{
	MPI_Abort(MPI_COMM_WORLD, status);
	exit(status);
}

struct tide_group *tide_comm_group(struct tide_comm *comm,
				   enum tide_group_name name)
{
	return &comm->groups[name];
}

int tide_group_rank(const struct tide_group *group)
{
	return group->rank;
}

int tide_group_size(const struct tide_group *group)
{
	return group->size;
}

/*
 * Ranks of one host may have masks of their own (bound) or share one: the
 * union over the host, divided by its ranks, is right for both.
 */
int tide_comm_cpus_per_rank(struct tide_comm *comm, int on_host)
{
	cpu_set_t mine, all;
	MPI_Comm host;
	int ranks, cpus;

	CPU_ZERO(&mine);
	if (sched_getaffinity(0, sizeof(mine), &mine))
		CPU_SET(0, &mine);
	all = mine;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &ranks);
	MPI_Allreduce(&mine, &all, sizeof(mine), MPI_BYTE, MPI_BOR, host);
	MPI_Comm_free(&host);
	cpus = CPU_COUNT(&all);
	cpus = (cpus < on_host ? cpus : on_host) / ranks;
	return cpus > 1 ? cpus : 1;
}

/* Slice of rank r of n: equal parts, multiples of 16 floats. */
static size_t slice_at(size_t count, int r, int n)
{
	size_t each = (count + n - 1) / n, at;

	each = (each + 15) / 16 * 16;
	at = each * r;
	return at < count ? at : count;
}

/* Every rank gets its slice from all the others, in rank order in inbox. */
static void exchange(struct tide_group *g, const float *buf)
{
	size_t mine = g->counts[g->rank];
	int n = 0;

	for (int i = 1; i < g->size; i++) {
		int from = (g->rank + g->size - i) % g->size;

		MPI_Irecv(g->inbox + from * mine, mine, MPI_FLOAT, from, 0,
			  g->comm, &g->requests[n++]);
	}
	for (int i = 1; i < g->size; i++) {
		int to = (g->rank + i) % g->size;

		MPI_Isend(buf + g->at[to], g->counts[to], MPI_FLOAT, to, 0,
			  g->comm, &g->requests[n++]);
	}
	memcpy(g->inbox + g->rank * mine, buf + g->at[g->rank],
	       mine * sizeof(*buf));
	MPI_Waitall(n, g->requests, MPI_STATUSES_IGNORE);
}

static void sum_bucket(struct tide_group *g, float *buf, size_t count)
{
	for (int r = 0; r < g->size; r++) {
		g->at[r] = slice_at(count, r, g->size);
		g->counts[r] = slice_at(count, r + 1, g->size) - g->at[r];
	}
	exchange(g, buf);
	tide_tree_sum(g->inbox, g->size, g->counts[g->rank]);
	memcpy(buf + g->at[g->rank], g->inbox,
	       g->counts[g->rank] * sizeof(*buf));
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, buf, g->counts, g->at,
		       MPI_FLOAT, g->comm);
}

void tide_group_sum(struct tide_group *group, float *buf, size_t count)
{
	double began = now();

	for (size_t at = 0; group->size > 1 && at < count; at += BUCKET)
		sum_bucket(group, buf + at,
			   count - at < BUCKET ? count - at : BUCKET);
	group->seconds += now() - began;
}

void tide_group_gather(struct tide_group *group, const double *mine, int count,
		       double *ret_all)
{
	double began = now();

	if (group->size == 1)
		memcpy(ret_all, mine, count * sizeof(*mine));
	else
		MPI_Allgather(mine, count, MPI_DOUBLE, ret_all, count,
			      MPI_DOUBLE, group->comm);
	group->seconds += now() - began;
}

void tide_group_send_all(struct tide_group *group, void *buf, size_t bytes,
			 int root)
{
	double began = now();
	const size_t most = (size_t)64 << 20;
	char *at = buf;

	while (group->size > 1 && bytes) {
		size_t n = bytes < most ? bytes : most;

		MPI_Bcast(at, n, MPI_BYTE, root, group->comm);
		at += n;
		bytes -= n;
	}
	group->seconds += now() - began;
}

int tide_group_min(struct tide_group *group, int value)
{
	if (group->size > 1)
		MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN,
			      group->comm);
	return value;
}

void tide_group_barrier(struct tide_group *group)
{
	double began = now();

	if (group->size > 1)
		MPI_Barrier(group->comm);
	group->seconds += now() - began;
}

double tide_group_seconds(struct tide_group *group)
{
	double seconds = group->seconds;

	group->seconds = 0;
	return seconds;
}
