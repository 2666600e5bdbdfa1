/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The YAML file: values, defaults, and every way of being wrong. */
#include "config.h"

#include "launcher/train/settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/tap.h"

static const char base[] = "model:\n"
			   "  layers: 2\n"
			   "  width: 64\n"
			   "  heads: 4\n"
			   "  context: 32\n"
			   "data:\n"
			   "  file: text\n"
			   "training:\n"
			   "  steps: 100\n"
			   "  batch_size: 8\n"
			   "  learning_rate: 1e-3\n"
			   "checkpoint:\n"
			   "  directory: ck\n";

static char path[] = "/tmp/tide-settings-XXXXXX";

static int read_text(struct tide_settings *s, const char *text,
		     struct tide_err *err)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(1);
	memset(err, 0, sizeof(*err));
	return tide_settings_read(s, path, err);
}

/* base with one line replaced (by its number, from 1), or one added (0). */
static void edited(char *to, size_t room, int line, const char *with)
{
	const char *at = base;
	int n = 0;

	*to = '\0';
	while (*at) {
		size_t len = strcspn(at, "\n") + 1;
		size_t used = strlen(to);

		if (++n == line)
			snprintf(to + used, room - used, "%s\n", with);
		else
			snprintf(to + used, room - used, "%.*s", (int)len, at);
		at += len;
	}
	if (!line)
		snprintf(to + strlen(to), room - strlen(to), "%s\n", with);
}

static void test_values(void)
{
	struct tide_settings s;
	struct tide_err err;
	char text[2048];

	if (!ok(!read_text(&s, base, &err), "the least file (%s)", err.text))
		return;
	is_int(s.layers, 2, "model.layers");
	is_int(s.vocabulary, 256, "vocabulary is bytes");
	is_int(s.tied, 1, "tied by default");
	is_int(s.every_s, 300, "a checkpoint every 5 minutes");
	is_int(s.gradient_accumulation, 1, "no accumulation");
	is_int(s.warmup_steps, 0, "no warm-up");
	is_int(s.decay, TIDE_DECAY_COSINE, "cosine");
	is_str(s.data, "text", "data.file");
	is_str(s.log, "", "no log");
	ok(s.learning_rate == 1e-3, "training.learning_rate");
	edited(text, sizeof(text), 0,
	       "  every: 90\n  keep: 7\nscheduling:\n  warmup_steps: 5\n  decay: constant\nlog:\n  file: \"a b\"");
	if (!ok(!read_text(&s, text, &err), "optional keys (%s)", err.text))
		return;
	is_int(s.every_s, 90, "a duration in seconds");
	is_int(s.keep, 7, "checkpoint.keep");
	is_int(s.decay, TIDE_DECAY_CONSTANT, "constant");
	is_str(s.log, "a b", "quoted text");
	edited(text, sizeof(text), 0, "  every: 1h30m");
	ok(!read_text(&s, text, &err) && s.every_s == 5400, "1h30m");
}

