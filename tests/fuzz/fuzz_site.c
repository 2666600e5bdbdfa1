/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that `tidectl check` reads: the parts of the input are tide.conf,
 * slurm.conf and slurmdbd.conf of a folder.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/site/live.h"
#include "common/site/site.h"
#include "common/util/err.h"
#include "tests/fuzz/folder.h"

static char *const accounts[] = {"centre", "mint", "nlp"};
static struct tide_live_qos qos[] = {{"tide_nlp", 1, 1}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"tide.conf", "slurm.conf",
					    "slurmdbd.conf"};
	const struct tide_live live = {
		.accounts = {(char **)accounts, 3},
		.qos = qos,
		.n_qos = 1,
		.version = (char *)"22.05.8",
		.plugin_dir = (char *)"/usr/lib",
	};
	struct tide_findings findings = {0};
	struct tide_err err;

	fuzz_folder_fill(names, 3, data, size);
	HOLDS(!tide_site_check(fuzz_folder, NULL, &findings, &err));
	HOLDS(!tide_live_check(fuzz_folder, NULL, &live, "22.05.8", &findings,
			       &err));
	for (size_t i = 0; i < findings.count; i++)
		HOLDS(findings.finding[i].what && *findings.finding[i].what &&
		      !strchr(findings.finding[i].what, '\n'));
	tide_findings_release(&findings);
	return 0;
}
