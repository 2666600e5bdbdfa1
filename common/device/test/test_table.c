/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of accelerators: what is built in, what a site adds, bad lines. */
#include "config.h"

#include "common/device/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/lib/tap.h"

/* PCI functions of real machines, and what they are: FAMILY/TYPE or none. */
static const struct {
	uint16_t vendor, device, class;
	const char *want;
} functions[] = {
	{0xcabc, 0x0290, 0x1200, "mlu/mlu290"},
	{0xcabc, 0x0379, 0x1200, "mlu/mlu370"},
	{0xcabc, 0x0777, 0x1200, "mlu/mlu"},
	{0xcabc, 0x0777, 0x0600, NULL},
	{0xcabc, 0x0291, 0x1200, "vf"},
	{0x19e5, 0xd500, 0x1200, "npu/ascend310p"},
	{0x203f, 0xd500, 0x1200, "npu/ascend310p"},
	{0x20c6, 0xd802, 0x1200, "npu/ascend910b"},
	{0xffff, 0xd802, 0x1200, "npu/ascend910b"},
	{0x19e5, 0xd801, 0x1200, "npu/ascend910a"},
	{0x19e5, 0xd803, 0x1200, "npu/ascend910c"},
	{0x19e5, 0xd806, 0x1200, "npu/ascend950"},
	{0x19e5, 0xd805, 0x1200, "vf"},
	{0x19e5, 0xa250, 0x1200, NULL}, /* Kunpeng's ZIP engine */
	{0x19e5, 0xa255, 0x1000, NULL},
	{0x1d94, 0x55b7, 0x0380, "dcu/z100l"},
	{0x1d94, 0x6320, 0x0b40, "dcu/bw150"},
	{0x1d94, 0x1450, 0x0600, NULL}, /* Hygon's host bridge */
	{0x8086, 0x4940, 0x0b40, NULL}, /* QAT */
	{0x8086, 0x0bd5, 0x0380, "intel/max1550"},
	{0x10de, 0x1db8, 0x0302, "nvidia/v100"},
	{0x10de, 0x9999, 0x0302, "nvidia/nvidia"},
	{0x10de, 0x1ac2, 0x0680, NULL}, /* NVSwitch */
	{0x10de, 0x10f8, 0x0403, NULL}, /* sound */
	{0x1002, 0x74a0, 0x1200, "amd/mi300a"},
	{0x1002, 0x66a1, 0x0380, "amd/mi50"},
	{0x1a03, 0x2000, 0x0300, NULL}, /* ASPEED */
	{0x1e3e, 0x0001, 0x1200, "iluvatar/iluvatar"},
	{0x1e36, 0xc035, 0x1200, "enflame/s60"},
	{0x1ed5, 0x0222, 0x0300, "mthreads/s3000"},
	{0x1ed5, 0x01ff, 0x0403, NULL}, /* its sound */
	{0x9999, 0x0a01, 0x0380, "metax/c500"},
	{0x1d22, 0x3684, 0x1200, "kunlunxin/kunlun2"},
	{0x1d22, 0x3685, 0x1200, "vf"},
	{0x1ee0, 0x0001, 0x1200, "biren/biren"},
};

#define F "Family=x Gres=accel File=/dev/x%n\n"

