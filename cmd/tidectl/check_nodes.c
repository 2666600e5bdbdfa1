/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl check --nodes: hosts check themselves, side by side, and say what
 * they found and what their clock shows.  No agent is needed there but a way to
 * start a command: ssh, or srun.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/tidectl/check.h"
#include "cmd/tidectl/fanout.h"
#include "cmd/tidectl/tidectl.h"
#include "common/site/slurmconf.h"
#include "common/util/err.h"
#include "common/util/hostlist.h"

#define MAX_HOSTS 100000
#define MAX_WORDS 64
#define LIMIT_S 60	/* for one host */
#define CLOCK_SLACK_S 5 /* as for slurmctld's */

struct request {
	char *words[MAX_WORDS + 8]; /* of rsh, then of the command */
	char *rsh;		    /* what the first are parts of */
	size_t n_rsh;
	char self[PATH_MAX];
	char *env;	  /* SLURM_CONF=..., or NULL */
	char *here;	  /* --here=HOST */
	char *plugin_dir; /* ours, or NULL */
};

/* A shell may be between us and the host. */
static int is_plain(const char *text)
{
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "abcdefghijklmnopqrstuvwxyz"
				 "0123456789/._-+=:@%")] == '\0';
}

static int split_rsh(struct request *request, const char *rsh,
		     struct tide_err *err)
{
	char *rest, *word;

	request->rsh = rest = strdup(rsh);
	if (!rest)
		return tide_err_set(err, ENOMEM, "out of memory");
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		if (request->n_rsh == MAX_WORDS)
			return tide_err_set(err, EINVAL,
					    "--rsh has too many words");
		request->words[request->n_rsh++] = word;
	}
	return request->n_rsh
		       ? 0
		       : tide_err_set(err, EINVAL, "--rsh has no command");
}

static int prepare(struct request *request, const char *rsh,
		   struct tide_err *err)
{
	const char *conf = getenv("SLURM_CONF");
	ssize_t n = readlink("/proc/self/exe", request->self,
			     sizeof(request->self) - 1);

	if (n < 0)
		return tide_err_set(err, errno, "cannot find out my path: %s",
				    strerror(errno));
	request->self[n] = '\0';
	if (split_rsh(request, rsh, err))
		return -1;
	if (conf && *conf && asprintf(&request->env, "SLURM_CONF=%s", conf) < 0)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!is_plain(request->self) ||
	    (request->env && !is_plain(request->env)))
		return tide_err_set(
			err, EINVAL,
			"the path of tidectl or SLURM_CONF has characters that a remote shell would change");
	return 0;
}

/* "ssh lab01 env SLURM_CONF=... /usr/bin/tidectl check --here=lab01 --json" */
static char **make_argv(const struct request *request, char *host)
{
	char **argv = calloc(request->n_rsh + 8, sizeof(*argv));
	char *here = NULL;
	size_t n = 0;

	if (!argv || asprintf(&here, "--here=%s", host) < 0) {
		free(argv);
		return NULL;
	}
	for (; n < request->n_rsh; n++)
		argv[n] = request->words[n];
	argv[n++] = host;
	if (request->env) {
		argv[n++] = (char *)"env";
		argv[n++] = request->env;
	}
	argv[n++] = (char *)request->self;
	argv[n++] = (char *)"check";
	argv[n++] = (char *)"--json";
	/* last, so that it can be found again */
	argv[n] = here;
	return argv;
}

static void free_argv(char **argv)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	if (n)
		free(argv[n - 1]);
	free(argv);
}

/* The last line that it wrote to stderr; "" when none. */
static char *last_line(char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *line;

	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	line = len ? strrchr(text, '\n') : NULL;
	return line ? line + 1 : len ? text : (char *)"";
}

static void say_unasked(struct tide_findings *findings, const char *host,
			struct fanout_run *run, const struct request *request)
{
	const char *line = last_line(run->err);
	char why[300], what[700], fix[PATH_MAX + 300];

	if (run->timed_out)
		snprintf(why, sizeof(why), "no answer within %d seconds",
			 LIMIT_S);
	else if (*line)
		snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, line);
	else if (run->status >= 0 && WIFEXITED(run->status))
		snprintf(why, sizeof(why), "'%s' ended with status %d",
			 request->words[0], WEXITSTATUS(run->status));
	else
		snprintf(why, sizeof(why), "'%s' gave no answer",
			 request->words[0]);
	snprintf(what, sizeof(what), "the host could not be asked: %s", why);
	snprintf(
		fix, sizeof(fix),
		"make '%s HOST' work without a question, and install %s there; or give tidectl check --here on that host",
		request->words[0], request->self);
	tide_findings_add_of(findings, host, TIDE_LEVEL_ERROR, request->self, 0,
			     what, fix);
}

/* The clock of the host, read at some time between start and end. */
static void check_clock(struct tide_findings *findings, const char *host,
			const struct fanout_run *run, double there)
{
	char what[200];
	double off = 0;

	if (there < run->started)
		off = there - run->started;
	else if (there > run->ended)
		off = there - run->ended;
	if (off <= CLOCK_SLACK_S && off >= -CLOCK_SLACK_S) {
		tide_findings_add_of(findings, host, TIDE_LEVEL_OK, "clock", 0,
				     "its clock agrees with that of this host",
				     NULL);
		return;
	}
	snprintf(
		what, sizeof(what),
		"its clock is %.0f seconds %s that of this host: more than %d are too many for windows, and MUNGE fails at 300",
		off < 0 ? -off : off, off < 0 ? "behind" : "ahead of",
		CLOCK_SLACK_S);
	tide_findings_add_of(findings, host, TIDE_LEVEL_WARNING, "clock", 0,
			     what, "chronyc tracking, here and there");
}

