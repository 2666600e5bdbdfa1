/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One host by itself: a node, a backup controller, slurmdbd's host.  Plugin and
 * device files are empty stand-ins: only their names matter here.
 */
#include "config.h"

#include "common/site/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/device/find.h"
#include "common/util/err.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-test-host.XXXXXX";

/* "@" stands for the folder. */
static const char slurm_conf[] =
	"SlurmctldHost=ctl1(10.0.0.1)\nSlurmctldHost=ctl2\n"
	"AuthType=auth/slurm\nPluginDir=@/ours:@/stock\n"
	"JobSubmitPlugins=tide\nTaskPlugin=task/affinity,task/cgroup\n"
	"NodeName=lab[1-2] Gres=mlu:mlu290:2,nic:1\n"
	"NodeName=gpu1 NodeHostname=box Gres=gpu:a:2\nNodeName=cpu1\n"
	"NodeName=npu1 Gres=npu:ascend910b:8,accel:s60:1\n"
	"NodeName=dcu1 Gres=dcu:4\n";
static const char gres_conf[] =
	"NodeName=lab[1-2] Name=mlu Type=mlu290 File=/dev/mlu[0-1]\n"
	"NodeName=gpu1 Name=gpu Type=a File=/dev/gpu0\n";
static const char cgroup_conf[] = "ConstrainDevices=Yes\n";
static const char slurmdbd_conf[] =
	"StorageType=accounting_storage/credits\nPluginDir=@/ours:@/stock\n";

static const struct {
	const char *name;
	const char *host;
	const char *gone;      /* a file that is not there */
	const char *pipe;      /* a file in whose place is a pipe */
	const char *from, *to; /* a change of slurm.conf */
	const char *cgroup;    /* in the place of cgroup.conf */
	enum tide_level level;
	const char *what; /* NULL: all is well */
	const char *fix;
} cases[] = {
	{.name = "a node that has all", .host = "lab2"},
	{.name = "a node without devices needs no plugin",
	 .host = "cpu1",
	 .gone = "ours/gres_mlu.so"},
	{.name = "a login host neither",
	 .host = "login",
	 .gone = "ours/gres_mlu.so"},
	{.name = "a controller needs no device plugin",
	 .host = "ctl1",
	 .gone = "ours/gres_mlu.so"},
	{.name = "a node without the plugin of its devices",
	 .host = "lab1",
	 .gone = "ours/gres_mlu.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "gres_mlu.so is in no folder of PluginDir before Slurm's: slurmd counts the devices",
	 .fix = "install tideflow-plugins"},
	{.name = "a node with plugins of two kinds", .host = "npu1"},
	{.name = "a node without that of its NPUs",
	 .host = "npu1",
	 .gone = "ours/gres_npu.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "gres_npu.so is in no folder of PluginDir before Slurm's",
	 .fix = "install tideflow-plugins"},
	{.name = "a node without that of its others",
	 .host = "npu1",
	 .gone = "ours/gres_accel.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "gres_accel.so is in no folder",
	 .fix = "install"},
	{.name = "a node without that of its DCUs",
	 .host = "dcu1",
	 .gone = "ours/gres_dcu.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "gres_dcu.so is in no folder",
	 .fix = "install"},
	{.name = "a node whose slurm.conf has no PluginDir",
	 .host = "lab1",
	 .from = "PluginDir=@/ours:@/stock",
	 .to = "",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "gres_mlu.so is in no folder",
	 .fix = "install tideflow-plugins"},
	{.name = "a folder that is missing",
	 .host = "login",
	 .from = "@/stock",
	 .to = "@/stock:/nowhere",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "the folder '/nowhere' does not exist",
	 .fix = "tideflow-common"},
	{.name = "a backup controller without the guard",
	 .host = "ctl2",
	 .gone = "ours/job_submit_tide.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "job_submit_tide.so is in no folder of PluginDir before Slurm's: slurmctld would not start",
	 .fix = "install tideflow-plugins"},
	{.name = "one without the layer",
	 .host = "ctl2",
	 .gone = "ours/select_cons_tres.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "select_cons_tres.so is in no folder of PluginDir before Slurm's",
	 .fix = "install tideflow-plugins"},
	{.name = "one without tide.conf",
	 .host = "ctl1",
	 .gone = "tide.conf",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "there is no tide.conf here",
	 .fix = "copy tide.conf"},
	{.name = "a controller that does not use it",
	 .host = "ctl1",
	 .gone = "ours/job_submit_tide.so",
	 .from = "JobSubmitPlugins=tide",
	 .to = "JobSubmitPlugins=lua"},
	{.name = "a device file that is missing",
	 .host = "lab1",
	 .gone = "dev/mlu1",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "File=/dev/mlu1: No such file",
	 .fix = "load the driver"},
	{.name = "fewer device files than devices",
	 .host = "box",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "Gres=gpu:a:2, but gres.conf has 1 device files for it",
	 .fix = "File in gres.conf"},
	{.name = "a type in other letters",
	 .host = "lab1",
	 .from = "mlu:mlu290:2",
	 .to = "mlu:MLU290:2",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "Type=mlu290 here, MLU290 in Gres of slurm.conf: slurmctld takes them for two types",
	 .fix = "the same letters"},
	{.name = "no gres.conf", .host = "box", .gone = "gres.conf"},
	{.name = "a gres.conf that is no file",
	 .host = "box",
	 .pipe = "gres.conf",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "cannot be read: it is not a file",
	 .fix = "see gres.conf(5)"},
	{.name = "a cgroup.conf that is no file",
	 .host = "lab1",
	 .pipe = "cgroup.conf",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "cannot be read: it is not a file",
	 .fix = "see cgroup.conf(5)"},
	{.name = "nothing keeps jobs apart",
	 .host = "lab1",
	 .cgroup = "ConstrainCores=yes\n",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "ConstrainDevices is not set: nothing keeps a job from opening devices that it was not given",
	 .fix = "ConstrainDevices=yes"},
	{.name = "as somebody wants it",
	 .host = "gpu1",
	 .cgroup = "ConstrainDevices=no\n",
	 .gone = "gres.conf",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "ConstrainDevices=no: nothing keeps",
	 .fix = "ConstrainDevices=yes"},
	{.name = "there is no cgroup.conf",
	 .host = "lab1",
	 .gone = "cgroup.conf",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "ConstrainDevices is not set",
	 .fix = "ConstrainDevices=yes"},
	{.name = "a TaskPlugin that does not look at it",
	 .host = "lab1",
	 .from = "task/affinity,task/cgroup",
	 .to = "task/affinity",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "TaskPlugin=task/affinity does not have task/cgroup: nothing keeps",
	 .fix = "TaskPlugin=task/affinity,task/cgroup"},
	{.name = "no TaskPlugin, as a word that newer Slurm takes alone only",
	 .host = "lab1",
	 .from = "task/affinity,task/cgroup",
	 .to = "task/none",
	 .level = TIDE_LEVEL_WARNING,
	 .what = "TaskPlugin=task/none does not have task/cgroup: nothing keeps",
	 .fix = "TaskPlugin=task/cgroup"},
	{.name = "by its short name",
	 .host = "lab1",
	 .from = "task/affinity,task/cgroup",
	 .to = "affinity,cgroup"},
	{.name = "a node without devices keeps nobody apart",
	 .host = "cpu1",
	 .gone = "cgroup.conf"},
	{.name = "slurmdbd without the credits plugin",
	 .host = "login",
	 .gone = "ours/accounting_storage_credits.so",
	 .level = TIDE_LEVEL_ERROR,
	 .what = "no folder in PluginDir has TideFlow's accounting_storage_credits.so",
	 .fix = "PluginDir="},
};

