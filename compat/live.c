/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks slurmdbd and slurmctld through public libslurm.  Judges nothing. */
#include "config.h"

#include "compat/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "common/credit/request.h"
#include "compat/client.h"
#include "compat/live_jobs.h"
#include "compat/live_limits.h"
#include "compat/release.h"

/*
 * Bits of AccountingStorageEnforce, which slurm.h has no names for: those of
 * associations, limits and qos.
 */
#define ENFORCES (1 | 2 | 8)

/* Why the last call failed. */
static char *reason(void)
{
	return strdup(errno ? slurm_strerror(errno) : "no answer");
}

static int read_accounts(list_t *list, struct tide_names *accounts)
{
	list_itr_t *itr = slurm_list_iterator_create(list);
	slurmdb_account_rec_t *rec;
	int rc = 0;

	accounts->name = calloc((size_t)slurm_list_count(list) + 1,
				sizeof(*accounts->name));
	if (!accounts->name)
		rc = -1;
	while (!rc && (rec = slurm_list_next(itr))) {
		accounts->name[accounts->count] = strdup(rec->name);
		if (accounts->name[accounts->count])
			accounts->count++;
		else
			rc = -1;
	}
	slurm_list_iterator_destroy(itr);
	return rc;
}

static int read_qos(list_t *list, list_t *tres, struct tide_live *live)
{
	list_itr_t *itr = slurm_list_iterator_create(list);
	slurmdb_qos_rec_t *rec;
	int rc = 0;

	live->qos =
		calloc((size_t)slurm_list_count(list) + 1, sizeof(*live->qos));
	if (!live->qos)
		rc = -1;
	while (!rc && (rec = slurm_list_next(itr))) {
		struct tide_live_qos *qos = &live->qos[live->n_qos];

		qos->name = strdup(rec->name);
		qos->no_decay = !!(rec->flags & QOS_FLAG_NO_DECAY);
		qos->factor_safe = !!(rec->flags & QOS_FLAG_USAGE_FACTOR_SAFE);
		qos->limits = tide_live_qos_limits(rec, tres);
		live->n_qos++;
		if (!qos->name || !qos->limits)
			rc = -1;
	}
	slurm_list_iterator_destroy(itr);
	return rc;
}

/*
 * Associations, and who ran without one, so long as that is allowed: later
 * there can be none, and it is the one question whose answer may be long.
 */
static int read_cluster(void *conn, const char *cluster, list_t *qos,
			list_t *tres, struct tide_live *live)
{
	if (tide_live_assocs(conn, cluster, qos, tres, live))
		return -1;
	if (live->slurmdbd_why || live->enforces)
		return 0;
	return tide_live_strays(conn, cluster, time(NULL), live);
}

static int ask_slurmdbd(struct tide_live *live, const char *cluster)
{
	slurmdb_account_cond_t account_cond = {0};
	slurmdb_qos_cond_t qos_cond = {0};
	slurmdb_tres_cond_t tres_cond = {.count = NO_VAL};
	list_t *accounts = NULL, *qos = NULL, *tres = NULL;
	void *conn;
	int rc = 0;

	errno = 0;
	conn = slurmdb_connection_get(NULL);
	if (conn && !errno)
		accounts = slurmdb_accounts_get(conn, &account_cond);
	if (accounts)
		qos = slurmdb_qos_get(conn, &qos_cond);
	if (!qos)
		live->slurmdbd_why = reason();
	else
		tres = slurmdb_tres_get(conn, &tres_cond);
	if (qos && (read_accounts(accounts, &live->accounts) ||
		    read_qos(qos, tres, live) ||
		    (cluster && read_cluster(conn, cluster, qos, tres, live))))
		rc = -1;
	if (accounts)
		slurm_list_destroy(accounts);
	if (qos)
		slurm_list_destroy(qos);
	if (tres)
		slurm_list_destroy(tres);
	if (conn)
		slurmdb_connection_close(&conn);
	return rc;
}

