/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accelerators of recorded machines.  Those of tests/data/devices are
 * synthetic; real ones are taken from ../shared/data/topologies where they are.
 */
#include "config.h"

#include "common/device/find.h"

#include "common/device/gresconf.h"
#include "common/util/file.h"
#include "common/device/test/tree.h"
#include "tests/lib/tap.h"

#define TREES TOP_SRCDIR "/tests/data/devices/"
#define REAL TOP_SRCDIR "/../shared/data/topologies/"

static char folder[] = "/tmp/tide-find.XXXXXX";
static struct tide_table *table;

/* What a recorded machine is written as, in gres.conf. */
static const struct {
	const char *tree;
	const char *want;
} trees[] = {
	{"mlu370",
	 "# NodeName=... Gres=mlu:mlu370-x8:4\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev0,/dev/cambricon_ipcm0 Cores=4-7 Links=-1,2,0,0\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev1,/dev/cambricon_ipcm1 Cores=4-7 Links=2,-1,0,0\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev2,/dev/cambricon_ipcm2 Cores=0-3 Links=0,0,-1,2\n"
	 "Name=mlu Type=mlu370-x8 File=/dev/cambricon_dev3 Cores=0-3 Links=0,0,2,-1\n"},
	{"npu310p",
	 "# NodeName=... Gres=npu:ascend310p:4\n"
	 "Name=npu Type=ascend310p File=/dev/davinci0 Links=-1,0,0,0\n"
	 "Name=npu Type=ascend310p File=/dev/davinci1 Cores=0-3 Links=0,-1,0,0\n"
	 "Name=npu Type=ascend310p File=/dev/davinci2 Cores=4-7 Links=0,0,-1,2\n"
	 "Name=npu Type=ascend310p File=/dev/davinci3 Cores=4-7 Links=0,0,2,-1\n"},
	{"npu910c", "# NodeName=... Gres=npu:ascend910c:16\n"
		    "Name=npu Type=ascend910c File=/dev/davinci[0-15]\n"},
	{"dcu",
	 "# NodeName=... Gres=dcu:k100_ai:3,dcu:bw150:1\n"
	 "Name=dcu Type=k100_ai MultipleFiles=/dev/dri/card1,/dev/dri/renderD128 Cores=0-3\n"
	 "Name=dcu Type=k100_ai MultipleFiles=/dev/dri/card2,/dev/dri/renderD129 Cores=0-3\n"
	 "Name=dcu Type=k100_ai MultipleFiles=/dev/dri/card3,/dev/dri/renderD130 Cores=4-7\n"
	 "Name=dcu Type=bw150 MultipleFiles=/dev/dri/card4,/dev/dri/renderD131 Cores=4-7\n"},
};

/* What is said of the broken one, and of nothing else. */
static const char *const broken[] = {
	"'sys/bus/pci/devices/0000:02:00.0/vendor' holds '0xcabcd'",
	"'sys/bus/pci/devices/0000:03:00.0/device' holds '0xzzzz'",
	"cannot read 'sys/bus/pci/devices/0000:04:00.0/device'",
	"'sys/bus/pci/devices/0000:07:00.0/vendor': it is not a plain file",
	"'sys/bus/pci/devices/nonsense' is no PCI address",
	"device file '/dev/cambricon_dev' does not end in a number",
	"numa_node of 0000:05:00.0 holds 'many'",
	"local_cpulist of 0000:05:00.0: '7-3' is no list of CPUs",
	"local_cpulist of 0000:06:00.0: '0-99999999999999999999'",
	"0000:05:00.0 and 0000:06:00.0 both say that they are mlu device 1",
};

static char *make_root(const char *tree)
{
	char file[512], *root;

	snprintf(file, sizeof(file), TREES "%s.tree", tree);
	if (asprintf(&root, "%s/%s", folder, tree) < 0)
		return NULL;
	if (tree_make(file, root))
		diag("there is no %s", file);
	return root;
}

static int find(const char *root, const char *xml, struct tide_accels *accels,
		struct tide_problems *problems, struct tide_err *err)
{
	struct tide_where where = {.table = table, .root = root, .xml = xml};

