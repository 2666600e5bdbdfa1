/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tide.conf as records: a good one in every field, defaults, look-ups. */
#include "config.h"

#include "common/conf/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

static const char good[] =
	"# the example of the design\n"
	"PoolPartition=pool\n"
	"poolaccount = centre   ISSUEACCOUNT=mint\n"
	"Fee=2.5\n"
	"CreditUnit=100\n"
	"Reference=gpu:a100        # 312 TFLOPS dense FP16\n"
	"CreditPrice=0.30\n"
	"Currency=\"CNY \\# yuan\"\n"
	"Device=gpu:a100   TFLOPS=312\n"
	"Device=gpu:t4     TFLOPS=65\n"
	"Device=gpu:k80    TFLOPS=19.5\n"
	"Device=mlu:mlu290 Rate=100\n"
	"OwnerAccount=nlp  Nodes=lab[01-05]\n"
	"OwnerAccount=cv   Nodes=cv[1-8],lab07  Earn=used\n"
	"WindowName=nights  Nodes=lab[01-05] Days=Mon-Fri \\\n"
	"  Start=20:00 End=08:00 TimeZone=Asia/Shanghai\n"
	"WindowName=weekend Nodes=lab[01-05],cv1 Days=Sat,Sun\n"
	"WindowName=trip    Nodes=lab07 From=2026-12-20T18:00 Until=2027-01-04T08:00\n"
	"WindowName=daily   Nodes=cv[2-3] Start=22:00:30\n"
	"Mode=Observe";

static void is_frac(struct tide_frac frac, const char *want, const char *name)
{
	char buf[48];

	tide_frac_format(frac, buf, sizeof(buf));
	is_str(buf, want, name);
}

static void check_globals(const struct tide_conf *conf)
{
	is_str(conf->pool_partition, "pool", "PoolPartition");
	is_str(conf->pool_account, "centre", "PoolAccount, in small letters");
	is_str(conf->issue_account, "mint", "two keys on a line");
	is_frac(conf->fee, "0.025", "Fee in percent is a share of one");
	is_frac(conf->credit_unit, "100", "CreditUnit");
	is_str(conf->reference, "gpu:a100", "Reference, a comment behind it");
	is_frac(conf->credit_price, "0.3", "CreditPrice");
	is_str(conf->currency, "CNY # yuan", "a quoted value, an escaped #");
	is_int(conf->mode, TIDE_MODE_OBSERVE, "Mode in any case");
}

static const char *owner_of(const struct tide_conf *conf, const char *node)
{
	const struct tide_node *found = tide_conf_node(conf, node);

	return found ? conf->owner[found->owner].account : NULL;
}

static void check_devices(const struct tide_conf *conf)
{
	const struct tide_device *t4 = &conf->device[1];

	is_int(conf->n_devices, 4, "four devices");
	is_str(t4->name, "gpu:t4", "the name of a device");
	is_str(t4->gres, "gpu", "name of its GRES");
	is_str(t4->type, "t4", "type of its GRES");
	is_frac(t4->rate, "125/6", "its rate is 100 x 65/312, exactly");
	is_int(t4->line, 10, "its line");
	is_frac(conf->device[2].rate, "6.25", "TFLOPS with decimals");
	is_frac(conf->device[3].rate, "100", "a rate said directly");
}

static void check_nodes(const struct tide_conf *conf)
{
	const struct tide_node *a = tide_conf_node(conf, "lab01");
	const struct tide_node *b = tide_conf_node(conf, "lab05");
	const struct tide_node *c = tide_conf_node(conf, "cv8");

	is_int(conf->n_nodes, 14, "fourteen nodes are lent");
	is_str(owner_of(conf, "lab07"), "cv", "owner of lab07");
	is_str(owner_of(conf, "lab05"), "nlp", "owner of lab05");
	is_str(owner_of(conf, "lab06"), NULL, "nobody lends lab06");
	ok(a && b && a->set == b->set && a->set > 0,
	   "nodes with the same windows share a set");
	ok(c && c->set == 0 && conf->set[0].n_windows == 0 &&
		   conf->set[0].n_nodes == 5,
	   "set 0 is that of nodes without a window");
	is_int(conf->n_sets, 5,
	       "sets: none, nights+weekend, weekend, trip, daily");
	if (a) {
		const struct tide_window_set *set = &conf->set[a->set];

		ok(set->n_windows == 2 && set->window[0] == 0 &&
			   set->window[1] == 1 && set->n_nodes == 5,
		   "the windows of lab01");
	}
}

static const struct tide_window *window_of(const struct tide_conf *conf,
					   const char *name)
{
	for (int i = 0; i < conf->n_windows; i++)
		if (!strcmp(conf->window[i].name, name))
			return &conf->window[i];
	return NULL;
}

static void check_windows(const struct tide_conf *conf)
{
	const struct tide_window *w = window_of(conf, "nights");

	ok(w && w->days == 0x3e && w->start == 72000 && w->end == 28800,
	   "nights: days, start, end");
	is_str(w ? w->zone : NULL, "Asia/Shanghai", "nights: time zone");
	is_int(w ? w->line : 0, 15, "nights: first line of two");
	w = window_of(conf, "weekend");
	ok(w && w->days == 0x41 && w->start == 0 && w->end == 86400 && !w->zone,
	   "weekend: whole days");
	w = window_of(conf, "trip");
	ok(w && !w->days && w->from == 1797789600 && w->until == 1799049600,
	   "trip: once");
	w = window_of(conf, "daily");
	ok(w && w->days == TIDE_ALL_DAYS && w->start == 79230 &&
		   w->end == 86400,
	   "daily: every day until midnight");
}

