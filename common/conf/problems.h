/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong with a configuration file, all of it: so that one run of
 * `tidectl check` shows every error and not the first.  No locks: a list
 * belongs to one thread at a time.
 */
#ifndef TIDE_CONF_PROBLEMS_H
#define TIDE_CONF_PROBLEMS_H

#include <stddef.h>

struct tide_err;

/* One thing that is wrong; line 0: with the file as a whole. */
struct tide_problem {
	char *file;
	int line;
	char *text; /* "Fee=150: must be from 0 to 100" */
};

/* Starts as {0}; ended by tide_problems_release(). */
struct tide_problems {
	struct tide_problem *problem;
	size_t count;
	int lost; /* memory ran out: there are more than these */
};

/* Add one at the end.  Always returns -1, with errno EINVAL. */
int tide_problems_add(struct tide_problems *problems, const char *file,
		      int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Order by file, in the order of their first problem, and line. */
void tide_problems_sort(struct tide_problems *problems);

/* Write the first one as "FILE:LINE: TEXT" into err.  Always returns -1. */
int tide_problems_first(const struct tide_problems *problems,
			struct tide_err *err);

void tide_problems_release(struct tide_problems *problems);

#endif /* TIDE_CONF_PROBLEMS_H */