	memset(accels, 0, sizeof(*accels));
	memset(problems, 0, sizeof(*problems));
	return tide_find(&where, accels, problems, err);
}

static void done(struct tide_accels *accels, struct tide_problems *problems)
{
	tide_accels_release(accels);
	tide_problems_release(problems);
}

static void test_trees(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root, *text;

	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		root = make_root(trees[i].tree);
		is_int(find(root, NULL, &accels, &problems, &err), 0,
		       trees[i].tree);
		ok(!problems.count, "nothing is wrong with it: %s",
		   problems.count ? problems.problem[0].text : "-");
		text = tide_gresconf_write(&accels, NULL);
		is_str(text, trees[i].want, "its devices");
		free(text);
		free(root);
		done(&accels, &problems);
	}
}

/* Machines on which somebody has cut devices into parts. */
static const struct {
	const char *tree;
	const char *name;
	const char *lines[12];
	const char *want;
	const char *problem;
} cut[] = {
	{"npu310p",
	 "vNPUs",
	 {"etc/vnpu.cfg vnpu_config_recover:enable\\n[vnpu-config start]\\n"
	  "1:116:npu-smi set -t create-vnpu -i 1 -c 0 -f vir04 -v 116 -g 0\\n"
	  "1:117:npu-smi set -t create-vnpu -i 1 -c 0 -f vir02_1c -v 117\\n"
	  "1:118:npu-smi set -t create-vnpu -i 1 -c 0 -f vir02_1c -v 118\\n"
	  "[vnpu-config end]",
	  "dev/vdavinci116 synthetic", "dev/vdavinci117 synthetic",
	  "dev/vdavinci118 synthetic"},
	 "# NodeName=... Gres=npu:ascend310p:3,npu:vir04:1,npu:vir02_1c:2\n"
	 "# part: Device=npu:vir04 Of=npu:ascend310p Share=1/2\n"
	 "# part: Device=npu:vir02_1c Of=npu:ascend310p Share=1/4\n"
	 "Name=npu Type=ascend310p File=/dev/davinci0\n"
	 "Name=npu Type=vir04 File=/dev/vdavinci116 Cores=0-3\n"
	 "Name=npu Type=vir02_1c File=/dev/vdavinci[117-118] Cores=0-3\n"
	 "Name=npu Type=ascend310p File=/dev/davinci[2-3] Cores=4-7\n",
	 NULL},
	{"npu310p",
	 "vNPUs that nobody has written down",
	 {"dev/vdavinci100 synthetic", "dev/vdavinci133 synthetic",
	  "dev/vdavinci99 synthetic", "dev/vdavinci400 synthetic"},
	 "# NodeName=... Gres=npu:ascend310p-part:2,npu:ascend310p:2\n"
	 "# part: Device=npu:ascend310p-part Of=npu:ascend310p Share=?\n"
	 "Name=npu Type=ascend310p-part File=/dev/vdavinci100\n"
	 "Name=npu Type=ascend310p File=/dev/davinci1 Cores=0-3\n"
	 "Name=npu Type=ascend310p-part File=/dev/vdavinci133 Cores=4-7\n"
	 "Name=npu Type=ascend310p File=/dev/davinci3 Cores=4-7\n",
	 NULL},
	{"npu310p",
	 "a vNPU without its file",
	 {"etc/vnpu.cfg 0:100:npu-smi set -t create-vnpu -i 0 -c 0 -f vir08 -v "
	  "100\\n0:x:npu-smi set -t create-vnpu -i 0 -c 0 -f vir01\\n"
	  "99999999999999999999:100:npu-smi set -t create-vnpu -f vir01"},
	 "# NodeName=... Gres=npu:ascend310p:3\n"
	 "# part: Device=npu:vir08 Of=npu:ascend310p Share=?\n"
	 "#missing: Name=npu Type=vir08 File=/dev/vdavinci100\n"
	 "Name=npu Type=ascend310p File=/dev/davinci1 Cores=0-3\n"
	 "Name=npu Type=ascend310p File=/dev/davinci[2-3] Cores=4-7\n",
	 "there is no device file '/dev/vdavinci100' of 0000:01:00.0"},
	{"mlu370",
	 "parts of MLUs share the file of their card",
	 {"dev/cambricon-caps/cap_dev3_mi1 synthetic",
	  "dev/cambricon-caps/cap_dev3_mi2 synthetic",
	  "dev/cambricon-caps/cap_devx_mi2 synthetic",
	  "dev/cambricon-caps/cap_dev77_mi2 synthetic"},
	 "# NodeName=... Gres=mlu:mlu370-x8:3,mlu:mlu370-x8-part:2\n"
	 "# part: Device=mlu:mlu370-x8-part Of=mlu:mlu370-x8 Share=?\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev0,/dev/cambricon_ipcm0 Cores=4-7\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev1,/dev/cambricon_ipcm1 Cores=4-7\n"
	 "Name=mlu Type=mlu370-x8 MultipleFiles=/dev/cambricon_dev2,/dev/cambricon_ipcm2 Cores=0-3\n"
	 "Name=mlu Type=mlu370-x8-part MultipleFiles=/dev/cambricon-caps/cap_dev3_mi1,/dev/cambricon_dev3 Cores=0-3\n"
	 "Name=mlu Type=mlu370-x8-part MultipleFiles=/dev/cambricon-caps/cap_dev3_mi2,/dev/cambricon_dev3 Cores=0-3\n",
	 NULL},
	{"dcu",
	 "a DCU that its driver has cut, and one that is whole",
	 {"sys/bus/pci/devices/0000:33:00.0/current_compute_partition CPX",
	  "sys/bus/pci/devices/0000:36:00.0/current_compute_partition SPX",
	  "sys/class/kfd/kfd/topology/nodes/1/properties simd_count 80\\n"
	  "location_id 13056\\ndomain 0\\ndrm_render_minor 128",
	  "sys/class/kfd/kfd/topology/nodes/2/properties simd_count 80\\n"
	  "location_id 13056\\ndomain 0\\ndrm_render_minor 140",
	  "sys/class/kfd/kfd/topology/nodes/3/properties simd_count 80\\n"
	  "location_id 13824\\ndomain 0\\ndrm_render_minor 129",
	  "sys/class/drm/renderD128/device/drm/card1/dev 226:1",
	  "sys/class/drm/renderD140/device/drm/card9/dev 226:9",
	  "dev/dri/card9 synthetic", "dev/dri/renderD140 synthetic"},
	 "# NodeName=... Gres=dcu:k100_ai-cpx:2,dcu:k100_ai:2,dcu:bw150:1\n"
	 "# part: Device=dcu:k100_ai-cpx Of=dcu:k100_ai Share=1/2\n"
	 "Name=dcu Type=k100_ai-cpx MultipleFiles=/dev/dri/card1,/dev/dri/renderD128 Cores=0-3\n"
	 "Name=dcu Type=k100_ai-cpx MultipleFiles=/dev/dri/card9,/dev/dri/renderD140 Cores=0-3\n"
	 "Name=dcu Type=k100_ai MultipleFiles=/dev/dri/card2,/dev/dri/renderD129 Cores=0-3\n"
	 "Name=dcu Type=k100_ai MultipleFiles=/dev/dri/card3,/dev/dri/renderD130 Cores=4-7\n"
	 "Name=dcu Type=bw150 MultipleFiles=/dev/dri/card4,/dev/dri/renderD131 Cores=4-7\n",
	 NULL},
};

