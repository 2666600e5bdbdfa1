/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version in a plugin's file: a plugin made here, and what is none. */
#include "config.h"

#include "common/site/plugins.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/err.h"
#include "common/util/version.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-test-plugins.XXXXXX";

/* A plugin with these declarations; NULL when there is no compiler. */
static const char *make(const char *code)
{
	static char path[128];
	char command[600];

	snprintf(path, sizeof(path), "%s/x.so", folder);
	snprintf(command, sizeof(command),
		 "echo '%s' | cc -shared -fPIC -x c -o %s - 2>/dev/null", code,
		 path);
	return system(command) ? NULL : path;
}

static void is_version(const char *code, const char *want, const char *name)
{
	const char *path = make(code);
	struct tide_version_text text = {""};
	struct tide_err err = {""};
	uint32_t version = 0;
	int rc;

	if (!path) {
		skip(name, "no compiler");
		return;
	}
	rc = tide_plugin_version(path, &version, &err);
	if (!ok(want ? !rc && !strcmp(tide_version(version, &text), want)
		     : rc && errno == EINVAL && !version,
		"%s", name))
		diag("%d '%s' %s", rc, text.text, err.text);
}

/* Every prefix of a plugin, and some of its bytes changed: no crash. */
static void survives(const char *path)
{
	char bytes[4096], damaged[128];
	uint32_t version;
	size_t n;
	FILE *file = fopen(path, "r");

	n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		fclose(file);
	snprintf(damaged, sizeof(damaged), "%s/damaged", folder);
	for (size_t i = 0; i < n; i += 7) {
		file = fopen(damaged, "w");
		bytes[i] ^= (char)0xff;
		fwrite(bytes, 1, i % 2 ? n : i, file);
		fclose(file);
		tide_plugin_version(damaged, &version, NULL);
		bytes[i] ^= (char)0xff;
	}
	ok(n > 0, "a damaged file is refused or read, and nothing else");
}

int main(void)
{
	struct tide_err err = {""};
	const char *path;
	uint32_t version;
	char pipe[64];

	if (!mkdtemp(folder)) {
		ok(0, "a folder of our own: %s", strerror(errno));
		return tap_done();
	}
	is_version("const unsigned int plugin_version = 0x160508;", "22.05.8",
		   "a plugin for 22.05.8");
	is_version("unsigned int plugin_version = 0x180b05;", "24.11.5",
		   "one whose version is no constant");
	is_version("const unsigned int version = 0x180b05;", NULL,
		   "a library that is no plugin");
	is_version(
		"extern unsigned int plugin_version; unsigned int f(void) { return plugin_version; }",
		NULL, "a library that only asks for the version");
	path = make("const unsigned int plugin_version = 0x160508;");
	if (path)
		survives(path);
	ok(tide_plugin_version("/nowhere", &version, &err) && errno == ENOENT,
	   "a file that is not there");
	ok(tide_plugin_version("/etc/passwd", &version, &err) &&
		   errno == EINVAL && strstr(err.text, "is no plugin of Slurm"),
	   "a file of another kind");
	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	ok(!mkfifo(pipe, 0600) && tide_plugin_version(pipe, &version, &err) &&
		   errno == EINVAL && strstr(err.text, pipe),
	   "a pipe is not waited for: %s", err.text);
	tap_remove(folder);
	return tap_done();
}
