/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries' answers beside what was found: differences, links and health, by
 * devices and answers made up here.
 */
#include "config.h"

#include "common/vendor/answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/tap.h"

static struct tide_table *table;
static struct tide_accel accel[4];
static struct tide_accels accels = {.accel = accel};
static struct tide_vendor_device device[4];
static struct tide_vendor_answer answer = {.device = device};
static struct tide_vendor_answers answers = {&answer, 1};

/* Three MLUs and what their library tells of them: all is well. */
static void reset(void)
{
	static char type[] = "mlu370-x8", file[] = "/dev/cambricon_dev0";
	static char *files[] = {file};

	memset(accel, 0, sizeof(accel));
	memset(device, 0, sizeof(device));
	accels.count = answer.count = 3;
	answer.family = tide_table_family(table, "mlu");
	answer.outcome = TIDE_VENDOR_ANSWERED;
	answer.text[0] = answer.at[0] = '\0';
	snprintf(answer.path, sizeof(answer.path), "libcndev.so");
	for (int i = 0; i < 3; i++) {
		accel[i].family = answer.family;
		accel[i].type = type;
		accel[i].file = files;
		accel[i].n_files = 1;
		snprintf(accel[i].pci.name, sizeof(accel[i].pci.name),
			 "0000:%d0:00.0", i + 1);
		accel[i].near.numa = i - 1;
		/* in another order */
		snprintf(device[2 - i].pci, sizeof(device[0].pci), "%s",
			 accel[i].pci.name);
		snprintf(device[2 - i].uuid, sizeof(device[0].uuid), "MLU-%d",
			 i);
		device[2 - i].numa = i - 1;
		device[2 - i].number = -1;
		device[2 - i].health = TIDE_HEALTH_OK;
	}
}

static struct tide_vendor_device *device_of(int i)
{
	return &device[2 - i];
}

static void fail(enum tide_vendor_outcome outcome, const char *at,
		 const char *text)
{
	answer.outcome = outcome;
	snprintf(answer.at, sizeof(answer.at), "%s", at);
	snprintf(answer.text, sizeof(answer.text), "%s", text);
}

/* The differences, a line each. */
static void is_different(const char *want, const char *name)
{
	struct tide_problems problems = {0};
	char text[1024] = "";
	size_t len = 0;

	tide_vendor_compare(&answers, &accels, &problems);
	for (size_t i = 0; i < problems.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s: %s\n", problems.problem[i].file,
					problems.problem[i].text);
	tide_problems_release(&problems);
	is_str(text, want, name);
}

static void test_compare(void)
{
	reset();
	is_different("", "there is no difference");
	device_of(1)->numa = 1;
	is_different(
		"libcndev.so: 0000:20:00.0 is near NUMA node 1, it says, the kernel says 0: the kernel is believed\n",
		"another NUMA node");
	reset();
	device_of(0)->numa = 1;
	is_different(
		"libcndev.so: 0000:10:00.0 is near NUMA node 1, it says, the kernel does not tell: --library believes it\n",
		"the kernel knows no NUMA node");
	reset();
	snprintf(device_of(0)->cpus, sizeof(device->cpus), "0-23");
	is_different(
		"libcndev.so: 0000:10:00.0 is near CPUs 0-23, it says, the kernel does not tell: --library believes it\n",
		"the library knows CPUs");
	reset();
	snprintf(device_of(1)->pci, sizeof(device->pci), "0000:99:00.0");
	is_different(
		"libcndev.so: it tells of 0000:99:00.0, which is not among the PCI devices of family mlu\n"
		"libcndev.so: it does not tell of 0000:20:00.0, which is a mlu370-x8 among the PCI devices\n",
		"other devices");
	reset();
	answer.count = 1;
	fail(TIDE_VENDOR_CRASHED, "0000:20:00.0", "it crashed");
	is_different("libcndev.so: it crashed\n", "a crash is told once");
	fail(TIDE_VENDOR_ABSENT, "", "there is no libcndev.so");
	is_different("", "a library need not be there");
}

