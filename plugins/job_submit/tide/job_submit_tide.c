/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/tide, in slurmctld: guards that the layer is the select plugin in
 * use (guard.h), and tells the users of the pool in words what cannot work
 * (rules.h, rules_credit.h).  Requests for other partitions pass unchanged.
 */
#include "compat/submit.h"

#include "compat/loaded.h"
#include "plugins/job_submit/tide/guard.h"
#include "plugins/job_submit/tide/rules.h"
#include "plugins/job_submit/tide/rules_credit.h"

const char plugin_name[] = "Job submission for TideFlow";
const char plugin_type[] = "job_submit/tide";
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;

static const struct tide_layer *layer;

__attribute__((constructor)) static void loaded(void)
{
	tide_loaded(
		"slurmctld", "tide",
		"slurmctld does not start until then, unless TideFlow's folder is taken out of PluginDir and tide out of JobSubmitPlugins in slurm.conf: lent nodes are then open to the pool at any time");
}

/* The one place that fails closed: without the layer slurmctld must not run. */
int init(void)
{
	struct tide_err err;

	if (tide_guard(&layer, &err) == 0)
		return SLURM_SUCCESS;
	error("tide: %s", err.text);
	error("tide: slurmctld must not run like this: every lent node would be open to the pool at any time");
	return SLURM_ERROR;
}

void fini(void)
{
	layer = NULL;
}

int job_submit(job_desc_msg_t *desc, uint32_t uid, char **err_msg)
{
	struct tide_request request;
	char *say = NULL;
	int rc;

	tide_request_view(desc, &request);
	rc = tide_rules(layer, &request, &say);
	tide_say(err_msg, say);
	say = NULL;
	if (!rc)
		rc = tide_rules_credit(layer, desc, uid, NULL, &say);
	tide_say(err_msg, say);
	return rc;
}

int job_modify(TIDE_MODIFY_PARAMS)
{
	char *say = NULL;
	int rc;

	rc = tide_rules_credit(layer, desc, uid, job, &say);
	if (rc && say)
		info("tide: update of job %u refused: %s", job->job_id, say);
	TIDE_MODIFY_SAY(say);
	return rc;
}
