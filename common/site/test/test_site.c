/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A site whose files are all right has no finding but ok; each change of one
 * line of it is found, with its level and fix.  The plugin files are empty
 * stand-ins: only their names matter here.
 */
#include "config.h"

#include "common/site/site.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-test-site.XXXXXX";

enum { TIDE, SLURM, SLURMDBD, GRES, FILES };

static const char *const names[FILES] = {
	"tide.conf", "slurm.conf", "slurmdbd.conf", "gres.conf",
};

/* "@" stands for the folder. */
static const char *const good[FILES] = {
	"PoolPartition=pool\nPoolAccount=centre IssueAccount=mint\n"
	"Reference=gpu:a100\n"
	"Device=gpu:a100 TFLOPS=312\nDevice=gpu:t4 TFLOPS=65\n"
	"OwnerAccount=nlp Nodes=lab[01-05]\nOwnerAccount=cv Nodes=cv[1-8]\n"
	"WindowName=nights Nodes=lab[01-05],cv1 Start=20:00 End=08:00\n",

	"ClusterName=t\n"
	"PluginDir=@/ours:@/stock\n"
	"SelectType=select/cons_tres\n"
	"JobSubmitPlugins=lua,tide\n"
	"SchedulerType=sched/backfill\n"
	"PreemptType=preempt/partition_prio\n"
	"PreemptMode=REQUEUE\n"
	"SlurmctldParameters=preempt_send_user_signal\n"
	"GresTypes=gpu,nic\n"
	"AccountingStorageType=accounting_storage/slurmdbd\n"
	"AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:t4\n"
	"AccountingStorageEnforce=safe,qos\n"
	"PriorityType=priority/multifactor\n"
	"NodeName=DEFAULT CPUs=4\n"
	"NodeName=lab[01-05] Gres=gpu:a100:4\n"
	"NodeName=cv[1-8],n1 Gres=gpu:t4:2(S:0-1)\n"
	"PartitionName=DEFAULT State=UP GraceTime=120\n"
	"PartitionName=pool Nodes=ALL TRESBillingWeights=\"GRES/gpu:a100=100000,GRES/gpu:t4=20833.33\"\n"
	"PartitionName=nlp Nodes=lab[01-05] PriorityTier=10 AllowAccounts=nlp\n"
	"PartitionName=cv Nodes=cv[1-8] PriorityTier=10 AllowAccounts=root,cv\n",

	"StorageType=accounting_storage/credits\n"
	"PluginDir=@/ours:@/stock\n"
	"StoragePort=3306\nStorageLoc=slurm_acct_db\n",

	"NodeName=lab[01-05] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"
	"NodeName=cv[1-8],n1 Name=gpu Type=t4 File=/dev/nvidia[0-1]\n",
};

