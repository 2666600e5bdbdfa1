/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of TRES, the detail of a charge and back, and what a run costs by it.
 */
#include "config.h"

#include "common/credit/dbrun.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stdlib.h>

static void test_tres(void)
{
	static const struct {
		const char *text;
		int pairs; /* before the end, or before what is none */
		int end;
		int64_t last;
	} rows[] = {
		{ "", 0, 0, 0 },
		{ "1=4,5=200000,1001=2", 3, 0, 2 },
		{ "5=0,", 1, 0, 0 },
		{ "5=18446744073709551614", 1, 0, INT64_MAX },
		{ "5=1,x", 1, -1, 1 },
		{ "5", 0, -1, 0 },
		{ "5=", 0, -1, 0 },
		{ "5=-1", 0, -1, 0 },
		{ " 5=1", 0, -1, 0 },
		{ "5=1;6=2", 0, -1, 0 },
		{ "=1", 0, -1, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *p = rows[i].text;
		int64_t id, count = 0;
		int pairs = 0, more;

		while ((more = tide_tres_pair(&p, &id, &count)) > 0)
			pairs++;
		ok(pairs == rows[i].pairs && more == rows[i].end &&
			   count == rows[i].last,
		   "'%s' has %d pairs", rows[i].text, rows[i].pairs);
	}
}

#define DETAIL(start, end, billing, devices, nodes, num)                    \
	"{\"account\":\"vision\",\"billing\":" billing                       \
	",\"cluster\":\"c\",\"devices\":\"" devices "\",\"end\":" end         \
	",\"factor\":[" num ",1],\"job\":7,\"node_failed\":false,\"nodes\":\"" \
	nodes "\",\"prices\":2,\"start\":" start                             \
	",\"submit\":90,\"suspended\":0}"

static const char good[] =
	DETAIL("100", "3700", "400000", "mlu=4,mlu:mlu290=4", "n[1-2]", "1");

static struct tide_prices *make_prices(void)
{
	struct tide_prices *p = tide_prices_create();
	struct tide_frac fee = { 0, 1 }, rate = { 100, 1 };

	if (!p || tide_prices_set(p, "pool", "centre", "mint", fee, NULL) ||
	    tide_prices_add_device(p, "mlu:mlu290", rate, NULL))
		exit(1);
	return p;
}

static void test_detail(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		DETAIL("-1", "3700", "1", "mlu=4", "n1", "1"),
		DETAIL("100", "99", "1", "mlu=4", "n1", "1"),
		DETAIL("100", "3700", "-1", "mlu=4", "n1", "1"),
		DETAIL("100", "3700", "1", "mlu=4", "n1", "-1"),
		DETAIL("100", "3700", "\"1\"", "mlu=4", "n1", "1"),
	};
	struct tide_dbrun run;
	struct tide_err err;
	char *text, ref[64];
	size_t i;

	is_int(tide_dbrun_read(good, &run, &err), 0, "a detail is read");
	tide_dbrun_ref(&run, "run", ref, sizeof(ref));
	is_str(ref, "run c 7 90 100", "the reference of its charge");
	text = tide_dbrun_write(&run);
	is_str(text, good, "and written as it was");
	free(text);
	is_int(tide_dbrun_billing(&run), INT64_C(1440000000),
	       "Slurm's count of it");
	run.billing = run.end = INT64_MAX;
	run.factor.num = 1000;
	is_int(tide_dbrun_billing(&run), INT64_MAX,
	       "a count that does not fit is the largest");
	tide_dbrun_release(&run);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ok(tide_dbrun_read(bad[i], &run, &err) == -1 &&
			   errno == EINVAL,
		   "bad detail %zu: %s", i, err.text);
	}
}

static void test_charge(void)
{
	static const struct {
		const char *devices, *nodes;
		int errnum;
		int64_t amount;
	} rows[] = {
		{ "mlu=4,mlu:mlu290=4", "n[1-2]", 0, INT64_C(400000000) },
		{ "mlu=1", "n1", 0, INT64_C(100000000) },
		{ "", "n1", 0, 0 },
		{ "mlu", "n1", EINVAL, 0 },
		{ "=4", "n1", EINVAL, 0 },
		{ "mlu=-4", "n1", EINVAL, 0 },
		{ "mlu=x", "n1", EINVAL, 0 },
		{ "mlu=99999999999999999999", "n1", EINVAL, 0 },
		{ "mlu=1", "n[1-", EINVAL, 0 },
		{ "mlu:a=9223372036854775807,mlu:b=1", "n1", EOVERFLOW, 0 },
		{ "mlu:mlu290=9223372036854775807", "n1", EOVERFLOW, 0 },
	};
	struct tide_prices *prices = make_prices();
	struct tide_charge charge;
	struct tide_dbrun run;
	struct tide_err err;
	char many[1024] = "";
	size_t i;

	if (tide_dbrun_read(good, &run, &err))
		exit(1);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		free(run.devices);
		free(run.nodes);
		run.devices = strdup(rows[i].devices);
		run.nodes = strdup(rows[i].nodes);
		errno = 0;
		if (rows[i].errnum) {
			ok(tide_dbrun_charge(&run, prices, &charge, &err) &&
				   errno == rows[i].errnum,
			   "'%s' on '%s' is refused: %s", rows[i].devices,
			   rows[i].nodes, err.text);
			continue;
		}
		ok(!tide_dbrun_charge(&run, prices, &charge, &err) &&
			   charge.amount == rows[i].amount,
		   "'%s' on '%s' has its price", rows[i].devices,
		   rows[i].nodes);
		tide_charge_release(&charge);
	}
	for (i = 0; i <= 64; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
			 "%sd%zu=1", i ? "," : "", i);
	free(run.devices);
	run.devices = strdup(many);
	ok(tide_dbrun_charge(&run, prices, &charge, &err) && errno == EINVAL,
	   "no device is left out: %s", err.text);
	tide_dbrun_release(&run);
	tide_prices_destroy(prices);
}

int main(void)
{
	test_tres();
	test_detail();
	test_charge();
	return tap_done();
}
