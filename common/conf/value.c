/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A value of tide.conf into the field of its record, by the type of its key. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf/build.h"
#include "common/util/err.h"
#include "common/util/hostlist.h"
#include "common/util/parse.h"
#include "common/util/zone.h"

enum {
	MAX_NAME = 64
};

static const char *const day_names[] = {
	"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat",
};

/*
 * Names go into SQL, QOS names and messages: letters, digits and a few signs
 * are all that Slurm's own accounts and partitions are made of.
 */
static int set_name(const char **field, const char *value, struct tide_err *err)
{
	for (const char *p = value; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.@+", *p))
			return tide_err_set(
				err, EINVAL,
				"a name is wanted: letters, digits and _ - . @ +");
	if (!*value || strlen(value) > MAX_NAME)
		return tide_err_set(err, EINVAL,
				    "a name has 1 to %d characters", MAX_NAME);
	*field = value;
	return 0;
}

/* sacctmgr and slurmctld write every account in small letters. */
static int set_account(const char **field, const char *value,
		       struct tide_err *err)
{
	for (const char *p = value; *p; p++)
		if (isupper((unsigned char)*p))
			return tide_err_set(
				err, EINVAL,
				"accounts of Slurm are in small letters");
	return set_name(field, value, err);
}

static int set_text(const char **field, const char *value, struct tide_err *err)
{
	for (const char *p = value; *p; p++)
		if (iscntrl((unsigned char)*p))
			return tide_err_set(err, EINVAL,
					    "control characters are not text");
	if (!*value || strlen(value) > MAX_NAME)
		return tide_err_set(err, EINVAL,
				    "a text of 1 to %d characters is wanted",
				    MAX_NAME);
	*field = value;
	return 0;
}

static int set_device(const char **field, const char *value,
		      struct tide_err *err)
{
	const char *colon = strchr(value, ':');

	for (const char *p = value; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.:", *p))
			colon = NULL;
	if (!colon || colon == value || !colon[1] || strchr(colon + 1, ':') ||
	    strlen(value) > MAX_NAME)
		return tide_err_set(
			err, EINVAL,
			"name:type of a GRES is wanted, as in gpu:a100");
	*field = value;
	return 0;
}

static int set_nodes(const char **field, const char *value,
		     struct tide_err *err)
{
	struct tide_names names;

	/* only to see whether it can be; nodes.c writes it out */
	if (tide_hostlist_expand(value, TIDE_CONF_MAX_NODES, &names, err))
		return -1;
	tide_names_release(&names);
	*field = value;
	return 0;
}

static int set_decimal(const struct tide_key *key, struct tide_frac *field,
		       const char *value, struct tide_err *err)
{
	char bounds[48], *max;
	struct tide_frac frac, low, high;

	if (tide_frac_parse(value, &frac)) {
		if (errno == EINVAL)
			return tide_err_set(err, EINVAL,
					    "a decimal number is wanted");
		return tide_err_set(err, errno, "too many digits");
	}
	snprintf(bounds, sizeof(bounds), "%s", key->range);
	max = strchr(bounds, ' ');
	*max++ = '\0';
	if (tide_frac_parse(bounds, &low) || tide_frac_parse(max, &high))
		return tide_err_set(err, EINVAL, "the key has no range");
	if (tide_frac_cmp(frac, low) < 0 || tide_frac_cmp(frac, high) > 0)
		return tide_err_set(err, ERANGE, "must be from %s to %s",
				    bounds, max);
	*field = frac;
	return 0;
}

static int set_share(struct tide_frac *field, const char *value,
		     struct tide_err *err)
{
	struct tide_frac share;

	if (tide_frac_parse_ratio(value, &share) || share.num <= 0 ||
	    share.num > share.den)
		return tide_err_set(err, EINVAL,
				    "a share is wanted, as in 1/2 or 0.25");
	*field = share;
	return 0;
}

static int set_percent(const struct tide_key *key, struct tide_frac *field,
		       const char *value, struct tide_err *err)
{
	struct tide_frac percent = {0, 1};

	if (set_decimal(key, &percent, value, err))
		return -1;
	if (tide_frac_div(percent, (struct tide_frac){100, 1}, field))
		return tide_err_set(err, errno, "too many digits");
	return 0;
}

static int day_number(const char *name, size_t len)
{
	for (int i = 0; i < 7; i++)
		if (len == 3 && !strncasecmp(name, day_names[i], 3))
			return i;
	return -1;
}

/* "Mon-Fri,Sun"; Fri-Mon goes over the weekend. */
static int set_days(unsigned int *field, const char *value,
		    struct tide_err *err)
{
	unsigned int days = 0;

	for (;;) {
		size_t len = strcspn(value, ",-");
		int first = day_number(value, len), last = first;

		value += len;
		if (*value == '-') {
			len = strcspn(++value, ",-");
			last = day_number(value, len);
			value += len;
		}
		if (first < 0 || last < 0 || (*value && *value != ','))
			return tide_err_set(
				err, EINVAL,
				"days are wanted, as in Mon-Fri,Sun");
		for (int day = first;; day = (day + 1) % 7) {
			days |= 1u << day;
			if (day == last)
				break;
		}
		if (!*value++)
			break;
	}
	*field = days;
	return 0;
}

static int set_zone(const struct tide_build *build, const char **field,
		    const char *value, struct tide_err *err)
{
	struct tide_zone *zone;

	if (tide_zone_create(build->zoneinfo, value, &zone, err))
		return -1;
	tide_zone_destroy(zone);
	*field = value;
	return 0;
}

static int set_choice(const struct tide_key *key, int *field, const char *value,
		      struct tide_err *err)
{
	size_t len = strlen(value);
	const char *word = key->range;

	for (int i = 0; *word; i++) {
		size_t n = strcspn(word, "|");

		if (n == len && !strncasecmp(word, value, n)) {
			*field = i;
			return 0;
		}
		word += n + (word[n] == '|');
	}
	if (!strcasecmp(key->name, "Earn") && !strcasecmp(value, "offered"))
		return tide_err_set(err, EINVAL, "not supported yet");
	if (!strchr(key->range, '|'))
		return tide_err_set(err, EINVAL, "must be %s", key->range);
	return tide_err_set(err, EINVAL, "must be one of %s", key->range);
}

int tide_value_set(const struct tide_build *build, const struct tide_key *key,
		   void *record, char *value, struct tide_err *err)
{
	void *field = (char *)record + key->offset;

	switch (key->type) {
	case TIDE_KEY_NAME:
		return set_name(field, value, err);
	case TIDE_KEY_ACCOUNT:
		return set_account(field, value, err);
	case TIDE_KEY_TEXT:
		return set_text(field, value, err);
	case TIDE_KEY_DEVICE:
		return set_device(field, value, err);
	case TIDE_KEY_NODES:
		return set_nodes(field, value, err);
	case TIDE_KEY_SHARE:
		return set_share(field, value, err);
	case TIDE_KEY_DECIMAL:
		return set_decimal(key, field, value, err);
	case TIDE_KEY_PERCENT:
		return set_percent(key, field, value, err);
	case TIDE_KEY_DAYS:
		return set_days(field, value, err);
	case TIDE_KEY_CLOCK:
		return tide_parse_clock(value, field, err);
	case TIDE_KEY_DATETIME:
		return tide_parse_datetime(value, field, err);
	case TIDE_KEY_ZONE:
		return set_zone(build, field, value, err);
	case TIDE_KEY_CHOICE:
		return set_choice(key, field, value, err);
	case TIDE_KEY_LATER:
		break;
	}
	return tide_err_set(err, EINVAL, "not supported yet");
}