/* How far a clock that was read since `before` is ahead of ours. */
static int64_t ahead(int64_t there, time_t before)
{
	time_t now = time(NULL);

	if (there < before)
		return there - before;
	return there > now ? there - now : 0;
}

/* slurmctld's clock as it answers sdiag. */
static void ask_clock(struct tide_live *live)
{
	stats_info_request_msg_t request = {.command_id = STAT_COMMAND_GET};
	/* libslurm has no public way to free it. */
	static stats_info_response_msg_t *answer;
	time_t before = time(NULL);

	if (!slurm_get_statistics(&answer, &request) && answer)
		live->slurmctld_ahead = ahead(answer->req_time, before);
}

/* Those that the credits plugin in slurmdbd sees; it need not be there. */
static void ask_clocks(struct tide_live *live)
{
	json_int_t slurmdbd, database;
	time_t before = time(NULL);
	char *answer = NULL;
	json_t *data = NULL;

	if (!tide_client_ask("{\"op\":\"clock\"}", &answer, NULL) &&
	    !tide_answer_read(answer, &data, NULL) &&
	    !json_unpack(data, "{s:I,s:I}", "slurmdbd", &slurmdbd, "database",
			 &database)) {
		live->has_clocks = 1;
		live->slurmdbd_ahead = ahead(slurmdbd, before);
		live->database_ahead = ahead(database, before);
	}
	json_decref(data);
	free(answer);
}

/* *ret_cluster is its name; NULL when it does not answer. */
static int ask_slurmctld(struct tide_live *live, char **ret_cluster)
{
	slurm_conf_t *conf = NULL;
	int rc;

	errno = 0;
	if (slurm_load_ctl_conf(0, &conf)) {
		live->slurmctld_why = reason();
		return live->slurmctld_why ? 0 : -1;
	}
	live->version = strdup(conf->version);
	live->plugin_dir = strdup(conf->plugindir);
	live->tres = strdup(conf->accounting_storage_tres
				    ? conf->accounting_storage_tres
				    : "");
	live->enforces =
		(conf->accounting_storage_enforce & ENFORCES) == ENFORCES;
	*ret_cluster = strdup(conf->cluster_name ? conf->cluster_name : "");
	rc = live->version && live->plugin_dir && live->tres && *ret_cluster &&
			     !tide_live_jobs(live) && !tide_live_nodes(live)
		     ? 0
		     : -1;
	tide_free_conf(conf);
	ask_clock(live);
	return rc;
}

/* What a child wrote before it ended, as one line. */
static char *read_line(int fd)
{
	char text[1024];
	size_t have = 0;
	ssize_t n;

	while (have < sizeof(text) - 1 &&
	       (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)n;
	while (have && text[have - 1] == '\n')
		have--;
	text[have] = '\0';
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return strdup(text);
}

/*
 * libslurm ends the process when slurm.conf does not please it: let it do so
 * in a child, and tell what it said.
 */
static int try_slurm_init(struct tide_live *live)
{
	int fd[2], status = 0;
	pid_t pid;

	if (pipe(fd))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd[1], STDERR_FILENO);
		tide_client_start();
		_exit(0);
	}
	close(fd[1]);
	live->refused_why = pid < 0 ? NULL : read_line(fd[0]);
	close(fd[0]);
	if (!live->refused_why || waitpid(pid, &status, 0) < 0)
		return -1;
	if (!status) {
		free(live->refused_why);
		live->refused_why = NULL;
	}
	return 0;
}

int tide_live_ask(struct tide_live *live)
{
	char *cluster = NULL;
	int rc;

	if (try_slurm_init(live))
		return -1;
	if (live->refused_why)
		return 0;
	tide_client_start();
	rc = ask_slurmctld(live, &cluster) || ask_slurmdbd(live, cluster);
	if (!rc && !live->slurmdbd_why)
		ask_clocks(live);
	free(cluster);
	if (rc)
		errno = ENOMEM;
	return rc ? -1 : 0;
}
