/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules a request for the pool has to meet: see rules.h. */
#include "plugins/job_submit/tide/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/credit/gres.h"
#include "common/window/gate.h"

/* One partition of the request, judged. */
struct verdict {
	bool pool;
	struct tide_ask ask;
	struct tide_answer answer;
};

/* What the rules see: the request and the pool's answer to it. */
struct judged {
	const struct tide_request *request;
	bool pool;		/* some partition is the pool's */
	bool others;		/* some is not, or will do */
	struct verdict refused; /* the last that no window fits */
};

/* Seconds the job needs its nodes in that partition. */
static int64_t need_in(const struct tide_request *request, const char *name)
{
	uint32_t limit = request->limit_min;

	if (limit == NO_VAL)
		limit = tide_ctld_partition_limit(name);
	if (request->time_min && request->time_min < limit)
		limit = request->time_min;
	return limit == INFINITE ? TIDE_FOREVER : (int64_t)limit * 60;
}

static void judge_one(const struct tide_layer *layer,
		      const struct tide_request *request, const char *name,
		      struct judged *judged)
{
	struct verdict verdict = {
		.ask =
			{
				.partition = name,
				.nodelist = request->nodelist,
				.exclude = request->exclude,
				.min_nodes = request->min_nodes,
				.need = need_in(request, name),
			},
	};

	layer->fit(&verdict.ask, &verdict.answer);
	if (verdict.answer.fit != TIDE_FIT_OTHER)
		judged->pool = true;
	if (verdict.answer.fit == TIDE_FIT_NEVER)
		judged->refused = verdict;
	else
		judged->others = true;
}

static void judge(const struct tide_layer *layer,
		  const struct tide_request *request, struct judged *judged)
{
	char *names = xstrdup(request->partitions), *save = NULL, *name;

	for (name = strtok_r(names, ",", &save); name;
	     name = strtok_r(NULL, ",", &save))
		judge_one(layer, request, name, judged);
	/* The name it was asked about goes with the copy. */
	judged->refused.ask.partition = NULL;
	xfree(names);
}

/* 90000 seconds: 1-01:00:00, as --time takes it. */
static void write_span(char *text, size_t size, int64_t seconds)
{
	int64_t days = seconds / 86400, rest = seconds % 86400;

	if (days)
		snprintf(text, size, "%lld-%02lld:%02lld:%02lld",
			 (long long)days, (long long)(rest / 3600),
			 (long long)(rest / 60 % 60), (long long)(rest % 60));
	else
		snprintf(text, size, "%02lld:%02lld:%02lld",
			 (long long)(rest / 3600), (long long)(rest / 60 % 60),
			 (long long)(rest % 60));
}

static void write_time(char *text, size_t size, int64_t at)
{
	time_t t = at;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(text, size, "%FT%R", &tm);
}

/* A job that no window could ever fit. */
static int rule_window(const struct judged *judged, char **say)
{
	const struct verdict *refused = &judged->refused;
	char longest[32], need[32], at[32];

	if (refused->answer.fit != TIDE_FIT_NEVER || judged->others)
		return SLURM_SUCCESS;
	write_span(longest, sizeof(longest), refused->answer.longest);
	write_span(need, sizeof(need), refused->ask.need);
	write_time(at, sizeof(at), refused->answer.at);
	if (!refused->answer.longest && refused->ask.min_nodes <= 1)
		xstrfmtcat(
			*say,
			"no window of the next 400 days opens any of these nodes: ask for others");
	else if (!refused->answer.longest)
		xstrfmtcat(
			*say,
			"the pool never has %u of these nodes open together: ask for fewer or for others",
			refused->ask.min_nodes);
	else if (refused->ask.need == TIDE_FOREVER)
		xstrfmtcat(
			*say,
			"a job of the pool needs a time limit: the longest window for %u node(s) is %s (from %s); give --time, or --time-min=%s or less",
			refused->ask.min_nodes, longest, at, longest);
	else
		xstrfmtcat(
			*say,
			"no window is long enough for %s on %u node(s): the longest is %s (from %s); give --time-min=%s or less, or a shorter --time",
			need, refused->ask.min_nodes, longest, at, longest);
	return ESLURM_INVALID_TIME_LIMIT;
}

/* Only batch jobs can be requeued. */
static int rule_interactive(const struct judged *judged, char **say)
{
	if (!judged->request->batch)
		xstrfmtcat(
			*say,
			"a job of the pool that is not a batch job cannot be requeued: at the close of its window it is ended");
	return SLURM_SUCCESS;
}

static int (*const rules[])(const struct judged *judged, char **say) = {
	rule_window,
	rule_interactive,
};

/*
 * What no node has.  Slurm refuses that by itself, with words that name nothing
 * ("Invalid generic resource"), so nothing is refused here.
 */
static void say_lacks(const struct tide_request *request, char **say)
{
	const char **have = NULL;
	char *why = NULL;
	size_t n = 0;
	int i;

	for (i = 0; i < 4 && !why; i++) {
		if (!request->tres[i])
			continue;
		if (!have)
			n = tide_ctld_partition_gres(request->partitions,
						     &have);
		/* no such partition is another matter */
		if (!n || tide_gres_lacks(request->tres[i], have, n, !i, &why))
			break;
	}
	if (why)
		xstrfmtcat(*say, "%sno node of partition '%s' has %s",
			   *say ? "\n" : "", request->partitions, why);
	free(why);
	xfree(have);
}

int tide_rules(const struct tide_layer *layer,
	       const struct tide_request *request, char **ret_say)
{
	struct judged judged = {.request = request};
	char *say = NULL;
	int rc = SLURM_SUCCESS;
	size_t i;

	/* Inside a reservation no windows apply. */
	if (!request->reserved)
		judge(layer, request, &judged);
	for (i = 0; judged.pool && !rc && i < sizeof(rules) / sizeof(rules[0]);
	     i++)
		rc = rules[i](&judged, &say);
	say_lacks(request, &say);
	*ret_say = say;
	return rc;
}
