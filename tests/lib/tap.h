/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least of TAP that our C tests need: ok(), is_int(), is_str(), skip() and
 * the plan at the end, and what ends a test's folder.  Header only; one test
 * program includes it once.
 */
#ifndef TIDE_TESTS_TAP_H
#define TIDE_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count;
static int tap_failed;

/* One result line; the name is a format.  Returns pass. */
__attribute__((format(printf, 2, 3), unused)) static int
ok(int pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	if (!pass)
		tap_failed++;
	return pass;
}

__attribute__((unused)) static int is_int(int64_t got, int64_t want,
					  const char *name)
{
	if (!ok(got == want, "%s", name)) {
		printf("# got %" PRId64 ", wanted %" PRId64 "\n", got, want);
		return 0;
	}
	return 1;
}

__attribute__((unused)) static int is_str(const char *got, const char *want,
					  const char *name)
{
	int same = got && want ? !strcmp(got, want) : got == want;

	if (!ok(same, "%s", name))
		printf("# got '%s'\n# wanted '%s'\n", got ? got : "(null)",
		       want ? want : "(null)");
	return same;
}

/* The folder of mkdtemp() that a test worked in, with all that is in it. */
__attribute__((unused)) static void tap_remove(const char *folder)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ok(!system(command), "the folder is gone");
}

__attribute__((format(printf, 1, 2), unused)) static void diag(const char *fmt,
							       ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* A result that could not be had, with the reason. */
__attribute__((unused)) static void skip(const char *name, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, name, reason);
	fflush(stdout);
}

/* Call last: prints the plan; the value is main's exit status. */
__attribute__((unused)) static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