static void test_links(void)
{
	int *link;

	reset();
	ok(!tide_vendor_links(&answers, &accels, 0), "no links are told");
	snprintf(device_of(0)->peer[0], 64, "MLU-switch");
	device_of(0)->n_peers = 1;
	ok(!tide_vendor_links(&answers, &accels, 0), "links to a switch");
	snprintf(device_of(0)->peer[0], 64, "MLU-1");
	snprintf(device_of(0)->peer[1], 64, "0000:30:00.0");
	snprintf(device_of(0)->peer[2], 64, "MLU-1");
	snprintf(device_of(0)->peer[3], 64, "MLU-elsewhere");
	device_of(0)->n_peers = 4;
	link = tide_vendor_links(&answers, &accels, 0);
	ok(link && link[0] == -1 && link[1] == 2 && link[2] == 1,
	   "links by UUID and by address");
	free(link);
}

/* What is applied to three MLUs that are all linked, or parts of such. */
static void test_applied(void)
{
	const struct tide_where where = {.table = table, .socket = 0};
	static char whole[] = "mlu370-x8";
	struct tide_problems problems = {0};

	for (int parts = 0; parts < 2; parts++) {
		reset();
		for (int i = 0; i < 3; i++) {
			snprintf(device_of(i)->peer[0], 64, "MLU-%d", !i);
			device_of(i)->n_peers = 1;
			accel[i].near.numa = i;
			accel[i].whole = parts ? whole : NULL;
			accel[i].carved = parts;
		}
		ok(!tide_vendor_apply(&where, &answers, &accels, &problems) &&
			   (parts ? !accel[0].link : !!accel[0].link),
		   parts ? "parts have no links" : "links of a library count");
		for (int i = 0; i < 3; i++)
			free(accel[i].link);
	}
	tide_problems_release(&problems);
}

static void test_several(void)
{
	reset();
	memcpy(&accel[1].pci, &accel[0].pci, sizeof(accel[0].pci));
	accel[1].sub = 1;
	ok(!tide_vendor_device_of(&answers, &accel[1]),
	   "the library knows one of the function's devices");
	memcpy(device_of(1)->pci, device_of(0)->pci, sizeof(device->pci));
	ok(tide_vendor_device_of(&answers, &accel[0]) == device_of(1) &&
		   tide_vendor_device_of(&answers, &accel[1]) == device_of(0),
	   "in the order of the library");
	accel[0].number = 5;
	accel[1].number = 4;
	device_of(1)->number = 4;
	device_of(0)->number = 5;
	ok(tide_vendor_device_of(&answers, &accel[0]) == device_of(0) &&
		   tide_vendor_device_of(&answers, &accel[1]) == device_of(1),
	   "by the number of the device file");
}

/* The findings that are not well, a line each, behind the number of all. */
static void is_health(const char *expect, const char *except, const char *want,
		      const char *name)
{
	static const char *const words[] = {"unknown", "ok", "warning",
					    "fault"};
	const struct tide_health_request request = {table, &accels, &answers,
						    expect, except};
	struct tide_health_findings findings;
	char text[2048];
	size_t len;

	tide_health(&request, &findings);
	len = (size_t)snprintf(text, sizeof(text), "%zu\n", findings.count);
	for (size_t i = 0; i < findings.count; i++) {
		const struct tide_health_finding *f = &findings.finding[i];

		if (f->health != TIDE_HEALTH_OK)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len,
				"%s %s %s: %s\n", words[f->health], f->gres,
				f->accel ? f->accel->pci.name : "-", f->text);
	}
	tide_health_release(&findings);
	is_str(text, want, name);
}

static void test_devices(void)
{
	reset();
	is_health("mlu:3", NULL, "3\n", "all is well");
	device_of(1)->health = TIDE_HEALTH_FAULT;
	snprintf(device_of(1)->fault, sizeof(device->fault), "it burns");
	device_of(0)->health = TIDE_HEALTH_WARNING;
	snprintf(device_of(0)->fault, sizeof(device->fault), "it is warm");
	accel[2].missing = true;
	is_health(
		NULL, NULL,
		"3\nfault mlu 0000:20:00.0: it burns\n"
		"fault mlu 0000:30:00.0: its device file is not there, or is another's\n"
		"warning mlu 0000:10:00.0: it is warm\n",
		"faults are first");
	is_health("mlu:1", "0000:20:00.0,0000:30:00.0",
		  "1\nwarning mlu 0000:10:00.0: it is warm\n",
		  "those that are known to be out");
	reset();
	answer.count = 2;
	is_health(
		NULL, NULL,
		"3\nfault mlu 0000:10:00.0: libcndev.so does not tell of it\n",
		"the library does not tell of one");
	reset();
	answer.count = 2;
	memcpy(&accel[0].pci, &accel[1].pci, sizeof(accel[0].pci));
	accel[1].sub = 1;
	is_health(
		NULL, NULL,
		"3\nunknown mlu 0000:20:00.0: libcndev.so tells of fewer devices there\n",
		"the library tells of one device of two");
}