static void check_plugin_dir(struct tide_findings *findings, const char *host,
			     const struct request *request, const char *there)
{
	char *what = NULL;

	if (!there || !request->plugin_dir ||
	    !strcmp(there, request->plugin_dir))
		return;
	if (asprintf(&what, "PluginDir is %s there, and %s on this host", there,
		     request->plugin_dir) < 0)
		findings->lost = 1;
	else
		tide_findings_add_of(findings, host, TIDE_LEVEL_WARNING,
				     "slurm.conf", 0, what,
				     "give all hosts the same slurm.conf");
	free(what);
}

static enum tide_level level_of(const char *name)
{
	for (int i = TIDE_LEVEL_OK; name && i <= TIDE_LEVEL_ERROR; i++)
		if (!strcmp(name, tide_level_name((enum tide_level)i)))
			return (enum tide_level)i;
	return TIDE_LEVEL_ERROR;
}

/* What the host said is looked at, and not believed to have any form. */
static int read_answer(struct tide_findings *findings, const char *host,
		       const struct request *request,
		       const struct fanout_run *run)
{
	json_t *answer = run->out ? json_loads(run->out, 0, NULL) : NULL;
	json_t *list = json_object_get(answer, "findings"), *one;
	json_t *there = json_object_get(answer, "time");
	size_t i;

	if (!json_is_array(list) || !json_is_number(there)) {
		json_decref(answer);
		return -1;
	}
	json_array_foreach(list, i, one)
	{
		const char *level, *file, *what;
		int line, bad;

		bad = json_unpack(one, "{s:s,s:s,s:i,s:s}", "level", &level,
				  "file", &file, "line", &line, "what", &what);
		if (!bad)
			tide_findings_add_of(
				findings, host, level_of(level), file, line,
				what,
				json_string_value(json_object_get(one, "fix")));
	}
	check_clock(findings, host, run, json_number_value(there));
	check_plugin_dir(
		findings, host, request,
		json_string_value(json_object_get(answer, "plugin_dir")));
	json_decref(answer);
	return 0;
}

static int list_hosts(const char *dir, const char *list,
		      struct request *request, struct tide_names *hosts,
		      struct tide_err *err)
{
	struct tide_problems problems = {0};
	struct tide_slurm *slurm = NULL;
	const char *plugin_dir;
	char *path = NULL;
	int rc = 0;

	if (asprintf(&path, "%s/slurm.conf", dir) < 0)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!tide_slurm_load(path, &slurm, &problems, list ? NULL : err)) {
		plugin_dir = tide_slurm_get(slurm, "PluginDir", NULL);
		request->plugin_dir = plugin_dir ? strdup(plugin_dir) : NULL;
	} else if (!list) {
		rc = tide_err_prefix(err, "%s", path);
	}
	if (list) {
		rc = tide_hostlist_expand(list, MAX_HOSTS, hosts, err);
		if (rc)
			tide_err_prefix(err, "--nodes=%s", list);
	} else if (!rc && tide_slurm_nodes(slurm, hosts)) {
		rc = tide_err_set(err, ENOMEM, "out of memory");
	}
	if (!rc && !hosts->count)
		rc = tide_err_set(err, ENOENT, "%s names no nodes", path);
	tide_problems_release(&problems);
	tide_slurm_destroy(slurm);
	free(path);
	return rc;
}

static int ask_all(struct tide_findings *findings,
		   const struct request *request,
		   const struct tide_names *hosts, struct tide_err *err)
{
	struct fanout_run *run = calloc(hosts->count + 1, sizeof(*run));
	int rc = 0;

	for (size_t i = 0; run && i < hosts->count; i++) {
		/* A host must not be taken for an option of rsh. */
		if (*hosts->name[i] == '-')
			rc = tide_err_set(err, EINVAL, "'%s' is no host",
					  hosts->name[i]);
		run[i].argv = make_argv(request, hosts->name[i]);
		if (!run[i].argv)
			rc = tide_err_set(err, ENOMEM, "out of memory");
	}
	if (!run)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (!rc)
		fanout_run_all(run, hosts->count, LIMIT_S);
	for (size_t i = 0; !rc && i < hosts->count; i++)
		if (run[i].timed_out ||
		    read_answer(findings, hosts->name[i], request, &run[i]))
			say_unasked(findings, hosts->name[i], &run[i], request);
	fanout_release(run, hosts->count);
	for (size_t i = 0; i < hosts->count; i++)
		free_argv(run[i].argv);
	free(run);
	return rc;
}

int check_nodes(const char *dir, const char *list, const char *rsh,
		struct tide_findings *findings, struct tide_err *err)
{
	struct request *request = calloc(1, sizeof(*request));
	struct tide_names hosts = {0};
	int rc;

	if (!request)
		return tide_err_set(err, ENOMEM, "out of memory");
	rc = prepare(request, rsh, err);
	if (!rc)
		rc = list_hosts(dir, list, request, &hosts, err);
	if (!rc)
		rc = ask_all(findings, request, &hosts, err);
	if (!rc)
		tide_findings_fold(findings);
	tide_names_release(&hosts);
	free(request->rsh);
	free(request->env);
	free(request->plugin_dir);
	free(request);
	return rc;
}
