/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests/bench/credits.sh: plays slurmctld towards slurmdbd.  Starts COUNT
 * jobs, then completes them, many in a message as slurmctld's agent does when
 * it is busy, and prints how many seconds the completions took.  slurmdbd
 * handles, and commits, each by itself.  COUNT is cut to whole messages.
 *
 * usage: bench_dbd FIRST_ID COUNT ASSOC_ID QOS_ID ACCOUNT TRES
 */
#include "compat/plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/common/slurm_auth.h"
#include "src/common/slurm_persist_conn.h"
#include "src/common/slurmdbd_defs.h"
#include "src/common/slurmdbd_pack.h"

#define BATCH 100 /* jobs in a message */

static slurm_persist_conn_t *conn;

static void stop(const char *what)
{
	fprintf(stderr, "bench_dbd: %s\n", what);
	exit(1);
}

static void open_conn(void)
{
	conn = xmalloc(sizeof(*conn));
	conn->flags = PERSIST_FLAG_DBD;
	conn->persist_type = PERSIST_TYPE_DBD;
	conn->cluster_name = xstrdup(slurm_conf.cluster_name);
	conn->timeout = 60000;
	conn->rem_host = xstrdup(slurm_conf.accounting_storage_host);
	conn->rem_port = slurm_conf.accounting_storage_port;
	conn->version = SLURM_PROTOCOL_VERSION;
	conn->r_uid = SLURM_AUTH_UID_ANY;
	if (slurm_persist_conn_open(conn))
		stop("could not connect to slurmdbd");
}

/* Send one message and read the answer into resp. */
static void ask(uint16_t type, void *data, persist_msg_t *resp)
{
	persist_msg_t req = {.conn = conn, .msg_type = type, .data = data};
	buf_t *buffer = slurm_persist_msg_pack(conn, &req);

	if (!buffer || slurm_persist_send_msg(conn, buffer))
		stop("could not send");
	free_buf(buffer);
	buffer = slurm_persist_recv_msg(conn);
	memset(resp, 0, sizeof(*resp));
	if (!buffer || slurm_persist_msg_unpack(conn, resp, buffer))
		stop("no answer");
	free_buf(buffer);
}

struct bench {
	uint32_t id, assoc, qos;
	char *account, *tres;
	time_t submit;
	uint64_t *index; /* of each job in the database */
};

static void start_jobs(struct bench *b, uint32_t from, uint32_t n)
{
	dbd_job_start_msg_t *msgs = xcalloc(n, sizeof(*msgs));
	dbd_list_msg_t list = {.my_list = list_create(NULL)};
	dbd_list_msg_t *answer;
	dbd_id_rc_msg_t *rc;
	list_itr_t *itr;
	persist_msg_t resp;
	uint32_t i;

	for (i = 0; i < n; i++) {
		msgs[i] = (dbd_job_start_msg_t){
			.account = b->account,
			.alloc_nodes = 1,
			.array_task_id = NO_VAL,
			.assoc_id = b->assoc,
			.eligible_time = b->submit,
			.het_job_offset = NO_VAL,
			.job_id = b->id + from + i,
			.job_state = JOB_RUNNING,
			.name = "bench",
			.nodes = "n1",
			.partition = "pool",
			.qos_id = b->qos,
			.req_cpus = 1,
			.start_time = b->submit,
			.submit_time = b->submit,
			.timelimit = 5,
			.tres_alloc_str = b->tres,
			.work_dir = "/tmp",
		};
		list_append(list.my_list, &msgs[i]);
	}
	ask(DBD_SEND_MULT_JOB_START, &list, &resp);
	answer = resp.data;
	if (resp.msg_type != DBD_GOT_MULT_JOB_START ||
	    list_count(answer->my_list) != (int)n)
		stop("jobs did not start");
	itr = list_iterator_create(answer->my_list);
	for (i = from; (rc = list_next(itr)); i++)
		b->index[i] = rc->db_index;
	list_iterator_destroy(itr);
	slurmdbd_free_list_msg(answer);
	FREE_NULL_LIST(list.my_list);
	xfree(msgs);
}

static void complete_jobs(struct bench *b, uint32_t from, uint32_t n)
{
	dbd_list_msg_t list = {.my_list = list_create(slurmdbd_free_buffer)};
	dbd_list_msg_t *answer;
	persist_msg_t resp;
	uint32_t i;

	for (i = from; i < from + n; i++) {
		dbd_job_comp_msg_t msg = {
			.assoc_id = b->assoc,
			.db_index = b->index[i],
			.derived_ec = NO_VAL,
			.end_time = time(NULL),
			.job_id = b->id + i,
			.job_state = JOB_COMPLETE,
			.nodes = "n1",
			.req_uid = (uint32_t)-1,
			.start_time = b->submit,
			.submit_time = b->submit,
			.tres_alloc_str = b->tres,
		};
		persist_msg_t req = {.conn = conn,
				     .msg_type = DBD_JOB_COMPLETE,
				     .data = &msg};

		list_append(list.my_list,
			    pack_slurmdbd_msg(&req, SLURM_PROTOCOL_VERSION));
	}
	ask(DBD_SEND_MULT_MSG, &list, &resp);
	answer = resp.data;
	if (resp.msg_type != DBD_GOT_MULT_MSG ||
	    list_count(answer->my_list) != (int)n)
		stop("jobs did not complete");
	slurmdbd_free_list_msg(answer);
	FREE_NULL_LIST(list.my_list);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct bench b;
	uint32_t count, i;
	double began;

	if (argc != 7)
		stop("usage: bench_dbd FIRST_ID COUNT ASSOC_ID QOS_ID ACCOUNT TRES");
	slurm_init(NULL);
	b.id = (uint32_t)strtoul(argv[1], NULL, 10);
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	b.assoc = (uint32_t)strtoul(argv[3], NULL, 10);
	b.qos = (uint32_t)strtoul(argv[4], NULL, 10);
	b.account = argv[5];
	b.tres = argv[6];
	b.submit = time(NULL) - 1;
	b.index = xcalloc(count, sizeof(*b.index));
	open_conn();
	count -= count % BATCH;
	for (i = 0; i < count; i += BATCH)
		start_jobs(&b, i, BATCH);
	began = now();
	for (i = 0; i < count; i += BATCH)
		complete_jobs(&b, i, BATCH);
	printf("%.6f\n", now() - began);
	slurm_persist_conn_destroy(conn);
	xfree(b.index);
	return 0;
}
