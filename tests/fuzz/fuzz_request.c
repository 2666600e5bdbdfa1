/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The channel between tidectl credits and slurmdbd: requests, answers, seals.
 * What a proof is about is a request itself, and the same one.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/credit/request.h"

static void request(const char *text)
{
	struct tide_request r, bare;
	struct tide_err err;
	char *proved, *again;

	if (tide_request_read(text, &r, &err)) {
		HOLDS(*err.text);
		return;
	}
	proved = tide_request_proved(&r);
	HOLDS(proved && !tide_request_read(proved, &bare, &err));
	HOLDS(bare.op == r.op && !bare.proof);
	again = tide_request_proved(&bare);
	HOLDS(again && !strcmp(proved, again));
	tide_request_release(&bare);
	tide_request_release(&r);
	free(again);
	free(proved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tide_err err;
	json_t *json;

	request(text);
	if (!tide_answer_read(text, &json, &err))
		json_decref(json);
	else
		HOLDS(*err.text);
	if (!tide_seal_read(text, &json, &err))
		json_decref(json);
	free(text);
	return 0;
}
