/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads requests and answers.  Decides nothing about who may.
 */
#include "config.h"

#include "common/credit/request.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum type {
	TEXT,
	NAMES,
	NUMBER,
	BOOLEAN,
};

#define FIELD(name, type)                                        \
	{                                                        \
#name, type, offsetof(struct tide_request, name) \
	}

static const struct field {
	const char *name;
	enum type type;
	size_t at;
} fields[] = {
	FIELD(account, TEXT),	  FIELD(accounts, NAMES),
	FIELD(after_txn, NUMBER), FIELD(after_line, NUMBER),
	FIELD(limit, NUMBER),	  FIELD(seal_id, NUMBER),
	FIELD(seal_hash, TEXT),	  FIELD(amount, TEXT),
	FIELD(note, TEXT),	  FIELD(request, TEXT),
	FIELD(dry_run, BOOLEAN),  FIELD(force, BOOLEAN),
	FIELD(proof, TEXT),
};

/* What an operation cannot do without, by tide_op. */
static const struct {
	const char *name;
	const char *wants[5];
} ops[TIDE_OPS] = {
	{"audit", {"seal_id", "seal_hash"}},
	{"balance", {NULL}},
	{"clock", {NULL}},
	{"detach", {"accounts", "dry_run", "force"}},
	{"enroll", {"account"}},
	{"grant", {"account", "amount", "note", "request"}},
	{"statement", {"account", "after_txn", "after_line", "limit"}},
};

static bool all_strings(const json_t *array)
{
	const json_t *value;
	size_t i;

	json_array_foreach(array, i, value)
	{
		if (!json_is_string(value))
			return false;
	}
	return json_is_array(array);
}

/* False when the value is of another type. */
static bool put(const struct field *f, const json_t *value, void *to)
{
	const char *text = json_string_value(value);
	int64_t number = json_integer_value(value);
	bool yes = json_is_true(value);

	switch (f->type) {
	case TEXT:
		memcpy(to, &text, sizeof(text));
		return text;
	case NAMES:
		memcpy(to, &value, sizeof(value));
		return all_strings(value);
	case NUMBER:
		memcpy(to, &number, sizeof(number));
		return json_is_integer(value);
	case BOOLEAN:
		memcpy(to, &yes, sizeof(yes));
		return json_is_boolean(value);
	}
	return false;
}

static int read_fields(struct tide_request *r, struct tide_err *err)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const json_t *value = json_object_get(r->json, fields[i].name);

		if (value && !put(&fields[i], value, (char *)r + fields[i].at))
			return tide_err_set(
				err, EINVAL,
				"the request's '%s' is of another type",
				fields[i].name);
	}
	return 0;
}

static int find_op(struct tide_request *r, struct tide_err *err)
{
	const char *op = json_string_value(json_object_get(r->json, "op"));
	int i;

	for (i = 0; op && i < TIDE_OPS; i++)
		if (!strcmp(op, ops[i].name)) {
			r->op = i;
			return 0;
		}
	return tide_err_set(err, EINVAL,
			    "slurmdbd does not know the request '%s'",
			    op ? op : "");
}

static int is_complete(const struct tide_request *r, struct tide_err *err)
{
	const char *const *want = ops[r->op].wants;

	for (; *want; want++)
		if (!json_object_get(r->json, *want))
			return tide_err_set(
				err, EINVAL,
				"an incomplete request: '%s' is missing",
				*want);
	return 0;
}

int tide_request_read(const char *text, struct tide_request *ret,
		      struct tide_err *err)
{
	struct tide_request r = {0};
	json_error_t jerr;

	r.json = json_loads(text, JSON_REJECT_DUPLICATES, &jerr);
	if (!r.json)
		return tide_err_set(err, EINVAL, "the request is no JSON: %s",
				    jerr.text);
	if (find_op(&r, err) || read_fields(&r, err) || is_complete(&r, err)) {
		tide_request_release(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

void tide_request_release(struct tide_request *request)
{
	int saved = errno;

	json_decref(request->json);
	memset(request, 0, sizeof(*request));
	errno = saved;
}

char *tide_request_proved(const struct tide_request *request)
{
	json_t *copy = json_copy(request->json);
	char *text = NULL;

	if (copy) {
		json_object_del(copy, "proof");
		text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
	}
	json_decref(copy);
	if (!text)
		errno = ENOMEM;
	return text;
}

int tide_answer_read(const char *text, json_t **ret_data, struct tide_err *err)
{
	json_t *answer = json_loads(text, 0, NULL);
	const char *reason;
	json_t *data;
	int rc = -1;

	reason = json_string_value(json_object_get(answer, "error"));
	data = json_object_get(answer, "data");
	if (json_is_true(json_object_get(answer, "ok")) && data) {
		*ret_data = json_incref(data);
		rc = 0;
	} else if (reason) {
		tide_err_set(err, EREMOTEIO, "%s", reason);
	} else {
		tide_err_set(err, EINVAL,
			     "slurmdbd gave no answer that is understood");
	}
	json_decref(answer);
	return rc;
}

int tide_seal_read(const char *text, json_t **ret_seal, struct tide_err *err)
{
	json_error_t jerr;
	json_t *seal = json_loads(text, JSON_REJECT_DUPLICATES, &jerr);
	const char *hash;
	json_int_t id;

	if (!seal)
		return tide_err_set(err, EINVAL, "no JSON: %s", jerr.text);
	if (json_unpack(seal, "{s:I,s:s}", "id", &id, "hash", &hash) ||
	    id < 0 || strlen(hash) != 64) {
		json_decref(seal);
		return tide_err_set(err, EINVAL,
				    "an id and a hash of 64 digits are wanted");
	}
	*ret_seal = seal;
	return 0;
}