static const char *const plugins[] = {
	"ours/gres_mlu.so",
	"ours/gres_npu.so",
	"ours/gres_dcu.so",
	"ours/gres_accel.so",
	"ours/job_submit_tide.so",
	"ours/select_cons_tres.so",
	"ours/accounting_storage_credits.so",
	"stock/select_cons_tres.so",
	"stock/accounting_storage_mysql.so",
	"dev/mlu0",
	"dev/mlu1",
	"dev/gpu0",
	"tide.conf",
};

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '@')
			fputs(folder, out);
		else
			fputc(text[i], out);
	}
}

/* Write text, from replaced by to. */
static void put(const char *name, const char *text, const char *from,
		const char *to)
{
	FILE *out = fopen(path_of(name), "w");
	const char *at = from ? strstr(text, from) : NULL;

	if (!out) {
		diag("cannot write %s", name);
		return;
	}
	if (at) {
		put_text(out, text, (size_t)(at - text));
		put_text(out, to, strlen(to));
		text = at + strlen(from);
	}
	put_text(out, text, strlen(text));
	if (fclose(out) || (from && !at))
		diag("cannot write %s with '%s'", name, from ? from : "");
}

static void put_all(size_t i)
{
	/* what is a pipe would be waited for */
	if (i && cases[i - 1].pipe)
		unlink(path_of(cases[i - 1].pipe));
	for (size_t k = 0; k < sizeof(plugins) / sizeof(*plugins); k++)
		put(plugins[k], "", NULL, NULL);
	put("slurm.conf", slurm_conf, cases[i].from, cases[i].to);
	put("gres.conf", gres_conf, NULL, NULL);
	put("cgroup.conf", cases[i].cgroup ? cases[i].cgroup : cgroup_conf,
	    NULL, NULL);
	put("slurmdbd.conf", slurmdbd_conf, NULL, NULL);
	if (cases[i].gone && unlink(path_of(cases[i].gone)))
		diag("cannot remove %s", cases[i].gone);
	if (cases[i].pipe && (unlink(path_of(cases[i].pipe)) ||
			      mkfifo(path_of(cases[i].pipe), 0600)))
		diag("cannot make a pipe of %s", cases[i].pipe);
}

