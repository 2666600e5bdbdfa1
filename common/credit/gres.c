/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and completes requests for devices.  Knows nodes and prices as it is
 * told of them.
 */
#include "config.h"

#include "common/credit/gres.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/gres.h"
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

/* The most of a node, and whether some have the name at all. */
static int64_t most(const struct tide_gres *wanted, const char *const *have,
		    size_t n, bool *ret_named)
{
	struct tide_gres name = *wanted, gres;
	int64_t best = 0;

	name.type_len = 0;
	*ret_named = false;
	for (size_t i = 0; i < n; i++) {
		const char *list = have[i];
		int64_t count = 0;

		while (tide_gres_next(&list, &gres)) {
			*ret_named |= tide_gres_is(&gres, &name);
			if (tide_gres_is(&gres, wanted) &&
			    __builtin_add_overflow(count, gres.count, &count))
				count = INT64_MAX;
		}
		best = count > best ? count : best;
	}
	return best;
}

/* Is it in text already, as a whole word? */
static bool listed(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ') &&
		    (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* "mlu:mlu290, mlu:mlu370": what nodes have of that name, or all; up to ten. */
static int write_types(FILE *out, const struct tide_gres *wanted,
		       const char *const *have, size_t n)
{
	char *text = strdup("");
	struct tide_gres gres;
	int count = 0;

	for (size_t i = 0; text && i < n; i++) {
		const char *list = have[i];

		while (text && count < 10 && tide_gres_next(&list, &gres)) {
			char word[160], *more = NULL;

			snprintf(word, sizeof(word), "%.*s%s%.*s",
				 (int)gres.name_len, gres.name,
				 gres.type_len ? ":" : "", (int)gres.type_len,
				 gres.type);
			if ((wanted && !tide_gres_is(&gres, wanted)) ||
			    listed(text, word))
				continue;
			if (asprintf(&more, "%s%s%s", text, count++ ? ", " : "",
				     word) < 0)
				more = NULL;
			free(text);
			text = more;
		}
	}
	fputs(text && *text ? text : "none", out);
	free(text);
	return text ? 0 : -1;
}

/* 1 when something was written; -1 without memory. */
static int write_lack(FILE *out, const struct word *w, const char *const *have,
		      size_t n, bool whole)
{
	struct tide_gres wanted = {.name = w->name,
				   .name_len = strlen(w->name),
				   .type = w->type ? w->type : "",
				   .type_len = w->type ? strlen(w->type) : 0};
	struct tide_gres asked = {.count = 1};
	bool named;
	int64_t max = most(&wanted, have, n, &named);
	char count[40];
	const char *counted = count;

	snprintf(count, sizeof(count), "n:%s", w->count ? w->count : "1");
	tide_gres_next(&counted, &asked);
	if (!asked.count || (max && (whole || asked.count <= max)))
		return 0;
	fprintf(out, "%s%s%s", w->name, w->type ? ":" : "",
		w->type ? w->type : "");
	if (max) {
		fprintf(out, ":%s: a node has %lld at most", w->count,
			(long long)max);
		return 1;
	}
	fputs(": there are ", out);
	wanted.type_len = 0;
	return write_types(out, named ? &wanted : NULL, have, n) ? -1 : 1;
}

int tide_gres_lacks(const char *text, const char *const *have, size_t n,
		    bool whole, char **ret_why)
{
	char *copy = strdup(text), *result = NULL, *word, *save = NULL;
	size_t size = 0;
	FILE *out = copy ? open_memstream(&result, &size) : NULL;
	struct word w;
	int rc = out ? 0 : -1;

	for (word = out ? strtok_r(copy, ",", &save) : NULL; word && !rc;
	     word = strtok_r(NULL, ",", &save))
		if (!split(word, &w))
			rc = write_lack(out, &w, have, n, whole);
	free(copy);
	if (out && fclose(out))
		rc = -1;
	if (rc != 1) {
		free(result);
		result = NULL;
	}
	if (rc < 0) {
		errno = ENOMEM;
		return -1;
	}
	*ret_why = result;
	return 0;
}
