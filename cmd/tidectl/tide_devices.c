/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide-devices: what slurmd's gres plugins run at its start, the same as
 * `tidectl devices --gres NAME --gres-conf --compare -` but of this machine
 * alone and without hwloc and the libraries of other commands, since loading
 * these takes longer than looking for devices.  Not for people: it writes near
 * CPUs in the place of cores, which slurmd counts itself.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"

int main(int argc, char **argv)
{
	struct devices_compare compare = {.path = "-", .gres_conf = 1};
	struct tide_accels accels = {0};
	struct tide_where where = {.root = "/"};
	struct tide_table *table;
	int status;

	if (argc != 2 || *argv[1] == '-') {
		fputs("usage: tide-devices GRES <LINES, for slurmd; see tidectl devices\n",
		      stderr);
		return argc == 2 && !strcmp(argv[1], "--help") ? TIDECTL_DONE
							       : TIDECTL_USAGE;
	}
	table = devices_table(NULL);
	if (!table)
		return TIDECTL_FAILED;
	where.table = table;
	compare.gres = argv[1];
	if (devices_find(&where, &accels))
		status = TIDECTL_FAILED;
	else if (devices_keep(&accels, argv[1]))
		status = tidectl_fail("out of memory");
	else
		status = devices_compare(&compare, &accels);
	tide_accels_release(&accels);
	tide_table_destroy(table);
	if (fflush(stdout) || ferror(stdout))
		return TIDECTL_FAILED;
	return status;
}
