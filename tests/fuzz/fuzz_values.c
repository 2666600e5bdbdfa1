/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single values: whole numbers, durations, times of day, dates, instants,
 * decimals, amounts of credits, numbers of device files.  Those that can be
 * written are read again as the same.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/credit/credit.h"
#include "common/device/device.h"
#include "common/util/err.h"
#include "common/util/frac.h"
#include "common/util/parse.h"
#include "common/util/zone.h"

static struct tide_zone *zone;

static void numbers(const char *text)
{
	char buf[48], back[TIDE_AMOUNT_LEN];
	struct tide_frac frac, same;
	int64_t value, other;
	uint32_t device;

	if (!tide_parse_int(text, -1000, 1000, &value, NULL))
		HOLDS(value >= -1000 && value <= 1000);
	tide_parse_int(text, INT64_MIN, INT64_MAX, &value, NULL);
	if (!tide_frac_parse(text, &frac)) {
		HOLDS(frac.den > 0);
		tide_frac_format(frac, buf, sizeof(buf));
		if (!strchr(buf, '/')) {
			HOLDS(!tide_frac_parse(buf, &same));
			HOLDS(!tide_frac_cmp(frac, same));
		}
		tide_rate_format(frac, back);
	}
	if (!tide_amount_parse(text, &value, NULL)) {
		tide_amount_format(value, back);
		HOLDS(!tide_amount_parse(back, &other, NULL));
		HOLDS(value == other);
	}
	if (!tide_device_number(text, &device, NULL))
		HOLDS(device <= TIDE_DEVICE_MAX);
}

static void times(const char *text)
{
	char buf[TIDE_TIME_SIZE];
	int64_t value, again;
	int32_t clock;

	if (!tide_parse_duration(text, &value, NULL))
		HOLDS(value >= 0);
	if (!tide_parse_clock(text, &clock, NULL))
		HOLDS(clock >= 0 && clock <= 86400);
	if (!tide_parse_datetime(text, &value, NULL))
		HOLDS(value >= 0);
	if (!tide_zone_parse_time(zone, text, &value, NULL)) {
		tide_zone_format(zone, value, buf);
		if (value >= 2 * 86400 && value < INT64_C(253402000000)) {
			HOLDS(!tide_zone_parse_time(zone, buf, &again, NULL));
			HOLDS(value == again);
		}
		tide_utc_format(value, buf);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	if (!zone)
		HOLDS(!tide_zone_create(NULL, "Europe/Berlin", &zone, NULL));
	numbers(text);
	times(text);
	free(text);
	return 0;
}
