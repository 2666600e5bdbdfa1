/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of what is wrong with a configuration file. */
#include "config.h"

#include "common/conf/problems.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/err.h"

static int problems_append(struct tide_problems *problems, const char *file,
			   int line, char *text)
{
	struct tide_problem *more;
	char *name = strdup(file);

	more = realloc(problems->problem,
		       (problems->count + 1) * sizeof(*more));
	if (more)
		problems->problem = more;
	if (!more || !name) {
		free(name);
		return -1;
	}
	more += problems->count++;
	more->file = name;
	more->line = line;
	more->text = text;
	return 0;
}

int tide_problems_add(struct tide_problems *problems, const char *file,
		      int line, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n >= 0)
		tide_err_clean(text);
	if (n < 0) {
		problems->lost = 1;
	} else if (problems_append(problems, file, line, text)) {
		free(text);
		problems->lost = 1;
	}
	errno = EINVAL;
	return -1;
}

/*
 * Insertion sort: the list is short and nearly in order, and the sort must be
 * stable.  Problems of one file move together to where its first one stood.
 */
void tide_problems_sort(struct tide_problems *problems)
{
	struct tide_problem *p = problems->problem;

	for (size_t i = 1; i < problems->count; i++) {
		struct tide_problem moving = p[i];
		size_t place = i;

		for (size_t j = 0; j < i; j++) {
			if (strcmp(p[j].file, moving.file))
				continue;
			place = j;
			if (p[j].line > moving.line)
				break;
			place = j + 1;
		}
		memmove(p + place + 1, p + place, (i - place) * sizeof(*p));
		p[place] = moving;
	}
}

int tide_problems_first(const struct tide_problems *problems,
			struct tide_err *err)
{
	const struct tide_problem *first = problems->problem;

	if (!problems->count)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (first->line)
		return tide_err_set(err, EINVAL, "%s:%d: %s", first->file,
				    first->line, first->text);
	return tide_err_set(err, EINVAL, "%s: %s", first->file, first->text);
}

void tide_problems_release(struct tide_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		free(problems->problem[i].file);
		free(problems->problem[i].text);
	}
	free(problems->problem);
	memset(problems, 0, sizeof(*problems));
}
