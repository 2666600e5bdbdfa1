/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node lists in Slurm's notation, such as lab[01-05,09],cv1 or r[0-1]n[0-3]
 * (slurm.conf(5), NodeName): written out as names, and names folded back.
 *
 * Not here: nodesets, "ALL", regular expressions.
 *
 * No state, no locks; safe from any thread.
 */
#ifndef TIDE_UTIL_HOSTLIST_H
#define TIDE_UTIL_HOSTLIST_H

#include <stddef.h>

struct tide_err;

/* Names in the order they were written; freed by tide_names_release(). */
struct tide_names {
	char **name;
	size_t count;
};

/*
 * Write out a node list of at most max names.  A leading zero keeps its width:
 * [08-10] is 08, 09, 10.  Returns 0, or -1 with errno and the error text:
 *	EINVAL	brackets, ranges or characters that no node list has
 *	E2BIG	more than max names
 *	ENOMEM
 */
int tide_hostlist_expand(const char *text, size_t max,
			 struct tide_names *ret_names, struct tide_err *err);

/*
 * The shortest usual notation of the names, which need not be sorted; a name
 * given twice is written once.  Only the last number of a name is folded.
 * Returns a string that the caller frees, or NULL with ENOMEM.
 */
char *tide_hostlist_fold(const char *const *names, size_t count);

/* Order of names as people count: lab9 before lab10. */
int tide_hostname_cmp(const char *a, const char *b);

void tide_names_release(struct tide_names *names);

#endif /* TIDE_UTIL_HOSTLIST_H */
