/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of keys: its rows are whole, its defaults and examples are good,
 * and the example file and the page of keys are what is made from it.
 */
#include "config.h"

#include "common/conf/keys.h"

#include <stdlib.h>

#include "common/conf/build.h"
#include "common/conf/keydoc.h"
#include "common/util/err.h"
#include "common/util/file.h"
#include "tests/lib/tap.h"

/* The largest record there is, for any key. */
union record {
	struct tide_conf conf;
	struct tide_device device;
	struct tide_owner owner;
	struct tide_window window;
};

static int value_is_good(const struct tide_key *key, const char *value)
{
	struct tide_build build = {0};
	union record record = {0};
	struct tide_err err;
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", value);
	if (!tide_value_set(&build, key, &record, copy, &err))
		return 1;
	diag("%s=%s: %s", key->name, value, err.text);
	return 0;
}

static void test_rows(void)
{
	for (int i = 0; i < tide_n_keys; i++) {
		const struct tide_key *key = &tide_keys[i];
		int later = key->type == TIDE_KEY_LATER;
		size_t len = strlen(key->help);

		ok(key->name && key->help && key->help[len - 1] == '.' &&
			   tide_key_find(key->record, key->name) == i,
		   "%s has a sentence and is found", key->name);
		ok(later || value_is_good(key, key->example),
		   "%s: its example is good", key->name);
		ok(!key->fallback || value_is_good(key, key->fallback),
		   "%s: its default is good", key->name);
	}
	ok(tide_n_keys <= 64, "as many keys as bits to mark them");
}

static char *print(void (*keydoc)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	keydoc(out);
	fclose(out);
	return text;
}

static void test_example(void)
{
	static const char path[] = TOP_SRCDIR "/contrib/examples/tide.conf";
	struct tide_conf *conf = NULL;
	struct tide_err err = {""};
	char *made = print(tide_keydoc_example), *kept = NULL;

	ok(!tide_file_read(path, &kept, NULL) && !strcmp(made, kept),
	   "contrib/examples/tide.conf is what keydoc --example prints");
	if (!ok(!tide_conf_load(path, NULL, &conf, NULL, &err),
		"and it is a good tide.conf"))
		diag("%s", err.text);
	is_int(conf ? conf->n_windows : 0, 3, "with its three windows");
	tide_conf_destroy(conf);
	free(made);
	free(kept);
}

static void test_page(void)
{
	static const char path[] = TOP_SRCDIR "/docs/tide.conf.md";
	char *made = print(tide_keydoc_markdown), *kept = NULL;

	ok(!tide_file_read(path, &kept, NULL) && !strcmp(made, kept),
	   "docs/tide.conf.md is what keydoc --markdown prints");
	free(made);
	free(kept);
}

int main(void)
{
	test_rows();
	test_example();
	test_page();
	return tap_done();
}
