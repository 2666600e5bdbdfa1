/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs and associations of a cluster: who is locked out, what is not limited.
 */
#include "config.h"

#include <string.h>

#include "common/site/live.h"
#include "common/site/rules.h"
#include "tests/lib/tap.h"

static struct tide_live_assoc assocs[] = {
	{"", "vision", "normal,tide_vision", "", 0},
	{"ann", "vision", "normal,tide_vision", "", 1},
	{"bob", "vision", "normal", "", 1},
	{"bob", "cv", "normal", "", 0},
};

static struct tide_live_job jobs[] = {
	{"1", 1, "ann", "vision", "pool", "tide_vision", 1, 0},
	{"2", 2, "bob", "cv", "lab", "normal", 0, 0},
	{"3_4", 3, "bob", "vision", "lab", "normal", 1, 0},
};

static char *accounts[] = {"cv", "vision"};

static struct tide_live_qos qos[] = {
	{"normal", 0, 0, ""},
	{"tide_vision", 1, 1, "GrpTRESMins=billing=60"},
};

/* One change of the above, and what is found then; nothing: all is well. */
static const struct {
	const char *name;
	size_t assoc, job; /* which one changes, counted from 1 */
	struct tide_live_assoc new_assoc;
	struct tide_live_job new_job;
	struct tide_live_stray stray;
	const char *qos_limits; /* of normal */
	enum tide_level level;
	const char *what, *fix;
} cases[] = {
	{.name = "all is well"},
	{.name = "a user without association",
	 .job = 2,
	 .new_job = {"2", 2, "eve", "cv", "lab", "normal", 0, 0},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "user 'eve' is locked out: no association with account 'cv', and 1 job (2)",
	 .fix = "sacctmgr add user eve account=cv"},
	{.name = "a user of another account",
	 .job = 1,
	 .new_job = {"1", 1, "ann", "cv", "lab", "normal", 1, 0},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "no association with account 'cv', and 1 job (1)",
	 .fix = "sacctmgr add user ann account=cv"},
	{.name = "a job without account",
	 .job = 1,
	 .new_job = {"1", 1, "eve", "", "lab", "", 1, 0},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "user 'eve' is locked out: no association, and 1 job (1)",
	 .fix = "sacctmgr add user eve account=ACCOUNT"},
	{.name = "a job without account of a user with a default one",
	 .job = 1,
	 .new_job = {"1", 1, "ann", "", "lab", "", 1, 0}},
	{.name = "a pool job without account",
	 .job = 1,
	 .new_job = {"1", 1, "ann", "", "pool", "", 1, 0},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "job 1 of the pool has no account",
	 .fix = "scontrol update jobid=1 account=ACCOUNT"},
	{.name = "a user without default account",
	 .assoc = 3,
	 .new_assoc = {"bob", "vision", "normal", "", 0},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "user 'bob' has no default account",
	 .fix = "sacctmgr modify user bob set defaultaccount=cv"},
	{.name = "a QOS that the user may not use",
	 .job = 3,
	 .new_job = {"3_4", 3, "bob", "vision", "lab", "long", 1, 0},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "job 3_4 is held: user 'bob' of account 'vision' may not use QOS 'long'",
	 .fix = "sacctmgr modify user bob where account=vision set qos+=long"},
	{.name = "a running job is not held for its QOS",
	 .job = 3,
	 .new_job = {"3_4", 3, "bob", "vision", "lab", "long", 0, 0}},
	{.name = "a limit that nobody enforced",
	 .assoc = 1,
	 .new_assoc = {"", "vision", "normal", "GrpJobs=2", 0},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "account 'vision' is limited: GrpJobs=2",
	 .fix = "-1"},
	{.name = "a limit of a user that is the account's says nothing new",
	 .assoc = 1,
	 .new_assoc = {"", "vision", "normal", "MaxJobs=2 GrpJobs=1", 0},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "account 'vision' is limited: MaxJobs=2 GrpJobs=1",
	 .fix = "-1"},
	{.name = "a limit of a user",
	 .assoc = 3,
	 .new_assoc = {"bob", "vision", "normal", "MaxJobs=2 GrpJobs=1", 1},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "user 'bob' of account 'vision' is limited: MaxJobs=2 GrpJobs=1",
	 .fix = "-1"},
	{.name = "a limit of a QOS that is not ours",
	 .qos_limits = "MaxJobsPerUser=1",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "whoever runs under QOS 'normal' is limited: MaxJobsPerUser=1",
	 .fix = "-1"},
	{.name = "a user who ran without an association",
	 .stray = {"eve", "cv", 7, 12},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "user 'eve' is locked out: no association with account 'cv', and 12 jobs in the last 30 days",
	 .fix = "sacctmgr add user eve account=cv"},
	{.name = "one who has an association now",
	 .stray = {"bob", "cv", 7, 12}},
	{.name = "one who ran without an account and has a default one now",
	 .stray = {"bob", "", 7, 12}},
	{.name = "one whose jobs were named already",
	 .job = 2,
	 .new_job = {"2", 2, "eve", "cv", "lab", "normal", 0, 0},
	 .stray = {"eve", "cv", 7, 12},
	 .level = TIDE_LEVEL_ERROR,
	 .what = "user 'eve' is locked out: no association with account 'cv', and 1 job (2)",
	 .fix = "sacctmgr add user eve account=cv"},
	{.name = "a pool job that nothing limits",
	 .job = 1,
	 .new_job = {"1", 1, "ann", "vision", "lab,pool", "normal", 1, 0},
	 .level = TIDE_LEVEL_WARNING,
	 .what = "job 1 of the pool waits under QOS 'normal'",
	 .fix = "scontrol update jobid=1 qos=tide_vision"},
	{.name = "a pool job of an account that is not enrolled",
	 .job = 2,
	 .new_job = {"2", 2, "bob", "cv", "pool", "normal", 1, 0}},
	{.name = "a pool job that runs already",
	 .job = 1,
	 .new_job = {"1", 1, "ann", "vision", "pool", "normal", 0, 0}},
};

