/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What credits demand of a request: see rules_credit.h. */
#include "plugins/job_submit/tide/rules_credit.h"

#include <stdlib.h>

#include "common/conf/conf.h"
#include "common/credit/charge.h"
#include "common/credit/gres.h"

/* What every rule sees. */
struct context {
	const struct tide_conf *conf;
	struct tide_pay_request request;
	job_desc_msg_t *desc;
	char *qos; /* of the account, or NULL */
	char **say;
};

static bool is_pool(const struct tide_conf *conf, const char *partitions,
		    bool *ret_others)
{
	char *copy = xstrdup(partitions), *save = NULL, *name;
	bool pool = false;

	for (name = strtok_r(copy, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		if (!xstrcmp(name, conf->pool_partition))
			pool = true;
		else
			*ret_others = true;
	}
	xfree(copy);
	return pool;
}

/* Use of a paying QOS elsewhere would count and not be charged. */
static int rule_elsewhere(struct context *c)
{
	const struct tide_pay_request *r = &c->request;
	const char *qos = r->qos ? r->qos : r->old_qos;

	if (!c->qos || xstrcmp(qos, c->qos) || (!r->qos && !r->moves))
		return SLURM_SUCCESS;
	xstrfmtcat(*c->say,
		   "QOS '%s' is for partition '%s' alone: give another --qos",
		   qos, c->conf->pool_partition);
	return ESLURM_INVALID_QOS;
}

static int rule_alone(struct context *c, bool others)
{
	if (!others)
		return SLURM_SUCCESS;
	xstrfmtcat(
		*c->say,
		"a job of partition '%s' is paid in credits and cannot ask for other partitions as well",
		c->conf->pool_partition);
	return ESLURM_INVALID_PARTITION_NAME;
}

static int rule_qos(struct context *c)
{
	const struct tide_pay_request *r = &c->request;

	/* Slurm itself says that there is no such association. */
	if (!c->qos)
		return SLURM_SUCCESS;
	if (!tide_ctld_has_qos(c->qos)) {
		xstrfmtcat(
			*c->say,
			"account '%s' is not enrolled for credits, so it cannot pay for partition '%s' (an administrator: tidectl credits enroll %s)",
			r->account, c->conf->pool_partition, r->account);
		return ESLURM_INVALID_ACCOUNT;
	}
	if (r->qos && xstrcmp(r->qos, c->qos)) {
		xstrfmtcat(
			*c->say,
			"a job of partition '%s' runs under the QOS of its account, '%s': leave --qos out",
			c->conf->pool_partition, c->qos);
		return ESLURM_INVALID_QOS;
	}
	if (r->moves && !r->qos)
		tide_pay_set_qos(c->desc, c->qos);
	return SLURM_SUCCESS;
}

/* The devices with a price that nodes of the job have. */
static size_t priced_here(const struct context *c, const char **names)
{
	size_t n = 0;
	int i;

	for (i = 0; i < c->conf->n_devices; i++)
		if (tide_pay_nodes_have(&c->request, c->conf->device[i].name))
			names[n++] = c->conf->device[i].name;
	return n;
}

static void say_what_to_ask(struct context *c, const char **names, size_t n)
{
	size_t i;

	xstrfmtcat(
		*c->say,
		"a job of partition '%s' has to ask for a device that has a price",
		c->conf->pool_partition);
	for (i = 0; i < n; i++)
		xstrfmtcat(*c->say, "%s--gres=%s:1", i ? " or " : ": ",
			   names[i]);
}

static int rule_devices(struct context *c)
{
	const char **names;
	struct tide_err err;
	int i, rc = SLURM_SUCCESS;
	long priced = 0;
	char *text;
	size_t n;

	if (c->request.update && !c->request.asks && !c->request.moves)
		return SLURM_SUCCESS;
	names = xcalloc((size_t)c->conf->n_devices, sizeof(*names));
	n = priced_here(c, names);
	for (i = 0; i < 4 && !rc; i++) {
		text = NULL;
		if (!c->request.tres[i])
			continue;
		if (tide_gres_resolve(c->request.tres[i], names, n, &text,
				      &priced, &err)) {
			xstrfmtcat(*c->say, "%s", err.text);
			rc = ESLURM_INVALID_GRES;
		} else if (text) {
			tide_pay_set_tres(c->desc, i, text);
		}
		free(text);
	}
	if (!rc && !priced) {
		say_what_to_ask(c, names, n);
		rc = ESLURM_INVALID_GRES;
	}
	xfree(names);
	return rc;
}

static int judge(struct context *c)
{
	bool others = false;
	int rc;

	if (!is_pool(c->conf, c->request.partitions, &others))
		return rule_elsewhere(c);
	rc = rule_alone(c, others);
	if (!rc)
		rc = rule_qos(c);
	if (!rc)
		rc = rule_devices(c);
	return rc;
}

int tide_rules_credit(const struct tide_layer *layer, job_desc_msg_t *desc,
		      uint32_t uid, const job_record_t *job, char **say)
{
	struct context c = {.desc = desc, .say = say};
	void *hold = NULL;
	int rc = SLURM_SUCCESS;

	c.conf = layer->conf(&hold);
	if (c.conf && c.conf->n_devices && tide_ctld_enforces_limits()) {
		tide_pay_request_view(desc, uid, job, &c.request);
		if (c.request.account)
			c.qos = tide_qos_name(c.request.account);
		rc = judge(&c);
		free(c.qos);
		tide_pay_request_release(&c.request);
	}
	layer->drop(hold);
	return rc;
}