static void test_case(size_t i)
{
	struct tide_findings findings = {0};
	const struct tide_finding *bad = NULL;
	struct tide_err err = {""};
	char *plugin_dir = NULL;
	size_t n_bad = 0;
	int pass;

	put_all(i);
	pass = !tide_host_check(folder, folder, cases[i].host, NULL, &findings,
				&plugin_dir, &err);
	for (size_t k = 0; k < findings.count; k++)
		if (findings.finding[k].level != TIDE_LEVEL_OK) {
			n_bad++;
			bad = &findings.finding[k];
		}
	if (cases[i].what)
		pass = pass && n_bad == 1 && bad->level == cases[i].level &&
		       strstr(bad->what, cases[i].what) &&
		       strstr(bad->fix, cases[i].fix);
	else
		pass = pass && !n_bad && findings.count;
	if (!ok(pass, "%s", cases[i].name))
		diag("%zu bad: %s %s", n_bad, bad ? bad->what : "", err.text);
	free(plugin_dir);
	tide_findings_release(&findings);
}

static void test_fold(void)
{
	struct tide_findings f = {0};

	tide_findings_add_of(&f, "n10", TIDE_LEVEL_OK, "a", 1, "same", NULL);
	tide_findings_add_of(&f, "n2", TIDE_LEVEL_OK, "a", 1, "other", NULL);
	tide_findings_add_of(&f, "n9", TIDE_LEVEL_OK, "a", 1, "same", NULL);
	tide_findings_add_of(&f, "n2", TIDE_LEVEL_ERROR, "a", 1, "same", "x");
	tide_findings_fold(&f);
	ok(f.count == 3 && !f.lost, "what differs by host alone is one");
	ok(!strcmp(f.finding[1].host, "n[9-10]") &&
		   !strcmp(f.finding[1].what, "same") && !f.finding[1].fix,
	   "of a list of hosts");
	ok(!strcmp(f.finding[0].host, "n2") && !strcmp(f.finding[2].host, "n2"),
	   "other things are apart");
	tide_findings_release(&f);
	tide_findings_fold(&f);
	ok(!f.count, "of nothing comes nothing");
}

/* A configless login host. */
static void test_no_conf(void)
{
	struct tide_findings findings = {0};
	char *plugin_dir = NULL;

	put_all(0);
	unlink(path_of("slurm.conf"));
	ok(!tide_host_check(folder, folder, "login", NULL, &findings,
			    &plugin_dir, NULL) &&
		   findings.count > 1 && !plugin_dir &&
		   strstr(findings.finding[0].what, "there is no slurm.conf"),
	   "without a slurm.conf the default folder is looked for");
	tide_findings_release(&findings);
	ok(!mkfifo(path_of("slurm.conf"), 0600) &&
		   !tide_host_check(folder, folder, "login", NULL, &findings,
				    &plugin_dir, NULL) &&
		   findings.finding[0].level == TIDE_LEVEL_ERROR &&
		   strstr(findings.finding[0].what, "cannot be read"),
	   "a slurm.conf that is a pipe is an error, not waited for");
	unlink(path_of("slurm.conf"));
	tide_findings_release(&findings);
}

/* What was found against gres.conf, and against what slurm.conf counts. */
static void test_found(void)
{
	static struct tide_family npu = {.name = "npu", .gres = "npu"};
	static char type[] = "ascend910b", path[] = "/dev/davinci0";
	static char *files[] = {path};
	struct tide_accel accel = {.family = &npu,
				   .type = type,
				   .file = files,
				   .n_files = 1,
				   .part = -1};
	const struct tide_accels found = {.accel = &accel, .count = 1};
	struct tide_findings findings = {0};
	char *plugin_dir = NULL;
	struct tide_err err;
	int counted = 0, by_hand = 0, twice_said = 0;

	put_all(0);
	tide_host_check(folder, folder, "npu1", &found, &findings, &plugin_dir,
			&err);
	for (size_t i = 0; i < findings.count; i++)
		counted += !!strstr(findings.finding[i].what,
				    "has 8 of npu in Gres, found are 1");
	is_int(counted, 1, "fewer NPUs than slurm.conf has are said");
	free(plugin_dir);
	tide_findings_release(&findings);
	tide_host_check(folder, folder, "lab1", &found, &findings, &plugin_dir,
			&err);
	for (size_t i = 0; i < findings.count; i++)
		by_hand += !!strstr(findings.finding[i].what, "found are");
	is_int(by_hand, 0, "not of MLUs that lines by hand name");
	free(plugin_dir);
	tide_findings_release(&findings);
	put("dev/davinci0", "", NULL, NULL);
	put("gres.conf",
	    "Name=npu File=/dev/davinci0\nName=npu File=/dev/davinci0\n", NULL,
	    NULL);
	tide_host_check(folder, folder, "npu1", &found, &findings, &plugin_dir,
			&err);
	for (size_t i = 0; i < findings.count; i++)
		twice_said += !!strstr(findings.finding[i].what, "two jobs");
	is_int(twice_said, 1, "a found device on two lines is said once");
	free(plugin_dir);
	tide_findings_release(&findings);
}