static void test_parts(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root, *text, file[512];

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		snprintf(file, sizeof(file), TREES "%s.tree", cut[i].tree);
		if (asprintf(&root, "%s/cut%zu", folder, i) < 0)
			return;
		tree_make(file, root);
		for (size_t j = 0; j < 12 && cut[i].lines[j]; j++) {
			char *line = strdup(cut[i].lines[j]);

			if (line)
				tree_line(root, line);
			free(line);
		}
		is_int(find(root, NULL, &accels, &problems, &err), 0,
		       cut[i].name);
		text = tide_gresconf_write(&accels, NULL);
		is_str(text, cut[i].want, "its devices");
		is_int((int64_t)problems.count, !!cut[i].problem, "problems");
		if (cut[i].problem && problems.count)
			is_str(problems.problem[0].text, cut[i].problem,
			       "what is said");
		free(text);
		free(root);
		done(&accels, &problems);
	}
}

#define PCI(address, id)                                      \
	"sys/bus/pci/devices/" address "/vendor 0x19e5",      \
		"sys/bus/pci/devices/" address "/device " id, \
		"sys/bus/pci/devices/" address "/class 0x120000"
#define MAP(address) \
	"sys/bus/pci/devices/" address "/devdrv_sysfs_bdf_to_devid 01:00.0 5"

