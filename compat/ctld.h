/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld's records as the layer sees them, and what it may do to a job.
 *
 * Everything that a release of Slurm does differently is behind these
 * functions; nobody else reads a member of job_record_t.  Times are seconds
 * since the epoch; Slurm's minutes keep the suffix _min and its own special
 * values (NO_VAL, INFINITE).
 *
 * Locks: each function says which of slurmctld's locks its caller holds.
 * Inside select_p_* operations Slurm holds them already; a thread of ours takes
 * them with tide_ctld_lock() and never while it holds a mutex of its own.
 *
 * The plugin is opened by clients too, where slurmctld's variables do not
 * exist: they are weak here, and only tide_ctld_present() may be called there.
 */
#ifndef TIDE_COMPAT_CTLD_H
#define TIDE_COMPAT_CTLD_H

#include "compat/plugin.h"

#include "common/util/err.h"

#include <stdbool.h>

#include "src/common/bitstring.h"
#include "src/common/list.h"
#include "src/common/node_conf.h"
#include "src/slurmctld/slurmctld.h"

/* Are we inside slurmctld?  Anywhere, any time. */
bool tide_ctld_present(void);

/* Is the plugin named in JobSubmitPlugins?  Before there are threads. */
bool tide_ctld_submits_by(const char *name);

/*
 * Is this slurmctld about to end?  From 24.11 on this is so at a reconfigure,
 * too, and over again when the new process has failed and this one goes on.
 */
bool tide_ctld_ending(void);

/*
 * Are slurmctld's records those that we were built for?  Their layout changes
 * between patch releases too, so what slurmctld has allocated is measured.
 * Returns 0; 1: so far, but there is no job yet to look at; or -1 with EINVAL.
 * TIDE_LOOK.
 */
int tide_ctld_check_records(struct tide_err *err);

enum tide_ctld_access {
	TIDE_LOOK, /* read jobs, nodes and partitions */
	TIDE_ACT,  /* change jobs */
};

void tide_ctld_lock(enum tide_ctld_access access);
void tide_ctld_unlock(enum tide_ctld_access access);

/* Tell clients that something about jobs has changed.  TIDE_ACT. */
void tide_ctld_touch(void);

/* The time of the last change of any job.  TIDE_LOOK. */
int64_t tide_ctld_job_change(void);

/* A job as it is now; plain values, valid as long as the locks are held. */
struct tide_job_view {
	uint32_t id;
	uint32_t array_id;	/* of the array it belongs to, or 0 */
	uint32_t run;		/* number of restarts */
	const char *partition;	/* the one it runs or is tested in */
	const char *partitions; /* those it was submitted to, or NULL */
	bool finished;		/* for good */
	bool pending;		/* and not still ending its last run */
	bool running;
	bool suspended;
	bool configuring; /* running, but its nodes are not ready */
	bool ending;	  /* its run is being ended by somebody */
	bool held;
	bool batch;
	bool reserved; /* inside a reservation */
	bool made_up;  /* a question of Slurm's own, not a job */
	bool now_only; /* a test that asks about now alone */
	uint32_t limit_min, time_min, min_nodes;
	bool limit_by_default; /* the user gave no --time */
	int64_t start, end, paused;
	uint32_t warn; /* seconds of --signal; 0: none */
	bool warned;
	const bitstr_t *nodes; /* of its run, or NULL */
};

/* TIDE_LOOK. */
void tide_job_view(const job_record_t *job, struct tide_job_view *ret_view);

/*
 * The limit that `limit_min` (Slurm's form) means for the job: the default and
 * the maximum of its partition where it is NO_VAL.  TIDE_LOOK.
 */
uint32_t tide_job_limit(const job_record_t *job, uint32_t limit_min);

/* May Slurm requeue it (batch, and not --no-requeue)?  TIDE_LOOK. */
bool tide_job_requeues(const job_record_t *job);

/* Call fn for each job until it returns other than 0.  TIDE_LOOK or ACT. */
void tide_ctld_each_job(int (*fn)(void *job_record, void *arg), void *arg);

/* The job record, or NULL.  TIDE_LOOK or ACT. */
job_record_t *tide_ctld_job(uint32_t id);