/* A bad line and what is said of it. */
static const struct {
	const char *text;
	const char *want;
} bad[] = {
	{"nonsense", "t:1: 'nonsense': Key=Value is wanted"},
	{"Vendor=1",
	 "t:1: Vendor=1: a line begins with Family=, Model= or Part="},
	{"Family=x", "t:1: Family=x: a new family needs Gres= and File="},
	{"Family=x/y Gres=a File=/dev/x%n",
	 "t:1: Family=x/y: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Family=x Gres=a File=dev/x%n",
	 "t:1: File=dev/x%n: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/x%d",
	 "t:1: File=/dev/x%d: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/../x%n",
	 "t:1: File=/dev/../x%n: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/x",
	 "t:1: File=/dev/x: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/x%n/ctl",
	 "t:1: File=/dev/x%n/ctl: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/x%n Gres=b",
	 "t:1: Gres=b: this key is already on the line"},
	{"Family=x Gres=a File=/dev/x%n Colour=red",
	 "t:1: Colour=red: unknown key"},
	{"Family=x Gres=a File=/dev/x%n Id=1:2",
	 "t:1: Id=1:2: belongs on a line that begins with Model="},
	{"Family=x Gres=a File=/dev/x%n Visible=A-B",
	 "t:1: Visible=A-B: names of environment variables are wanted"},
	{"Family=x Gres=a File=/dev/x%n ContainerPart=A",
	 "t:1: ContainerPart=A: an environment variable and its value are wanted, NAME=VALUE, or NAME= and file names with %n and %m"},
	{"Family=x Gres=a File=/dev/x%n ContainerPart=\"A=b c\"",
	 "t:1: ContainerPart=A=b c: an environment variable and its value are wanted, NAME=VALUE, or NAME= and file names with %n and %m"},
	{"Family=x Gres=a File=/dev/x%n ContainerPart=\"A=/dev/x0\"",
	 "t:1: ContainerPart=A=/dev/x0: an environment variable and its value are wanted, NAME=VALUE, or NAME= and file names with %n and %m"},
	{"Family=x Gres=a File=/dev/x%n PartFile=/dev/v%m,/dev/x%n ContainerPart=\"A=/dev/x%n\"",
	 "t:1: ContainerPart=A=/dev/x%n: the first file of PartFile= does not tell these numbers"},
	{"Family=x Gres=a File=/dev/x%n ContainerPart=\"A=/dev/x%n\"",
	 "t:1: ContainerPart=A=/dev/x%n: the first file of PartFile= does not tell these numbers"},
	{"Family=x Gres=a File=/dev/x%n PartFile=/dev/x%n/part%m",
	 "t:1: PartFile=/dev/x%n/part%m: the first file is to be in a folder without a number in its name"},
	{"Family=x Gres=a File=/dev/x%n PartFile=/part%m,/dev/x%n",
	 "t:1: PartFile=/part%m,/dev/x%n: the first file is to be in a folder without a number in its name"},
	{"Family=x Gres=a File=/dev/x%n SetContainer=1",
	 "t:1: SetContainer=1: no or yes is wanted"},
	{"Family=x Gres=a File=/dev/x%n Class=xyz",
	 "t:1: Class=xyz: up to four hexadecimal digits are wanted, as in 12 or 0380"},
	{"Family=x Gres=a File=/dev/x%n Number=maybe",
	 "t:1: Number=maybe: file or position is wanted"},
	{"Family=x Gres=a File=/dev/x%n Constrained=no",
	 "t:1: Constrained=no: local or physical is wanted"},
	{"Family=x Gres=a File=/dev/x%n NumberFile=../dev_id",
	 "t:1: NumberFile=../dev_id: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Model=m Family=x Id=1234:5678",
	 "t:1: Family=x: there is no such family above"},
	{F "Model=m Family=x", "t:2: Model=m: a model needs Family= and Id="},
	{F "Model=m Family=x Id=1234",
	 "t:2: Id=1234: PCI ids are wanted, as in 19e5:d802, or cabc:* for all of a vendor, at most 64"},
	{F "Model=8 Family=x Id=1234:5678",
	 "t:2: Model=8: a type is wanted: letters, digits, '-', '_' and '.', and not a count such as 8 or 310p"},
	{F "Model=310p Family=x Id=1234:5678",
	 "t:2: Model=310p: a type is wanted: letters, digits, '-', '_' and '.', and not a count such as 8 or 310p"},
	{F "Model=m Family=x Id=1234:5678 Devices=0",
	 "t:2: Devices=0: must be from 1 to 64"},
	{F "Part=p Family=x Of=m",
	 "t:2: Part=p: a part needs Family=, Of= and Share="},
	{F "Part=p Family=x Of=m Share=3/2",
	 "t:2: Share=3/2: a share is wanted, as in 1/2 or 0.25"},
	{F "Part=p Family=x Of=m Share=0",
	 "t:2: Share=0: a share is wanted, as in 1/2 or 0.25"},
	{F "Part=p Family=x Of=m,, Share=1/2", "t:2: Of=m,,: names are wanted"},
	{F "Part=8 Family=x Of=m Share=1/2",
	 "t:2: Part=8: a type is wanted: letters, digits, '-', '_' and '.', and not a count such as 8 or 310p"},
	{F "Model=m Family=x Id=1234:5678 TFLOPS=-1",
	 "t:2: TFLOPS=-1: a number above 0 is wanted"},
	{F "Model=m Family=x Id=1234:5678 Memory=lots",
	 "t:2: Memory=lots: a whole number is wanted"},
	{"Family=x Gres=a File=/dev/x%n PartFile=/dev/y%q",
	 "t:1: PartFile=/dev/y%q: absolute paths are wanted that end in a number: %n, %m, %c, %r or digits"},
	{"Family=x Gres=\"\" File=/dev/x%n",
	 "t:1: Gres=: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Family=x Gres=a File=/dev/x%n Also=y",
	 "t:1: Also=y: absolute paths are wanted that end in a number: %n, %c, %r or digits"},
	{"Family=x Gres=a File=/dev/x%n Shared=ctl",
	 "t:1: Shared=ctl: absolute paths are wanted"},
	{"Family=x Gres=a File=/dev/x%n Container=1X",
	 "t:1: Container=1X: names of environment variables are wanted"},
	{"Family=x Gres=a File=/dev/x%n Unset=A,",
	 "t:1: Unset=A,: names of environment variables are wanted"},
	{"Family=x Gres=a File=/dev/x%n Library=lib/x.so",
	 "t:1: Library=lib/x.so: names of libraries or absolute paths are wanted"},
	{"Family=x Gres=a File=/dev/x%n Api=cuda",
	 "t:1: Api=cuda: cndev, dcmi, nvml or rsmi is wanted"},
	{"Family=x Gres=a File=/dev/x%n Info=proc/%p",
	 "t:1: Info=proc/%p: an absolute path is wanted, with %p for the PCI address"},
	{"Family=x Gres=a File=/dev/x%n InfoFile=",
	 "t:1: InfoFile=: a text is wanted"},
	{"Family=x Gres=a File=/dev/x%n CountFile=.",
	 "t:1: CountFile=.: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Family=x Gres=a File=/dev/x%n MapFile=a/b",
	 "t:1: MapFile=a/b: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Family=x Gres=a File=/dev/x%n Flags=a,,b",
	 "t:1: Flags=a,,b: names are wanted"},
	{"Family=x Gres=a File=/dev/x%n PartList=vnpu.cfg",
	 "t:1: PartList=vnpu.cfg: absolute paths are wanted"},
	{"Family=x Gres=a File=/dev/x%n PartMode=a/b",
	 "t:1: PartMode=a/b: a name of letters, digits, '-', '_' and '.' is wanted"},
	{"Family=x Gres=a File=/dev/x%n PartFirst=-1",
	 "t:1: PartFirst=-1: must be from 0 to 65535"},
	{"Family=x Gres=a File=/dev/x%n PartStep=x",
	 "t:1: PartStep=x: a whole number is wanted"},
	{F "Model=m Family=x Id=1234:5678 Constrained=0",
	 "t:2: Constrained=0: local or physical is wanted"},
	{F "Part=p Family=x Of=m Share=1/2 Name=a/b",
	 "t:2: Name=a/b: a name of letters, digits, '-', '_' and '.' is wanted"},
	{F "Part=p Family=x Of=m Share=1/2 Memory=0.5",
	 "t:2: Memory=0.5: a whole number is wanted"},
	{F "Model=m Family=x Id=1234:5678 Vf=maybe",
	 "t:2: Vf=maybe: no or yes is wanted"},
};