static const struct {
	int file;
	const char *from, *to;	/* text replaced; from "": all of it */
	enum tide_level level;
	const char *what;	/* part of it */
	const char *fix;	/* part of it; NULL: none */
} cases[] = {
	{TIDE, "Start=20:00", "Start=20", TIDE_LEVEL_ERROR,
	 "Start=20: a time of day HH:MM or HH:MM:SS is wanted", "tide.conf(5)"},
	{TIDE, "Start=20:00", "TimeZone=Mars/Base Start=20:00",
	 TIDE_LEVEL_ERROR, "TimeZone=Mars/Base: unknown time zone",
	 "install tzdata"},
	{TIDE, "", NULL, TIDE_LEVEL_ERROR, "No such file", "tide.conf(5)"},
	{SLURM, "", NULL, TIDE_LEVEL_ERROR, "No such file", "--conf-dir"},
	{SLURMDBD, "", NULL, TIDE_LEVEL_WARNING, "No such file",
	 "on the slurmdbd host"},
	{SLURM, "ClusterName=t", "Include nowhere", TIDE_LEVEL_WARNING,
	 "cannot read", NULL},
	{TIDE, "WindowName=nights Nodes=lab[01-05],cv1 Start=20:00 End=08:00\n",
	 "", TIDE_LEVEL_OK,
	 "0 windows, 2 owners, 13 lent nodes, 2 priced devices", NULL},

	{SLURM, "PluginDir=@/ours:@/stock", "", TIDE_LEVEL_ERROR,
	 "no folder in PluginDir has TideFlow's job_submit_tide.so", "PluginDir="},
	{SLURM, "@/ours:@/stock", "@/stock:@/ours", TIDE_LEVEL_ERROR,
	 "names Slurm's folder before TideFlow's", "PluginDir="},
	{SLURM, "@/ours:@/stock", "@/ours", TIDE_LEVEL_ERROR,
	 "no folder in PluginDir has Slurm's own select_cons_tres.so",
	 "PluginDir="},
	{SLURM, "@/stock", "@/stock:/nowhere", TIDE_LEVEL_ERROR,
	 "'/nowhere' does not exist", "PluginDir="},
	{SLURM, "select/cons_tres", "select/linear", TIDE_LEVEL_ERROR,
	 "SelectType=select/linear", "SelectType=select/cons_tres"},
	{SLURM, "lua,tide", "lua", TIDE_LEVEL_ERROR,
	 "JobSubmitPlugins=lua does not have tide", "JobSubmitPlugins=lua,tide"},
	{SLURM, "lua,tide", "job_submit/tide", TIDE_LEVEL_OK,
	 "JobSubmitPlugins=job_submit/tide", NULL},
	{SLURM, "sched/backfill", "sched/builtin", TIDE_LEVEL_WARNING,
	 "not planned for the next window", "SchedulerType=sched/backfill"},
	{SLURM, "preempt/partition_prio", "preempt/none", TIDE_LEVEL_ERROR,
	 "PreemptType=preempt/none", "PreemptType=preempt/partition_prio"},
	{SLURM, "PreemptMode=REQUEUE", "", TIDE_LEVEL_ERROR,
	 "PreemptMode=OFF (the default)", "PreemptMode=REQUEUE"},
	{SLURM, "PreemptMode=REQUEUE", "PreemptMode=CANCEL", TIDE_LEVEL_WARNING,
	 "do not come back by themselves", "PreemptMode=REQUEUE"},
	{SLURM, "pool Nodes=ALL", "pool Nodes=ALL PreemptMode=OFF",
	 TIDE_LEVEL_ERROR, "PreemptMode=OFF: an owner's job", "REQUEUE"},
	{SLURM, "SlurmctldParameters=preempt_send_user_signal",
	 "SlurmctldParameters=a=5", TIDE_LEVEL_WARNING,
	 "does not have preempt_send_user_signal",
	 "SlurmctldParameters=a=5,preempt_send_user_signal"},
	{SLURM, "SlurmctldParameters=preempt_send_user_signal",
	 "PreemptParameters=send_user_signal", TIDE_LEVEL_OK,
	 "PreemptParameters=send_user_signal", NULL},

	{SLURM, "PartitionName=pool", "PartitionName=other", TIDE_LEVEL_ERROR,
	 "there is no partition 'pool'", "PartitionName=pool"},
	{SLURM, "pool Nodes=ALL", "pool Nodes=ALL QOS=normal",
	 TIDE_LEVEL_WARNING, "QOS=normal: a limit", "take QOS out"},
	{SLURM, "pool Nodes=ALL", "pool Nodes=ALL AllowQos=normal",
	 TIDE_LEVEL_WARNING, "AllowQos=normal: every paying account", "ALL"},
	{SLURM, "GraceTime=120", "GraceTime=0", TIDE_LEVEL_WARNING,
	 "GraceTime=0", "GraceTime=120"},
	{SLURM, "lab[01-05] Gres", "lab[01-04] Gres", TIDE_LEVEL_ERROR,
	 "Nodes=lab[01-05]: slurm.conf has no node 'lab05'", "NodeName"},
	{TIDE, "Nodes=cv[1-8]", "Nodes=cv[1-8],n2", TIDE_LEVEL_ERROR,
	 "Nodes=cv[1-8],n2: slurm.conf has no node 'n2'", "NodeName"},
	{SLURM, "pool Nodes=ALL", "pool Nodes=lab[01-05],cv[3-8]",
	 TIDE_LEVEL_WARNING, "node 'cv[1-2]' is lent, but not in partition 'pool'",
	 "add them"},
	{SLURM, "cv[1-8] PriorityTier=10", "cv[1-8] PriorityTier=1",
	 TIDE_LEVEL_ERROR,
	 "owner 'cv' has no partition over 'cv[1-8]' with a higher PriorityTier than the pool's (1)",
	 "PartitionName=cv Nodes=cv[1-8] AllowAccounts=cv PriorityTier=2"},
	{SLURM, "cv Nodes=cv[1-8]", "cv Nodes=cv[2-8]", TIDE_LEVEL_ERROR,
	 "owner 'cv' has no partition over 'cv1'", "Nodes=cv1 "},
	{SLURM, "AllowAccounts=root,cv", "AllowAccounts=root",
	 TIDE_LEVEL_ERROR, "owner 'cv' has no partition", "AllowAccounts=cv"},
	{SLURM, "AllowAccounts=root,cv", "", TIDE_LEVEL_WARNING,
	 "partition 'cv' has no AllowAccounts", "AllowAccounts=cv"},
	{SLURM, "PartitionName=cv Nodes=cv[1-8]",
	 "NodeSet=all_cv Nodes=cv[1-8]\nPartitionName=cv Nodes=all_cv",
	 TIDE_LEVEL_WARNING, "owner 'cv' has no partition", NULL},

	{SLURM, "20833.33", "20832", TIDE_LEVEL_ERROR,
	 "gpu:t4 has 20832, but its rate 125/6 x 1000 is 20833.333333",
	 "GRES/gpu:a100=100000,GRES/gpu:t4=20833.333333"},
	{SLURM, ",GRES/gpu:t4=20833.33", "", TIDE_LEVEL_ERROR,
	 "gpu:t4 has nothing", "GRES/gpu:t4=20833.333333"},
	{SLURM, "TRESBillingWeights=\"", "TRESBillingWeights=\"CPU=1,",
	 TIDE_LEVEL_ERROR, "'CPU=1' uses up the credits",
	 "GRES/gpu:a100=100000"},
	{SLURM, "100000,GRES", "100K,GRES", TIDE_LEVEL_ERROR,
	 "gpu:a100 has 100K", "GRES/gpu:a100=100000"},
	{SLURM, "GresTypes=gpu", "GresTypes=mlu", TIDE_LEVEL_ERROR,
	 "GresTypes=mlu,nic does not have gpu", "GresTypes=mlu,nic,gpu"},
	{SLURM, "gpu:a100:4", "gpu:a100:4,npu:ascend910b:8", TIDE_LEVEL_ERROR,
	 "GresTypes=gpu,nic does not have npu", "GresTypes=gpu,nic,npu"},
	{SLURM, ",gres/gpu:a100,gres/gpu:t4", "", TIDE_LEVEL_ERROR,
	 "does not have gres/gpu:a100,gres/gpu:t4",
	 "AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:t4"},
	{SLURM, "gres/gpu,", "", TIDE_LEVEL_WARNING,
	 "does not have gres/gpu: sacct, squeue and limits", "gres/gpu:t4,gres/gpu"},
	{SLURM, "gpu:a100:4", "gpu:a100:4,npu:ascend910b:8", TIDE_LEVEL_WARNING,
	 "does not have gres/npu,gres/npu:ascend910b: sacct",
	 "gres/gpu:t4,gres/npu,gres/npu:ascend910b"},
	{SLURM, "gpu:a100:4", "gpu:8:4", TIDE_LEVEL_WARNING,
	 "has the type '8' in Gres: --gres=gpu:8 asks for so many of any type",
	 "begins with a letter"},
	{SLURM, "gpu:a100:4", "gpu:a100:4,npu:310p:4", TIDE_LEVEL_WARNING,
	 "has the type '310p' in Gres", "begins with a letter"},
	{GRES, "Type=a100", "Type=8", TIDE_LEVEL_WARNING,
	 "node 'lab01' has gpu:a100 in Gres, but gres.conf has Type=8 for it",
	 "one word for a type"},
	{GRES, "NodeName=lab[01-05] Name=gpu Type=a100",
	 "NodeName=lab02 Name=gpu Type=a800 File=/dev/nvidia2\n"
	 "NodeName=lab02 Name=gpu Type=h800", TIDE_LEVEL_WARNING,
	 "node 'lab02' has gpu:a100 in Gres, but gres.conf has Type=a800 or h800",
	 "one word for a type"},
	{GRES, "NodeName=lab[01-05] Name=gpu Type=a100",
	 "NodeName=lab[01-05] Name=gpu", TIDE_LEVEL_OK,
	 "all lent nodes are in slurm.conf", NULL},
	{GRES, "NodeName=lab[01-05] Name=gpu Type=a100 File=/dev/nvidia[0-3]",
	 "AutoDetect=nvml Name=gpu Type=a800", TIDE_LEVEL_OK,
	 "all lent nodes are in slurm.conf", NULL},
	{SLURM, "Gres=gpu:a100:4", "Gres=gpu:4", TIDE_LEVEL_WARNING,
	 "node 'lab[01-05]' has gpu in Gres without a type", "gpu:a100:4"},
	{SLURM, "Gres=gpu:a100:4", "Gres=mlu:2,gpu", TIDE_LEVEL_WARNING,
	 "has gpu in Gres without a type", "gpu:a100:4"},
	{SLURM, "Gres=gpu:a100:4", "Gres=gpu:a100:2(S:0),gpu:2K",
	 TIDE_LEVEL_WARNING, "has gpu in Gres without a type", "gpu:a100:4"},
	{SLURM, "Gres=gpu:a100:4", "Gres=gpu:a100,gpu:3090:2",
	 TIDE_LEVEL_WARNING,
	 "node 'lab[01-05]' has gpu:3090 in Gres, which has no price",
	 "Device=gpu:3090 Rate="},
	{SLURM, "Gres=gpu:a100:4", "Gres=gpu:a100:4,mlu:mlu290:2",
	 TIDE_LEVEL_WARNING, "has mlu:mlu290 in Gres, which has no price",
	 "Device=mlu:mlu290 Rate="},
	{SLURM, "Gres=gpu:a100:4", "Gres=gpu:a100:4,nic:fast:2",
	 TIDE_LEVEL_OK, "all lent nodes are in slurm.conf", NULL},
	{SLURM, "Gres=gpu:t4:2", "Gres=gpu:t400:2", TIDE_LEVEL_WARNING,
	 "Device=gpu:t4: no node in slurm.conf has it", "correct the name"},
	/* the reference need not be there, and then needs no weight */
	{SLURM,
	 "Gres=gpu:a100:4\nNodeName=cv[1-8],n1 Gres=gpu:t4:2(S:0-1)\n"
	 "PartitionName=DEFAULT State=UP GraceTime=120\n"
	 "PartitionName=pool Nodes=ALL TRESBillingWeights=\"GRES/gpu:a100=100000,",
	 "\nNodeName=cv[1-8],n1 Gres=gpu:t4:2\n"
	 "PartitionName=DEFAULT State=UP GraceTime=120\n"
	 "PartitionName=pool Nodes=ALL TRESBillingWeights=\"",
	 TIDE_LEVEL_OK, "gpu:t4 has 20833.333333", NULL},
	{SLURM, "accounting_storage/slurmdbd", "accounting_storage/none",
	 TIDE_LEVEL_ERROR, "slurmdbd keeps the ledger",
	 "AccountingStorageType=accounting_storage/slurmdbd"},
	{SLURM, "Enforce=safe,qos", "Enforce=limits,qos", TIDE_LEVEL_ERROR,
	 "does not have associations,safe",
	 "AccountingStorageEnforce=limits,qos,associations,safe"},
	{SLURM, "Enforce=safe,qos", "Enforce=all", TIDE_LEVEL_OK,
	 "AccountingStorageEnforce=all", NULL},
	{SLURM, "PriorityType=priority/multifactor", "", TIDE_LEVEL_ERROR,
	 "PriorityType=priority/basic (the default)", "priority/multifactor"},
	{SLURM, "ClusterName=t", "PriorityUsageResetPeriod=MONTHLY",
	 TIDE_LEVEL_ERROR, "PriorityUsageResetPeriod=MONTHLY", "NONE"},
	{SLURM, "ClusterName=t", "PriorityFlags=MAX_TRES", TIDE_LEVEL_ERROR,
	 "PriorityFlags=MAX_TRES", "take MAX_TRES out"},
	{TIDE,
	 "PoolAccount=centre IssueAccount=mint\nReference=gpu:a100\n"
	 "Device=gpu:a100 TFLOPS=312\nDevice=gpu:t4 TFLOPS=65\n",
	 "", TIDE_LEVEL_WARNING, "there is no Device line", "Device="},
	{TIDE, "PoolPartition=pool", "PoolPartition=pool Mode=observe",
	 TIDE_LEVEL_WARNING, "Mode=observe", "Mode=enforce"},

	{SLURMDBD, "accounting_storage/credits", "accounting_storage/mysql",
	 TIDE_LEVEL_ERROR, "nothing is charged",
	 "StorageType=accounting_storage/credits"},
	{SLURMDBD, "PluginDir=@/ours:@/stock", "", TIDE_LEVEL_ERROR,
	 "no folder in PluginDir has TideFlow's accounting_storage_credits.so",
	 "PluginDir="},
	{SLURMDBD, "StoragePort=3306", "", TIDE_LEVEL_ERROR,
	 "StoragePort is not set", "StoragePort=3306"},
	{SLURMDBD, "StorageLoc=slurm_acct_db", "", TIDE_LEVEL_ERROR,
	 "StorageLoc is not set", "StorageLoc="},
};

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Write text, its "@" as the folder; from replaced by to when it is there. */
static void put(const char *name, const char *text, const char *from,
		const char *to)
{
	FILE *out = fopen(path_of(name), "w");
	size_t len = from ? strlen(from) : 0;
	int replaced = 0;

	while (out && *text) {
		const char *in = text;
		size_t n = 1;

		if (len && !replaced && !strncmp(text, from, len)) {
			in = to;
			n = len;
			replaced = 1;
		}
		/* a replacement is written whole */
		for (const char *p = in; *p && (in == to || p < in + n); p++) {
			if (*p == '@')
				fputs(folder, out);
			else
				fputc(*p, out);
		}
		text += n;
	}
	if (!out || fclose(out) || (len && !replaced))
		diag("cannot write %s with '%s'", name, from ? from : "");
}

