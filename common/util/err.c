/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error texts: formats them into the caller's buffer.  Does not log, does not
 * allocate.
 */
#include "config.h"

#include "common/util/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tide_err_set(struct tide_err *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	errno = errnum;
	return -1;
}

int tide_err_prefix(struct tide_err *err, const char *fmt, ...)
{
	int saved = errno;
	struct tide_err old;
	va_list ap;
	size_t len;

	if (err) {
		memcpy(&old, err, sizeof(old));
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		len = strlen(err->text);
		snprintf(err->text + len, sizeof(err->text) - len, ": %s",
			 old.text);
	}
	errno = saved;
	return -1;
}
