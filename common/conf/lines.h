/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The syntax of Slurm's configuration files (slurm.conf(5)), without any
 * meaning: physical lines become records, records become Key=Value pairs.
 *
 * A '#' that no '\' precedes begins a comment; a '\' at the end of a line
 * continues it; "Include FILE" stands for the lines of that file, relative to
 * the folder of the file that says it; a value may be in "double quotes".
 *
 * No locks: an object belongs to one thread at a time.
 */
#ifndef TIDE_CONF_LINES_H
#define TIDE_CONF_LINES_H

#include <stddef.h>

#include "common/conf/problems.h"

/* A record; its text is never empty and has no blanks around it. */
struct tide_conf_line {
	const char *file;
	int line; /* where it begins, from 1 */
	char *text;
};

/* Starts as {0}; ended by tide_lines_release(). */
struct tide_lines {
	struct tide_conf_line *line;
	size_t count;
	char **file; /* names of all files that were read */
	size_t n_files;
};

/*
 * The records of a file and of those it includes.  What cannot be read below
 * the first file becomes a problem, and reading goes on.  Returns 0, also with
 * problems, or -1 with errno and the error text, which does not name the file,
 * when the file itself cannot be read (errno of open(2) or read(2)) or is no
 * text (EINVAL), or ENOMEM.
 */
int tide_lines_load(const char *path, struct tide_lines *lines,
		    struct tide_problems *problems, struct tide_err *err);

/* The records of a text in memory, in which Include is a problem. */
int tide_lines_parse(const char *text, const char *name,
		     struct tide_lines *lines, struct tide_problems *problems,
		     struct tide_err *err);

void tide_lines_release(struct tide_lines *lines);

/*
 * Take the next pair off a record, whose text it changes: *cursor begins as
 * the text and moves on.  Returns 1 with a pair, 0 at the end, or -1 when
 * there is no Key=Value; *ret_key is then the rest of the record, and *cursor
 * its end.
 */
int tide_pair_next(char **cursor, char **ret_key, char **ret_value);

#endif /* TIDE_CONF_LINES_H */
