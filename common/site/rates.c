/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices and limits: the pool's billing weights are the rates, and Slurm
 * enforces limits on usage that nothing takes away.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/site/rules.h"
#include "common/credit/credit.h"

/* "GRES/gpu:a100" of a weight, or "gres/gpu:a100" of a TRES */
static int is_device(const char *name, size_t len,
		     const struct tide_device *device)
{
	static const char prefix[] = "gres/";
	size_t skip = sizeof(prefix) - 1;

	return len == skip + strlen(device->name) &&
	       !strncasecmp(name, prefix, skip) &&
	       !strncmp(name + skip, device->name, len - skip);
}

static int weight_of(const struct tide_device *device,
		     struct tide_frac *ret_weight)
{
	return tide_frac_mul(device->rate,
			     (struct tide_frac){TIDE_BILLING_SCALE, 1},
			     ret_weight);
}

/* The weight in decimals, rounded to six places. */
static int weight_text(struct tide_frac weight, char *buf, size_t size)
{
	enum {
		PLACES = 1000000
	};
	struct tide_frac scaled, rounded;
	int64_t units;

	if (tide_frac_mul(weight, (struct tide_frac){PLACES, 1}, &scaled))
		return -1;
	units = scaled.num / scaled.den;
	/* half up; 2 * (num % den) does not fit when den is large */
	if (scaled.num % scaled.den >= scaled.den - scaled.num % scaled.den)
		units++;
	if (tide_frac_make(units, PLACES, &rounded))
		return -1;
	tide_frac_format(rounded, buf, size);
	return 0;
}

/* Is the weight in slurm.conf that of the device, within 1 in 100,000? */
static int same_weight(const char *text, size_t len, struct tide_frac want)
{
	char value[64];
	struct tide_frac is, low, high;

	snprintf(value, sizeof(value), "%.*s", (int)len, text);
	return !tide_frac_parse(value, &is) &&
	       !tide_frac_mul(want, (struct tide_frac){99999, 100000}, &low) &&
	       !tide_frac_mul(want, (struct tide_frac){100001, 100000},
			      &high) &&
	       tide_frac_cmp(is, low) >= 0 && tide_frac_cmp(is, high) <= 0;
}

