/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of what a check found. */
#include "config.h"

#include "common/site/findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/err.h"
#include "common/util/hostlist.h"

void tide_findings_add(struct tide_findings *findings, enum tide_level level,
		       const char *file, int line, const char *what,
		       const char *fix)
{
	struct tide_finding *more = realloc(
		findings->finding, (findings->count + 1) * sizeof(*more));
	struct tide_finding *new;

	if (!more) {
		findings->lost = 1;
		return;
	}
	findings->finding = more;
	new = &more[findings->count];
	*new = (struct tide_finding){
		.level = level,
		.file = strdup(file),
		.line = line,
		.what = strdup(what),
		.fix = fix ? strdup(fix) : NULL,
	};
	if (new->file &&new->what && (new->fix || !fix)) {
		tide_err_clean(new->what);
		findings->count++;
		return;
	}
	free(new->file);
	free(new->what);
	free(new->fix);
	findings->lost = 1;
}

void tide_findings_add_of(struct tide_findings *findings, const char *host,
			  enum tide_level level, const char *file, int line,
			  const char *what, const char *fix)
{
	size_t count = findings->count;
	struct tide_finding *new;

	tide_findings_add(findings, level, file, line, what, fix);
	if (findings->count == count)
		return;
	new = &findings->finding[count];
	new->host = strdup(host);
	if (!new->host)
		findings->lost = 1;
	else
		tide_err_clean(new->host);
}

static int text_cmp(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* All but the host. */
static int say_cmp(const struct tide_finding *x, const struct tide_finding *y)
{
	int order = text_cmp(x->file, y->file);

	if (!order)
		order = x->line - y->line;
	if (!order)
		order = text_cmp(x->what, y->what);
	if (!order)
		order = text_cmp(x->fix, y->fix);
	return order ? order : (int)x->level - (int)y->level;
}

static int finding_cmp(const void *a, const void *b)
{
	const struct tide_finding *x = a, *y = b;
	int order = say_cmp(x, y);

	return order ? order
		     : tide_hostname_cmp(x->host ? x->host : "",
					 y->host ? y->host : "");
}

static void release(struct tide_finding *finding)
{
	free(finding->host);
	free(finding->file);
	free(finding->what);
	free(finding->fix);
}

/* n findings that say the same; the first stays. */
static void fold(struct tide_findings *findings, struct tide_finding *first,
		 size_t n, const char **hosts)
{
	char *host;

	for (size_t i = 0; i < n; i++)
		hosts[i] = first[i].host ? first[i].host : "";
	host = tide_hostlist_fold(hosts, n);
	if (host) {
		free(first->host);
		first->host = host;
	} else {
		findings->lost = 1;
	}
	for (size_t i = 1; i < n; i++)
		release(&first[i]);
}

void tide_findings_fold(struct tide_findings *findings)
{
	const char **hosts = calloc(findings->count + 1, sizeof(*hosts));
	struct tide_finding *all = findings->finding;
	size_t i, n, kept = 0;

	if (!hosts || !findings->count) {
		findings->lost |= !hosts;
		free(hosts);
		return;
	}
	qsort(all, findings->count, sizeof(*all), finding_cmp);
	for (i = 0; i < findings->count; i += n) {
		for (n = 1;
		     i + n < findings->count && !say_cmp(&all[i], &all[i + n]);
		     n++)
			;
		if (n > 1)
			fold(findings, &all[i], n, hosts);
		all[kept++] = all[i];
	}
	findings->count = kept;
	free(hosts);
}

enum tide_level tide_findings_worst(const struct tide_findings *findings)
{
	enum tide_level worst = TIDE_LEVEL_OK;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->finding[i].level > worst)
			worst = findings->finding[i].level;
	return worst;
}

const char *tide_level_name(enum tide_level level)
{
	static const char *const names[] = {
		[TIDE_LEVEL_OK] = "ok",
		[TIDE_LEVEL_WARNING] = "warning",
		[TIDE_LEVEL_ERROR] = "error",
	};

	return names[level];
}

void tide_findings_release(struct tide_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		release(&findings->finding[i]);
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}
