/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error text that every fallible function of common/ fills in.
 *
 * A function that can fail takes a struct tide_err * last and returns 0, or -1
 * with errno set and the text written.  It does not log.  The pointer may be
 * NULL: the text is then not wanted.  Texts are lower case, say what was
 * attempted, on what, and why it failed.  They are one line of UTF-8, whatever
 * they repeat of a file or a request.
 *
 * Threads: no state; an object belongs to one thread at a time.
 */
#ifndef TIDE_UTIL_ERR_H
#define TIDE_UTIL_ERR_H

struct tide_err {
	char text[512];
};

/*
 * Write the text (cut at the size of the buffer) and set errno to errnum.
 * Always returns -1, so that `return tide_err_set(err, EINVAL, ...)` is all
 * that a failing function needs.
 */
int tide_err_set(struct tide_err *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Put "what: " in front of the text that is there, keeping errno.  Always
 * returns -1.
 */
int tide_err_prefix(struct tide_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Make a text one line of UTF-8: every control character, and every byte that
 * is of no character, becomes a '?'.
 */
void tide_err_clean(char *text);

#endif
