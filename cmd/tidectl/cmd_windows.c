/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl windows: when lent nodes are open to the pool, from tide.conf alone.
 * Does not ask slurmctld: which nodes are busy or drained is sinfo's answer.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/tidectl/tidectl.h"
#include "common/calendar/calendar.h"
#include "common/conf/conf.h"
#include "common/util/err.h"
#include "common/util/hostlist.h"
#include "common/util/parse.h"
#include "common/util/zone.h"

enum {
	HORIZON = 30 * 86400
};

struct request {
	const char *conf_path; /* --conf, or NULL */
	const char *nodes;     /* --node, or NULL: all */
	const char *at, *until, *horizon;
	int json;
	int list; /* every span, not only the next change */
};

/* What the answers are made from. */
struct answer {
	struct tide_conf *conf;
	struct tide_calendar *calendar;
	struct tide_timeline *timeline;
	struct tide_zone *zone;
	int64_t at, until;
};

/* Nodes of one owner with the same windows. */
struct group {
	int owner;
	int set;
	const char **names;
	size_t n_names;
	char *nodes; /* folded */
};

struct groups {
	struct group *group;
	size_t count;
};

static int is_asked(const struct tide_names *asked, const char *name)
{
	for (size_t i = 0; i < asked->count; i++)
		if (!strcmp(asked->name[i], name))
			return 1;
	return !asked->count;
}

/* The group of a node; a new one has room for all nodes of its set. */
static struct group *group_of(struct groups *groups,
			      const struct tide_conf *conf,
			      const struct tide_node *node)
{
	struct group *more;

	for (size_t i = 0; i < groups->count; i++)
		if (groups->group[i].owner == node->owner &&
		    groups->group[i].set == node->set)
			return &groups->group[i];
	more = realloc(groups->group, (groups->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	groups->group = more;
	more += groups->count;
	*more = (struct group){.owner = node->owner, .set = node->set};
	more->names = calloc((size_t)conf->set[node->set].n_nodes,
			     sizeof(*more->names));
	if (!more->names)
		return NULL;
	groups->count++;
	return more;
}

static void groups_release(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		free(groups->group[i].names);
		free(groups->group[i].nodes);
	}
	free(groups->group);
}

static int group_cmp(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner - y->owner;
	return tide_hostname_cmp(x->names[0], y->names[0]);
}

/* The asked nodes, by owner and windows; -1 when memory is out. */
static int make_groups(const struct tide_conf *conf,
		       const struct tide_names *asked, struct groups *groups)
{
	for (int i = 0; i < conf->n_nodes; i++) {
		struct group *group;

		if (!is_asked(asked, conf->node[i].name))
			continue;
		group = group_of(groups, conf, &conf->node[i]);
		if (!group)
			return -1;
		group->names[group->n_names++] = conf->node[i].name;
	}
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->group[i];

		group->nodes = tide_hostlist_fold(group->names, group->n_names);
		if (!group->nodes)
			return -1;
	}
	if (groups->count)
		qsort(groups->group, groups->count, sizeof(*groups->group),
		      group_cmp);
	return 0;
}

/* --node as names, each of them lent; a status that is not 0 was said. */
static int asked_names(const struct request *request, const char *path,
		       const struct tide_conf *conf, struct tide_names *asked)
{
	struct tide_err err;

	if (!request->nodes)
		return 0;
	if (tide_hostlist_expand(request->nodes, 100000, asked, &err))
		return tidectl_usage(&tidectl_windows, "--node '%s': %s",
				     request->nodes, err.text);
	for (size_t i = 0; i < asked->count; i++)
		if (!tide_conf_node(conf, asked->name[i]))
			return tidectl_fail(
				"no owner in %s lends node '%s': if it is in the partition '%s', it is always open to the pool",
				path, asked->name[i], conf->pool_partition);
	return 0;
}

static json_t *json_time(int64_t t, const struct tide_zone *zone)
{
	char buf[TIDE_TIME_SIZE];

	if (zone)
		tide_zone_format(zone, t, buf);
	else
		tide_utc_format(t, buf);
	return json_string(buf);
}

static json_t *span_json(const struct tide_span *span,
			 const struct tide_zone *zone)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "window",
			 span->window->name, "open",
			 json_time(span->open, NULL), "close",
			 json_time(span->close, NULL), "open_local",
			 json_time(span->open, zone), "close_local",
			 json_time(span->close, zone), "beyond", span->beyond);
}

