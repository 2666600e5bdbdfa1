/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as the ledger keeps it, in JSON, and lists of TRES as Slurm's tables
 * have them.  A detail that is read is written as the same, and costs what can
 * be counted or is refused.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/credit/dbrun.h"

static struct tide_prices *prices;

static void make_prices(void)
{
	struct tide_frac fee = {1, 20}, rate = {125, 6};

	prices = tide_prices_create();
	HOLDS(prices);
	HOLDS(!tide_prices_set(prices, "pool", "centre", "mint", fee, NULL));
	HOLDS(!tide_prices_add_device(prices, "gpu:t4", rate, NULL));
	HOLDS(!tide_prices_add_node(prices, "n1", "nlp", NULL));
}

static void charge(const struct tide_dbrun *run)
{
	struct tide_charge charge;
	struct tide_err err;
	int64_t sum = 0;

	if (tide_dbrun_charge(run, prices, &charge, &err)) {
		HOLDS(*err.text);
		return;
	}
	HOLDS(charge.amount >= 0);
	for (size_t i = 0; i < charge.nlines; i++)
		sum += charge.lines[i].amount;
	HOLDS(!sum);
	tide_charge_release(&charge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *first, *second;
	struct tide_dbrun run, again;
	const char *p = text;
	int64_t id, count;
	struct tide_err err;

	if (!prices)
		make_prices();
	while (tide_tres_pair(&p, &id, &count) > 0)
		HOLDS(id >= 0 && count >= 0 && p <= text + strlen(text));
	if (!tide_dbrun_read(text, &run, &err)) {
		first = tide_dbrun_write(&run);
		HOLDS(first && !tide_dbrun_read(first, &again, &err));
		second = tide_dbrun_write(&again);
		HOLDS(second && !strcmp(first, second));
		HOLDS(tide_dbrun_billing(&run) >= 0);
		charge(&run);
		tide_dbrun_release(&again);
		free(second);
		free(first);
		tide_dbrun_release(&run);
	}
	free(text);
	return 0;
}
