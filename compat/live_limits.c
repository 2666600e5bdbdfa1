/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of associations and QOS as text.  Judges nothing. */
#include "config.h"

#include "compat/live_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are NO_VAL or INFINITE, texts NULL or empty, where there is none. */
struct number {
	const char *name;
	uint32_t value;
};

struct text {
	const char *name, *value;
};

static const slurmdb_tres_rec_t *find_tres(list_t *all, uint32_t id)
{
	list_itr_t *itr = all ? slurm_list_iterator_create(all) : NULL;
	const slurmdb_tres_rec_t *tres = NULL;

	while (itr && (tres = slurm_list_next(itr)) && tres->id != id)
		;
	if (itr)
		slurm_list_iterator_destroy(itr);
	return tres;
}

/* "1=8,1001=4" as "cpu=8,gres/gpu=4" */
static void print_tres(FILE *out, const char *value, list_t *all)
{
	while (*value) {
		size_t len = strcspn(value, ",");
		size_t id = strspn(value, "0123456789");
		const slurmdb_tres_rec_t *tres = NULL;

		if (value[id] == '=')
			tres = find_tres(all,
					 (uint32_t)strtoul(value, NULL, 10));
		if (tres)
			fprintf(out, "%s%s%s%.*s", tres->type,
				tres->name && *tres->name ? "/" : "",
				tres->name ? tres->name : "", (int)(len - id),
				value + id);
		else
			fprintf(out, "%.*s", (int)len, value);
		value += len;
		if (*value == ',')
			fputc(*value++, out);
	}
}

static char *print_all(const struct number *number, size_t n_numbers,
		       const struct text *text, size_t n_texts, list_t *tres)
{
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < n_numbers; i++)
		if (number[i].value < INFINITE - 1)
			fprintf(out, "%s%s=%" PRIu32, ftell(out) ? " " : "",
				number[i].name, number[i].value);
	for (size_t i = 0; i < n_texts; i++) {
		if (!text[i].value || !*text[i].value)
			continue;
		fprintf(out, "%s%s=", ftell(out) ? " " : "", text[i].name);
		print_tres(out, text[i].value, tres);
	}
	if (fclose(out)) {
		free(all);
		return NULL;
	}
	return all;
}

char *tide_live_assoc_limits(const slurmdb_assoc_rec_t *a, list_t *tres)
{
	const struct number numbers[] = {
		{"GrpJobs", a->grp_jobs},
		{"GrpSubmitJobs", a->grp_submit_jobs},
		{"GrpWall", a->grp_wall},
		{"MaxJobs", a->max_jobs},
		{"MaxSubmitJobs", a->max_submit_jobs},
		{"MaxWall", a->max_wall_pj},
	};
	const struct text texts[] = {
		{"GrpTRES", a->grp_tres},
		{"GrpTRESMins", a->grp_tres_mins},
		{"GrpTRESRunMins", a->grp_tres_run_mins},
		{"MaxTRES", a->max_tres_pj},
		{"MaxTRESMins", a->max_tres_mins_pj},
		{"MaxTRESPerNode", a->max_tres_pn},
	};

	return print_all(numbers, sizeof(numbers) / sizeof(*numbers), texts,
			 sizeof(texts) / sizeof(*texts), tres);
}

char *tide_live_qos_limits(const slurmdb_qos_rec_t *q, list_t *tres)
{
	const struct number numbers[] = {
		{"GrpJobs", q->grp_jobs},
		{"GrpSubmitJobs", q->grp_submit_jobs},
		{"GrpWall", q->grp_wall},
		{"MaxJobsPerAccount", q->max_jobs_pa},
		{"MaxJobsPerUser", q->max_jobs_pu},
		{"MaxSubmitJobsPerAccount", q->max_submit_jobs_pa},
		{"MaxSubmitJobsPerUser", q->max_submit_jobs_pu},
		{"MaxWall", q->max_wall_pj},
	};
	const struct text texts[] = {
		{"GrpTRES", q->grp_tres},
		{"GrpTRESMins", q->grp_tres_mins},
		{"GrpTRESRunMins", q->grp_tres_run_mins},
		{"MaxTRES", q->max_tres_pj},
		{"MaxTRESMins", q->max_tres_mins_pj},
		{"MaxTRESPerAccount", q->max_tres_pa},
		{"MaxTRESPerNode", q->max_tres_pn},
		{"MaxTRESPerUser", q->max_tres_pu},
		{"MinTRES", q->min_tres_pj},
	};

	return print_all(numbers, sizeof(numbers) / sizeof(*numbers), texts,
			 sizeof(texts) / sizeof(*texts), tres);
}
