/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a counted noun in a message: "1 rank", "2 ranks".  In a header
 * alone; nouns that do not just take an s have to say theirs.
 */
#ifndef TIDE_UTIL_PLURAL_H
#define TIDE_UTIL_PLURAL_H

static inline const char *tide_plural(long long n)
{
	return n == 1 ? "" : "s";
}

#endif
