/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The syntax of Slurm's configuration files.  See lines.h. */
#include "config.h"

#include "common/conf/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/util/err.h"
#include "common/util/file.h"

enum {
	MAX_DEPTH = 16, /* of files that include files */
};

/* The files that are being read, the innermost first. */
struct open_file {
	dev_t dev;
	ino_t ino;
	int depth;
	const struct open_file *outer;
};

struct reader {
	struct tide_lines *lines;
	struct tide_problems *problems;
	struct tide_err *err;
};

static int out_of_memory(struct reader *r)
{
	return tide_err_set(r->err, ENOMEM, "out of memory");
}

void tide_lines_release(struct tide_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i].text);
	for (size_t i = 0; i < lines->n_files; i++)
		free(lines->file[i]);
	free(lines->line);
	free(lines->file);
	memset(lines, 0, sizeof(*lines));
}

/* The name, kept as long as the lines. */
static const char *keep_file(struct reader *r, const char *name)
{
	struct tide_lines *lines = r->lines;
	char **more =
		realloc(lines->file, (lines->n_files + 1) * sizeof(*more));

	if (!more)
		return NULL;
	lines->file = more;
	more[lines->n_files] = strdup(name);
	return more[lines->n_files] ? more[lines->n_files++] : NULL;
}

static int keep_line(struct reader *r, const char *file, int line,
		     const char *text)
{
	struct tide_lines *lines = r->lines;
	size_t n = lines->count;

	/* grow by doubling: the room is the next power of two */
	if (!(n & (n - 1))) {
		struct tide_conf_line *more =
			realloc(lines->line, (n ? 2 * n : 1) * sizeof(*more));

		if (!more)
			return out_of_memory(r);
		lines->line = more;
	}
	lines->line[n] = (struct tide_conf_line){file, line, strdup(text)};
	if (!lines->line[n].text)
		return out_of_memory(r);
	lines->count++;
	return 0;
}

/* The whole file as a string; -1 with errno, and the reason in *ret_why. */
static int slurp(const char *path, char **ret_text, struct stat *ret_st,
		 const char **ret_why)
{
	char *text;

	*ret_why = NULL;
	/* look first: opening a pipe would wait for a writer */
	if (stat(path, ret_st))
		return -1;
	if (!S_ISREG(ret_st->st_mode)) {
		*ret_why = "it is not a file";
		errno = EINVAL;
		return -1;
	}
	if (tide_file_read(path, &text, NULL)) {
		if (errno == EINVAL)
			*ret_why = "it holds a zero byte";
		return -1;
	}
	if (strlen(text) != (size_t)ret_st->st_size) {
		*ret_why = "it changed while it was read";
		errno = EINVAL;
		free(text);
		return -1;
	}
	*ret_text = text;
	return 0;
}