/*
 * The highest limit that can be paid for a running or pending job: what its QOS
 * and associations have left over their GrpTRESMins.  For a running one it is
 * below its present limit when Slurm has raised that without asking.
 * UINT32_MAX when Slurm enforces no such limits.  TIDE_LOOK; takes the lock of
 * associations.
 */
uint32_t tide_job_payable_min(job_record_t *job);

/*
 * The earliest planned start among pending jobs of higher priority on nodes of
 * this running one: raising its limit past that would push them back.
 * INT64_MAX if there is none.  TIDE_LOOK.
 */
int64_t tide_job_planned_behind(const job_record_t *job);

/* Set the limit of a running job, in slurmdbd's record as well.  TIDE_ACT. */
void tide_job_set_limit(job_record_t *job, uint32_t limit_min);

/* Give a job that does not run (any more) its limit back.  TIDE_ACT. */
void tide_job_restore_limit(job_record_t *job, uint32_t limit_min);

/*
 * Set the limit of a running job in what slurmctld saves as it ends; slurmdbd
 * and the account's promises are not told.  TIDE_ACT.
 */
void tide_job_leave_limit(job_record_t *job, uint32_t limit_min);

/* Have slurmctld save its jobs (again), soon.  No lock. */
void tide_ctld_save_jobs(void);

/* Send the job's own --signal now, once a run.  TIDE_ACT. */
void tide_job_warn(job_record_t *job);

/* Forget that it was sent: the close has moved away.  TIDE_ACT. */
void tide_job_unwarn(job_record_t *job);

/*
 * End its run and give its nodes back: requeued, or cancelled as PREEMPTED if
 * it may not be.  Returns a Slurm error code.  TIDE_ACT.
 */
int tide_job_end(job_record_t *job);

/* Let Slurm look at every run's limit now.  TIDE_ACT. */
void tide_ctld_check_limits(void);

/*
 * What squeue shows as the reason of a pending job.  Set only where Slurm has
 * none but waiting for resources or priority, or speaks of credits where the
 * account can pay for --time-min, which is all that a start takes.  NULL takes
 * ours away.  Returns whether something was changed.  TIDE_ACT for setting;
 * would_set answers under TIDE_LOOK whether it would change something.  Both
 * take the lock of associations.
 */
bool tide_job_would_set_reason(const job_record_t *job, const char *text);
bool tide_job_set_reason(job_record_t *job, const char *text);

/* The planned start of a pending job; 0: none.  TIDE_LOOK. */
int64_t tide_job_planned(const job_record_t *job);

/* Set it.  TIDE_ACT. */
void tide_job_set_planned(job_record_t *job, int64_t start);

/* The nodes it asks for by name, or NULL.  TIDE_LOOK. */
const bitstr_t *tide_job_required(const job_record_t *job);

/* The nodes a pending job is planned on, to be freed; or NULL.  TIDE_LOOK. */
bitstr_t *tide_job_planned_nodes(const job_record_t *job);

/* Have the main scheduler look for jobs to start, soon.  No lock. */
void tide_ctld_wake(void);

/* Nodes by index, 0 <= i < count; NULL where there is none.  TIDE_LOOK. */
int tide_ctld_node_count(void);
const char *tide_ctld_node(int index);

/* The nodes of a list like lab[01-05], to be freed; NULL if one is unknown.
 * TIDE_LOOK. */
bitstr_t *tide_ctld_nodes(const char *list);

/* The nodes of a partition, or NULL if there is no such one.  TIDE_LOOK. */
const bitstr_t *tide_ctld_partition(const char *name);

/*
 * Does the partition share nodes with one of a higher PriorityTier, as a pool
 * does with its owners?  TIDE_LOOK.
 */
bool tide_ctld_partition_yields(const char *name);

/* Folders, as Slurm has them now; valid until the next reconfigure. */
const char *tide_ctld_conf_file(void);	/* SLURM_CONF */
const char *tide_ctld_plugin_dir(void); /* PluginDir */
const char *tide_ctld_state_dir(void);	/* StateSaveLocation */

#endif