static void test_libraries(void)
{
	reset();
	answer.count = 1;
	fail(TIDE_VENDOR_SILENT, "0000:20:00.0", "it gave no answer");
	is_health(NULL, NULL,
		  "4\nfault mlu 0000:20:00.0: libcndev.so: it gave no answer\n"
		  "unknown mlu 0000:10:00.0: libcndev.so: it gave no answer\n"
		  "unknown mlu 0000:20:00.0: libcndev.so: it gave no answer\n",
		  "a library that hangs");
	fail(TIDE_VENDOR_CRASHED, "", "it crashed");
	answer.count = 3;
	is_health(NULL, NULL, "4\nwarning mlu -: libcndev.so: it crashed\n",
		  "one that crashes at its end");
	fail(TIDE_VENDOR_REFUSED, "", "No Driver");
	is_health(NULL, NULL, "4\nfault mlu -: libcndev.so: No Driver\n",
		  "one that refuses");
	fail(TIDE_VENDOR_UNFIT, "", "another version");
	is_health(NULL, NULL,
		  "4\nwarning mlu -: libcndev.so: another version\n",
		  "one that does not fit");
	fail(TIDE_VENDOR_ABSENT, "", "there is none");
	answer.count = 0;
	is_health(NULL, "0000:10:00.0",
		  "2\nunknown mlu 0000:20:00.0: there is none\n"
		  "unknown mlu 0000:30:00.0: there is none\n",
		  "no library");
}

/* Gres= against three MLU370-X8, or what set_types() makes of them. */
static void test_except(void)
{
	reset();
	is_health(
		"mlu:mlu370-x8:3", "0000:20:00.0",
		"3\nfault mlu -: slurm.conf has mlu:mlu370-x8:3, found are 2\n",
		"one that is known to be out does not count");
}

struct count {
	const char *expect, *want;
};

static void are_counted(const struct count *counts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is_health(counts[i].expect, NULL, counts[i].want,
			  counts[i].expect);
}

