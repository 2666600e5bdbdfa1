/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A good tide.conf cut off at every byte, and with every byte replaced: each
 * is read or refused with a reason, and what is read gives itself again.  Its
 * worth is under the sanitizers.
 */
#include "config.h"

#include "common/conf/conf.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

static const char good[] =
	"PoolPartition=pool\nPoolAccount=c IssueAccount=m\nFee=2.5\n"
	"Reference=gpu:a100 # x\nCurrency=\"CNY \\# y\"\n"
	"Device=gpu:a100 TFLOPS=312\nDevice=mlu:mlu290 Rate=100\n"
	"OwnerAccount=nlp Nodes=lab[01-05]\n"
	"OwnerAccount=cv Nodes=cv[1-3],r[0-1]n[1,2] Earn=used\n"
	"WindowName=nights Nodes=lab[01-05] Days=Mon-Fri \\\n"
	" Start=20:00 End=08:00 TimeZone=Asia/Shanghai\n"
	"WindowName=trip Nodes=cv1 From=2026-12-20T18:00 Until=2027-01-04\n"
	"Mode=observe\n";

enum { SIZE = sizeof(good) };

static int read_ok, refused, wrong;

static void try(const char *text)
{
	struct tide_conf *conf = NULL, *again = NULL;
	struct tide_problems problems = {0};
	struct tide_err err = {""};
	int rc = tide_conf_parse(text, "t", NULL, &conf, &problems, &err);

	if (rc) {
		refused++;
		wrong += errno != EINVAL || !err.text[0] || !problems.count ||
			 conf != NULL;
	} else {
		read_ok++;
		wrong += tide_conf_parse(conf->text, "t", NULL, &again, NULL,
					 &err) ||
			 strcmp(conf->text, again->text) != 0 ||
			 conf->n_nodes != again->n_nodes;
	}
	tide_conf_destroy(conf);
	tide_conf_destroy(again);
	tide_problems_release(&problems);
}

int main(void)
{
	static const char bytes[] = "#\\=\"[]-,: \n\t\x01\xff" "09aZ";
	char text[SIZE];

	for (size_t len = 0; len < SIZE; len++) {
		memcpy(text, good, len);
		text[len] = '\0';
		try(text);
	}
	ok(read_ok > 5 && refused > 100 && !wrong,
	   "cut at each byte: %d read, %d refused, %d wrong", read_ok, refused,
	   wrong);
	read_ok = refused = wrong = 0;
	for (size_t at = 0; at < SIZE - 1; at++)
		for (const char *b = bytes; *b; b++) {
			memcpy(text, good, SIZE);
			text[at] = *b;
			try(text);
		}
	ok(read_ok > 100 && refused > 1000 && !wrong,
	   "each byte replaced: %d read, %d refused, %d wrong", read_ok,
	   refused, wrong);
	return tap_done();
}
