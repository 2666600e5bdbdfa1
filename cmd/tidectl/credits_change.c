/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl credits enroll and grant: changes of the ledger.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <openssl/rand.h>

#include "cmd/tidectl/credits.h"
#include "common/credit/credit.h"
#include "common/util/err.h"

static bool in_force(const json_t *data)
{
	return json_is_true(json_object_get(data, "in_force"));
}

static bool already(const json_t *data)
{
	return json_is_true(json_object_get(data, "already"));
}

static const char *later(const json_t *data)
{
	return in_force(data) ? "" : "; Slurm will learn of it soon";
}

int credits_enroll(const struct credits_args *args)
{
	json_t *data;

	data = credits_change(json_pack("{s:s,s:s}", "op", "enroll", "account",
					args->argv[0]));
	if (!data)
		return TIDECTL_FAILED;
	if (args->json)
		return tidectl_print_json(data);
	if (already(data))
		printf("account %s was enrolled before%s\n", args->argv[0],
		       later(data));
	else
		printf("account %s is enrolled: its runs in the pool that start from now on are charged%s\n",
		       args->argv[0], later(data));
	json_decref(data);
	return TIDECTL_DONE;
}

/* A name for this grant, so that it is posted once however often it is sent. */
static int make_request_id(char id[33])
{
	unsigned char raw[16];
	size_t i;

	if (RAND_bytes(raw, sizeof(raw)) != 1)
		return tidectl_fail("could not get random numbers");
	for (i = 0; i < sizeof(raw); i++)
		snprintf(id + 2 * i, 3, "%02x", raw[i]);
	return TIDECTL_DONE;
}

int credits_grant(const struct credits_args *args)
{
	char id[33], amount[TIDE_AMOUNT_LEN];
	struct tide_err err;
	int64_t micro;
	json_t *data;

	if (tide_amount_parse(args->argv[1], &micro, &err))
		return tidectl_usage(&tidectl_credits, "credits grant: %s",
				     err.text);
	if (!micro)
		return tidectl_usage(&tidectl_credits,
				     "credits grant: an amount of 0");
	if (make_request_id(id))
		return TIDECTL_FAILED;
	tide_amount_format(micro, amount);
	data = credits_change(json_pack("{s:s,s:s,s:s,s:s,s:s}", "op", "grant",
					"account", args->argv[0], "amount",
					amount, "note", args->note, "request",
					id));
	if (!data)
		return TIDECTL_FAILED;
	if (args->json)
		return tidectl_print_json(data);
	printf("%s credits to account %s, transaction %" JSON_INTEGER_FORMAT
	       "%s\n",
	       amount, args->argv[0],
	       json_integer_value(json_object_get(data, "transaction")),
	       later(data));
	json_decref(data);
	return TIDECTL_DONE;
}
