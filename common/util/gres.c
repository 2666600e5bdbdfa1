/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of what nodes have: see gres.h.  Requests are common/credit/gres.c's.
 */
#include "config.h"

#include "common/util/gres.h"

#include <string.h>
#include <strings.h>

#include "common/util/parse.h"

/* The end of an item: lists of indexes have commas too. */
static const char *item_end(const char *text)
{
	int depth = 0;

	for (; *text && (*text != ',' || depth); text++)
		depth += (*text == '(') - (*text == ')');
	return text;
}

/* Of a count that tide_parse_is_count() takes; what is too large is most. */
static int64_t count_of(const char *text, size_t len)
{
	static const char suffixes[] = "kmgtp";
	int64_t value = 0;

	for (; len && *text >= '0' && *text <= '9'; text++, len--)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return INT64_MAX;
	for (const char *s = suffixes; len && *s; s++) {
		if (__builtin_mul_overflow(value, 1024, &value))
			return INT64_MAX;
		if (*s == (*text | 0x20))
			break;
	}
	return value;
}

static bool is_word(const char *word, size_t len, const char *is)
{
	return len == strlen(is) && !strncmp(word, is, len);
}

/* The words behind the name; "(null)" stands for no type. */
static bool read_words(const char *word, const char *end,
		       struct tide_gres *gres)
{
	while (word < end) {
		size_t len = *word == '(' ? strcspn(word, ")") + 1
					  : strcspn(word, ":,(");
		bool last = word + len >= end || word[len] != ':';

		if (last && tide_parse_is_count(word, len)) {
			gres->count = count_of(word, len);
			return true;
		}
		if (!len || (*word == '(' && !is_word(word, len, "(null)")))
			return false;
		if (*word != '(' && !is_word(word, len, "no_consume")) {
			/* one type, and behind it nothing but a count */
			if (gres->type_len)
				return false;
			gres->type = word;
			gres->type_len = len;
		}
		if (last)
			return true;
		word += len + 1;
	}
	return false;
}

bool tide_gres_next(const char **cursor, struct tide_gres *ret_gres)
{
	while (*cursor && **cursor) {
		const char *text = *cursor, *end = item_end(text);
		struct tide_gres gres = {.name = text, .type = "", .count = 1};

		*cursor = end + (*end == ',');
		gres.name_len = strcspn(text, ":,(");
		if (!gres.name_len)
			continue;
		if (text[gres.name_len] == ':' &&
		    !read_words(text + gres.name_len + 1, end, &gres))
			continue;
		*ret_gres = gres;
		return true;
	}
	return false;
}

bool tide_gres_is(const struct tide_gres *gres, const struct tide_gres *wanted)
{
	return gres->name_len == wanted->name_len &&
	       !strncasecmp(gres->name, wanted->name, gres->name_len) &&
	       (!wanted->type_len ||
		(gres->type_len == wanted->type_len &&
		 !strncasecmp(gres->type, wanted->type, gres->type_len)));
}