#define PORT(address, id)                                            \
	"sys/devices/pci0000:00/" address "/vendor 0x19e5",          \
		"sys/devices/pci0000:00/" address "/device " id,     \
		"sys/devices/pci0000:00/" address "/class 0x120000", \
		"sys/bus/pci/devices/" address                       \
		" -> ../../../devices/pci0000:00/" address

/* Machines that tell little of a device. */
static const struct {
	const char *name;
	const char *lines[8];
	const char *want; /* of the line that it gets */
} curt[] = {
	{"two chips, if nobody says how many",
	 {PCI("0000:01:00.0", "0xd501")},
	 "Name=npu Type=ascend310p File=/dev/davinci0 Links=-1,2\n"},
	{"no links to one whose file is missing",
	 {PCI("0000:01:00.0", "0xd501"), "dev/davinci0 synthetic"},
	 "Name=npu Type=ascend310p File=/dev/davinci0 Links=-1\n#missing: "},
	{"the CPUs of its NUMA node",
	 {PCI("0000:01:00.0", "0xd802"),
	  "sys/bus/pci/devices/0000:01:00.0/numa_node 1",
	  "sys/devices/system/node/node1/cpulist 4-7"},
	 "Name=npu Type=ascend910b File=/dev/davinci0 Cores=4-7\n"},
	{"a map of all functions",
	 {PCI("0000:01:00.0", "0xd802"), MAP("0000:01:00.0")},
	 "Name=npu Type=ascend910b File=/dev/davinci5\n"},
	{"the host's bridge is no switch that links",
	 {PORT("0000:01:00.0", "0xd802"), PORT("0000:02:00.0", "0xd802")},
	 "Name=npu Type=ascend910b File=/dev/davinci[0-1]\n"},
	{"which is of the first domain alone",
	 {PCI("0001:01:00.0", "0xd802"), MAP("0001:01:00.0")},
	 "Name=npu Type=ascend910b File=/dev/davinci0\n"},
};

static void test_curt(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char root[64], *text;

	for (size_t i = 0; i < sizeof(curt) / sizeof(*curt); i++) {
		snprintf(root, sizeof(root), "%s/curt%zu", folder, i);
		for (size_t j = 0; j < 8 && curt[i].lines[j]; j++) {
			char *line = strdup(curt[i].lines[j]);

			if (line)
				tree_line(root, line);
			free(line);
		}
		find(root, NULL, &accels, &problems, &err);
		text = tide_gresconf_write(&accels, NULL);
		ok(text && strstr(text, curt[i].want), "%s", curt[i].name);
		if (text && !strstr(text, curt[i].want))
			diag("%s", text);
		free(text);
		done(&accels, &problems);
	}
}

/* GPUs of one maker have its flag; of two, none. */
static void test_flags(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char root[64], *text;

	snprintf(root, sizeof(root), "%s/gpus", folder);
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:01:00.0/vendor 0x10de"});
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:01:00.0/device 0x2330"});
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:01:00.0/class 0x030200"});
	tree_line(root, (char[]){"dev/nvidia0 synthetic"});
	find(root, NULL, &accels, &problems, &err);
	text = tide_gresconf_write(&accels, NULL);
	ok(text && strstr(text,
			  "Name=gpu Type=h100 File=/dev/nvidia0 Flags=nvidia_gpu_env"),
	   "a GPU has the flag of its maker");
	free(text);
	done(&accels, &problems);
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:02:00.0/vendor 0x1002"});
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:02:00.0/device 0x740f"});
	tree_line(root,
		  (char[]){"sys/bus/pci/devices/0000:02:00.0/class 0x038000"});
	tree_line(
		root,
		(char[]){
			"sys/bus/pci/devices/0000:02:00.0/drm/renderD140/dev 1"});
	tree_line(root, (char[]){"dev/dri/renderD140 synthetic"});
	find(root, NULL, &accels, &problems, &err);
	text = tide_gresconf_write(&accels, NULL);
	ok(text && strstr(text, "Name=gpu Type=mi210 ") &&
		   !strstr(text, "Flags="),
	   "those of two have none");
	free(text);
	done(&accels, &problems);
}

