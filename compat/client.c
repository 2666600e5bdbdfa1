/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks slurmdbd through public libslurm.  Knows no request and no answer
 * (plugins/acct/credits/query.h does).
 */
#include "config.h"

#include "compat/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "compat/release.h"

/* What marks a query as ours, see accounting_storage_credits.c. */
#define CHANNEL "tideflow-credits-1"

/*
 * Slurm's plugins call functions that public libslurm does not have, such as
 * slurmdbd_msg_type_2_str() to report that slurmdbd is gone in the middle of an
 * answer; there the dynamic linker would end the process. Slurm's own library
 * has them; without it we are no worse off.
 */
void tide_client_start(void)
{
	static bool ready;

	if (ready)
		return;
	dlopen(TIDE_SLURM_PLUGINDIR "/libslurmfull.so",
	       RTLD_LAZY | RTLD_GLOBAL);
	slurm_init(NULL);
	ready = true;
}

static int read_answer(list_t *records, char **ret_answer, struct tide_err *err)
{
	list_itr_t *itr = slurm_list_iterator_create(records);
	slurmdb_txn_rec_t *rec = slurm_list_next(itr);
	char *answer = NULL;

	if (rec && rec->actor_name && !strcmp(rec->actor_name, CHANNEL) &&
	    rec->set_info)
		answer = strdup(rec->set_info);
	slurm_list_iterator_destroy(itr);
	if (!answer)
		return tide_err_set(
			err, ENOSYS,
			"slurmdbd runs without the credits plugin (StorageType=accounting_storage/credits)");
	*ret_answer = answer;
	return 0;
}

int tide_client_ask(const char *request, char **ret_answer,
		    struct tide_err *err)
{
	slurmdb_txn_cond_t cond = {0};
	list_t *records = NULL;
	void *conn;
	int rc = -1;

	tide_client_start();
	errno = 0;
	conn = slurmdb_connection_get(NULL);
	if (!conn || errno)
		goto unreachable;
	cond.info_list = slurm_list_create(NULL);
	slurm_list_append(cond.info_list, (void *)CHANNEL);
	slurm_list_append(cond.info_list, (void *)request);
	errno = 0;
	records = slurmdb_txn_get(conn, &cond);
	slurm_list_destroy(cond.info_list);
	if (!records)
		goto unreachable;
	rc = read_answer(records, ret_answer, err);
	slurm_list_destroy(records);
	slurmdb_connection_close(&conn);
	return rc;
unreachable:
	rc = errno;
	if (conn)
		slurmdb_connection_close(&conn);
	return tide_err_set(err, ENOTCONN, "could not ask slurmdbd: %s",
			    rc ? slurm_strerror(rc) : "no answer");
}
