/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide.conf with the files that it includes: the parts of the input are the
 * files tide.conf, a.conf and b.conf of a folder.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"tide.conf", "a.conf", "b.conf"};
	struct tide_problems problems = {0};
	struct tide_conf *conf, *copy;
	struct tide_err err;
	char path[64], *pool;

	fuzz_folder_fill(names, 3, data, size);
	fuzz_folder_path(path, sizeof(path), names[0]);
	pool = tide_conf_pool(path);
	if (!tide_conf_load(path, NULL, &conf, &problems, &err)) {
		HOLDS(!problems.count);
		HOLDS(pool && !strcmp(pool, conf->pool_partition));
		HOLDS(!tide_conf_parse(conf->text, "copy", NULL, &copy, NULL,
				       NULL));
		HOLDS(!strcmp(copy->text, conf->text));
		tide_conf_destroy(copy);
		tide_conf_destroy(conf);
	} else {
		HOLDS(problems.count && *err.text);
	}
	free(pool);
	tide_problems_release(&problems);
	return 0;
}