static void test_details(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("mlu370");

	find(root, NULL, &accels, &problems, &err);
	if (ok(accels.count == 4, "four devices")) {
		const struct tide_accel *accel = &accels.accel[2];

		is_str(accel->pci.name, "0000:3d:00.0", "its address");
		is_int(accel->number, 2, "the number is that of the file");
		ok(!accel->guessed, "and was told");
		is_int(accel->near.numa, 0, "its NUMA node");
		is_str(accel->near.cpus, "0-3,8-11", "CPUs of its socket");
		is_str(accel->board, "SN/512216010001", "its card");
		is_int(accel->model->devices, 1, "its model");
	}
	done(&accels, &problems);
	/* a socket has four cores: two of them are widened to it */
	tree_line(root, (char[]){"sys/devices/pci0000:3a/0000:3a:00.0/"
				 "0000:3b:00.0/0000:3c:04.0/0000:3d:00.0/"
				 "local_cpulist 2-3,10-11"});
	find(root, NULL, &accels, &problems, &err);
	if (ok(accels.count == 4, "a machine that knows half a socket")) {
		is_str(accels.accel[2].near.cores, "0-3", "a whole socket");
		is_str(accels.accel[2].near.local, "2-3", "what it said");
	}
	done(&accels, &problems);
	free(root);
}

/* What drivers call a board, and what Slurm may. */
static const struct {
	const char *name, *type;
} boards[] = {
	{"MLU590-M9", "mlu590-m9"},
	{"MLU370 X8", "mlu370_x8"},
	{"8", "mlu370"}, /* a count, to Slurm */
	{"310P", "mlu370"},
	{"-_.", "mlu370"},
	{"\xff\xfe", "mlu370"},
	{"x0123456789012345678901234567890123456789012345678901234567890123456789",
	 "x01234567890123456789012345678901234567890123456789012345678901"},
};

static void test_boards(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("mlu370"), line[256];

	for (size_t i = 0; i < sizeof(boards) / sizeof(*boards); i++) {
		snprintf(
			line, sizeof(line),
			"proc/driver/cambricon/mlus/0000:3d:00.0/information Device name: %s\\nDevice inode path: /dev/cambricon_dev2",
			boards[i].name);
		tree_line(root, line);
		find(root, NULL, &accels, &problems, &err);
		is_str(accels.count == 4 ? accels.accel[2].type : NULL,
		       boards[i].type, boards[i].name);
		done(&accels, &problems);
	}
	free(root);
}

/* What is wrong is said, and the rest is found. */
static void test_broken(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("broken");

	is_int(find(root, NULL, &accels, &problems, &err), 0, "a broken one");
	is_int((int64_t)accels.count, 3, "the good ones are found");
	is_int((int64_t)problems.count, sizeof(broken) / sizeof(*broken),
	       "each fault once");
	for (size_t i = 0;
	     i < problems.count && i < sizeof(broken) / sizeof(*broken); i++)
		ok(strstr(problems.problem[i].text, broken[i]) != NULL, "%s",
		   problems.problem[i].text);
	if (accels.count == 3)
		ok(accels.accel[2].missing, "who lies is not handed out");
	done(&accels, &problems);
	free(root);
	errno = 0;
	ok(find("/nowhere", NULL, &accels, &problems, &err) == -1 &&
		   errno == ENOENT,
	   "no root: %s", err.text);
}