static json_t *group_json(const struct answer *answer,
			  const struct group *group)
{
	const struct tide_span *now =
		tide_timeline_at(answer->timeline, group->set, answer->at);
	const struct tide_span *next =
		tide_timeline_opening(answer->timeline, group->set, answer->at);
	const char *window = now ? now->window->name : NULL;
	size_t count;
	const struct tide_span *span =
		tide_timeline_spans(answer->timeline, group->set, &count);
	json_t *spans = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(spans, span_json(&span[i], answer->zone));
	return json_pack(
		"{s:s, s:s, s:s, s:s?, s:o, s:o, s:o}", "nodes", group->nodes,
		"owner", answer->conf->owner[group->owner].account, "state",
		now ? "open" : "closed", "window", window, "closes",
		now && !now->beyond ? json_time(now->close, NULL) : json_null(),
		"opens", next ? json_time(next->open, NULL) : json_null(),
		"spans", spans);
}

static int is_observing(const struct answer *answer)
{
	return answer->conf->mode == TIDE_MODE_OBSERVE;
}

static int print_json(const struct answer *answer, const struct groups *groups)
{
	json_t *list = json_array();

	for (size_t i = 0; i < groups->count; i++)
		json_array_append_new(list,
				      group_json(answer, &groups->group[i]));
	return tidectl_print_json(json_pack(
		"{s:o, s:o, s:s, s:s, s:o}", "at", json_time(answer->at, NULL),
		"until", json_time(answer->until, NULL), "zone",
		tide_zone_name(answer->zone), "mode",
		is_observing(answer) ? "observe" : "enforce", "groups", list));
}

static void print_time(const struct answer *answer, int64_t t)
{
	char local[TIDE_TIME_SIZE], utc[TIDE_TIME_SIZE];

	tide_zone_format(answer->zone, t, local);
	tide_utc_format(t, utc);
	printf("%s (%s)", local, utc);
}

/* "open until T", "closed, opens at T" */
static void print_state(const struct answer *answer, const struct group *group)
{
	const struct tide_span *now =
		tide_timeline_at(answer->timeline, group->set, answer->at);
	const struct tide_span *next =
		tide_timeline_opening(answer->timeline, group->set, answer->at);

	if (now && now->beyond) {
		printf("open, no close before ");
		print_time(answer, answer->until);
	} else if (now) {
		printf("open until ");
		print_time(answer, now->close);
	} else if (next) {
		printf("closed, opens ");
		print_time(answer, next->open);
	} else {
		printf("closed, no opening before ");
		print_time(answer, answer->until);
	}
	if (now || next)
		printf("  %s", (now ? now : next)->window->name);
	putchar('\n');
}

static void print_spans(const struct answer *answer, const struct group *group)
{
	size_t count;
	const struct tide_span *span =
		tide_timeline_spans(answer->timeline, group->set, &count);

	for (size_t i = 0; i < count; i++) {
		printf("    ");
		print_time(answer, span[i].open);
		printf(" to ");
		print_time(answer, span[i].close);
		printf("%s  %s\n", span[i].beyond ? " or later" : "",
		       span[i].window->name);
	}
}

static int print_text(const struct answer *answer, const struct groups *groups,
		      int list)
{
	int nodes = 0, owner = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->group[i];
		int a = (int)strlen(group->nodes);
		int b = (int)strlen(answer->conf->owner[group->owner].account);

		nodes = a > nodes ? a : nodes;
		owner = b > owner ? b : owner;
	}
	printf("at ");
	print_time(answer, answer->at);
	putchar('\n');
	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->group[i];

		printf("%-*s  %-*s  ", nodes, group->nodes, owner,
		       answer->conf->owner[group->owner].account);
		print_state(answer, group);
		if (list)
			print_spans(answer, group);
	}
	if (!groups->count)
		puts("no owner lends a node");
	else if (is_observing(answer))
		puts("Mode=observe: none of this is enforced, the pool may use all of these nodes at any time");
	return TIDECTL_DONE;
}