/* One device by several paths; want: "LINE: WHAT" of each finding. */
static const struct {
	const char *name, *gres, *want;
} twice[] = {
	{"devices of their own", "Name=mlu File=/dev/mlu[0-1]\n", ""},
	{"the same path",
	 "Name=mlu File=/dev/mlu[0-1]\nName=mlu File=/dev/mlu1\n",
	 "2: File=/dev/mlu1 is on line 1 as well: two jobs would get the same device\n"},
	{"of two GRES, a hard link",
	 "Name=mlu File=/dev/mlu[0-1]\nName=nic File=/dev/gpu0,/dev/hard0\n",
	 "2: File=/dev/hard0 is the same device as /dev/mlu0 of line 1: two jobs would get it\n"},
	{"a link of the same line", "Name=mlu File=/dev/mlu0,/dev/by/id0\n",
	 "1: File=/dev/by/id0 is the same device as /dev/mlu0 of line 1: two jobs would get it\n"},
	{"each of them once",
	 "Name=mlu File=/dev/by/id0\nName=mlu File=/dev/mlu[0-1]\n"
	 "Name=mlu File=/dev/hard0\n",
	 "2: File=/dev/mlu0 is the same device as /dev/by/id0 of line 1: two jobs would get it\n"
	 "3: File=/dev/hard0 is the same device as /dev/by/id0 of line 1: two jobs would get it\n"},
	{"a file that parts share",
	 "Name=mlu MultipleFiles=/dev/mlu1,/dev/mlu0\n"
	 "Name=mlu MultipleFiles=/dev/gpu0,/dev/hard0,/dev/mlu0\n",
	 ""},
	{"and one that has the whole",
	 "Name=mlu MultipleFiles=/dev/mlu1,/dev/mlu0\nName=mlu File=/dev/hard0\n",
	 "2: File=/dev/hard0 is the same device as /dev/mlu0 of line 1: two jobs would get it\n"},
	{"what Slurm shares",
	 "Name=mlu File=/dev/mlu0\nName=shard File=/dev/mlu0\n", ""},
	{"another node's",
	 "Name=mlu File=/dev/mlu0\nNodeName=lab2 Name=mlu File=/dev/mlu0\n",
	 ""},
};

static void test_twice(size_t i)
{
	struct tide_findings findings = {0};
	char text[512] = "", *plugin_dir = NULL;
	size_t used = 0;

	put("gres.conf", twice[i].gres, NULL, NULL);
	tide_host_check(folder, folder, "lab1", NULL, &findings, &plugin_dir,
			NULL);
	for (size_t k = 0; k < findings.count; k++)
		if (strstr(findings.finding[k].what, "two jobs"))
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used,
						 "%d: %s\n",
						 findings.finding[k].line,
						 findings.finding[k].what);
	is_str(text, twice[i].want, twice[i].name);
	free(plugin_dir);
	tide_findings_release(&findings);
}

static void test_all_twice(void)
{
	char target[256];

	put_all(0);
	snprintf(target, sizeof(target), "%s/dev/mlu0", folder);
	mkdir(path_of("dev/by"), 0700);
	ok(!symlink("../mlu0", path_of("dev/by/id0")) &&
		   !link(target, path_of("dev/hard0")),
	   "two more names of a device");
	for (size_t i = 0; i < sizeof(twice) / sizeof(*twice); i++)
		test_twice(i);
}

int main(void)
{
	static const char *const folders[] = {"ours", "stock", "dev"};

	if (!mkdtemp(folder)) {
		ok(0, "a folder of our own: %s", strerror(errno));
		return tap_done();
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		mkdir(path_of(folders[i]), 0700);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(i);
	test_found();
	test_all_twice();
	test_no_conf();
	test_fold();
	tap_remove(folder);
	return tap_done();
}