static const char *name_of(const struct tide_table *table,
			   const struct tide_model *model, char *name,
			   size_t size)
{
	if (!model)
		return NULL;
	if (model->vf)
		return "vf";
	snprintf(name, size, "%s/%s", table->family[model->family].name,
		 model->type);
	return name;
}

static void test_builtin(void)
{
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	char name[64], title[64];

	is_int(tide_table_load(NULL, &table, &problems, NULL), 0,
	       "the built-in table is read");
	ok(!problems.count, "and has no error: %s",
	   problems.count ? problems.problem[0].text : "none");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		snprintf(title, sizeof(title), "%04x:%04x class %04x",
			 functions[i].vendor, functions[i].device,
			 functions[i].class);
		is_str(name_of(table,
			       tide_table_match(table, functions[i].vendor,
						functions[i].device,
						functions[i].class),
			       name, sizeof(name)),
		       functions[i].want, title);
	}
	tide_table_destroy(table);
	tide_problems_release(&problems);
}

static void test_bad(void)
{
	char text[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tide_problems problems = {0};
		struct tide_table *table = NULL;
		struct tide_err err = {""};

		snprintf(text, sizeof(text), "%s\n%s", bad[i].text, F);
		is_int(tide_table_parse(text, "t", &table, &problems, &err), 0,
		       "a bad line is no failure");
		tide_problems_first(&problems, &err);
		is_str(err.text, bad[i].want, "it is named");
		ok(table && tide_table_family(table, "x"),
		   "and the next line counts");
		tide_table_destroy(table);
		tide_problems_release(&problems);
	}
}

