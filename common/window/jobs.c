/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the layer must remember of pool jobs: see jobs.h. */
#include "common/window/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "tide_state 1"

enum {
	LINE_SIZE = 128
}; /* of a record, with room to spare */

/* Open addressing, a power of two of slots, at most half of them used. */
struct tide_jobs {
	struct tide_job **slot;
	size_t slots, count;
};

struct tide_jobs *tide_jobs_create(void)
{
	struct tide_jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return NULL;
	jobs->slots = 64;
	jobs->slot = calloc(jobs->slots, sizeof(*jobs->slot));
	if (!jobs->slot) {
		free(jobs);
		return NULL;
	}
	return jobs;
}

void tide_jobs_destroy(struct tide_jobs *jobs)
{
	size_t i;

	if (!jobs)
		return;
	for (i = 0; i < jobs->slots; i++)
		free(jobs->slot[i]);
	free(jobs->slot);
	free(jobs);
}

/* The slot that holds id, or the free one where it belongs. */
static size_t place(struct tide_job **slot, size_t slots, uint32_t id)
{
	size_t i = (id * UINT32_C(2654435761)) & (slots - 1);

	while (slot[i] && slot[i]->id != id)
		i = (i + 1) & (slots - 1);
	return i;
}

/* Move the records that pass `keep` into a table of that many slots. */
static int rebuild(struct tide_jobs *jobs, size_t slots, const uint32_t *pass)
{
	struct tide_job **slot = calloc(slots, sizeof(*slot));
	size_t i, count = 0;

	if (!slot)
		return -1;
	for (i = 0; i < jobs->slots; i++) {
		struct tide_job *job = jobs->slot[i];

		if (!job)
			continue;
		if (pass && job->pass != *pass) {
			free(job);
			continue;
		}
		slot[place(slot, slots, job->id)] = job;
		count++;
	}
	free(jobs->slot);
	jobs->slot = slot;
	jobs->slots = slots;
	jobs->count = count;
	return 0;
}

struct tide_job *tide_jobs_find(struct tide_jobs *jobs, uint32_t id)
{
	return jobs->slot[place(jobs->slot, jobs->slots, id)];
}

struct tide_job *tide_jobs_add(struct tide_jobs *jobs, uint32_t id)
{
	struct tide_job *job = tide_jobs_find(jobs, id);

	if (job)
		return job;
	if (jobs->count * 2 >= jobs->slots &&
	    rebuild(jobs, jobs->slots * 2, NULL) < 0)
		return NULL;
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	job->id = id;
	jobs->slot[place(jobs->slot, jobs->slots, id)] = job;
	jobs->count++;
	return job;
}

void tide_jobs_sweep(struct tide_jobs *jobs, uint32_t pass)
{
	size_t i;

	for (i = 0; i < jobs->slots; i++)
		if (jobs->slot[i] && jobs->slot[i]->pass != pass) {
			/* Without memory the old records stay: no harm. */
			(void)rebuild(jobs, jobs->slots, &pass);
			return;
		}
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = (*(struct tide_job *const *)a)->id;
	uint32_t y = (*(struct tide_job *const *)b)->id;

	return (x > y) - (x < y);
}

static void write_line(char *line, size_t size, const struct tide_job *job)
{
	snprintf(line, size,
		 "job %" PRIu32 " user %" PRIu32 " changed %d run %" PRIu32
		 " close %" PRId64 " set %" PRIu32,
		 job->id, job->user_min, job->changed, job->run, job->close,
		 job->set_min);
}

char *tide_jobs_text(struct tide_jobs *jobs)
{
	struct tide_job **sorted = calloc(jobs->count + 1, sizeof(*sorted));
	char *text = NULL, line[LINE_SIZE];
	size_t size, i, count = 0;
	FILE *out = sorted ? open_memstream(&text, &size) : NULL;

	if (!out) {
		free(sorted);
		return NULL;
	}
	for (i = 0; i < jobs->slots; i++)
		if (jobs->slot[i] && jobs->slot[i]->keep)
			sorted[count++] = jobs->slot[i];
	qsort(sorted, count, sizeof(*sorted), by_id);
	fprintf(out, "%s\n", HEADER);
	for (i = 0; i < count; i++) {
		write_line(line, sizeof(line), sorted[i]);
		fprintf(out, "%s\n", line);
	}
	free(sorted);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * sscanf() skips blanks and wraps numbers that are too large: only what we
 * would write ourselves is what we wrote.
 */
static int parse_line(const char *line, size_t length, struct tide_job *ret)
{
	char copy[LINE_SIZE], same[LINE_SIZE];
	unsigned int changed;

	if (length >= sizeof(copy))
		return -1;
	memcpy(copy, line, length);
	copy[length] = '\0';
	/* NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(copy,
		   "job %" SCNu32 " user %" SCNu32 " changed %1u run %" SCNu32
		   " close %" SCNd64 " set %" SCNu32,
		   &ret->id, &ret->user_min, &changed, &ret->run, &ret->close,
		   &ret->set_min) != 6)
		return -1;
	ret->changed = changed;
	ret->keep = true;
	write_line(same, sizeof(same), ret);
	return strcmp(copy, same) ? -1 : 0;
}

/* Every line but the first; with jobs NULL they are only looked at. */
static int parse_lines(struct tide_jobs *jobs, const char *text,
		       struct tide_err *err)
{
	int number = 0;

	while (*text) {
		struct tide_job got = {0}, *job;
		size_t length = strcspn(text, "\n");
		int bad;

		number++;
		if (number == 1)
			bad = length != strlen(HEADER) ||
			      memcmp(text, HEADER, length);
		else
			bad = parse_line(text, length, &got);
		if (bad || !text[length])
			return tide_err_set(
				err, EINVAL,
				"line %d: not what was expected: '%.*s'",
				number, (int)length, text);
		if (number > 1 && jobs) {
			job = tide_jobs_add(jobs, got.id);
			if (!job)
				return tide_err_set(err, ENOMEM,
						    "out of memory");
			*job = got;
		}
		text += length + 1;
	}
	return 0;
}

int tide_jobs_parse(struct tide_jobs *jobs, const char *text,
		    struct tide_err *err)
{
	if (parse_lines(NULL, text, err) < 0)
		return -1;
	return parse_lines(jobs, text, err);
}
