/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tidectl and tide-devices both need of tidectl.h; no library but libc. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/tidectl/tidectl.h"

int tidectl_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("tidectl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return TIDECTL_FAILED;
}

char *tidectl_slurm_file(const char *name)
{
	const char *conf = getenv("SLURM_CONF");
	const char *slash = conf ? strrchr(conf, '/') : NULL;
	char *path = NULL;
	int rc;

	if (slash)
		rc = asprintf(&path, "%.*s/%s", (int)(slash - conf), conf,
			      name);
	else
		rc = asprintf(&path, "%s/%s",
			      conf && *conf ? "." : "/etc/slurm", name);
	return rc < 0 ? NULL : path;
}