/* Files: one is missing, one is a folder, a root that leads out of itself. */
static void test_files(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("dcu"), path[256];

	snprintf(path, sizeof(path), "%s/dev/dri/renderD129", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/dev/dri/card3", root);
	unlink(path);
	mkdir(path, 0755);
	is_int(find(root, NULL, &accels, &problems, &err), 0, "lost files");
	is_int((int64_t)accels.count, 4, "all are found");
	is_int((int64_t)problems.count, 2, "two are not as they must be");
	if (problems.count == 2) {
		is_str(problems.problem[0].text,
		       "there is no device file '/dev/dri/renderD129' of 0000:36:00.0",
		       "a missing one");
		is_str(problems.problem[1].text,
		       "'/dev/dri/card3' is not a character device",
		       "a wrong kind");
	}
	if (accels.count == 4)
		ok(!accels.accel[0].missing && accels.accel[1].missing &&
			   accels.accel[2].missing,
		   "those two are not to be used");
	done(&accels, &problems);
	free(root);
}

/* One device by several paths. */
static void test_same(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("npu310p"), path[256], first[256];

	snprintf(first, sizeof(first), "%s/dev/davinci0", root);
	snprintf(path, sizeof(path), "%s/dev/davinci2", root);
	unlink(path);
	ok(!link(first, path), "a second name");
	snprintf(path, sizeof(path), "%s/dev/davinci3", root);
	unlink(path);
	ok(!symlink("davinci2", path), "and a third");
	is_int(find(root, NULL, &accels, &problems, &err), 0, "a device twice");
	is_int((int64_t)problems.count, 2, "two are of another");
	if (problems.count == 2)
		is_str(problems.problem[1].text,
		       "'/dev/davinci3' of 0000:82:00.0 is the same device as '/dev/davinci0' of 0000:01:00.0",
		       "the first one is named");
	if (accels.count == 4)
		ok(!accels.accel[0].missing && !accels.accel[1].missing &&
			   accels.accel[2].missing && accels.accel[3].missing,
		   "which is used, and they are not");
	done(&accels, &problems);
	free(root);
}

/* hwloc is told by a variable where the buses are that firmware forgets. */
static void test_locality(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char *root = make_root("npu910c");

	setenv("HWLOC_PCI_LOCALITY",
	       "0000:10-48 0xffffffff;0000:50-88 0xffffffff,0x00000000", 1);
	is_int(find(root, NULL, &accels, &problems, &err), 0, "910C");
	unsetenv("HWLOC_PCI_LOCALITY");
	if (ok(accels.count == 16, "sixteen")) {
		is_str(accels.accel[0].near.cores, "0-31", "cores are given");
		is_str(accels.accel[15].near.cores, "32-63", "of each half");
		is_int(accels.accel[15].near.numa, 1, "and NUMA nodes");
	}
	done(&accels, &problems);
	free(root);
}

/* One package of two NUMA nodes: what is near a device of the first one. */
static void test_sockets(void)
{
	static const struct {
		enum tide_socket socket;
		const char *cores, *name;
	} want[] = {
		{TIDE_SOCKET_PACKAGE, "0-7", "a package is a socket"},
		{TIDE_SOCKET_NUMA, "0-3", "a NUMA node is one"},
		{TIDE_SOCKET_L3, "0-7", "there are no L3 caches"},
	};
	struct tide_problems problems = {0};
	struct tide_accels accels = {0};
	struct tide_where where = {.table = table};
	struct tide_err err;
	char line[128], root[64];

	snprintf(root, sizeof(root), "%s/numa", folder);
	tree_make(TREES "npu310p.tree", root);
	for (int cpu = 0; cpu < 8; cpu++) {
		snprintf(
			line, sizeof(line),
			"sys/devices/system/cpu/cpu%d/topology/physical_package_id 0",
			cpu);
		tree_line(root, line);
		snprintf(
			line, sizeof(line),
			"sys/devices/system/cpu/cpu%d/topology/core_siblings 000000ff",
			cpu);
		tree_line(root, line);
	}
	where.root = root;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		where.socket = want[i].socket;
		if (tide_find(&where, &accels, &problems, &err) ||
		    accels.count != 4) {
			ok(0, "%s", want[i].name);
			continue;
		}
		is_str(accels.accel[1].near.cores, want[i].cores, want[i].name);
		if (want[i].socket == TIDE_SOCKET_NUMA)
			is_str(accels.accel[1].near.local_cpus, "0-3",
			       "as the machine says");
		done(&accels, &problems);
	}
}