static void cut_comment(char *text)
{
	char *to = text;

	for (char *from = text; *from && *from != '#'; from++) {
		if (from[0] == '\\' && from[1] == '#')
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

static void cut_blanks(char *text)
{
	size_t len = strlen(text);

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
}

/* Take a closing '\' off; was there one? */
static int cut_continuation(char *text)
{
	size_t len = strlen(text), at = len;

	while (at && text[at - 1] == '\\')
		at--;
	if (!((len - at) & 1))
		return 0;
	text[len - 1] = '\0';
	return 1;
}

static int read_text(struct reader *r, const char *file, char *text,
		     const struct open_file *open);

/* The path of an included file, relative to the one that names it. */
static char *include_path(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	char *path;

	if (*name == '/' || !slash)
		return strdup(name);
	if (asprintf(&path, "%.*s/%s", (int)(slash - file), file, name) < 0)
		return NULL;
	return path;
}

static int read_file(struct reader *r, const char *path,
		     const struct open_file *outer, const char **ret_why)
{
	struct open_file this = {.outer = outer};
	char *text = NULL;
	const char *file;
	struct stat st;
	int rc = -1;

	if (slurp(path, &text, &st, ret_why))
		return 1;
	this.dev = st.st_dev;
	this.ino = st.st_ino;
	this.depth = outer ? outer->depth + 1 : 0;
	*ret_why =
		this.depth > MAX_DEPTH ? "files are nested too deeply" : NULL;
	for (; outer; outer = outer->outer)
		if (outer->dev == this.dev && outer->ino == this.ino)
			*ret_why = "it includes itself";
	if (*ret_why) {
		errno = ELOOP;
		rc = 1;
		goto end;
	}
	file = keep_file(r, path);
	if (file)
		rc = read_text(r, file, text, &this);
	else
		out_of_memory(r);
end:
	free(text);
	return rc;
}

static int read_include(struct reader *r, const char *file, int line,
			const char *name, const struct open_file *open)
{
	const char *why;
	char *path;
	int rc;

	if (!open) {
		tide_problems_add(r->problems, file, line,
				  "Include %s: not possible here", name);
		return 0;
	}
	path = include_path(file, name);
	if (!path)
		return out_of_memory(r);
	rc = read_file(r, path, open, &why);
	if (rc > 0) {
		tide_problems_add(r->problems, file, line,
				  "Include %s: cannot read '%s': %s", name,
				  path, why ? why : strerror(errno));
		rc = 0;
	}
	free(path);
	return rc;
}

/* What follows the word Include, or NULL when it is another record. */
static const char *include_name(const char *text)
{
	static const char word[] = "Include";
	const char *name = text + sizeof(word) - 1;

	if (strncasecmp(text, word, sizeof(word) - 1) ||
	    !isspace((unsigned char)*name))
		return NULL;
	while (isspace((unsigned char)*name))
		name++;
	/* Include = x is a key like any other, and unknown */
	return *name == '=' ? NULL : name;
}

static int read_record(struct reader *r, const char *file, int line, char *text,
		       const struct open_file *open)
{
	const char *name;

	while (isspace((unsigned char)*text))
		text++;
	cut_blanks(text);
	if (!*text)
		return 0;
	name = include_name(text);
	if (name)
		return read_include(r, file, line, name, open);
	return keep_line(r, file, line, text);
}

static int read_text(struct reader *r, const char *file, char *text,
		     const struct open_file *open)
{
	char *record = text, *to = text;
	int line = 0, first = 1, more;

	/* a record is put together in place: it never grows */
	while (text) {
		char *next = strchr(text, '\n');

		if (next)
			*next++ = '\0';
		line++;
		cut_comment(text);
		cut_blanks(text);
		more = cut_continuation(text);
		memmove(to, text, strlen(text) + 1);
		to += strlen(to);
		text = next;
		if (more && next)
			continue;
		if (read_record(r, file, first, record, open))
			return -1;
		record = to = next;
		first = line + 1;
	}
	return 0;
}

int tide_lines_load(const char *path, struct tide_lines *lines,
		    struct tide_problems *problems, struct tide_err *err)
{
	struct reader r = {lines, problems, err};
	const char *why;
	int rc = read_file(&r, path, NULL, &why);

	if (rc <= 0)
		return rc;
	return tide_err_set(err, errno, "cannot be read: %s",
			    why ? why : strerror(errno));
}

int tide_lines_parse(const char *text, const char *name,
		     struct tide_lines *lines, struct tide_problems *problems,
		     struct tide_err *err)
{
	struct reader r = {lines, problems, err};
	const char *file = keep_file(&r, name);
	char *copy = strdup(text);
	int rc = -1;

	if (file && copy)
		rc = read_text(&r, file, copy, NULL);
	else
		out_of_memory(&r);
	free(copy);
	return rc;
}

static int key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static char *skip_blanks(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

int tide_pair_next(char **cursor, char **ret_key, char **ret_value)
{
	char *key = skip_blanks(*cursor), *end = key, *value;

	*ret_key = key;
	if (!*key)
		return 0;
	while (key_char(*end))
		end++;
	value = skip_blanks(end);
	if (end == key || *value != '=')
		goto bad;
	value = skip_blanks(value + 1);
	if (*value == '"') {
		char *close = strchr(++value, '"');

		if (!close || (close[1] && !isspace((unsigned char)close[1])))
			goto bad;
		*close = '\0';
		*cursor = close + 1;
	} else {
		char *close = value;

		while (*close && !isspace((unsigned char)*close))
			close++;
		*cursor = *close ? close + 1 : close;
		*close = '\0';
	}
	*end = '\0';
	*ret_value = value;
	return 1;
bad:
	*cursor = key + strlen(key);
	return -1;
}
