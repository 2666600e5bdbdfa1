/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TideFlow's select_cons_tres.so, the layer: stands in the place of Slurm's
 * plugin of that name and on Slurm's own copy of it.  Every operation is
 * passed on (forward.h); those below see to the windows first or after.
 *
 * Slurm opens it in slurmctld, and on some releases in slurmd, slurmstepd and
 * clients as well; there it only passes on.
 */
#include "compat/select.h"

#include <limits.h>
#include <unistd.h>

#include "compat/loaded.h"
#include "plugins/select/tide/forward.h"
#include "plugins/select/tide/keeper.h"
#include "plugins/select/tide/pass.h"
#include "plugins/select/tide/pick.h"
#include "plugins/select/tide/query.h"

/* Name, type and number are those of the plugin it stands for. */
const char plugin_name[] =
	"Consumable trackable resources (TRES) selection, windows by TideFlow";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;

/* Are we inside slurmctld, and is the original open? */
static bool active;

__attribute__((constructor)) static void loaded(void)
{
	tide_loaded(
		"slurmctld", "tide",
		"without it every lent node is open to the pool at any time");
}

/* Slurm loads job_submit/tide after us: will it find it? */
static void look_for_guard(void)
{
	char path[PATH_MAX] = "";

	if (!tide_ctld_submits_by("tide"))
		error("tide: JobSubmitPlugins=tide is missing: nothing keeps slurmctld from running without windows should this plugin not load, and no job is refused in words");
	else if (tide_loaded_beside(TIDE_GUARD_FILE, path, sizeof(path)) < 0 ||
		 access(path, R_OK))
		error("tide: JobSubmitPlugins=tide wants %s: %m; reinstall TideFlow",
		      path);
}

int init(void)
{
	struct tide_err err;

	if (tide_forward_open(tide_ctld_plugin_dir(), &err) < 0) {
		error("tide: %s", err.text);
		return SLURM_ERROR;
	}
	if (!tide_ctld_present())
		return SLURM_SUCCESS;
	verbose("tide: windows over %s", tide_forward_path());
	look_for_guard();
	tide_keeper_init();
	active = true;
	return SLURM_SUCCESS;
}

void fini(void)
{
	if (active)
		tide_keeper_stop();
	active = false;
	tide_forward_close();
}

/*
 * Before anything is read or changed in them.  Were they others', each lent
 * node might be open and each job harmed, so slurmctld must not run like this.
 */
static void check_records(void)
{
	static bool checked;
	struct tide_err err;
	int rc;

	if (checked)
		return;
	rc = tide_ctld_check_records(&err);
	if (rc < 0)
		fatal("tide: %s; install the build of TideFlow for this Slurm, or take its folder out of PluginDir and tide out of JobSubmitPlugins",
		      err.text);
	checked = rc == 0;
}

int select_p_job_test(TIDE_JOB_TEST_PARAMS)
{
	struct tide_job_test test = TIDE_JOB_TEST_PACK;

	if (active)
		check_records();
	if (!active)
		return tide_job_test_call(tide_next_select_p_job_test, &test);
	return tide_pick(tide_next_select_p_job_test, &test);
}

static void poke_for(const job_record_t *job)
{
	struct tide_plan *plan = tide_plan_get();
	struct tide_job_view view;

	tide_job_view(job, &view);
	if (plan && tide_plan_is_pool(plan, &view))
		tide_keeper_poke();
	tide_plan_put(plan);
}

int select_p_job_begin(job_record_t *job_ptr)
{
	int rc = tide_next_select_p_job_begin(job_ptr);

	if (active && rc == SLURM_SUCCESS)
		poke_for(job_ptr);
	return rc;
}

int select_p_job_fini(job_record_t *job_ptr)
{
	int rc = tide_next_select_p_job_fini(job_ptr);

	if (active) {
		tide_pass_run_over(job_ptr);
		poke_for(job_ptr);
	}
	return rc;
}

int select_p_reconfigure(void)
{
	int rc = tide_next_select_p_reconfigure();

	if (active) {
		check_records();
		tide_keeper_replan();
		tide_keeper_start();
	}
	return rc;
}

/* Later releases have no such operation: see keeper.c. */
#if TIDE_SELECT_SAVES
int select_p_state_save(char *dir_name)
{
	if (active && tide_ctld_ending())
		tide_pass_leave();
	return tide_next_select_p_state_save(dir_name);
}
#endif

/* What job_submit/tide asks, see query.h. */
static bool is_active(void)
{
	return active;
}

const struct tide_layer tide_layer = {
	.abi = TIDE_LAYER_ABI,
	.active = is_active,
	.fit = tide_query_fit,
	.conf = tide_query_conf,
	.drop = tide_query_drop,
};
