/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error texts: formats them into the caller's buffer.  Does not log, does not
 * allocate.
 */
#include "config.h"

#include "common/util/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at s (RFC 3629); 0: it is none. */
static size_t character(const unsigned char *s)
{
	size_t n = 0;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] < 0xe0)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		n = 4;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than it need be, a surrogate, or past U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void tide_err_clean(char *text)
{
	while (*text) {
		size_t n = character((const unsigned char *)text);

		if (!n || iscntrl((unsigned char)*text))
			*text = '?';
		text += n ? n : 1;
	}
}

int tide_err_set(struct tide_err *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		tide_err_clean(err->text);
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
		tide_err_clean(err->text);
	}
	errno = saved;
	return -1;
}