/* A site's own file on top. */
static void test_site(void)
{
	static const char text[] =
		"# ours\n"
		"Family=mlu Visible=OTHER_DEVICES\n"
		"Model=mlu590-h8 Family=mlu Id=cabc:0590\n"
		"Family=fpga Gres=fpga File=/dev/fpga%n \\\n"
		"  Visible=FPGA_DEVICES\n"
		"Model=u250 Family=fpga Id=10ee:5004,10ee:*\n";
	char path[] = "/tmp/tide-table-XXXXXX", name[64];
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	const struct tide_family *mlu;
	struct tide_err err = {""};
	int fd = mkstemp(path);

	ok(fd >= 0 && write(fd, text, sizeof(text) - 1) > 0, "a site's file");
	close(fd);
	is_int(tide_table_load(path, &table, &problems, NULL), 0, "is read");
	is_int((int64_t)problems.count, 0, "without errors");
	mlu = tide_table_family(table, "mlu");
	is_str(mlu->visible, "OTHER_DEVICES", "a key is changed");
	is_str(mlu->file, "/dev/cambricon_dev%n", "and others are kept");
	is_str(name_of(table, tide_table_match(table, 0xcabc, 0x0590, 0x1200),
		       name, sizeof(name)),
	       "mlu/mlu590-h8", "the later model counts");
	is_str(name_of(table, tide_table_match(table, 0x10ee, 0x1111, 0x0580),
		       name, sizeof(name)),
	       "fpga/u250", "a new family");
	ok(tide_table_by_file(table, "fpga", "/dev/fpga12") ==
		   tide_table_family(table, "fpga"),
	   "a file is known");
	ok(!tide_table_by_file(table, "fpga", "/dev/fpga"), "not without one");
	ok(!tide_table_by_file(table, "fpga", "/dev/fpga1x"), "nor with more");
	ok(!tide_table_by_file(table, "mlu", "/dev/fpga1"), "nor of another");
	ok(tide_table_by_file(table, "dcu", "/dev/dri/renderD128") ==
		   tide_table_family(table, "dcu"),
	   "any of several files");
	tide_table_destroy(table);
	tide_problems_release(&problems);
	unlink(path);
	errno = 0;
	ok(tide_table_load("/nowhere/devices.conf", &table, &problems, &err) ==
			   -1 &&
		   errno == ENOENT,
	   "a file that is not there is said");
	is_str(err.text,
	       "/nowhere/devices.conf: cannot be read: No such file or directory",
	       "by its name");
}