/* How many findings are not ok, the last of them, and how many there are. */
static size_t look(const struct tide_live *live, const struct tide_slurm *slurm,
		   struct tide_findings *findings, size_t *ret_last)
{
	static char pool[] = "pool";
	static const struct tide_conf conf = {.pool_partition = pool,
					      .n_devices = 1};
	struct tide_site site = {.conf = &conf,
				 .slurm = slurm,
				 .path = "slurm.conf",
				 .findings = findings};
	size_t bad = 0;

	tide_site_enforce(&site, live);
	tide_site_pool_jobs(&site, live);
	for (size_t i = 0; i < findings->count; i++)
		if (findings->finding[i].level != TIDE_LEVEL_OK) {
			bad++;
			*ret_last = i;
		}
	return bad;
}

static void is_found(size_t i, const struct tide_slurm *slurm)
{
	struct tide_live_assoc assoc[4];
	struct tide_live_job job[3];
	struct tide_live_stray stray;
	struct tide_live live = {.assoc = assoc,
				 .n_assocs = 4,
				 .job = job,
				 .n_jobs = 3,
				 .qos = qos,
				 .n_qos = 2,
				 .accounts = {accounts, 2},
				 .stray_days = 30};
	struct tide_findings findings = {0};
	size_t last = 0, bad;
	int pass;

	memcpy(assoc, assocs, sizeof(assoc));
	memcpy(job, jobs, sizeof(job));
	if (cases[i].assoc)
		assoc[cases[i].assoc - 1] = cases[i].new_assoc;
	if (cases[i].job)
		job[cases[i].job - 1] = cases[i].new_job;
	qos[0].limits = (char *)(cases[i].qos_limits ? cases[i].qos_limits
						     : "");
	if (cases[i].stray.user) {
		stray = cases[i].stray;
		live.stray = &stray;
		live.n_strays = 1;
	}
	bad = look(&live, slurm, &findings, &last);
	pass = bad == (cases[i].what ? 1 : 0);
	if (pass && bad)
		pass = findings.finding[last].level == cases[i].level &&
		       strstr(findings.finding[last].what, cases[i].what) &&
		       strstr(findings.finding[last].fix, cases[i].fix);
	if (!ok(pass, "%s", cases[i].name))
		diag("%zu bad, last: %s; fix: %s", bad,
		     findings.finding[last].what, findings.finding[last].fix);
	tide_findings_release(&findings);
}

/* Five of those that share a limit are named. */
static void test_many(const struct tide_slurm *slurm)
{
	static char *names[] = {"u1", "u2", "u3", "u4", "u5", "u6", "u7"};
	struct tide_live_assoc assoc[7];
	struct tide_live live = {.assoc = assoc, .n_assocs = 7};
	struct tide_findings findings = {0};
	size_t last = 0, bad;

	for (size_t i = 0; i < 7; i++)
		assoc[i] = (struct tide_live_assoc){names[i], "cv", "normal",
						    "MaxJobs=2", 1};
	bad = look(&live, slurm, &findings, &last);
	ok(bad == 1 &&
		   strstr(findings.finding[last].what,
			  "user 'u1', 'u2', 'u3', 'u4', 'u5' and 2 more of account 'cv' is limited: MaxJobs=2"),
	   "users with the same limit are one finding");
	tide_findings_release(&findings);
}

int main(void)
{
	struct tide_slurm_pair pair = {"AccountingStorageEnforce", "safe,qos"};
	struct tide_slurm_record record = {.pair = &pair, .n_pairs = 1};
	struct tide_slurm written = {.record = &record, .n_records = 1};
	struct tide_slurm unwritten = {0};
	struct tide_live live = {.job = jobs, .n_jobs = 3};
	struct tide_findings findings = {0};
	size_t last = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_found(i, &written);
	test_many(&written);
	ok(look(&live, &unwritten, &findings, &last) == 3 &&
		   findings.finding[last].level == TIDE_LEVEL_WARNING,
	   "as long as it is not written it is a warning, one for a user and account");
	tide_findings_release(&findings);
	live.enforces = 1;
	ok(!look(&live, &written, &findings, &last),
	   "where it is in force nobody is named");
	tide_findings_release(&findings);
	return tap_done();
}
