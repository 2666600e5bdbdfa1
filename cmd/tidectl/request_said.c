/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm's library writes to standard error while it is asked about one
 * type after another, as what job_submit says: each line once, when all are
 * asked.  Changes no line.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tidectl/request.h"

static int real = -1, kept = -1;

void request_said_start(void)
{
	static int registered;

	/* where the library ends the process, it said why */
	if (!registered && atexit(request_said_end))
		return;
	registered = 1;
	kept = memfd_create("said", MFD_CLOEXEC);
	real = kept < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (real >= 0) {
		fflush(stderr);
		dup2(kept, STDERR_FILENO);
	} else if (kept >= 0) {
		close(kept);
	}
}

/* All that was written; NULL when memory is out. */
static char *take(void)
{
	struct stat st;
	char *text;
	ssize_t got;

	if (fstat(kept, &st))
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return NULL;
	got = pread(kept, text, (size_t)st.st_size, 0);
	text[got < 0 ? 0 : got] = '\0';
	return text;
}

static int was_said(const char *text, const char *line, size_t len)
{
	while (text < line) {
		size_t other = strcspn(text, "\n");

		if (other == len && !memcmp(text, line, len))
			return 1;
		text += other + 1;
	}
	return 0;
}

void request_said_end(void)
{
	char *text;

	if (real < 0)
		return;
	fflush(stderr);
	dup2(real, STDERR_FILENO);
	close(real);
	real = -1;
	text = take();
	if (!text)
		tidectl_fail("out of memory");
	for (const char *line = text; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (!was_said(text, line, len))
			fprintf(stderr, "%.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
	free(text);
	close(kept);
}
