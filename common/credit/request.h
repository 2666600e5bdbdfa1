/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The texts between tidectl credits and the credits plugin in slurmdbd, both
 * ways: requests, which come from any user of the cluster, and answers.  What
 * the fields of a request mean is in plugins/acct/credits/query.h.
 *
 * Functions return 0, or -1 with errno and err written; outputs are untouched
 * on failure.  Threads: no state.
 */
#ifndef TIDE_CREDIT_REQUEST_H
#define TIDE_CREDIT_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/err.h"

enum tide_op {
	TIDE_OP_AUDIT,
	TIDE_OP_BALANCE,
	TIDE_OP_CLOCK,
	TIDE_OP_DETACH,
	TIDE_OP_ENROLL,
	TIDE_OP_GRANT,
	TIDE_OP_STATEMENT,
	TIDE_OPS,
};

/*
 * A request that is complete: every field that its operation needs is there.
 * Others are NULL or 0.  Strings belong to the JSON.
 */
struct tide_request {
	enum tide_op op;
	const char *account;
	const json_t *accounts; /* an array of strings, or NULL */
	int64_t after_txn;
	int64_t after_line;
	int64_t limit;
	int64_t seal_id;
	const char *seal_hash;
	const char *amount;
	const char *note;
	const char *request; /* the name of this grant */
	bool dry_run;
	bool force;
	const char *proof;
	json_t *json;
};

/*
 * Read a request.  EINVAL: no JSON, an operation that is not known, or a field
 * that is missing or of another type.  Released by tide_request_release().
 */
int tide_request_read(const char *text, struct tide_request *ret,
		      struct tide_err *err);
void tide_request_release(struct tide_request *request);

/*
 * What the proof of a request is about: the request without it, as tidectl
 * wrote it.  The caller frees it; NULL with ENOMEM.
 */
char *tide_request_proved(const struct tide_request *request);

/*
 * The "data" of an answer, for the caller to release; EREMOTEIO with the
 * reason of slurmdbd when it refused, EINVAL when it is no answer.
 */
int tide_answer_read(const char *text, json_t **ret_data, struct tide_err *err);

/* A seal file {"id", "hash"}: the JSON, for the caller to release.  EINVAL. */
int tide_seal_read(const char *text, json_t **ret_seal, struct tide_err *err);

#endif
