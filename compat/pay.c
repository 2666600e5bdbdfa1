/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What credits need to know of a request, and change in it: see submit.h. */
#include "compat/submit.h"

#include "src/common/assoc_mgr.h"
#include "src/slurmctld/locks.h"

#pragma weak default_part_loc
#pragma weak acct_db_conn
#pragma weak accounting_enforce
#pragma weak node_record_table_ptr

/* The user's default account; xmalloc()ed, or NULL. */
static char *default_account(uint32_t uid)
{
	slurmdb_user_rec_t user;
	char *account = NULL;
	assoc_mgr_lock_t locks = {.user = READ_LOCK};

	memset(&user, 0, sizeof(user));
	user.uid = uid;
	assoc_mgr_lock(&locks);
	if (!assoc_mgr_fill_in_user(acct_db_conn, &user, accounting_enforce,
				    NULL, true))
		account = xstrdup(user.default_acct);
	assoc_mgr_unlock(&locks);
	return account;
}

static void view_new(const job_desc_msg_t *desc, uint32_t uid,
		     struct tide_pay_request *r)
{
	r->partitions = desc->partition;
	if (!r->partitions && default_part_loc)
		r->partitions = default_part_loc->name;
	r->account = desc->account ? xstrdup(desc->account)
				   : default_account(desc->user_id != NO_VAL
							     ? desc->user_id
							     : uid);
	r->moves = true;
	r->nodelist = desc->req_nodes;
	r->exclude = desc->exc_nodes;
}

static void view_update(const job_desc_msg_t *desc, const job_record_t *job,
			struct tide_pay_request *r)
{
	r->update = true;
	r->partitions = desc->partition ? desc->partition : job->partition;
	r->account = xstrdup(desc->account ? desc->account : job->account);
	r->old_qos = job->qos_ptr ? job->qos_ptr->name : NULL;
	r->moves = desc->partition || desc->account;
	r->nodelist = desc->req_nodes;
	r->exclude = desc->exc_nodes;
	if (!r->nodelist && job->details)
		r->nodelist = job->details->req_nodes;
	if (!r->exclude && job->details)
		r->exclude = job->details->exc_nodes;
}

void tide_pay_request_view(const job_desc_msg_t *desc, uint32_t uid,
			   const job_record_t *job,
			   struct tide_pay_request *ret_request)
{
	const char *own[4] = {desc->tres_per_job, desc->tres_per_node,
			      desc->tres_per_socket, desc->tres_per_task};
	struct tide_pay_request r = {.qos = desc->qos};
	int i;

	for (i = 0; i < 4; i++) {
		r.tres[i] = own[i];
		r.asks |= own[i] != NULL;
	}
	if (!job) {
		view_new(desc, uid, &r);
	} else {
		const char *old[4] = {job->tres_per_job, job->tres_per_node,
				      job->tres_per_socket, job->tres_per_task};

		view_update(desc, job, &r);
		for (i = 0; i < 4; i++)
			if (!r.tres[i])
				r.tres[i] = old[i];
	}
	if (!r.partitions)
		r.partitions = "";
	*ret_request = r;
}

void tide_pay_request_release(struct tide_pay_request *request)
{
	xfree(request->account);
}

void tide_pay_set_qos(job_desc_msg_t *desc, const char *qos)
{
	xfree(desc->qos);
	desc->qos = xstrdup(qos);
}

void tide_pay_set_tres(job_desc_msg_t *desc, int which, const char *text)
{
	char **where[4] = {&desc->tres_per_job, &desc->tres_per_node,
			   &desc->tres_per_socket, &desc->tres_per_task};

	xfree(*where[which]);
	*where[which] = xstrdup(text);
}

bool tide_ctld_enforces_limits(void)
{
	return accounting_enforce & ACCOUNTING_ENFORCE_QOS &&
	       accounting_enforce & ACCOUNTING_ENFORCE_LIMITS;
}

bool tide_ctld_has_qos(const char *name)
{
	assoc_mgr_lock_t locks = {.qos = READ_LOCK};
	slurmdb_qos_rec_t qos;
	bool there;

	memset(&qos, 0, sizeof(qos));
	qos.name = (char *)name;
	assoc_mgr_lock(&locks);
	there = !assoc_mgr_fill_in_qos(acct_db_conn, &qos, accounting_enforce,
				       NULL, true) &&
		qos.id;
	assoc_mgr_unlock(&locks);
	return there;
}

/* "mlu:mlu290:2,gpu:1": is the device among them? */
static bool gres_has(const char *gres, const char *device)
{
	size_t len = strlen(device);
	const char *p;

	for (p = gres; p && *p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, device, len) &&
		    (!p[len] || strchr(":,(", p[len])))
			return true;
	}
	return false;
}

/* The nodes the request may use, to be freed. */
static bitstr_t *usable(const struct tide_pay_request *request)
{
	const bitstr_t *all = tide_ctld_partition(request->partitions);
	bitstr_t *nodes, *named;

	if (!all)
		return NULL;
	nodes = bit_copy((bitstr_t *)all);
	named = request->exclude ? tide_ctld_nodes(request->exclude) : NULL;
	if (named)
		bit_and_not(nodes, named);
	FREE_NULL_BITMAP(named);
	return nodes;
}

bool tide_pay_nodes_have(const struct tide_pay_request *request,
			 const char *device)
{
	bitstr_t *nodes = usable(request);
	bool found = false;
	int i;

	for (i = 0; nodes && !found && i < bit_size(nodes); i++)
		if (bit_test(nodes, i) && node_record_table_ptr[i] &&
		    node_record_table_ptr[i]->config_ptr)
			found = gres_has(
				node_record_table_ptr[i]->config_ptr->gres,
				device);
	FREE_NULL_BITMAP(nodes);
	return found;
}