static void test_part(void)
{
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	const struct tide_family *npu;
	const struct tide_part *part;

	tide_table_load(NULL, &table, &problems, NULL);
	npu = tide_table_family(table, "npu");
	part = tide_table_part(table, npu, "ascend310p", "ascend310p", "vir04");
	ok(part && part->share.num == 1 && part->share.den == 2 &&
		   part->memory == 12,
	   "half of a 310P");
	part = tide_table_part(table, npu, "x", "ascend910a", "vir04");
	if (ok(part != NULL, "a part of that name of another device"))
		is_str(part->type, "ascend910a-vir04", "has another type");
	ok(!tide_table_part(table, npu, "x", "ascend910b", "vir04"),
	   "and none of a third");
	ok(!tide_table_part(table, npu, "x", "ascend310p", NULL),
	   "without a name it is none of several");
	ok(tide_family_is_part(npu, "/dev/vdavinci100") &&
		   !tide_family_is_part(npu, "/dev/davinci1"),
	   "files of parts are told apart");
	ok(tide_table_by_file(table, "npu", "/dev/vdavinci100") == npu,
	   "and known");
	tide_table_destroy(table);
	tide_problems_release(&problems);
}

static void test_physical(void)
{
	struct tide_problems problems = {0};
	struct tide_table *table = NULL;
	const struct tide_family *npu;

	tide_table_load(NULL, &table, &problems, NULL);
	npu = tide_table_family(table, "NPU");
	ok(!tide_table_physical(table, npu, "ascend910b"),
	   "910B counts from 0");
	ok(tide_table_physical(table, npu, "ascend310p"), "310P does not");
	ok(!tide_table_physical(table, npu, NULL),
	   "as the family without type");
	tide_table_destroy(table);
	tide_problems_release(&problems);
}

/* A file of another kind is not gone through to its end. */
static void test_no_table(void)
{
	static const struct {
		const char *line, *error;
		size_t lines, most;
	} cases[] = {
		{F, NULL, 4096, 0},
		{"Family=mlu\n", "t: more than 4096 lines: it is no table",
		 4097, 0},
		{"Gres=mlu\n", NULL, 100, 100},
		{"Gres=mlu\n", "t: more than 100 mistakes: it is no table",
		 4096, 101},
		{"a=b ", "t: more than 100 mistakes: it is no table", 200000,
		 101},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len = strlen(cases[i].line);
		char *text = malloc(cases[i].lines * len + 16), *end = text;
		struct tide_problems problems = {0};
		struct tide_table *table = NULL;
		struct tide_err err = {""};

		/* one that is all on one line is of a family */
		if (!strchr(cases[i].line, '\n'))
			end = stpcpy(end, "Family=x ");
		for (size_t j = 0; j < cases[i].lines; j++)
			end = stpcpy(end, cases[i].line);
		tide_table_parse(text, "t", &table, &problems, &err);
		is_str(table ? NULL : err.text, cases[i].error, cases[i].line);
		is_int((int64_t)problems.count, (int64_t)cases[i].most,
		       "so many are said");
		tide_table_destroy(table);
		tide_problems_release(&problems);
		free(text);
	}
}

static void test_type(void)
{
	static const struct {
		const char *type, *by_hand;
		bool part, want;
	} rows[] = {
		{"a100-sxm4-80gb", "a100", false, true},
		{"a100-sxm4-80gb", "SXM4", false, true},
		{"a100", "a100-sxm4-80gb", false, false},
		{"a100", "a800", false, false},
		{"vir04", "VIR04", true, true},
		{"vir04_3c", "vir04", true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ok(tide_type_is(rows[i].type, rows[i].part, rows[i].by_hand) ==
			   rows[i].want,
		   "%s stands for %s%s: %d", rows[i].by_hand,
		   rows[i].part ? "part " : "", rows[i].type, rows[i].want);
}

int main(void)
{
	test_no_table();
	test_builtin();
	test_bad();
	test_site();
	test_physical();
	test_part();
	test_type();
	return tap_done();
}
