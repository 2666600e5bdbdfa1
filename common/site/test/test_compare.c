/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.conf by hand against the devices of synthetic machines: those of
 * tests/data/devices.
 */
#include "config.h"

#include "common/site/compare.h"

#include "common/device/test/tree.h"
#include "common/util/err.h"
#include "tests/lib/tap.h"

#define TREES TOP_SRCDIR "/tests/data/devices/"
#define MLU "NodeName=n1 Name=mlu Type=mlu370-x8 "
#define PAIR(n) "/dev/cambricon_dev" n ",/dev/cambricon_ipcm" n

static char folder[] = "/tmp/tide-compare.XXXXXX";
static struct tide_table *table;

/* want: "LINE: WHAT -> FIX" of each finding, each on a line. */
static const struct {
	const char *name;
	const char *tree;
	const char *gres; /* NULL: all */
	const char *text; /* NULL: there is no gres.conf */
	const char *want;
} cases[] = {
	{"no gres.conf", "npu310p", NULL, NULL, ""},
	{"the name alone", "npu310p", NULL, "NodeName=n1 Name=npu\n", ""},
	{"lines as they are printed", "mlu370", NULL,
	 MLU "MultipleFiles=" PAIR(
		 "0") " Cores=4-7 Links=-1,2,0,0\n" MLU
		      "MultipleFiles=" PAIR(
			      "1") " Cores=4-5,6-7\n" MLU
				   "MultipleFiles=" PAIR(
					   "2") "\n" MLU
						"File=/dev/cambricon_dev3 Cores=0-3\n",
	 ""},
	{"a part of the name will do as a type", "npu310p", NULL,
	 "Name=npu Type=ASCEND310 File=/dev/davinci[0-3]\n", ""},
	{"another type", "npu310p", NULL,
	 "Name=npu Type=ascend910b File=/dev/davinci[0-1]\n"
	 "Name=npu Type=ascend310p File=/dev/davinci[2-3]\n",
	 "1: gres.conf says Type=ascend910b of /dev/davinci0, found is ascend310p at 0000:01:00.0 -> Type=ascend310p here, and in Gres of slurm.conf, or File= of devices of that type\n"},
	{"a device that is left out", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-2]\n",
	 "0: /dev/davinci3, ascend310p at 0000:82:00.0, is in no line of gres.conf: no job gets it, and every job can open it -> Name=npu Type=ascend310p File=/dev/davinci3, and one more in Gres of slurm.conf\n"},
	{"unless a line stands for the others", "npu310p", "npu",
	 "Name=npu File=/dev/davinci[0-2]\nName=npu Type=ascend310p\n", ""},
	{"a device that is not there, a control file", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-4]\n"
	 "Name=npu MultipleFiles=/dev/davinci_manager,/dev/davinci0\n",
	 "1: gres.conf names /dev/davinci4, but no device was found that has it -> take it out, or see tidectl devices for what is there\n"
	 "2: gres.conf names /dev/davinci_manager, which all devices share: jobs that have none of this line cannot open it -> take it out of the line: it needs none\n"
	 "2: gres.conf names /dev/davinci0 here and on line 1: two jobs would get the same device -> take it out of one of the lines\n"},
	{"cores far away", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-1] Cores=4-7\n"
	 "Name=npu File=/dev/davinci[2-3] Cores=4,5,6,7\n",
	 "1: gres.conf says Cores=4-7 of /dev/davinci1, found near it are 0-3: jobs get cores that are far from it -> Cores=0-3\n"},
	{"cores that are no whole socket", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-1] Cores=0-1\n"
	 "Name=npu File=/dev/davinci[2-3] Cores=3-7\n",
	 "1: gres.conf says Cores=0-1 of /dev/davinci1, the sockets near it are 0-3: Slurm takes no less than whole sockets, and from 24.11 on drains the node -> Cores=0-3\n"
	 "2: gres.conf says Cores=3-7 of /dev/davinci2, found near it are 4-7: jobs get cores that are far from it -> Cores=4-7\n"},
	{"half of the files of a device", "mlu370", "mlu",
	 MLU "File=/dev/cambricon_dev[0,3]\nName=mlu\n",
	 "1: gres.conf leaves out /dev/cambricon_ipcm0, which belongs to the device of /dev/cambricon_dev0: other jobs can open it -> MultipleFiles=/dev/cambricon_dev0,/dev/cambricon_ipcm0\n"},
	{"lines of another node, and what only Slurm can read", "npu310p",
	 "npu",
	 "NodeName=n2 Name=npu File=/dev/davinci9\n"
	 "NodeName=n[1 Name=npu File=/dev/davinci9\n"
	 "Name=npu File=/dev/davinci[0\nName=npu\nAutoDetect=off\n",
	 ""},
	{"lines of a GRES of which there is nothing", "npu310p", NULL,
	 "Name=dcu File=/dev/dri/card[0-1]\nName=nic File=/dev/nic0\n", ""},
	{"which is said to who wants to know of it", "npu310p", "dcu",
	 "Name=nic File=/dev/nic0\nName=dcu File=/dev/dri/card[0-1]\nName=dcu File=/dev/dri/card4\n",
	 "2: gres.conf has lines for dcu, but no such device was found: they are not compared -> load the driver, or name the cards in devices.conf\n"},
	{"lines that Slurm does not take together", "npu310p", NULL,
	 "NodeName=n[1-2],x1 Name=npu Type=ascend310p File=/dev/davinci[0-1]\n"
	 "NodeName=n2 Name=npu\n"
	 "NodeName=x[1-9],n1 Name=npu Type=ascend310p\n"
	 "NodeName=n1 Name=nic File=/dev/nic0\nName=nic Type=x Count=2\n",
	 "3: gres.conf has lines of npu with File= and without: slurmd does not start -> File= in all lines of npu, or none\n"
	 "5: gres.conf has lines of nic with Type= and without: slurmd does not start -> Type= in all lines of nic, or none\n"},
	{"lines of several kinds side by side", "npu310p", NULL,
	 "NodeName=n1 Name=npu Type=ascend310 File=/dev/davinci[0-1],/dev/davinci2\n"
	 "NodeName=n1 Name=npu Type=ascend310p MultipleFiles=/dev/davinci3\n"
	 "Name=gpu AutoDetect=nvml\nName=gpu Type=a100 Count=2\n"
	 "Name=nic Count=1\n",
	 ""},
	{"the same line twice", "npu310p", NULL,
	 "Name=nic Count=2\nNodeName=n2 Name=nic\nName=NIC Count=2\n",
	 "3: gres.conf has Name=NIC here and on line 1, and no File= or Type= tells them apart: slurmd does not start -> one line\n"},
	{"a type that is a count", "npu310p", NULL,
	 "Name=npu Type=8 File=/dev/davinci[0-3]\n",
	 "1: gres.conf says Type=8: Slurm takes --gres=npu:8 for a count -> Type=ascend310p here, and in Gres of slurm.conf\n"},
	{"a device on two lines", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-3]\n"
	 "Name=npu MultipleFiles=/dev/davinci1,/dev/davinci1\n",
	 "2: gres.conf names /dev/davinci1 here and on line 1: two jobs would get the same device -> take it out of one of the lines\n"},
	{"cores by the numbers of threads", "mlu370", NULL,
	 MLU "MultipleFiles=" PAIR("0") "\n" MLU "MultipleFiles=" PAIR(
		 "1") "\n" MLU
		      "MultipleFiles=" PAIR(
			      "2") "\n" MLU
				   "File=/dev/cambricon_dev3 Cores=0-3,8-11\n",
	 "4: gres.conf says Cores=0-3,8-11 of /dev/cambricon_dev3, found near it are 0-3: jobs get cores that are far from it -> Cores=0-3\n"},
	{"parts whose profiles a library has told, and one that is a whole device",
	 "mlu370", NULL,
	 MLU "MultipleFiles=" PAIR("0") "\n" MLU "MultipleFiles=" PAIR(
		 "1") "\n" MLU
		      "MultipleFiles=" PAIR(
			      "2") "\n"
				   "Name=mlu Type=mlu370-x8-mim-2m.8gb MultipleFiles=/dev/cambricon-caps/cap_dev3_mi1,/dev/cambricon_dev3\n"
				   "Name=mlu Type=mlu370 MultipleFiles=/dev/cambricon-caps/cap_dev3_mi2,/dev/cambricon_dev3\n",
	 "5: gres.conf says Type=mlu370 of /dev/cambricon-caps/cap_dev3_mi2, found is mlu370-x8-part at 0000:3e:00.0 -> Type=mlu370-x8-part here, and in Gres of slurm.conf, or File= of devices of that type\n"},
	{"cores that are none", "npu310p", NULL,
	 "Name=npu File=/dev/davinci[0-3] Cores=none,7-3\n", ""},
};