static void put_all(int file, const char *from, const char *to)
{
	for (int i = 0; i < FILES; i++) {
		if (i == file && from && !*from)
			unlink(path_of(names[i]));
		else if (i == file)
			put(names[i], good[i], from, to);
		else
			put(names[i], good[i], NULL, NULL);
	}
}

static const struct tide_finding *find(const struct tide_findings *findings,
				       enum tide_level level, const char *what)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->finding[i].level == level &&
		    strstr(findings->finding[i].what, what))
			return &findings->finding[i];
	return NULL;
}

static void show(const struct tide_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->finding[i].level != TIDE_LEVEL_OK)
			diag("%s %s:%d: %s | %s",
			     tide_level_name(findings->finding[i].level),
			     findings->finding[i].file,
			     findings->finding[i].line,
			     findings->finding[i].what,
			     findings->finding[i].fix ?
				     findings->finding[i].fix :
				     "");
}

static void test_case(size_t i)
{
	struct tide_findings findings = {0};
	const struct tide_finding *f;
	struct tide_err err;

	put_all(cases[i].file, cases[i].from, cases[i].to);
	if (tide_site_check(folder, NULL, &findings, &err)) {
		ok(0, "%s: %s", cases[i].what, err.text);
		return;
	}
	f = find(&findings, cases[i].level, cases[i].what);
	if (!ok(f && (strstr(f->file, names[cases[i].file]) ||
		      (cases[i].file == GRES &&
		       strstr(f->file, names[SLURM])) ||
		      /* said of the line that asks for it */
		      (strstr(f->file, names[TIDE]) && f->line)) &&
			(!cases[i].fix ||
			 (f->fix && strstr(f->fix, cases[i].fix))) &&
			(cases[i].level != TIDE_LEVEL_OK ||
			 tide_findings_worst(&findings) == TIDE_LEVEL_OK),
		"%s: %s", tide_level_name(cases[i].level), cases[i].what))
		show(&findings);
	tide_findings_release(&findings);
}

