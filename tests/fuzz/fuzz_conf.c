/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide.conf in memory, as the last good copy is read: keys, values, node
 * lists, windows, prices.  A configuration that is taken writes itself out as
 * an equal one, its windows have spans, and its prices survive the ledger.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/calendar/calendar.h"
#include "common/conf/conf.h"
#include "common/credit/from_conf.h"

#define FROM INT64_C(1790000000) /* 2026-09-21 */
#define DAYS 40
#define MAX_SETS 20

static void again(const struct tide_conf *conf)
{
	struct tide_conf *copy;

	HOLDS(!tide_conf_parse(conf->text, "copy", NULL, &copy, NULL, NULL));
	HOLDS(!strcmp(copy->text, conf->text));
	HOLDS(copy->n_devices == conf->n_devices);
	HOLDS(copy->n_owners == conf->n_owners);
	HOLDS(copy->n_windows == conf->n_windows);
	HOLDS(copy->n_sets == conf->n_sets && copy->n_nodes == conf->n_nodes);
	tide_conf_destroy(copy);
}

static void in_order(const struct tide_span *span, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		HOLDS(span[i].open < span[i].close);
		HOLDS(!i || span[i - 1].close < span[i].open);
	}
}

static void windows(const struct tide_conf *conf)
{
	struct tide_calendar *calendar;

	if (tide_calendar_create(conf, NULL, "UTC", &calendar, NULL))
		return;
	for (int i = 0; i < conf->n_sets && i < MAX_SETS; i++) {
		struct tide_span *span;
		size_t count;

		HOLDS(!tide_calendar_spans(calendar, i, FROM,
					   FROM + DAYS * 86400, &span, &count,
					   NULL));
		in_order(span, count);
		free(span);
	}
	tide_calendar_destroy(calendar);
}

static void prices(const struct tide_conf *conf)
{
	struct tide_prices *prices, *copy;
	char *text, *same;

	if (tide_prices_from_conf(conf, &prices, NULL))
		return;
	text = tide_prices_write(prices);
	HOLDS(text && !tide_prices_read(text, &copy, NULL));
	same = tide_prices_write(copy);
	HOLDS(same && !strcmp(text, same));
	free(same);
	free(text);
	tide_prices_destroy(copy);
	tide_prices_destroy(prices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tide_conf *conf;
	struct tide_err err;

	if (!tide_conf_parse(text, "fuzz", NULL, &conf, NULL, &err)) {
		again(conf);
		windows(conf);
		prices(conf);
		tide_conf_destroy(conf);
	} else {
		HOLDS(*err.text && !strchr(err.text, '\n'));
	}
	free(text);
	return 0;
}
