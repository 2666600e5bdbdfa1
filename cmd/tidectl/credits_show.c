/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl credits balance, statement and audit: prints what slurmdbd answers.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/tidectl/credits.h"
#include "common/credit/request.h"
#include "common/util/file.h"
#include "common/util/plural.h"
#include "common/util/zone.h"

#define PAGE 2000 /* postings in one answer */

static const char *text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "-";
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

int credits_balance(const struct credits_args *args)
{
	json_t *names = json_array(), *data, *a;
	size_t i;
	int n;

	for (n = 0; n < args->argc; n++)
		json_array_append_new(names, json_string(args->argv[n]));
	data = credits_ask(
		json_pack("{s:s,s:o}", "op", "balance", "accounts", names));
	if (!data)
		return TIDECTL_FAILED;
	if (args->json)
		return tidectl_print_json(data);
	printf("%-16s %18s %18s %18s %18s  %s\n", "ACCOUNT", "BALANCE",
	       "GRANTED", "EARNED", "SPENT", "ENROLLED");
	json_array_foreach(data, i, a)
	{
		printf("%-16s %18s %18s %18s %18s  %s\n", text(a, "account"),
		       text(a, "balance"), text(a, "granted"),
		       text(a, "earned"), text(a, "spent"),
		       json_is_true(json_object_get(a, "enrolled")) ? "yes"
								    : "no");
	}
	json_decref(data);
	return TIDECTL_DONE;
}

/* All pages in one array; NULL when one was refused. */
static json_t *whole_statement(const char *account)
{
	json_int_t txn = 0, line = -1;
	json_t *all = json_array(), *page, *last;
	size_t n;

	do {
		page = credits_ask(json_pack("{s:s,s:s,s:I,s:I,s:i}", "op",
					     "statement", "account", account,
					     "after_txn", txn, "after_line",
					     line, "limit", PAGE));
		if (!page) {
			json_decref(all);
			return NULL;
		}
		n = json_array_size(page);
		last = n ? json_array_get(page, n - 1) : NULL;
		txn = number(last, "transaction");
		line = number(last, "line");
		json_array_extend(all, page);
		json_decref(page);
	} while (n == PAGE);
	return all;
}

static void print_posting(const json_t *p)
{
	char posted[32], start[32], job[24] = "-";

	if (json_is_integer(json_object_get(p, "job")))
		snprintf(job, sizeof(job), "%" JSON_INTEGER_FORMAT,
			 number(p, "job"));
	printf("%-19s %-7s %10s %-19s %-20s %16s %18s  %s\n",
	       credits_time(number(p, "time"), posted), text(p, "kind"), job,
	       *job == '-' ? "-" : credits_time(number(p, "start"), start),
	       text(p, "counterparty"), text(p, "amount"), text(p, "balance"),
	       *text(p, "note") ? text(p, "note")
				: (*job == '-' ? "" : text(p, "devices")));
}

/* The seconds that slurmdbd sends, as all of tidectl writes times. */
static void write_times(json_t *posting)
{
	static const char *const keys[] = {"time", "submit", "start", "end"};
	char buf[TIDE_TIME_SIZE];
	json_t *value;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = json_object_get(posting, keys[i]);
		if (!json_is_integer(value))
			continue;
		tide_utc_format(json_integer_value(value), buf);
		json_object_set_new(posting, keys[i], json_string(buf));
	}
}

int credits_statement(const struct credits_args *args)
{
	json_t *data = whole_statement(args->argv[0]), *p;
	size_t i;

	if (!data)
		return TIDECTL_FAILED;
	if (args->json) {
		json_array_foreach(data, i, p)
		{
			write_times(p);
		}
		return tidectl_print_json(data);
	}
	printf("%-19s %-7s %10s %-19s %-20s %16s %18s  %s\n", "POSTED", "KIND",
	       "JOB", "RUN", "COUNTERPARTY", "AMOUNT", "BALANCE", "FOR");
	json_array_foreach(data, i, p)
	{
		print_posting(p);
	}
	json_decref(data);
	return TIDECTL_DONE;
}

static int read_seal(const char *path, json_t **ret)
{
	struct tide_err err;
	char *text;
	int status = TIDECTL_DONE;

	if (tide_file_read(path, &text, &err))
		return tidectl_fail("could not read the seal %s: %s", path,
				    err.text);
	if (tide_seal_read(text, ret, &err))
		status = tidectl_fail("%s is no seal of a ledger: %s", path,
				      err.text);
	free(text);
	return status;
}

/* Never over an earlier one: that is what it is to be compared with. */
static int write_seal(const char *path, const json_t *seal)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	char *out = json_dumps(seal, JSON_INDENT(2));
	FILE *file;
	int bad;

	if (fd < 0 || !out) {
		free(out);
		return tidectl_fail("could not write the seal %s: %s", path,
				    strerror(errno));
	}
	file = fdopen(fd, "w");
	bad = !file || fprintf(file, "%s\n", out) < 0 || fflush(file) ||
	      fsync(fd);
	bad |= file ? fclose(file) : close(fd);
	free(out);
	if (!bad)
		return TIDECTL_DONE;
	/* Half a seal would be in the way of a whole one. */
	bad = tidectl_fail("could not write the seal %s: %s", path,
			   strerror(errno));
	unlink(path);
	return bad;
}

/* "1 grant" or "2 grants": the member of that name, and what follows it. */
static void print_count(const json_t *data, const char *noun, const char *then)
{
	char key[32];
	json_int_t n;

	snprintf(key, sizeof(key), "%ss", noun);
	n = number(data, key);
	printf("%" JSON_INTEGER_FORMAT " %s%s%s", n, noun, tide_plural(n),
	       then);
}

static void print_report(const json_t *data)
{
	json_t *problems = json_object_get(data, "problems"), *p;
	size_t i;

	print_count(data, "transaction", ": ");
	print_count(data, "grant", ", ");
	print_count(data, "charge", ", ");
	print_count(data, "refund", "; they ");
	printf("sum to %s\n", text(data, "sum"));
	if (number(data, "purged") || number(data, "moved"))
		printf("job rows purged: %" JSON_INTEGER_FORMAT
		       ", that end later than was charged: %" JSON_INTEGER_FORMAT
		       "\n",
		       number(data, "purged"), number(data, "moved"));
	printf("seal: transaction %" JSON_INTEGER_FORMAT " %s\n",
	       number(json_object_get(data, "seal"), "id"),
	       text(json_object_get(data, "seal"), "hash"));
	json_array_foreach(problems, i, p)
	{
		printf("FAULT: %s\n", json_string_value(p));
	}
	printf("audit: %s\n",
	       json_is_true(json_object_get(data, "ok")) ? "ok" : "FAILED");
}

int credits_audit(const struct credits_args *args)
{
	json_t *seal = NULL, *data;
	int status = TIDECTL_DONE;

	if (args->seal && read_seal(args->seal, &seal))
		return TIDECTL_FAILED;
	data = credits_ask(json_pack("{s:s,s:I,s:s}", "op", "audit", "seal_id",
				     number(seal, "id"), "seal_hash",
				     seal ? text(seal, "hash") : ""));
	json_decref(seal);
	if (!data)
		return TIDECTL_FAILED;
	if (!json_is_true(json_object_get(data, "ok")))
		status = TIDECTL_FAILED;
	else if (args->export_seal)
		status = write_seal(args->export_seal,
				    json_object_get(data, "seal"));
	if (args->json)
		return tidectl_print_json(data) ? TIDECTL_FAILED : status;
	print_report(data);
	json_decref(data);
	return status;
}
