/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrong tide.conf files: each is refused with exactly these problems.  In the
 * cases "P" stands for a line PoolPartition=p in front.
 */
#include "config.h"

#include "common/conf/conf.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

#define P "PoolPartition=p\n"
#define D "PoolPartition=p\nPoolAccount=c\nIssueAccount=m\n"
#define O "PoolPartition=p\nOwnerAccount=nlp Nodes=lab[1-3]\n"
#define W O "WindowName=w Nodes=lab1 "

static const struct {
	const char *text;
	const char *problems; /* each "LINE: TEXT", '\n' between */
} cases[] = {
	/* syntax and keys */
	{"",
	 "0: PoolPartition is missing: it names the partition of the shared pool"},
	{P "Foo=bar", "2: Foo=bar: unknown key"},
	{P "Foo=1 Bar=2", "2: Foo=1: unknown key\n2: Bar=2: unknown key"},
	{P "pool", "2: 'pool' is no Key=Value"},
	{P "=x", "2: '=x' is no Key=Value"},
	{P "Currency=\"CNY", "2: 'Currency=\"CNY' is no Key=Value"},
	{P "Fee=1 rubbish here", "2: 'rubbish here' is no Key=Value"},
	{P "PoolPartition=q", "2: PoolPartition=q: the key is repeated"},
	{P "poolpartition=q", "2: poolpartition=q: the key is repeated"},
	{P "Include other.conf", "2: Include other.conf: not possible here"},
	{P "Include=x", "2: Include=x: unknown key"},
	{P "Cluster=a", "2: Cluster=a: not supported yet"},
	{P "Start=20:00",
	 "2: Start=20:00: belongs on a line that begins with WindowName="},
	{W "Days=Sat Fee=1",
	 "3: Fee=1: belongs on a line of its own, not behind WindowName="},
	{P "PoolAccount=", "2: PoolAccount=: a name has 1 to 64 characters"},
	{P "PoolAccount=a,b",
	 "2: PoolAccount=a,b: a name is wanted: letters, digits and _ - . @ +"},
	{P "OwnerAccount=NLP Nodes=a",
	 "2: OwnerAccount=NLP: accounts of Slurm are in small letters"},
	/* global values */
	{P "Fee=101", "2: Fee=101: must be from 0 to 100"},
	{P "Fee=-1", "2: Fee=-1: must be from 0 to 100"},
	{P "Fee=5%", "2: Fee=5%: a decimal number is wanted"},
	{P "CreditUnit=0",
	 "2: CreditUnit=0: must be from 0.000001 to 1000000000"},
	{D "CreditUnit=x\nReference=gpu:a\nDevice=gpu:a TFLOPS=1",
	 "4: CreditUnit=x: a decimal number is wanted"},
	{P "CreditPrice=1e3", "2: CreditPrice=1e3: a decimal number is wanted"},
	{P "Mode=maybe", "2: Mode=maybe: must be one of enforce|observe"},
	{P "Mode=enforce|observe",
	 "2: Mode=enforce|observe: must be one of enforce|observe"},
	{P "Reference=gpu",
	 "2: Reference=gpu: name:type of a GRES is wanted, as in gpu:a100"},
	{P "Reference=gpu:a100",
	 "0: Reference=gpu:a100: there is no Device=gpu:a100"},
	/* devices */
	{P "Device=gpu:a Rate=1",
	 "0: PoolAccount is missing: it is needed where Device lines give prices\n"
	 "0: IssueAccount is missing: it is needed where Device lines give prices"},
	{D "Device=gpu:a",
	 "4: Device=gpu:a: exactly one of TFLOPS, Rate, and Of with Share is needed"},
	{D "Device=gpu:a Rate=1 TFLOPS=2",
	 "4: Device=gpu:a: exactly one of TFLOPS, Rate, and Of with Share is needed"},
	{D "Device=gpu:p Of=gpu:a",
	 "4: Device=gpu:p: Of and Share go together: one is missing"},
	{D "Device=gpu:p Of=gpu:a Share=1/2",
	 "4: Of=gpu:a: there is no Device=gpu:a"},
	{D "Device=gpu:p Of=gpu:p Share=1/2",
	 "4: Of=gpu:p: that is a part itself: a whole device is wanted"},
	{D "Device=gpu:p Of=gpu:a Share=1/2 Rate=1",
	 "4: Device=gpu:p: exactly one of TFLOPS, Rate, and Of with Share is needed"},
	{D "Device=gpu:p Of=gpu:a Share=2",
	 "4: Share=2: a share is wanted, as in 1/2 or 0.25"},
	{D "Device=gpu:p Of=gpu:a Share=1/0",
	 "4: Share=1/0: a share is wanted, as in 1/2 or 0.25"},
	{D
	 "Device=gpu:a Rate=1000000000\nDevice=gpu:p Of=gpu:a Share=1/9223372036854775807\n"
	 "Device=gpu:q Of=gpu:p Share=1/2",
	 "6: Of=gpu:p: that is a part itself: a whole device is wanted"},
	{D "Device=gpu:a Rate=0",
	 "4: Rate=0: must be from 0.000001 to 1000000000"},
	{D "Device=gpu:a TFLOPS=1",
	 "4: Device=gpu:a: TFLOPS needs a Reference= device to measure by"},
	{D "Device=gpu:a Rate=1\nDevice=gpu:a Rate=2",
	 "5: Device=gpu:a: is repeated, it was given in line 4"},
	{D "Device=gpu:a:b Rate=1",
	 "4: Device=gpu:a:b: name:type of a GRES is wanted, as in gpu:a100"},
	{D "Reference=gpu:a\nDevice=gpu:a Rate=1\nDevice=gpu:b TFLOPS=1",
	 "5: Device=gpu:a: it is the Reference, so it needs TFLOPS"},
	{D
	 "Reference=gpu:a\nDevice=gpu:a TFLOPS=999999999.999999999\nDevice=gpu:b TFLOPS=999999.999999999991",
	 "6: Device=gpu:b: its rate has too many digits: fewer decimals in TFLOPS or CreditUnit are needed"},
	/* owners */
	{P "OwnerAccount=nlp", "2: OwnerAccount=nlp: Nodes is missing"},
	{P "Nodes=a OwnerAccount=nlp",
	 "2: Nodes=a: belongs on a line that begins with OwnerAccount=\n"
	 "2: OwnerAccount=nlp: belongs on a line that begins with OwnerAccount="},
	{O "OwnerAccount=nlp Nodes=x",
	 "3: OwnerAccount=nlp: is repeated, it was given in line 2"},
	{O "OwnerAccount=cv Nodes=x,lab2",
	 "3: Nodes=x,lab2: node 'lab2' is lent by 'nlp' already, in line 2"},
	{P "OwnerAccount=cv Nodes=x,x",
	 "2: Nodes=x,x: node 'x' is given twice"},
	{P "OwnerAccount=cv Nodes=x[3-1]",
	 "2: Nodes=x[3-1]: range 3-1 runs down"},
	{P "OwnerAccount=cv Nodes=x[1-2", "2: Nodes=x[1-2: ']' is missing"},
	{P "OwnerAccount=cv Nodes=x Earn=offered",
	 "2: Earn=offered: not supported yet"},
	{P "OwnerAccount=cv Nodes=x Earn=lots", "2: Earn=lots: must be used"},
	/* windows */
	{O "WindowName=w Days=Sat", "3: WindowName=w: Nodes is missing"},
	{W,
	 "3: WindowName=w: it has no times: Days, Start, End or From, Until are needed"},
	{W "TimeZone=UTC",
	 "3: WindowName=w: it has no times: Days, Start, End or From, Until are needed"},
	{O "WindowName=w Nodes=lab1,lab4 Days=Sat",
	 "3: Nodes=lab1,lab4: no owner lends node 'lab4'"},
	{O "WindowName=w Nodes=lab1,lab1 Days=Sat",
	 "3: Nodes=lab1,lab1: node 'lab1' is given twice"},
	{W "Days=Sat\nWindowName=w Nodes=lab2 Days=Sun",
	 "4: WindowName=w: is repeated, it was given in line 3"},
	{W "Days=Sat,", "3: Days=Sat,: days are wanted, as in Mon-Fri,Sun"},
	{W "Days=Saturday",
	 "3: Days=Saturday: days are wanted, as in Mon-Fri,Sun"},
	{W "Days=Mon-Tue-Wed",
	 "3: Days=Mon-Tue-Wed: days are wanted, as in Mon-Fri,Sun"},
	{W "Start=20:00 End=20:00", "3: WindowName=w: Start and End are equal"},
	{W "Start=00:00 End=00:00", "3: WindowName=w: Start and End are equal"},
	{W "Start=24:00 End=08:00",
	 "3: WindowName=w: Start must be before 24:00"},
	{W "Start=20",
	 "3: Start=20: a time of day HH:MM or HH:MM:SS is wanted"},
	{W "Start=20:60",
	 "3: Start=20:60: a time from 00:00 to 24:00 is wanted"},
	{W "From=2026-12-20T18:00",
	 "3: WindowName=w: From and Until go together: one is missing"},
	{W "From=2026-12-20T18:00 Until=2026-12-20T18:00",
	 "3: WindowName=w: From must be before Until"},
	{W "From=2026-12-20 Until=2026-12-21 Days=Mon",
	 "3: WindowName=w: From and Until do not go with Days, Start and End"},
	{W "From=2026-02-29T18:00 Until=2026-03-01",
	 "3: From=2026-02-29T18:00: no such day in the years 1970 to 9999"},
	{W "Days=Sat TimeZone=Mars/Olympus",
	 "3: TimeZone=Mars/Olympus: unknown time zone 'Mars/Olympus'"},
	{W "Days=Sat TimeZone=../../etc/passwd",
	 "3: TimeZone=../../etc/passwd: '../../etc/passwd' is no name of a time zone"},
	{W "IdleAfter=15m", "3: IdleAfter=15m: not supported yet"},
	{W "Calendar=recess.ics", "3: Calendar=recess.ics: not supported yet"},
	{W "Days=Sat Devices=gpu:a100",
	 "3: Devices=gpu:a100: not supported yet"},
	{W "Days=Sat Price=50", "3: Price=50: not supported yet"},
	/* a broken owner does not make his nodes unknown */
	{P "OwnerAccount=nlp Nodes=lab[1-\nWindowName=w Nodes=lab1 Days=Sat",
	 "2: Nodes=lab[1-: ']' is missing"},
	/* the second line of a record counts as its first */
	{P "\n# c\nOwnerAccount=a \\\n Nodes=x \\\n Foo=1\nBar=2",
	 "4: Foo=1: unknown key\n7: Bar=2: unknown key"},
};

static void join(const struct tide_problems *problems, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < problems->count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%d: %s",
				       i ? "\n" : "", problems->problem[i].line,
				       problems->problem[i].text);
}

static void test_case(const char *text, const char *want)
{
	struct tide_problems problems = {0};
	struct tide_conf *conf = NULL;
	struct tide_err err = {""};
	char got[2048], first[512];
	int rc = tide_conf_parse(text, "t.conf", NULL, &conf, &problems, &err);
	int errnum = errno;

	join(&problems, got, sizeof(got));
	if (!ok(rc == -1 && errnum == EINVAL && !conf && !strcmp(got, want),
		"%.60s", strcspn(want, "\n") ? want : "refused"))
		diag("rc %d, got: %s", rc, got);
	if (problems.count && problems.problem[0].line)
		snprintf(first, sizeof(first), "t.conf:%d: %s",
			 problems.problem[0].line, problems.problem[0].text);
	else
		snprintf(first, sizeof(first), "t.conf: %s",
			 problems.count ? problems.problem[0].text : "");
	if (strcmp(err.text, first))
		is_str(err.text, first, "the error text is the first of them");
	tide_problems_release(&problems);
	tide_conf_destroy(conf);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(cases[i].text, cases[i].problems);
	return tap_done();
}
