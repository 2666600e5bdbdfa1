/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of pool jobs and the text that survives a restart. */
#include "common/window/jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void test_table(void)
{
	struct tide_jobs *jobs = tide_jobs_create();
	struct tide_job *job;
	uint32_t id;
	int right = 1;

	ok(!tide_jobs_find(jobs, 7), "find: nothing there");
	for (id = 1; id <= 5000; id++) {
		job = tide_jobs_add(jobs, id * 64);
		job->user_min = id;
		job->pass = id % 10 ? 1 : 2;
	}
	ok(tide_jobs_add(jobs, 64) == tide_jobs_find(jobs, 64),
	   "add: the same record again");
	tide_jobs_sweep(jobs, 2);
	for (id = 1; id <= 5000; id++) {
		job = tide_jobs_find(jobs, id * 64);
		if (id % 10 ? !!job : !job || job->user_min != id)
			right = 0;
	}
	ok(right, "sweep: the marked ones stay, and they alone");
	tide_jobs_destroy(jobs);
	tide_jobs_destroy(NULL);
}

static void test_text(void)
{
	static const char want[] =
		"tide_state 1\n"
		"job 12 user 1440 changed 1 run 3 close 1800000000 set 61\n"
		"job 99 user 4294967294 changed 0 run 0 close 0 set 0\n";
	struct tide_jobs *jobs = tide_jobs_create();
	struct tide_jobs *again = tide_jobs_create();
	struct tide_job *job;
	struct tide_err err;
	char *text;

	job = tide_jobs_add(jobs, 99);
	job->user_min = UINT32_MAX - 1;
	job->keep = true;
	tide_jobs_add(jobs, 50);
	job = tide_jobs_add(jobs, 12);
	job->user_min = 1440;
	job->changed = true;
	job->run = 3;
	job->close = 1800000000;
	job->set_min = 61;
	job->keep = true;
	text = tide_jobs_text(jobs);
	is_str(text, want, "text: what is worth saving, in order");
	is_int(tide_jobs_parse(again, text, &err), 0, "parse: its own text");
	free(text);
	text = tide_jobs_text(again);
	is_str(text, want, "parse: and back");
	free(text);
	is_int(tide_jobs_parse(again, "", &err), 0, "parse: nothing is right");
	tide_jobs_destroy(jobs);
	tide_jobs_destroy(again);
}

static void test_bad(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "tide_state 2\n", "line 1: not what was expected: 'tide_state 2'" },
		{ "tide_state 1\njob x\n", "line 2: not what was expected: 'job x'" },
		{ "tide_state 1\njob 1 user 2 changed 7 run 1 close 5 set 6\n",
		  "line 2: not what was expected: 'job 1 user 2 changed 7 run 1 close 5 set 6'" },
		{ "tide_state 1\njob 1 user 2 changed 1 run 1 close 5 set 6 x\n",
		  "line 2: not what was expected: 'job 1 user 2 changed 1 run 1 close 5 set 6 x'" },
		{ "tide_state 1\njob 1 user 2 changed 1 run 1 close5 set 6\n",
		  "line 2: not what was expected: 'job 1 user 2 changed 1 run 1 close5 set 6'" },
		{ "tide_state 1\njob 4294967297 user 2 changed 1 run 1 close 5 set 6\n",
		  "line 2: not what was expected: 'job 4294967297 user 2 changed 1 run 1 close 5 set 6'" },
		{ "tide_state 1\njob -1 user 2 changed 1 run 1 close 5 set 6\n",
		  "line 2: not what was expected: 'job -1 user 2 changed 1 run 1 close 5 set 6'" },
		{ "tide_state 1\njob 1 user 2 changed 1 run 1 close 5 set 6\njob 2 user",
		  "line 3: not what was expected: 'job 2 user'" },
	};
	size_t i;

	for (i = 0; i < N(rows); i++) {
		struct tide_jobs *jobs = tide_jobs_create();
		struct tide_err err;

		ok(tide_jobs_parse(jobs, rows[i].text, &err) == -1 &&
			   errno == EINVAL,
		   "bad text %zu: refused", i);
		is_str(err.text, rows[i].error, "... saying where");
		ok(!tide_jobs_find(jobs, 1), "... and nothing taken in");
		tide_jobs_destroy(jobs);
	}
}

int main(void)
{
	test_table();
	test_text();
	test_bad();
	return tap_done();
}
