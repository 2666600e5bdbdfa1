/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The YAML file of a training. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "launcher/train/settings.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tide_settings s;
	struct tide_err err;
	char path[64];

	fuzz_folder_put("train.yaml", data, size);
	fuzz_folder_path(path, sizeof(path), "train.yaml");
	if (!tide_settings_read(&s, path, &err)) {
		HOLDS(s.layers > 0 && s.width > 0 && s.heads > 0);
		HOLDS(s.width % s.heads == 0 && s.steps > 0 && *s.directory);
		HOLDS(tide_settings_rate(&s, s.steps / 2) >= 0);
	} else {
		HOLDS(*err.text && !strchr(err.text, '\n'));
	}
	return 0;
}