static char *text_of(const struct tide_findings *findings)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < findings->count; i++)
		fprintf(out, "%d: %s -> %s\n", findings->finding[i].line,
			findings->finding[i].what, findings->finding[i].fix);
	fclose(out);
	return text;
}

/* A device is cut where the lines have its parts. */
static void make_parts(const char *root, const char *lines)
{
	char first[] = "dev/cambricon-caps/cap_dev3_mi1 synthetic",
	     second[] = "dev/cambricon-caps/cap_dev3_mi2 synthetic";

	if (!lines || !strstr(lines, "cambricon-caps"))
		return;
	tree_line(root, first);
	tree_line(root, second);
}

static void test_case(size_t i)
{
	char root[128], file[512], path[128], *text, *named = NULL;
	struct tide_where where = {.table = table, .root = root};
	struct tide_problems problems = {0};
	struct tide_findings findings = {0};
	struct tide_accels accels = {0};
	struct tide_err err = {""};
	FILE *out;

	snprintf(root, sizeof(root), "%s/%zu", folder, i);
	snprintf(path, sizeof(path), "%s/%zu.conf", folder, i);
	snprintf(file, sizeof(file), TREES "%s.tree", cases[i].tree);
	out = cases[i].text ? fopen(path, "we") : NULL;
	if (out) {
		fputs(cases[i].text, out);
		fclose(out);
	}
	if (tree_make(file, root))
		diag("%s is not made", file);
	make_parts(root, cases[i].text);
	if (tide_find(&where, &accels, &problems, &err))
		diag("%s: %s", file, err.text);
	is_int(tide_compare(path, "n1", cases[i].gres, &accels, &findings,
			    &named, &err),
	       0, cases[i].name);
	text = text_of(&findings);
	is_str(text, cases[i].want, "what is said");
	free(text);
	free(named);
	tide_findings_release(&findings);
	tide_accels_release(&accels);
	tide_problems_release(&problems);
}

int main(void)
{
	struct tide_problems problems = {0};

	if (!mkdtemp(folder) || tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(i);
	tide_table_destroy(table);
	tap_remove(folder);
	return tap_done();
}