static void test_good(void)
{
	struct tide_findings findings = {0};

	put_all(-1, NULL, NULL);
	ok(!tide_site_check(folder, NULL, &findings, NULL), "a good site");
	if (!ok(findings.count > 15 &&
			tide_findings_worst(&findings) == TIDE_LEVEL_OK,
		"has %zu findings, all ok", findings.count))
		show(&findings);
	tide_findings_release(&findings);
}

/* What is not set, and need not be, is no finding. */
static void test_unused(void)
{
	struct tide_findings findings = {0};

	put_all(-1, NULL, NULL);
	put(names[SLURM],
	    "ClusterName=t\nNodeName=lab[01-05],cv[1-8]\nPartitionName=pool Nodes=ALL\n",
	    NULL, NULL);
	ok(!tide_site_check(folder, NULL, &findings, NULL),
	   "a site whose nodes have no priced device");
	for (int level = TIDE_LEVEL_OK; level <= TIDE_LEVEL_ERROR; level++)
		ok(!find(&findings, (enum tide_level)level, "GresTypes") &&
			   !find(&findings, (enum tide_level)level, "(null)"),
		   "needs no GresTypes: %s",
		   tide_level_name((enum tide_level)level));
	tide_findings_release(&findings);
}

static void make_folders(void)
{
	static const char *const files[] = {
		"ours/select_cons_tres.so",
		"ours/job_submit_tide.so",
		"ours/accounting_storage_credits.so",
		"stock/select_cons_tres.so",
		"stock/accounting_storage_mysql.so",
	};

	mkdir(path_of("ours"), 0700);
	mkdir(path_of("stock"), 0700);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(files[i], "", NULL, NULL);
}

int main(void)
{

	if (!mkdtemp(folder)) {
		ok(0, "a folder of our own: %s", strerror(errno));
		return tap_done();
	}
	make_folders();
	test_good();
	test_unused();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(i);
	tap_remove(folder);
	return tap_done();
}
