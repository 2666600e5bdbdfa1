/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node lists in Slurm's notation, written out and folded back.  Knows no
 * nodesets.
 */
#include "config.h"

#include "common/util/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/err.h"

enum {
	NAME_SIZE = 64,	   /* HOST_NAME_MAX, as Slurm has it */
	NUMBER_DIGITS = 9, /* in a range */
};

struct expansion {
	struct tide_names names;
	size_t room;
	size_t max;
	struct tide_err *err;
};

void tide_names_release(struct tide_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	names->name = NULL;
	names->count = 0;
}

static int name_char(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static int add_name(struct expansion *x, const char *name)
{
	if (!*name)
		return tide_err_set(x->err, EINVAL, "an empty node name");
	if (x->names.count == x->max)
		return tide_err_set(x->err, E2BIG, "more than %zu nodes",
				    x->max);
	if (x->names.count == x->room) {
		size_t room = x->room ? 2 * x->room : 16;
		char **more = realloc(x->names.name, room * sizeof(*more));

		if (!more)
			return tide_err_set(x->err, ENOMEM, "out of memory");
		x->names.name = more;
		x->room = room;
	}
	x->names.name[x->names.count] = strdup(name);
	if (!x->names.name[x->names.count])
		return tide_err_set(x->err, ENOMEM, "out of memory");
	x->names.count++;
	return 0;
}

static int expand(struct expansion *x, const char *done, const char *rest,
		  size_t len);

/* "01" of a range: its value and written width; *text moves behind. */
static int range_number(const char **text, uint32_t *ret_value, int *ret_width)
{
	uint32_t value = 0;
	int width = 0;

	for (; isdigit((unsigned char)**text); (*text)++) {
		if (++width > NUMBER_DIGITS)
			return -1;
		value = value * 10 + (uint32_t)(**text - '0');
	}
	if (!width)
		return -1;
	*ret_value = value;
	*ret_width = width;
	return 0;
}

/* One item of a bracket, "3" or "01-05", each value followed by the rest. */
static int expand_range(struct expansion *x, const char *done,
			const char **text, const char *rest, size_t len)
{
	uint32_t low, high;
	int width, high_width;
	char name[NAME_SIZE];

	if (range_number(text, &low, &width))
		return tide_err_set(x->err, EINVAL,
				    "a number is wanted in the brackets");
	high = low;
	if (**text == '-') {
		(*text)++;
		if (range_number(text, &high, &high_width))
			return tide_err_set(x->err, EINVAL,
					    "a number is wanted behind '-'");
	}
	if (high < low)
		return tide_err_set(x->err, EINVAL, "range %u-%u runs down",
				    low, high);
	for (uint64_t i = low; i <= high; i++) {
		int n = snprintf(name, sizeof(name), "%s%0*u", done, width,
				 (uint32_t)i);

		if (n < 0 || (size_t)n >= sizeof(name))
			return tide_err_set(x->err, EINVAL,
					    "a node name is too long");
		if (expand(x, name, rest, len))
			return -1;
	}
	return 0;
}

static int expand_bracket(struct expansion *x, const char *done,
			  const char *open, size_t len)
{
	const char *end = memchr(open, ']', len);
	const char *item = open + 1;

	if (!end)
		return tide_err_set(x->err, EINVAL, "']' is missing");
	for (;;) {
		if (expand_range(x, done, &item, end + 1,
				 len - (size_t)(end + 1 - open)))
			return -1;
		if (item == end)
			return 0;
		if (*item++ != ',')
			return tide_err_set(
				x->err, EINVAL,
				"only numbers, '-' and ',' go into brackets");
	}
}

/* All names that begin with done and go on as the first len bytes of rest. */
static int expand(struct expansion *x, const char *done, const char *rest,
		  size_t len)
{
	char name[NAME_SIZE];
	size_t n = 0, have = strlen(done);

	while (n < len && name_char(rest[n]))
		n++;
	if (have + n >= sizeof(name))
		return tide_err_set(x->err, EINVAL, "a node name is too long");
	memcpy(name, done, have);
	memcpy(name + have, rest, n);
	name[have + n] = '\0';
	if (n == len)
		return add_name(x, name);
	if (rest[n] == '[')
		return expand_bracket(x, name, rest + n, len - n);
	if (isprint((unsigned char)rest[n]))
		return tide_err_set(x->err, EINVAL,
				    "'%c' does not belong in a node list",
				    rest[n]);
	return tide_err_set(x->err, EINVAL,
			    "byte 0x%02x does not belong in a node list",
			    (unsigned int)(unsigned char)rest[n]);
}

/* Length up to the next comma that is outside brackets. */
static size_t item_length(const char *text)
{
	int depth = 0;
	size_t n;

	for (n = 0; text[n] && (depth || text[n] != ','); n++) {
		if (text[n] == '[')
			depth = 1;
		else if (text[n] == ']')
			depth = 0;
	}
	return n;
}

int tide_hostlist_expand(const char *text, size_t max,
			 struct tide_names *ret_names, struct tide_err *err)
{
	struct expansion x = {.max = max, .err = err};
	int saved;

	for (;;) {
		size_t len = item_length(text);

		if (expand(&x, "", text, len))
			goto fail;
		if (!text[len])
			break;
		text += len + 1;
	}
	*ret_names = x.names;
	return 0;
fail:
	saved = errno;
	tide_names_release(&x.names);
	errno = saved;
	return -1;
}

int tide_hostname_cmp(const char *a, const char *b)
{
	int order = strverscmp(a, b);

	return order ? order : strcmp(a, b);
}

static int names_cmp(const void *a, const void *b)
{
	return tide_hostname_cmp(*(const char *const *)a,
				 *(const char *const *)b);
}

/* Where the digits at the end of a name begin (at most NUMBER_DIGITS). */
static size_t number_at(const char *name)
{
	size_t len = strlen(name), at = len;

	while (at && isdigit((unsigned char)name[at - 1]) &&
	       len - at < NUMBER_DIGITS)
		at--;
	return at;
}

/* "09", but not "0" */
static int padded(const char *number)
{
	return number[0] == '0' && number[1];
}

/* Can the two be written in one bracket: 9 and 10 can, 09 and 9 cannot. */
static int same_family(const char *a, const char *b)
{
	size_t at = number_at(a);

	if (number_at(b) != at || !a[at] || !b[at] || memcmp(a, b, at))
		return 0;
	return strlen(a) == strlen(b) || (!padded(a + at) && !padded(b + at));
}

static void write_family(FILE *out, const char **names, size_t count)
{
	size_t at = number_at(names[0]);

	if (count == 1) {
		fputs(names[0], out);
		return;
	}
	fprintf(out, "%.*s[", (int)at, names[0]);
	for (size_t i = 0; i < count;) {
		long low = strtol(names[i] + at, NULL, 10);
		size_t run = 1;

		while (i + run < count &&
		       strtol(names[i + run] + at, NULL, 10) ==
			       low + (long)run &&
		       (!padded(names[i] + at) ||
			strlen(names[i]) == strlen(names[i + run])))
			run++;
		fprintf(out, "%s%s", i ? "," : "", names[i] + at);
		if (run > 1)
			fprintf(out, "-%s", names[i + run - 1] + at);
		i += run;
	}
	fputc(']', out);
}

char *tide_hostlist_fold(const char *const *names, size_t count)
{
	const char **sorted = malloc((count + 1) * sizeof(*sorted));
	char *text = NULL;
	size_t size, kept = 0;
	FILE *out;

	if (!sorted)
		return NULL;
	memcpy(sorted, names, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), names_cmp);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(sorted[kept - 1], sorted[i]))
			sorted[kept++] = sorted[i];
	out = open_memstream(&text, &size);
	if (!out)
		goto end;
	for (size_t i = 0; i < kept;) {
		size_t family = 1;

		while (i + family < kept &&
		       same_family(sorted[i], sorted[i + family]))
			family++;
		fputs(i ? "," : "", out);
		write_family(out, sorted + i, family);
		i += family;
	}
	if (fclose(out)) {
		free(text);
		text = NULL;
	}
end:
	free(sorted);
	return text;
}
