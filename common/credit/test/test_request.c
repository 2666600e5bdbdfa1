/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and answers of the channel: what is taken, and every kind of what
 * is not.
 */
#include "config.h"

#include "common/credit/request.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stdlib.h>

static const char grant[] =
	"{\"op\": \"grant\", \"request\": \"a1\", \"account\": \"vision\", \"amount\": \"5\", \"note\": \"n\", \"proof\": \"p\"}";

static void test_good(void)
{
	static const char *const good[] = {
		"{\"op\":\"audit\",\"seal_id\":0,\"seal_hash\":\"\"}",
		"{\"op\":\"balance\"}",
		"{\"op\":\"clock\"}",
		"{\"op\":\"balance\",\"accounts\":[]}",
		"{\"op\":\"detach\",\"accounts\":[],\"dry_run\":true,\"force\":false}",
		"{\"op\":\"enroll\",\"account\":\"a\",\"later\":1}",
		"{\"op\":\"statement\",\"account\":\"a\",\"after_txn\":0,\"after_line\":-1,\"limit\":9}",
	};
	struct tide_request r;
	struct tide_err err;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ok(!tide_request_read(good[i], &r, &err), "%s", good[i]);
		tide_request_release(&r);
	}
	ok(!tide_request_read(grant, &r, &err) && r.op == TIDE_OP_GRANT,
	   "a grant");
	is_str(r.account, "vision", "its account");
	is_str(r.amount, "5", "amount");
	is_str(r.request, "a1", "name");
	is_str(r.proof, "p", "proof");
	ok(!r.accounts && !r.limit && !r.force, "and nothing else");
	text = tide_request_proved(&r);
	is_str(text,
	       "{\"account\":\"vision\",\"amount\":\"5\",\"note\":\"n\",\"op\":\"grant\",\"request\":\"a1\"}",
	       "what its proof is about");
	free(text);
	tide_request_release(&r);
}

static void test_bad(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "the request is no JSON" },
		{ "{\"op\":\"balance\",\"op\":\"audit\"}", "no JSON" },
		{ "[]", "does not know the request ''" },
		{ "{}", "does not know the request ''" },
		{ "{\"op\":7}", "does not know the request ''" },
		{ "{\"op\":\"drop\"}", "does not know the request 'drop'" },
		{ "{\"op\":\"enroll\"}", "'account' is missing" },
		{ "{\"op\":\"enroll\",\"account\":null}",
		  "'account' is of another type" },
		{ "{\"op\":\"audit\",\"seal_id\":\"1\",\"seal_hash\":\"\"}",
		  "'seal_id' is of another type" },
		/* one account, and not all that there are */
		{ "{\"op\":\"detach\",\"accounts\":\"a\",\"dry_run\":false,\"force\":false}",
		  "'accounts' is of another type" },
		{ "{\"op\":\"balance\",\"accounts\":[\"a\",1]}",
		  "'accounts' is of another type" },
		{ "{\"op\":\"detach\",\"accounts\":[],\"dry_run\":0,\"force\":false}",
		  "'dry_run' is of another type" },
		{ "{\"op\":\"detach\",\"dry_run\":true,\"force\":false}",
		  "'accounts' is missing" },
	};
	struct tide_request r;
	struct tide_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ok(tide_request_read(bad[i].text, &r, &err) == -1 &&
			   errno == EINVAL && strstr(err.text, bad[i].why),
		   "refused: %s", err.text);
	}
}

static void test_answers(void)
{
	static const struct {
		const char *text;
		int errnum;
		const char *why;
	} bad[] = {
		{ "{\"ok\":false,\"error\":\"no\\nway\"}", EREMOTEIO,
		  "no?way" },
		{ "{\"ok\":true}", EINVAL, "no answer that is understood" },
		{ "{\"ok\":1,\"data\":[]}", EINVAL, "no answer" },
		{ "[]", EINVAL, "no answer" },
		{ "", EINVAL, "no answer" },
	};
	struct tide_err err;
	json_t *data;
	size_t i;

	ok(!tide_answer_read("{\"ok\":true,\"data\":[1]}", &data, &err) &&
		   json_array_size(data) == 1,
	   "the data of an answer");
	json_decref(data);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ok(tide_answer_read(bad[i].text, &data, &err) == -1 &&
			   errno == bad[i].errnum &&
			   strstr(err.text, bad[i].why),
		   "'%s': %s", bad[i].text, err.text);
	}
}

#define HASH \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_seal(void)
{
	static const char *const bad[] = {
		"", "[]", "{\"id\":1,\"hash\":\"ab\"}",
		"{\"id\":-1,\"hash\":\"" HASH "\"}",
		"{\"id\":\"1\",\"hash\":\"" HASH "\"}",
	};
	struct tide_err err;
	json_t *seal;
	size_t i;

	ok(!tide_seal_read("{\"id\":1,\"hash\":\"" HASH "\"}", &seal, &err),
	   "a seal");
	json_decref(seal);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ok(tide_seal_read(bad[i], &seal, &err) == -1 &&
			   errno == EINVAL,
		   "no seal: %s", err.text);
	}
}

int main(void)
{
	test_good();
	test_bad();
	test_answers();
	test_seal();
	return tap_done();
}