static void check_text(const struct tide_conf *conf)
{
	struct tide_conf *again = NULL;
	struct tide_err err = {""};

	if (!ok(!tide_conf_parse(conf->text, "last good copy", NULL, &again,
				 NULL, &err),
		"the text is read again"))
		diag("%s", err.text);
	is_str(again ? again->text : NULL, conf->text, "and gives itself");
	is_str(again ? again->currency : NULL, "CNY # yuan",
	       "with its escaped #");
	is_int(again ? again->n_nodes : 0, conf->n_nodes, "and its nodes");
	tide_conf_destroy(again);
}

static void test_defaults(void)
{
	struct tide_conf *conf = NULL;

	ok(!tide_conf_parse("PoolPartition=p", "t", NULL, &conf, NULL, NULL),
	   "one key is enough");
	if (!conf)
		return;
	is_frac(conf->fee, "0", "default of Fee");
	is_frac(conf->credit_unit, "100", "default of CreditUnit");
	is_frac(conf->credit_price, "0", "default of CreditPrice");
	is_int(conf->mode, TIDE_MODE_ENFORCE, "default of Mode");
	ok(!conf->pool_account && !conf->currency && !conf->reference,
	   "the others are not there");
	ok(!tide_conf_node(conf, "n1") && !conf->n_nodes && conf->n_sets == 1,
	   "no nodes, and the empty set");
	tide_conf_destroy(conf);
	tide_conf_destroy(NULL);
}

/* 10,000 nodes of 100 owners, half of each with a second window. */
static void test_large(void)
{
	enum {
		OWNERS = 100
	};
	struct tide_conf *conf = NULL;
	struct tide_err err = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "PoolPartition=p\n");
	for (int i = 0; i < OWNERS; i++)
		fprintf(out,
			"OwnerAccount=o%d Nodes=l%dn[001-100]\n"
			"WindowName=a%d Nodes=l%dn[001-100] Start=20:00\n"
			"WindowName=b%d Nodes=l%dn[001-050] Days=Sat\n",
			i, i, i, i, i, i);
	fclose(out);
	if (!ok(!tide_conf_parse(text, "large", NULL, &conf, NULL, &err),
		"a large file is read"))
		diag("%s", err.text);
	is_int(conf ? conf->n_nodes : 0, 100 * OWNERS, "10,000 nodes");
	is_int(conf ? conf->n_sets : 0, 2 * OWNERS + 1,
	       "share 200 sets, and the empty one");
	is_str(conf ? owner_of(conf, "l99n100") : NULL, "o99",
	       "and the last is found");
	tide_conf_destroy(conf);
	free(text);
}

/* A file that is refused still says which partition is the pool's. */
static void test_pool(void)
{
	static const struct {
		const char *text, *pool;
	} rows[] = {
		{"PoolPartition=pool\nFee=x\n", "pool"},
		{"Mode=observe \\\n  poolpartition = \"p 1\" # x\n", "p 1"},
		{"?\nNodes=a[ PoolPartition=a\nPoolPartition=b\n", "a"},
		{"Include nowhere\nPoolPartition=\nPoolPartition=c", "c"},
		{"Pool=a\n", NULL},
		{"", NULL},
	};
	char path[] = "/tmp/tide-pool-XXXXXX", *pool;
	int fd = mkstemp(path);

	if (fd < 0)
		exit(1);
	close(fd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *file = fopen(path, "w");

		if (!file || fputs(rows[i].text, file) < 0 || fclose(file))
			exit(1);
		pool = tide_conf_pool(path);
		is_str(pool, rows[i].pool, "the pool of a refused file");
		free(pool);
	}
	unlink(path);
	pool = tide_conf_pool(path);
	is_str(pool, NULL, "no file names no pool");
	free(pool);
}

/* A part costs its share of the whole, wherever that is said. */
static void test_part(void)
{
	static const char text[] =
		"PoolPartition=p\nPoolAccount=a\nIssueAccount=b\n"
		"Device=npu:vir04 Of=npu:ascend310p Share=1/2\n"
		"Device=npu:x Of=npu:ascend910a Share=4/30\n"
		"Device=npu:ascend310p TFLOPS=70\n"
		"Device=npu:ascend910a Rate=80\n"
		"Device=gpu:a100 TFLOPS=312\nReference=gpu:a100\n";
	struct tide_conf *conf = NULL;
	struct tide_err err = {""};

	if (!ok(!tide_conf_parse(text, "part.conf", NULL, &conf, NULL, &err),
		"parts are read %s", err.text))
		return;
	is_frac(conf->device[0].rate, "875/78", "half of a measured device");
	is_frac(conf->device[1].rate, "32/3", "a share of a given rate");
	tide_conf_destroy(conf);
}

int main(void)
{
	struct tide_conf *conf = NULL;
	struct tide_problems problems = {0};
	struct tide_err err = {""};

	if (!ok(!tide_conf_parse(good, "good.conf", NULL, &conf, &problems,
				 &err),
		"a good file is read"))
		diag("%s", err.text);
	is_int((int64_t)problems.count, 0, "without a problem");
	if (conf) {
		check_globals(conf);
		check_devices(conf);
		check_nodes(conf);
		check_windows(conf);
		check_text(conf);
	}
	tide_conf_destroy(conf);
	tide_problems_release(&problems);
	test_part();
	test_defaults();
	test_large();
	test_pool();
	return tap_done();
}