/* "PartitionName=pool ... TRESBillingWeights=GRES/gpu:a100=100000,..." */
static char *weights_fix(const struct tide_site *site)
{
	const struct tide_conf *conf = site->conf;
	const char *comma = "";
	char *text = NULL, weight[48];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "PartitionName=%s ... TRESBillingWeights=",
		conf->pool_partition);
	for (int i = 0; i < conf->n_devices; i++) {
		struct tide_frac frac;

		if (!site->used[i] || weight_of(&conf->device[i], &frac) ||
		    weight_text(frac, weight, sizeof(weight)))
			continue;
		fprintf(out, "%sGRES/%s=%s", comma, conf->device[i].name,
			weight);
		comma = ",";
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* What the weights say of the device: NULL when nothing. */
static const char *find_weight(const char *weights,
			       const struct tide_device *device,
			       size_t *ret_len)
{
	while (weights && *weights) {
		size_t n = strcspn(weights, ",");
		const char *equals = memchr(weights, '=', n);

		if (equals &&
		    is_device(weights, (size_t)(equals - weights), device)) {
			*ret_len = n - (size_t)(equals + 1 - weights);
			return equals + 1;
		}
		weights += n + (weights[n] == ',');
	}
	return NULL;
}

static void check_weight(struct tide_site *site, const char *weights,
			 const struct tide_device *device, const char *fix)
{
	struct tide_frac want;
	char text[48], rate[48];
	size_t len = 0;
	const char *is = find_weight(weights, device, &len);

	tide_frac_format(device->rate, rate, sizeof(rate));
	if (weight_of(device, &want) || weight_text(want, text, sizeof(text)))
		tide_site_say(
			site, TIDE_LEVEL_ERROR, NULL, "give it fewer decimals",
			"the rate of %s, %s, is too fine for a billing weight",
			device->name, rate);
	else if (is && same_weight(is, len, want))
		tide_site_say(site, TIDE_LEVEL_OK, site->pool, NULL,
			      "TRESBillingWeights: %s has %s, its rate %s x %d",
			      device->name, text, rate, TIDE_BILLING_SCALE);
	else
		tide_site_say(
			site, TIDE_LEVEL_ERROR, site->pool, fix,
			"TRESBillingWeights: %s has %.*s, but its rate %s x %d is %s: accounts could spend what they do not have, or not what they have",
			device->name, is ? (int)len : 7, is ? is : "nothing",
			rate, TIDE_BILLING_SCALE, text);
}

/* Whatever else is weighted would use up limits without being charged. */
static void check_other_weights(struct tide_site *site, const char *weights,
				const char *fix)
{
	while (weights && *weights) {
		size_t n = strcspn(weights, ",");
		size_t name = strcspn(weights, "=,");
		int known = 0;

		for (int i = 0; i < site->conf->n_devices; i++)
			known |= is_device(weights, name,
					   &site->conf->device[i]);
		if (!known)
			tide_site_say(
				site, TIDE_LEVEL_ERROR, site->pool, fix,
				"TRESBillingWeights: '%.*s' uses up the credits of accounts without being charged",
				(int)n, weights);
		weights += n + (weights[n] == ',');
	}
}

static void check_weights(struct tide_site *site)
{
	const char *weights;
	char *fix;

	if (!site->pool)
		return;
	weights =
		tide_slurm_value(site->slurm, site->pool, "TRESBillingWeights");
	fix = weights_fix(site);
	if (!fix)
		site->findings->lost = 1;
	for (int i = 0; i < site->conf->n_devices; i++)
		if (site->used[i])
			check_weight(site, weights, &site->conf->device[i],
				     fix);
	check_other_weights(site, weights, fix);
	free(fix);
}

static void check_priority(struct tide_site *site)
{
	const struct tide_slurm_record *record = NULL;
	const char *value =
		tide_slurm_get(site->slurm, "PriorityType", &record);

	if (value && !strcasecmp(value, "priority/multifactor"))
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL,
			      "PriorityType=%s", value);
	else
		tide_site_say(
			site, TIDE_LEVEL_ERROR, value ? record : NULL,
			"PriorityType=priority/multifactor",
			"PriorityType=%s counts no usage, so limits never bind",
			value ? value : "priority/basic (the default)");
	value = tide_slurm_get(site->slurm, "PriorityUsageResetPeriod",
			       &record);
	if (value && strcasecmp(value, "NONE"))
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record,
			"PriorityUsageResetPeriod=NONE",
			"PriorityUsageResetPeriod=%s: what was spent is forgotten, so it could be spent again",
			value);
	value = tide_slurm_get(site->slurm, "PriorityFlags", &record);
	if (tide_slurm_word(value, "MAX_TRES"))
		tide_site_say(
			site, TIDE_LEVEL_ERROR, record,
			"take MAX_TRES out of PriorityFlags",
			"PriorityFlags=%s: a job with two kinds of devices is billed for one of them",
			value);
}

static void check_enforce(struct tide_site *site)
{
	/* safe brings limits, and those bring associations */
	static const char *const words[] = {"associations", "limits", "qos",
					    "safe"};
	const struct tide_slurm_record *record = NULL;
	const char *value = tide_slurm_get(site->slurm,
					   "AccountingStorageEnforce", &record);

	if (tide_slurm_word(value, "all") ||
	    (tide_slurm_word(value, "safe") && tide_slurm_word(value, "qos")))
		tide_site_say(site, TIDE_LEVEL_OK, record, NULL,
			      "AccountingStorageEnforce=%s", value);
	else
		tide_site_words(site, TIDE_LEVEL_ERROR,
				"AccountingStorageEnforce", words, 4,
				"jobs start that their account cannot pay");
}

void tide_site_rates(struct tide_site *site)
{
	if (!site->conf->n_devices)
		return;
	if (!tide_site_devices(site))
		check_weights(site);
	tide_site_value(site, TIDE_LEVEL_ERROR, "AccountingStorageType",
			"accounting_storage/slurmdbd",
			"slurmdbd keeps the ledger");
	check_enforce(site);
	check_priority(site);
}
