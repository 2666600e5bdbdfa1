/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a check of a site's configuration found, good and bad: what `tidectl
 * check` prints.  No locks: a list belongs to one thread at a time.
 */
#ifndef TIDE_SITE_FINDINGS_H
#define TIDE_SITE_FINDINGS_H

#include <stddef.h>

enum tide_level {
	TIDE_LEVEL_OK,
	TIDE_LEVEL_WARNING, /* works, but not as somebody may expect */
	TIDE_LEVEL_ERROR,   /* a rule of TideFlow cannot hold like this */
};

struct tide_finding {
	enum tide_level level;
	char *host; /* or hosts, "lab[01-05]"; NULL: this one */
	char *file;
	int line;   /* 0: the file as a whole */
	char *what; /* one line */
	char *fix;  /* what to write where; NULL when all is well */
};

/* Starts as {0}; ended by tide_findings_release(). */
struct tide_findings {
	struct tide_finding *finding;
	size_t count;
	int lost; /* memory ran out: there are more than these */
};

/* Add one; file, what and fix are copied.  fix may be NULL. */
void tide_findings_add(struct tide_findings *findings, enum tide_level level,
		       const char *file, int line, const char *what,
		       const char *fix);

/* The same of another host; the host is copied. */
void tide_findings_add_of(struct tide_findings *findings, const char *host,
			  enum tide_level level, const char *file, int line,
			  const char *what, const char *fix);

/*
 * Make one of those that differ by host alone, with a list of the hosts, in the
 * order of what they say.
 */
void tide_findings_fold(struct tide_findings *findings);

/* The worst level there is; TIDE_LEVEL_OK for none. */
enum tide_level tide_findings_worst(const struct tide_findings *findings);

/* "ok", "warning", "error" */
const char *tide_level_name(enum tide_level level);

void tide_findings_release(struct tide_findings *findings);

#endif /* TIDE_SITE_FINDINGS_H */
