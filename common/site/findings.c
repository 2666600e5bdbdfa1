/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of what a check found. */
#include "config.h"

#include "common/site/findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/err.h"

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
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->finding[i].file);
		free(findings->finding[i].what);
		free(findings->finding[i].fix);
	}
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}