/* A real topology: how many of which type, cores of the first and last. */
static const struct {
	const char *file;
	size_t count;
	const char *type, *first, *first_cores, *last, *last_cores;
	int links;
} real[] = {
	{"nvidiaDGX2.xml", 16, "v100", "0000:34:00.0", "0-1", "0000:e7:00.0",
	 "2-3", 1},
	{"eas-tioga.xml", 8, "mi250x", "0000:c1:00.0", "0-63", "0000:de:00.0",
	 "0-63", 1},
	{"g4dnmetal.xml", 8, "t4", "0000:18:00.0", "0-23", "0000:f5:00.0",
	 "24-47", 0},
};

static void test_real(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;

	for (size_t i = 0; i < sizeof(real) / sizeof(*real); i++) {
		char path[512];
		size_t last = real[i].count - 1;

		snprintf(path, sizeof(path), REAL "%s", real[i].file);
		if (access(path, R_OK)) {
			skip(real[i].file, "the file is not here");
			continue;
		}
		is_int(find(NULL, path, &accels, &problems, &err), 0,
		       real[i].file);
		is_int((int64_t)accels.count, (int64_t)real[i].count, "all");
		if (accels.count == real[i].count) {
			const struct tide_accel *a = accels.accel;

			is_str(a[0].type, real[i].type, "the type");
			is_str(a[0].pci.name, real[i].first, "the first");
			is_str(a[0].near.cores, real[i].first_cores, "cores");
			is_str(a[last].pci.name, real[i].last, "the last");
			is_str(a[last].near.cores, real[i].last_cores, "cores");
			ok((a[0].link && a[0].link[last] > 0) == real[i].links,
			   "the first and the last are linked, or not");
		}
		done(&accels, &problems);
	}
}

/* An XML file that is cut off anywhere is refused, or whole. */
static void test_xml(void)
{
	struct tide_problems problems;
	struct tide_accels accels;
	struct tide_err err;
	char path[64], *text;
	size_t len, refused = 0, cuts = 0;

	snprintf(path, sizeof(path), "%s/cut.xml", folder);
	if (tide_file_read(TREES "mlu370.xml", &text, &err)) {
		ok(0, "%s", err.text);
		return;
	}
	len = strlen(text);
	is_int(find(NULL, TREES "mlu370.xml", &accels, &problems, &err), 0,
	       "a topology of MLUs");
	is_int((int64_t)accels.count, 4, "without the virtual function");
	if (accels.count == 4) {
		is_str(accels.accel[0].type, "mlu370", "the type by its id");
		is_str(accels.accel[3].near.cores, "4-7", "cores");
		ok(accels.accel[3].guessed, "numbers are places");
	}
	done(&accels, &problems);
	for (size_t cut = 0; cut + 20 < len; cut += len / 23) {
		FILE *file = fopen(path, "we");

		if (file && (fwrite(text, 1, cut, file) != cut || fclose(file)))
			diag("cannot write %s", path);
		errno = 0;
		cuts++;
		refused += find(NULL, path, &accels, &problems, &err) == -1 &&
			   errno == EINVAL;
		done(&accels, &problems);
	}
	is_int((int64_t)refused, (int64_t)cuts, "cut off ones are refused");
	free(text);
	ok(find(NULL, "/dev/null", &accels, &problems, &err) == -1,
	   "a device: %s", err.text);
}

int main(void)
{
	struct tide_problems problems = {0};

	if (!mkdtemp(folder) || tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	test_trees();
	test_parts();
	test_curt();
	test_flags();
	test_details();
	test_boards();
	test_broken();
	test_files();
	test_same();
	test_locality();
	test_sockets();
	test_real();
	test_xml();
	tide_table_destroy(table);
	tap_remove(folder);
	return tap_done();
}
