/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and completes requests for devices.  Knows no node and no price.
 */
#include "config.h"

#include "common/credit/gres.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/parse.h"

/* One word of a request; the parts point into the word. */
struct word {
	const char *prefix; /* "gres:", "gres/" or "" */
	char *name;
	char *type;  /* or NULL */
	char *count; /* or NULL: one */
	/* What stood before them, ':' or '='; a type filled in gets ':'. */
	char before_type, before_count;
};

static int is_count(const char *text)
{
	return tide_parse_is_count(text, strlen(text));
}

static int split(char *text, struct word *ret)
{
	struct word w = {.prefix = "", .name = text, .before_type = ':'};
	char *rest, sep;

	if (!strncmp(text, "gres:", 5) || !strncmp(text, "gres/", 5)) {
		w.prefix = text[4] == ':' ? "gres:" : "gres/";
		w.name = text + 5;
	}
	/* Newer commands write gres/mlu:mlu290=2. */
	rest = strpbrk(w.name, ":=");
	if (rest) {
		sep = *rest;
		*rest++ = '\0';
		if (!is_count(rest)) {
			w.type = rest;
			w.before_type = sep;
			rest = strpbrk(rest, ":=");
			if (rest) {
				sep = *rest;
				*rest++ = '\0';
			}
		}
		w.count = rest;
		w.before_count = sep;
	}
	if (!*w.name || (w.type && !*w.type) ||
	    (w.count && !is_count(w.count))) {
		errno = EINVAL;
		return -1;
	}
	*ret = w;
	return 0;
}

/* The one type of that name, "" when there is none; NULL when several. */
static const char *only_type(const char *name, const char *const *priced,
			     size_t n, struct tide_err *err)
{
	size_t i, len = strlen(name);
	const char *type = "";

	for (i = 0; i < n; i++) {
		if (strncmp(priced[i], name, len) || priced[i][len] != ':')
			continue;
		if (*type) {
			tide_err_set(
				err, EINVAL,
				"say which '%s' is meant, as they cost different credits: %s:%s or %s",
				name, name, type, priced[i]);
			return NULL;
		}
		type = priced[i] + len + 1;
	}
	return type;
}

static int has_price(const struct word *w, const char *const *priced, size_t n)
{
	size_t i, len = strlen(w->name);

	for (i = 0; w->type && i < n; i++)
		if (!strncmp(priced[i], w->name, len) &&
		    priced[i][len] == ':' &&
		    !strcmp(priced[i] + len + 1, w->type))
			return 1;
	return 0;
}

/* One word to out; 1 when its type was filled in. */
static int resolve(char *text, const char *const *priced, size_t n, FILE *out,
		   long *priced_count, struct tide_err *err)
{
	const char *type;
	struct word w;
	int filled = 0;

	if (split(text, &w))
		return tide_err_set(err, EINVAL,
				    "'%s' is no request for a device", text);
	if (!w.type) {
		type = only_type(w.name, priced, n, err);
		if (!type)
			return -1;
		if (*type) {
			w.type = (char *)type;
			filled = 1;
		}
	}
	/* The count is the user's: as many as fit. */
	if (has_price(&w, priced, n) &&
	    __builtin_add_overflow(*priced_count,
				   w.count ? strtol(w.count, NULL, 10) : 1,
				   priced_count))
		*priced_count = LONG_MAX;
	fprintf(out, "%s%s", w.prefix, w.name);
	if (w.type)
		fprintf(out, "%c%s", w.before_type, w.type);
	if (w.count)
		fprintf(out, "%c%s", w.before_count, w.count);
	return filled;
}

int tide_gres_resolve(const char *text, const char *const *priced, size_t n,
		      char **ret_text, long *ret_priced, struct tide_err *err)
{
	char *copy = strdup(text), *result = NULL, *word, *save = NULL;
	int filled = 0, first = 1, rc = 0;
	long count = 0;
	size_t size = 0;
	FILE *out;

	out = copy ? open_memstream(&result, &size) : NULL;
	if (!out) {
		free(copy);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	for (word = strtok_r(copy, ",", &save); word && rc >= 0;
	     word = strtok_r(NULL, ",", &save)) {
		if (!first)
			fputc(',', out);
		first = 0;
		rc = resolve(word, priced, n, out, &count, err);
		filled |= rc > 0;
	}
	free(copy);
	if (fclose(out) && rc >= 0)
		rc = tide_err_set(err, ENOMEM, "out of memory");
	if (rc < 0 || !filled) {
		free(result);
		result = NULL;
	}
	if (rc < 0)
		return -1;
	*ret_text = result;
	if (__builtin_add_overflow(*ret_priced, count, ret_priced))
		*ret_priced = LONG_MAX;
	return 0;
}