/* --at, --until, --horizon; a status that is not 0 was said. */
static int parse_times(const struct request *request, struct answer *answer)
{
	int64_t horizon = HORIZON;
	struct tide_err err;

	if (tide_zone_create(NULL, NULL, &answer->zone, &err))
		return tidectl_fail("%s", err.text);
	answer->at = time(NULL);
	if (request->at &&
	    tide_zone_parse_time(answer->zone, request->at, &answer->at, &err))
		return tidectl_usage(&tidectl_windows, "--at '%s': %s",
				     request->at, err.text);
	if (request->horizon &&
	    tide_parse_duration(request->horizon, &horizon, &err))
		return tidectl_usage(&tidectl_windows, "--horizon '%s': %s",
				     request->horizon, err.text);
	answer->until = answer->at + horizon;
	if (request->until && tide_zone_parse_time(answer->zone, request->until,
						   &answer->until, &err))
		return tidectl_usage(&tidectl_windows, "--until '%s': %s",
				     request->until, err.text);
	if (answer->until <= answer->at)
		return tidectl_usage(
			&tidectl_windows,
			"the end must be later than the beginning");
	return 0;
}

static int make_answer(const struct request *request, const char *path,
		       struct answer *answer)
{
	struct tide_err err;

	/* Slurm needs it on a few hosts only. */
	if (!request->conf_path && access(path, F_OK))
		return tidectl_fail(
			"there is no %s on this host: copy it from slurmctld's, or name one with --conf",
			path);
	answer->conf = tidectl_load_conf(path);
	if (!answer->conf)
		return TIDECTL_FAILED;
	if (tide_calendar_create(answer->conf, NULL, NULL, &answer->calendar,
				 &err) ||
	    tide_timeline_create(answer->calendar, answer->at, answer->until,
				 &answer->timeline, &err))
		return tidectl_fail("cannot work out the windows: %s",
				    err.text);
	return 0;
}

static int windows(const struct request *request)
{
	struct answer answer = {0};
	struct groups groups = {0};
	struct tide_names asked = {0};
	char *path = request->conf_path ? strdup(request->conf_path)
					: tidectl_slurm_file("tide.conf");
	int status = path ? parse_times(request, &answer)
			  : tidectl_fail("out of memory");

	if (!status)
		status = make_answer(request, path, &answer);
	if (!status)
		status = asked_names(request, path, answer.conf, &asked);
	if (status)
		goto end;
	if (make_groups(answer.conf, &asked, &groups))
		status = tidectl_fail("out of memory");
	else if (request->json)
		status = print_json(&answer, &groups);
	else
		status = print_text(&answer, &groups, request->list);
end:
	groups_release(&groups);
	tide_names_release(&asked);
	tide_timeline_destroy(answer.timeline);
	tide_calendar_destroy(answer.calendar);
	tide_zone_destroy(answer.zone);
	tide_conf_destroy(answer.conf);
	free(path);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"conf", required_argument, NULL, 'c'},
		{"at", required_argument, NULL, 'a'},
		{"node", required_argument, NULL, 'n'},
		{"until", required_argument, NULL, 'u'},
		{"horizon", required_argument, NULL, 'z'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct request request = {0};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			request.conf_path = optarg;
			break;
		case 'a':
			request.at = optarg;
			break;
		case 'n':
			request.nodes = optarg;
			break;
		case 'u':
			request.until = optarg;
			break;
		case 'z':
			request.horizon = optarg;
			break;
		case 'j':
			request.json = 1;
			break;
		default:
			return tidectl_other_option(&tidectl_windows, option);
		}
	}
	if (optind < argc)
		return tidectl_usage(&tidectl_windows,
				     "'%s' is one word too many", argv[optind]);
	if (request.until && request.horizon)
		return tidectl_usage(
			&tidectl_windows,
			"--until and --horizon exclude each other");
	request.list = request.until || request.horizon;
	return windows(&request);
}

const struct tidectl_command tidectl_windows = {
	.name = "windows",
	.summary = "when lent nodes are open to the pool",
	.usage =
		"[--conf FILE] [--at TIME] [--node NODES] [--until TIME | --horizon TIME] [--json]",
	.help = "  --conf FILE     this tide.conf; default: the one beside $SLURM_CONF, else in\n"
		"                  /etc/slurm. No cluster is asked.\n"
		"  --at TIME       the state at that time; default: now. TIME is ISO 8601, with Z,\n"
		"                  an offset such as +08:00 or in local time, or @SECONDS since 1970\n"
		"  --node NODES    only these nodes, such as lab[01-03]\n"
		"  --until TIME    list every opening and close until then\n"
		"  --horizon TIME  the same for so long: seconds, or with a unit as in 14d\n"
		"  --json          one object; keys in tidectl(1)\n"
		"\n"
		"Local times are those of this process (TZ). Windows without a TimeZone are\n"
		"taken in that zone too, as slurmctld takes them in its own.\n",
	.run = run,
};
