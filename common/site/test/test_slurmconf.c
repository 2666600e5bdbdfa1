/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.conf as text: keys, records, DEFAULT lines, words, nodes. */
#include "config.h"

#include "common/site/slurmconf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/err.h"
#include "common/util/hostlist.h"
#include "tests/lib/tap.h"

static const char text[] =
	"ClusterName=a\n"
	"clustername=b # the later one counts\n"
	"SlurmctldParameters=enable_configless,idle_on_node_suspend\n"
	"this is nothing\n"
	"Fee=1 and rubbish\n"
	"NodeName=DEFAULT Gres=gpu:2 CPUs=4\n"
	"NodeName=n[1-2]\n"
	"NodeName=n3 Gres=mlu:1\n"
	"NodeName=bad[\n"
	"NodeSet=ns Nodes=n1\n"
	"PartitionName=DEFAULT PriorityTier=3\n"
	"PartitionName=DEFAULT State=UP\n"
	"PartitionName=p Nodes=n[2-3]\n"
	"PartitionName=DEFAULT PriorityTier=5\n"
	"PartitionName=q Nodes=ALL\n"
	"PartitionName=r Nodes=ns PriorityTier=7\n"
	"PartitionName=s\n";

static void test_values(const struct tide_slurm *slurm)
{
	const struct tide_slurm_record *record = NULL;
	const struct tide_slurm_record *p =
		tide_slurm_find(slurm, "partitionname", "p");
	const struct tide_slurm_record *q =
		tide_slurm_find(slurm, "PartitionName", "q");

	is_str(tide_slurm_get(slurm, "CLUSTERNAME", &record), "b",
	       "the last value, in any case");
	is_int(record ? record->line : 0, 2, "and its line");
	is_str(tide_slurm_get(slurm, "Fee", NULL), "1",
	       "what stands before rubbish");
	is_str(tide_slurm_get(slurm, "PriorityTier", NULL), NULL,
	       "keys of a partition are not of the file");
	ok(p && q && !tide_slurm_find(slurm, "PartitionName", "DEFAULT"),
	   "partitions are found, DEFAULT is none");
	if (!p || !q)
		return;
	is_str(tide_slurm_value(slurm, p, "PriorityTier"), "3",
	       "a DEFAULT line above another");
	is_str(tide_slurm_value(slurm, p, "state"), "UP",
	       "the DEFAULT line above");
	is_str(tide_slurm_value(slurm, q, "PriorityTier"), "5",
	       "a later DEFAULT line");
	is_str(tide_slurm_value(slurm, q, "State"), "UP",
	       "an earlier one still counts");
	is_str(tide_slurm_value(slurm, q, "AllowAccounts"), NULL,
	       "what nobody said");
}

static void join(const struct tide_names *names, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < names->count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
				       i ? " " : "", names->name[i]);
}

static void test_nodes(const struct tide_slurm *slurm)
{
	static const struct {
		const char *partition, *nodes;
		int rc;
	} cases[] = {
		{"p", "n2 n3", 0},
		{"q", "n1 n2 n3", 0},
		{"r", "", 1},
		{"s", "", 0},
	};
	struct tide_names all = {0};
	char buf[64];

	ok(!tide_slurm_nodes(slurm, &all), "all nodes");
	join(&all, buf, sizeof(buf));
	is_str(buf, "n1 n2 n3", "but those that are no list");
	ok(tide_slurm_has_node(&all, "n2") && !tide_slurm_has_node(&all, "n4"),
	   "a node is among them, or not");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tide_slurm_record *record = tide_slurm_find(
			slurm, "PartitionName", cases[i].partition);
		struct tide_names names = {0};

		is_int(tide_slurm_partition_nodes(slurm, record, &all, &names),
		       cases[i].rc, "nodes of a partition");
		join(&names, buf, sizeof(buf));
		is_str(buf, cases[i].nodes, cases[i].partition);
		tide_names_release(&names);
	}
	tide_names_release(&all);
}

static void test_words(void)
{
	static const struct {
		const char *list, *word;
		int has;
	} cases[] = {
		{"safe,qos", "qos", 1},	   {"SAFE", "safe", 1},
		{"safe", "saf", 0},	   {"saf", "safe", 0},
		{"a=1,b:2", "a", 1},	   {"a=1,b:2", "b", 0},
		{"a=1,b:2", "b:2", 1},	   {"a=1", "1", 0},
		{"", "a", 0},		   {NULL, "a", 0},
		{"a,,b", "b", 1},	   {"gres/gpu:a100", "gres/gpu:a", 0},
		{"gres/gpu:a100", "gres/gpu", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(tide_slurm_word(cases[i].list, cases[i].word) ==
			   cases[i].has,
		   "'%s' %s '%s'", cases[i].list ? cases[i].list : "(none)",
		   cases[i].has ? "has" : "has not", cases[i].word);
}

int main(void)
{
	char path[] = "/tmp/tide-test-slurmconf.XXXXXX";
	int fd = mkstemp(path);
	struct tide_slurm *slurm = NULL;
	struct tide_problems problems = {0};
	struct tide_err err = {""};

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0 ||
	    tide_slurm_load(path, &slurm, &problems, &err)) {
		ok(0, "a file can be read: %s", err.text);
	} else {
		is_int((int64_t)problems.count, 0, "no problems");
		test_values(slurm);
		test_nodes(slurm);
	}
	close(fd);
	unlink(path);
	tide_slurm_destroy(slurm);
	slurm = NULL;
	ok(tide_slurm_load("/nowhere/slurm.conf", &slurm, &problems, &err) ==
			   -1 &&
		   errno == ENOENT && !slurm &&
		   strstr(err.text, "No such file"),
	   "a file that is not there: %s", err.text);
	tide_slurm_destroy(NULL);
	tide_problems_release(&problems);
	test_words();
	return tap_done();
}