static void test_counts(void)
{
	static const struct count counts[] = {
		{"mlu:3", "3\n"},
		{"gpu:v100:0,mlu:mlu370-x8:3(S:0-1)", "3\n"},
		{"mlu:mlu370-x8:4(S:0-1)",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370-x8:4, found are 3\n"},
		{"mlu:4,gpu:1",
		 "5\nfault mlu -: slurm.conf has mlu:4, found are 3\n"
		 "fault gpu -: slurm.conf has gpu:1, found are 0\n"},
		{"npu:ascend910c:1",
		 "4\nfault npu -: slurm.conf has npu:ascend910c:1, found are 0\n"},
		/* a type stands for what has it in its name, as in gres.conf */
		{"mlu:mlu370:3", "3\n"},
		{"mlu:x8:3", "3\n"},
		{"mlu:mlu370:4",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370:4, found are 3\n"},
		{"mlu:MLU370:4",
		 "4\nfault mlu -: slurm.conf has mlu:MLU370:4, found are 3\n"},
		{"mlu:mlu370-m8:1",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370-m8:1, found are 0\n"},
		/* what cannot be counted: names of a site's own */
		{"gpu:a100_3g.20gb:2,gpu:a100-pcie-40gb:4,mlu:mlu370_half:2",
		 "3\n"},
		{"mlu:part:8,craynetwork:4,mlu:,:,,mlu:a:b:9", "3\n"},
		/* as Slurm counts */
		{"mlu,mlu:x8,mlu:(null):1(S:0-1)", "3\n"},
		{"mlu:1k",
		 "4\nfault mlu -: slurm.conf has mlu:1024, found are 3\n"},
		{"", "3\n"},
	};

	reset();
	are_counted(counts, sizeof(counts) / sizeof(*counts));
	accel[0].family = tide_table_family(table, "nvidia");
	is_health("gpu:nvidia:1", NULL,
		  "3\nunknown gpu 0000:10:00.0: no library was asked\n",
		  "the name of a family");
}

/* Of each device its type, and whether it is a part. */
static void set_types(char *a, char *b, char *c)
{
	char *types[] = {a, b, c};

	reset();
	for (int i = 0; i < 3; i++) {
		accel[i].type = types[i];
		if (strstr(types[i], "part")) {
			static char whole[] = "mlu370-x8";

			accel[i].whole = whole;
			accel[i].carved = true;
			accel[i].part = i;
		}
	}
}

static void test_parts(void)
{
	static char x8[] = "mlu370-x8", plain[] = "mlu370",
		    part[] = "mlu370-x8-part";
	static const struct count mixed[] = {
		{"mlu:mlu370:1,mlu:mlu370-x8:2", "3\n"},
		{"mlu:mlu370-x8:2,mlu:mlu370:1", "3\n"},
		/* an X8 is taken once */
		{"mlu:mlu370:2,mlu:mlu370-x8:2",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370:2, found are 1\n"},
	};
	static const struct count cut[] = {
		{"mlu:mlu370-x8:1,mlu:mlu370-x8-part:2", "3\n"},
		/* the family's name is that of whole devices */
		{"mlu:mlu:3",
		 "4\nfault mlu -: slurm.conf has mlu:mlu:3, found are 1\n"},
		{"mlu:mlu370-x8:3",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370-x8:3, found are 1\n"},
		{"mlu:mlu370-x8:1,mlu:mlu370-x8-part:4",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370-x8-part:4, found are 2\n"},
		{"npu:vir04:2",
		 "4\nfault npu -: slurm.conf has npu:vir04:2, found are 0\n"},
	};

	set_types(plain, x8, x8);
	are_counted(mixed, sizeof(mixed) / sizeof(*mixed));
	set_types(x8, part, part);
	are_counted(cut, sizeof(cut) / sizeof(*cut));

	memcpy(&accel[2].pci, &accel[1].pci, sizeof(accel[1].pci));
	answer.count = 3;
	device_of(1)->memory = 24576;
	ok(tide_vendor_device_of(&answers, &accel[1]) == device_of(1) &&
		   tide_vendor_device_of(&answers, &accel[2]) == device_of(1),
	   "parts have the health and place of their device");
	ok(!tide_vendor_own_device(&answers, &accel[1]) &&
		   tide_vendor_own_device(&answers, &accel[0]) == device_of(0),
	   "and not its memory");
	device_of(1)->health = TIDE_HEALTH_FAULT;
	snprintf(device_of(1)->fault, sizeof(device->fault), "it burns");
	is_health(NULL, NULL, "2\nfault mlu 0000:20:00.0: it burns\n",
		  "a fault of their device is said once");
	accel[2].missing = true;
	is_health(
		NULL, NULL,
		"3\nfault mlu 0000:20:00.0: it burns\n"
		"fault mlu 0000:20:00.0: its device file is not there, or is another's\n",
		"that of a part's own file is another");
}

static const struct naming {
	const char *table; /* devices.conf */
	const char *profile;
	const char *want;
	int share; /* 1/N; 0: not known */
	const char *problem;
} namings[] = {
	{"", "mim-2m.8gb", "mlu370-x8-mim-2m.8gb", 0, ""},
	{"Part=mim-2m.8gb Family=mlu Of=mlu370-x8 Share=1/4\n", "mim-2m.8gb",
	 "mim-2m.8gb", 4, ""},
	{"Part=quarter Name=mim-2m.8gb Family=mlu Of=mlu370-x8 Share=1/4\n",
	 "mim-2m.8gb", "quarter", 4, ""},
	/* the only line there is, and not of this profile */
	{"Part=mim-2m.8gb Family=mlu Of=mlu370-x8 Share=1/4\n", "mim-4m.16gb",
	 "mlu370-x8-mim-4m.16gb", 0, ""},
	{"", "mim-2m,8 gb", "mlu370-x8-part", 0,
	 "libcndev.so: the profile of /dev/cap1 is 'mim-2m,8 gb', it says, which cannot be a type of Slurm"},
};

/* A part that was found, by this table, and what a library tells of it. */
static void test_naming(const struct naming *c, const char *path)
{
	static char whole[] = "mlu370-x8", file[] = "/dev/cap1";
	static char *files[] = {file};
	struct tide_vendor_part told = {.file = "/dev/cap1"};
	struct tide_problems problems = {0};
	struct tide_table *site = NULL;
	char text[256] = "";
	FILE *out = fopen(path, "we");

	if (out) {
		fputs(c->table, out);
		fclose(out);
	}
	reset();
	if (tide_table_load(path, &site, &problems, NULL)) {
		ok(0, "a table");
		return;
	}
	snprintf(told.profile, sizeof(told.profile), "%s", c->profile);
	answer.family = tide_table_family(site, "mlu");
	answer.part = &told;
	answer.n_parts = accels.count = 1;
	accel[0].family = answer.family;
	accel[0].model = &site->model[0];
	accel[0].type = strdup("mlu370-x8-part");
	accel[0].whole = whole;
	accel[0].file = files;
	accel[0].carved = accel[0].untold = true;
	is_int(tide_vendor_name_parts(site, &answers, &accels, &problems), 0,
	       c->profile);
	is_str(accel[0].type, c->want, "its type");
	is_int((int)accel[0].share.den,
	       c->share ? c->share : (int)accel[0].share.den, "its share");
	is_int((int)accel[0].share.num, c->share ? 1 : 0, "which is known");
	if (problems.count)
		snprintf(text, sizeof(text), "%s: %s", problems.problem[0].file,
			 problems.problem[0].text);
	is_str(text, c->problem, "what is said");
	free(accel[0].type);
	answer.n_parts = 0;
	tide_problems_release(&problems);
	tide_table_destroy(site);
}

static void test_profiles(void)
{
	static char untold[] = "mlu370-x8-part", x8[] = "mlu370-x8";
	static const struct count counts[] = {
		{"mlu:mlu370-x8:1,mlu:mlu370-x8-mim-2m.8gb:2", "3\n"},
		{"mlu:mlu370-x8:3",
		 "4\nfault mlu -: slurm.conf has mlu:mlu370-x8:3, found are 1\n"},
	};
	char path[] = "/tmp/tide-answer.XXXXXX";
	int fd = mkstemp(path);

	for (size_t i = 0; i < sizeof(namings) / sizeof(*namings); i++)
		test_naming(&namings[i], path);
	if (fd >= 0)
		close(fd);
	unlink(path);
	/* no library told: any type may be theirs, but the whole's */
	set_types(x8, untold, untold);
	accel[1].untold = accel[2].untold = true;
	are_counted(counts, sizeof(counts) / sizeof(*counts));
}

/* Partitions by the driver, each a device of its own in some libraries. */
static void test_partitions(void)
{
	static char type[] = "k100_ai-cpx", whole[] = "k100_ai";

	reset();
	memcpy(&accel[1].pci, &accel[0].pci, sizeof(accel[0].pci));
	for (int i = 0; i < 2; i++) {
		accel[i].type = type;
		accel[i].whole = whole;
		accel[i].sub = accel[i].part = i;
	}
	ok(tide_vendor_device_of(&answers, &accel[1]) == device_of(0) &&
		   !tide_vendor_own_device(&answers, &accel[1]),
	   "partitions that the library does not know");
	memcpy(device_of(1)->pci, device_of(0)->pci, sizeof(device->pci));
	ok(tide_vendor_own_device(&answers, &accel[0]) == device_of(1) &&
		   tide_vendor_own_device(&answers, &accel[1]) == device_of(0),
	   "and that it knows");
}

int main(void)
{
	struct tide_problems problems = {0};

	if (tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	test_compare();
	test_links();
	test_applied();
	test_several();
	test_devices();
	test_libraries();
	test_counts();
	test_except();
	test_parts();
	test_profiles();
	test_partitions();
	tide_table_destroy(table);
	return tap_done();
}
