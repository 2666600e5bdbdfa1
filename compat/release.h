/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm's releases do differently, oldest change first, and where it can
 * go: the one place that asks for the version.  Included by plugin.h; which
 * operations there are and what arguments they take is not here, it is read
 * out of Slurm's source when we are built (operations.sh).
 *
 * Each macro is 0 or 1 and is asked by #if.
 */
#ifndef TIDE_COMPAT_RELEASE_H
#define TIDE_COMPAT_RELEASE_H

#define TIDE_SLURM_SINCE(major, minor) \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

/*
 * 23.02: the headers of interfaces have a folder of their own.
 * Goes with 22.05.
 */
#define TIDE_INTERFACES_FOLDER TIDE_SLURM_SINCE(23, 2)

/*
 * 23.02: what gres tells prolog and epilog is a pair of operations named prep,
 * up to then epilog.
 * Goes with 22.05.
 */
#define TIDE_GRES_HAS_EPILOG (!TIDE_SLURM_SINCE(23, 2))

/*
 * 23.02: job_modify may say something to the user.  Goes with 22.05.
 */
#define TIDE_MODIFY_SAYS TIDE_SLURM_SINCE(23, 2)

/*
 * 23.02: list_t and list_itr_t.  (From 24.11 on there is no List any more.)
 * Goes with 22.05.
 */
#if !TIDE_SLURM_SINCE(23, 2)
typedef struct xlist list_t;
typedef struct listIterator list_itr_t;
#endif

/*
 * 23.11: hostlist_t is the list itself; it was a pointer to it.
 * Goes with 23.02.
 */
#if TIDE_SLURM_SINCE(23, 11)
typedef hostlist_t *tide_hostlist;
#else
typedef hostlist_t tide_hostlist;
#endif

/*
 * 23.11: job_test is told of reservations in a resv_exc_t, not by a bitmap of
 * cores.  Goes with 23.02.
 */
#define TIDE_JOB_TEST_RESV TIDE_SLURM_SINCE(23, 11)

/*
 * 23.11: assoc_mgr_is_user_acct_coord() asks whether its lock is held.
 * Goes with 23.02.
 */
#if TIDE_SLURM_SINCE(23, 11)
#define tide_coordinates(db_conn, uid, account) \
	assoc_mgr_is_user_acct_coord(db_conn, uid, account, false)
#else
#define tide_coordinates(db_conn, uid, account) \
	assoc_mgr_is_user_acct_coord(db_conn, uid, account)
#endif

/*
 * 23.11: what is asked for is "gres/mlu:2"; it was "gres:mlu:2".  Goes with
 * 23.02.
 */
#if TIDE_SLURM_SINCE(23, 11)
#define TIDE_GRES_PREFIX "gres/"
#else
#define TIDE_GRES_PREFIX "gres:"
#endif

/*
 * 24.05: cons_tres sorts devices by links the wrong way round, those with the
 * least first, up to the newest release that we know (26.05).  Goes when a
 * release sorts the other way, which tests/43-gres-topology.t shows.
 */
#define TIDE_LINKS_LEAST_FIRST TIDE_SLURM_SINCE(24, 5)

/*
 * 24.11: job_test gets a will_run_data_t.  Goes with 24.05.
 */
#define TIDE_JOB_TEST_WILL_RUN TIDE_SLURM_SINCE(24, 11)

/*
 * 24.11: node_name2bitmap() can list the names that it does not know.
 * Goes with 24.05.
 */
#if TIDE_SLURM_SINCE(24, 11)
#define tide_node_bitmap(names, best_effort, ret_nodes) \
	node_name2bitmap(names, best_effort, ret_nodes, NULL)
#else
#define tide_node_bitmap(names, best_effort, ret_nodes) \
	node_name2bitmap(names, best_effort, ret_nodes)
#endif

/*
 * 24.11: nobody asks a gres plugin for data of jobs and steps.
 * Goes with 24.05.
 */
#define TIDE_GRES_HAS_INFO (!TIDE_SLURM_SINCE(24, 11))

/*
 * 25.05: select plugins neither save nor restore a state.  Goes with 24.11.
 */
#define TIDE_SELECT_SAVES (!TIDE_SLURM_SINCE(25, 5))

/*
 * 25.11: job_requeue_internal() takes the job's record; it was job_requeue()
 * with its number.  Goes with 25.05.
 */
#define TIDE_REQUEUE_RECORD TIDE_SLURM_SINCE(25, 11)

/*
 * 25.11: the name of the database's user is in slurmdbd's own configuration,
 * and a script may tell the password.  Goes with 25.05.
 */
#define TIDE_STORAGE_SCRIPT TIDE_SLURM_SINCE(25, 11)
#if TIDE_STORAGE_SCRIPT
#define tide_storage_user() (slurmdbd_conf->storage_user)
#define tide_storage_script() (slurmdbd_conf->storage_pass_script)
#else
#define tide_storage_user() (slurm_conf.accounting_storage_user)
#define tide_storage_script() ((char *)NULL)
#endif

/*
 * 25.11: what is told of a job has its number in a step_id.  Goes with 25.05.
 */
#if TIDE_SLURM_SINCE(25, 11)
#define tide_job_info_id(info) ((info)->step_id.job_id)
#else
#define tide_job_info_id(info) ((info)->job_id)
#endif

/*
 * 26.05: slurm_free_ctl_conf() has another name.  Goes with 25.11.
 */
#if TIDE_SLURM_SINCE(26, 5)
#define tide_free_conf(conf) slurm_free_conf(conf)
#else
#define tide_free_conf(conf) slurm_free_ctl_conf(conf)
#endif

#endif
