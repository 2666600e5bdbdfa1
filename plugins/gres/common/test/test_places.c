/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of devices that are gone, with Slurm's own lists, but without a daemon
 * or a device.
 */
#include "plugins/gres/common/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include "src/common/list.h"

#include "common/util/file.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-places.XXXXXX";

/* "TYPE:COUNT:FILES ..." as records, FILES of several files as one device. */
static list_t *records_of(const char *text)
{
	list_t *list = list_create(tide_place_free);
	char *copy = xstrdup(text), *item, *rest = NULL;

	for (item = strtok_r(copy, " ", &rest); item;
	     item = strtok_r(NULL, " ", &rest)) {
		gres_slurmd_conf_t *record = xmalloc(sizeof(*record));
		char *count = strchr(item, ':'), *files;

		*count++ = '\0';
		files = strchr(count, ':');
		record->name = xstrdup("x");
		record->type_name = *item ? xstrdup(item) : NULL;
		record->count = strtoull(count, NULL, 10);
		if (files)
			record->file = xstrdup(files + 1);
		if (files && strstr(files, ",/"))
			record->config_flags |= GRES_CONF_HAS_MULT;
		list_append(list, record);
	}
	xfree(copy);
	return list;
}

/* "TYPE:FILES" of each, and "!" of those that are gone. */
static char *told(list_t *records)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	char *text = xstrdup("");

	while ((record = list_next(itr)))
		xstrfmtcat(text, "%s%s%s:%s", *text ? " " : "",
			   tide_place_is_gone(record) ? "!" : "",
			   record->type_name ? record->type_name : "",
			   record->file);
	list_iterator_destroy(itr);
	return text;
}

static const struct {
	const char *were, *wanted, *are, *want;
	const char *what;
} rows[] = {
	{"a:4:/d[0-3]", "a:4", "a:3:/d[0-1,3]", "a:/d0 a:/d1 !a:/d2 a:/d3",
	 "one of four"},
	{"a:4:/d[0-3]", ":4", "a:2:/d[1-2]", "!a:/d0 a:/d1 a:/d2 !a:/d3",
	 "the first and the last, of any type"},
	{"a:2:/d[0-1] b:2:/d[2-3]", "a:2 b:2", "a:1:/d0 b:2:/d[2-3]",
	 "a:/d0 !a:/d1 b:/d2 b:/d3", "types behind it keep their places"},
	{"a:1:/d0,/r0 a:1:/d1,/r1", "a:2", "a:1:/d1,/r1",
	 "!a:/d0,/r0 a:/d1,/r1", "with several files"},
	{"a:2:/d[0-1]", "a:2", "", "!a:/d0 !a:/d1", "all of them"},
	{"a:2:/d[0-1]", "a:2", "a:2:/d[0-1]", "a:/d[0-1]", "none"},
	{"a:4:/d[0-3]", "a:3", "a:2:/d[0-1]", "a:/d[0-1]",
	 "slurm.conf counts others since"},
	{"a:2:/d[0-1]", "b:2", "b:1:/d0", "b:/d0", "of another type"},
	{"a:2:/d[0-1]", "a:2 b:1", "a:1:/d0", "a:/d0", "or of more types"},
	{"a:2:/d[0-1]", "a:2", "a:1:/d7", "a:/d7", "one that was not there"},
	{"", "a:2", "a:1:/d0", "a:/d0", "nothing is known"},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		list_t *were = records_of(rows[i].were);
		list_t *wanted = records_of(rows[i].wanted);
		list_t *are = records_of(rows[i].are);
		char *path = xstrdup_printf("%s/%zu", folder, i);
		char *got;

		tide_places_remember(were, path);
		tide_places_recall(are, wanted, path);
		got = told(are);
		is_str(got, rows[i].want, rows[i].what);
		xfree(got);
		xfree(path);
		FREE_NULL_LIST(are);
		FREE_NULL_LIST(wanted);
		FREE_NULL_LIST(were);
	}
}

/* A file that does not fit is as good as none. */
static void test_bad(void)
{
	static const char *const texts[] = {
		"",	     "\n\n", "nonsense", "File=", "Type=a File=/d[0-",
		"Type=a\n", "Type=a File=/d[0-1]x", "=", "File=/d0 File=/d1",
	};
	char *path = xstrdup_printf("%s/bad", folder);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		list_t *are = records_of("a:1:/d0");
		list_t *wanted = records_of("a:2");
		char *got;

		ok(!tide_file_replace(path, texts[i], NULL), "a bad file");
		tide_places_recall(are, wanted, path);
		got = told(are);
		is_str(got, "a:/d0", "changes nothing");
		xfree(got);
		FREE_NULL_LIST(wanted);
		FREE_NULL_LIST(are);
	}
	xfree(path);
}

/* It is written when it changes, and not otherwise. */
static void test_written(void)
{
	char *path = xstrdup_printf("%s/written", folder);
	list_t *records = records_of("a:2:/d[0-1]");
	struct stat first = {0}, second = {0};
	char *text = NULL;

	tide_places_remember(records, path);
	is_int(stat(path, &first), 0, "it is written");
	tide_places_remember(records, path);
	stat(path, &second);
	ok(first.st_ino == second.st_ino, "once");
	FREE_NULL_LIST(records);
	records = records_of("a:1:/d0");
	tide_places_remember(records, path);
	if (ok(!tide_file_read(path, &text, NULL), "and again"))
		is_str(text, "Type=a File=/d0\n", "when it is another");
	free(text);
	FREE_NULL_LIST(records);
	records = records_of("a:1:/d0");
	tide_places_remember(records, "/nowhere/at/all");
	is_int(list_count(records), 1, "where it cannot be, slurmd goes on");
	FREE_NULL_LIST(records);
	xfree(path);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_rows();
	test_bad();
	test_written();
	tap_remove(folder);
	return tap_done();
}
