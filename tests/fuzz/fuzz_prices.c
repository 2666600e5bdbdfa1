/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prices as the ledger keeps them, in JSON. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/credit/prices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *first, *second;
	struct tide_prices *prices, *again;
	struct tide_err err;

	if (!tide_prices_read(text, &prices, &err)) {
		first = tide_prices_write(prices);
		HOLDS(first && !tide_prices_read(first, &again, &err));
		second = tide_prices_write(again);
		HOLDS(second && !strcmp(first, second));
		tide_prices_rate_untyped(prices, "gpu");
		tide_prices_destroy(again);
		free(second);
		free(first);
		tide_prices_destroy(prices);
	}
	free(text);
	return 0;
}