/* What is wrong where, and the words of it that must be there. */
static const struct {
	int line;
	const char *with;
	int at; /* line that is named, 0 none */
	const char *words;
} wrongs[] = {
	{2, "  layers: two", 2, "model.layers: 'two' is not a whole number"},
	{2, "  layers: 0", 2, "model.layers: '0' is not"},
	{2, "  layers: 2.5", 2, "model.layers: '2.5'"},
	{2, "  layers:", 2, "model.layers: ''"},
	{2, "  layers: [2]", 2, "model.layers: wants one value"},
	{2, "  layers: {a: 2}", 2, "model.layers: wants one value"},
	{2, "  layers: &a 2", 2, "model.layers: wants one value"},
	{2, "  layers: *a", 2, "model.layers: wants one value"},
	{2, "  layer: 2", 2, "'model.layer': unknown key"},
	{2, "  \"layers\\nx\": 2", 2, "'model.layers?x': unknown key"},
	{2, "  # nothing", 0, "model.layers: missing"},
	{3, "  layers: 3", 3, "model.layers: given again, first in line 2"},
	{4, "  heads: 5", 4, "model.heads: 5 does not divide model.width 64"},
	{5, "  context: 32\n  vocabulary: 300", 6,
	 "model.vocabulary: '300': a text is read by bytes"},
	{5, "  context: 32\n  tied: yes", 6, "model.tied: 'yes' is not true"},
	{6, "dta:", 6, "'dta': unknown section"},
	{6, "model:", 6, "'model': section given again"},
	{6, "- data", 6, ""},
	{7, "  file: text\n  random: true", 8, "data.file is given too"},
	{7, "  random: false", 0, "data.file: missing"},
	{10, "  batch_size: 99999999", 10, "'99999999' is not a whole number"},
	{10, "  batch_size: 32769", 10, "32769 sequences of 32 are too many"},
	{11, "  learning_rate: fast", 11, "'fast' is not a number"},
	{11, "  learning_rate: nan", 11, "'nan' is not a number"},
	{11, "  learning_rate: 0", 11, "must be above 0"},
	{11, "  learning_rate: -1", 11, "'-1' is not a number from 0"},
	{11, "  learning_rate: 0x1", 11, "'0x1' is not a number"},
	{11, "\tlearning_rate: 1", 11, "not valid YAML"},
	{2, "  \"layers\\0x\": 2", 2, "'model.layers': unknown key"},
	{6, "\"data\\0x\":", 6, "'data': unknown section"},
	{11,
	 "  learning_rate: 0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000x",
	 11, "00' is not a number from 0 to 10"},
	{13, "  directory: \"a\\0b\"", 13, "the value holds a NUL"},
	{13, "  directory: ''", 13, "must not be empty"},
	{0, "  every: 5 parsecs", 14, "checkpoint.every: '5 parsecs' is not"},
	{0, "  every: 0", 14, "checkpoint.every: '0' is not"},
	{0, "  keep: 0", 14, "checkpoint.keep: '0'"},
	{0, "scheduling:\n  decay: linear", 15,
	 "scheduling.decay: 'linear' is not cosine or constant"},
	{0, "scheduling: 5", 14, "'scheduling': wants keys"},
	{0, "log: [a]", 14, "'log': wants keys"},
	{0, "log", 15, "not valid YAML"},
	{0, "*a", 15, "not valid YAML"},
};

static void test_wrongs(void)
{
	struct tide_settings s = {.layers = 77};
	struct tide_err err;
	char text[2048], where[64];

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		edited(text, sizeof(text), wrongs[i].line, wrongs[i].with);
		if (wrongs[i].at)
			snprintf(where, sizeof(where), "%s:%d: ", path,
				 wrongs[i].at);
		else
			snprintf(where, sizeof(where), "%s: ", path);
		ok(read_text(&s, text, &err) == -1 && errno == EINVAL &&
			   !strncmp(err.text, where, strlen(where)) &&
			   strstr(err.text, wrongs[i].words),
		   "refused: %s", err.text);
	}
	is_int(s.layers, 77, "the result is untouched on failure");
	is_int(read_text(&s, "", &err), -1, "an empty file");
	is_int(read_text(&s, "7\n", &err), -1, "a number");
	is_int(read_text(&s, "- a\n- b\n", &err), -1, "a list");
	is_int(read_text(&s, "\x01\xff", &err), -1, "no text at all");
	is_int(tide_settings_read(&s, "/nonexistent/x", &err), -1, "no file");
	is_int(errno, ENOENT, "ENOENT");
}

static void test_rate(void)
{
	struct tide_settings s = {
		.steps = 110,
		.warmup_steps = 10,
		.learning_rate = 1,
		.final_learning_rate = 0.1,
	};

	ok(fabs(tide_settings_rate(&s, 0) - 0.1) < 1e-12, "warm-up begins");
	ok(tide_settings_rate(&s, 9) == 1, "warm-up ends at the top");
	ok(tide_settings_rate(&s, 10) == 1, "cosine begins at the top");
	ok(fabs(tide_settings_rate(&s, 60) - 0.55) < 1e-12, "half-way");
	ok(fabs(tide_settings_rate(&s, 110) - 0.1) < 1e-12, "the end");
	s.decay = TIDE_DECAY_CONSTANT;
	ok(tide_settings_rate(&s, 109) == 1, "constant");
	s.decay = TIDE_DECAY_COSINE;
	s.warmup_steps = 500;
	ok(fabs(tide_settings_rate(&s, 109) - 0.22) < 1e-12,
	   "a warm-up longer than the training");
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	test_values();
	test_wrongs();
	test_rate();
	unlink(path);
	return tap_done();
}
