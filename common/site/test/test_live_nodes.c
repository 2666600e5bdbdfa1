/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes as slurmctld knows them: which answer, with what slurmd and devices. */
#include "config.h"

#include <string.h>

#include "common/site/live.h"
#include "common/site/rules.h"
#include "tests/lib/tap.h"

static const struct {
	const char *list, *item;
	int64_t count;
} counts[] = {
	{"mlu:mlu290:4(S:0-1)", "mlu:mlu290:4", 4},
	{"mlu:mlu290:4(S:0-1),mlu:mlu370:2(S:0)", "mlu", 6},
	{"mlu:mlu290:1,MLU:MLU290:1", "mlu:mlu290:2", 2},
	{"mlu:mlu290", "mlu:mlu290", 1},
	{"gpu:3090:2", "gpu:3090", 2},
	{"gpu:2K,gpu:a:1M", "gpu", 2048 + 1048576},
	{"gpu:8", "gpu:8", 8},
	{"gpu:a100", "gpu:h100", 0},
	{"", "gpu", 0},
	{NULL, "gpu", 0},
	{"gpu:99999999999999999999", "gpu", INT64_MAX},
};

static const struct tide_live_node good[] = {
	{"n10", "22.05.8", "", "gpu:a:2(S:0)", 0},
	{"n9", "22.05.8", "", "gpu:a:2(S:0)", 0},
	{"x1", "22.05.8", "", "", 0},
};

/* Two nodes of the above as they are instead, and what is said then. */
static const struct {
	const char *name;
	struct tide_live_node a, b;
	const char *what, *fix;
} cases[] = {
	{.name = "all is well"},
	{.name = "nodes that are down, one finding for both",
	 .a = {"n10", "22.05.8", "Not responding", "gpu:a:2", 1},
	 .b = {"n9", "22.05.8", "Not responding", "gpu:a:2", 1},
	 .what = "node 'n[9-10]' is down or does not answer slurmctld: Not responding",
	 .fix = "systemctl status slurmd"},
	{.name = "a node that never answered",
	 .a = {"n10", "", "", "gpu:a:2", 1},
	 .what = "node 'n10' is down or does not answer slurmctld",
	 .fix = "systemctl status slurmd"},
	{.name = "a node drained for its devices, whether it is down or not",
	 .a = {"n10", "22.05.8", "gres/gpu count reported lower than configured (1 < 2)",
	       "gpu:a:2", 1},
	 .what = "node 'n10' takes no job for its devices: gres/gpu count reported lower than configured (1 < 2)",
	 .fix = "scontrol update nodename=n10 state=resume"},
	{.name = "a node that is drained for something else",
	 .a = {"n10", "22.05.8", "new memory", "gpu:a:2", 0}},
	{.name = "an older slurmd",
	 .a = {"n10", "22.05.7", "", "gpu:a:2", 0},
	 .what = "node 'n10' has slurmd of Slurm 22.05.7, slurmctld is 22.05.8",
	 .fix = "tidectl check --nodes=n10"},
	{.name = "devices that slurmctld does not know",
	 .a = {"n10", "22.05.8", "", "gpu:a:1(S:0)", 0},
	 .what = "node 'n10' has Gres=gpu:a:2 in slurm.conf, but slurmctld does not know that",
	 .fix = "restart slurmctld while slurmd"},
	{.name = "another type of them",
	 .a = {"n10", "22.05.8", "", "gpu:b:2", 0},
	 .what = "node 'n10' has Gres=gpu:a:2 in slurm.conf",
	 .fix = "restart slurmctld while slurmd"},
	{.name = "more of them than slurm.conf says",
	 .a = {"n10", "22.05.8", "", "gpu:a:4,gpu:b:1", 0}},
};

static void is_found(size_t i)
{
	static struct tide_slurm_pair pair[] = {{"NodeName", "n[9-10]"},
						{"Gres", "gpu:a:2"}};
	static struct tide_slurm_record record = {.pair = pair, .n_pairs = 2};
	const struct tide_slurm slurm = {.record = &record, .n_records = 1};
	static char version[] = "22.05.8";
	struct tide_live_node node[3];
	struct tide_live live = {.version = version, .node = node, .n_nodes = 3};
	struct tide_findings findings = {0};
	struct tide_site site = {.slurm = &slurm,
				 .path = "slurm.conf",
				 .findings = &findings};
	const struct tide_finding *bad = NULL;
	size_t n_bad = 0;

	memcpy(node, good, sizeof(node));
	if (cases[i].a.name)
		node[0] = cases[i].a;
	if (cases[i].b.name)
		node[1] = cases[i].b;
	tide_site_live_nodes(&site, &live);
	for (size_t k = 0; k < findings.count; k++)
		if (findings.finding[k].level != TIDE_LEVEL_OK) {
			n_bad++;
			bad = &findings.finding[k];
		}
	if (!ok(cases[i].what ? n_bad == 1 && strstr(bad->what, cases[i].what) &&
					strstr(bad->fix, cases[i].fix) &&
					bad->level == TIDE_LEVEL_WARNING
			      : !n_bad && findings.count == 1,
		"%s", cases[i].name))
		diag("%zu bad: %s", n_bad, bad ? bad->what : "");
	tide_findings_release(&findings);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		ok(tide_site_gres_count(counts[i].list, counts[i].item) ==
			   counts[i].count,
		   "'%s' has %lld of '%s'",
		   counts[i].list ? counts[i].list : "(none)",
		   (long long)counts[i].count, counts[i].item);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_found(i);
	return tap_done();
}
