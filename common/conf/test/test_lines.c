/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files: comments, continuation, Include and its loops, what is no text. */
#include "config.h"

#include "common/conf/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/conf/conf.h"
#include "common/util/err.h"
#include "tests/lib/tap.h"

static char folder[] = "/tmp/tide-test-lines.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text, size_t len)
{
	FILE *out = fopen(path_of(name), "w");

	if (!out || fwrite(text, 1, len, out) != len || fclose(out))
		diag("cannot write %s", name);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* "FILE:LINE: TEXT" of each, FILE without the folder, '\n' between */
static void print(char *buf, size_t size, const char *file, int line,
		  const char *text)
{
	size_t n = strlen(buf), skip = strlen(folder) + 1;
	const char *in;

	if (!strncmp(file, folder, skip - 1))
		file += skip;
	n += (size_t)snprintf(buf + n, size - n, "%s%s:%d: ", n ? "\n" : "",
			      file, line);
	/* the folder's name is another one each time */
	while ((in = strstr(text, folder))) {
		n += (size_t)snprintf(buf + n, size - n, "%.*s",
				      (int)(in - text), text);
		text = in + skip;
	}
	snprintf(buf + n, size - n, "%s", text);
}

static void is_read(const char *name, const char *want_lines,
		    const char *want_problems, const char *what)
{
	struct tide_lines lines = {0};
	struct tide_problems problems = {0};
	struct tide_err err = {""};
	char buf[1024] = "";

	if (!ok(!tide_lines_load(path_of(name), &lines, &problems, &err),
		"%s: can be read", what))
		diag("%s", err.text);
	for (size_t i = 0; i < lines.count; i++)
		print(buf, sizeof(buf), lines.line[i].file, lines.line[i].line,
		      lines.line[i].text);
	is_str(buf, want_lines, what);
	buf[0] = '\0';
	for (size_t i = 0; i < problems.count; i++)
		print(buf, sizeof(buf), problems.problem[i].file,
		      problems.problem[i].line, problems.problem[i].text);
	is_str(buf, want_problems, what);
	tide_lines_release(&lines);
	tide_problems_release(&problems);
}

static void test_syntax(void)
{
	put_text("a", "# a comment\n\n  A=1  # behind\nB=x\\#y\nC=1 \\\n  2 \\\n3\n"
		      "D=\\\\\nE=5 # no \\\nF=6\\\n# G=7\nH=8\\");
	is_read("a",
		"a:3: A=1\na:4: B=x#y\na:5: C=1   2 3\na:8: D=\\\\\n"
		"a:9: E=5\na:10: F=6\na:12: H=8",
		"", "comments and continuation");
	put_text("crlf", "A=1\r\nB=2 \\\r\n C=3\r\n");
	is_read("crlf", "crlf:1: A=1\ncrlf:2: B=2  C=3", "",
		"lines of other systems");
	put_text("empty", "");
	is_read("empty", "", "", "an empty file");
	put_text("blank", " \n\t\n#\n\\\n\n");
	is_read("blank", "", "", "a blank file");
}

static void test_include(void)
{
	mkdir(path_of("sub"), 0700);
	put_text("main", "A=1\nInclude sub/one\nB=2\ninclude   two # comment\n");
	put_text("sub/one", "C=3\nInclude other\n");
	put_text("sub/other", "\nD=4\n");
	put_text("two", "E=5");
	is_read("main",
		"main:1: A=1\nsub/one:1: C=3\nsub/other:2: D=4\nmain:3: B=2\n"
		"two:1: E=5",
		"", "files within files");
	put_text("twice", "Include two\nInclude two\n");
	is_read("twice", "two:1: E=5\ntwo:1: E=5", "",
		"the same file twice is no loop");
	put_text("self", "A=1\nInclude self\nB=2\n");
	is_read("self", "self:1: A=1\nself:3: B=2",
		"self:2: Include self: cannot read 'self': it includes itself",
		"a file that includes itself");
	put_text("ping", "Include sub/pong\n");
	put_text("sub/pong", "X=1\nInclude ../sub/../ping\n");
	is_read("ping", "sub/pong:1: X=1",
		"sub/pong:2: Include ../sub/../ping: cannot read 'sub/../sub/../ping': it includes itself",
		"two files that include each other");
	put_text("lost", "Include nowhere\nInclude sub\nInclude\nA=1");
	is_read("lost", "lost:3: Include\nlost:4: A=1",
		"lost:1: Include nowhere: cannot read 'nowhere': No such file or directory\n"
		"lost:2: Include sub: cannot read 'sub': it is not a file",
		"files that cannot be included");
}

static void test_depth(void)
{
	char name[16], text[32];
	struct tide_lines lines = {0};
	struct tide_problems problems = {0};

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "deep%d", i);
		snprintf(text, sizeof(text), "A%d=1\nInclude deep%d\n", i,
			 i + 1);
		put_text(name, text);
	}
	ok(!tide_lines_load(path_of("deep0"), &lines, &problems, NULL) &&
		   lines.count == 17 && problems.count == 1 &&
		   strstr(problems.problem[0].text, "too deeply"),
	   "a chain of 20 files ends after 17");
	tide_lines_release(&lines);
	tide_problems_release(&problems);
}

static void test_unreadable(void)
{
	static const struct {
		const char *name;
		int errnum;
		const char *why;
	} cases[] = {
		{"not there", ENOENT, "No such file"},
		{"sub", EINVAL, "it is not a file"},
		{"zero", EINVAL, "zero byte"},
	};

	put("zero", "A=1\0B=2\n", 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_conf *conf = NULL;
		struct tide_problems problems = {0};
		struct tide_err err = {""};
		int rc = tide_conf_load(path_of(cases[i].name), NULL, &conf,
					&problems, &err);

		ok(rc == -1 && errno == cases[i].errnum && !conf &&
			   strstr(err.text, cases[i].why) &&
			   strstr(err.text, cases[i].name) &&
			   problems.count == 1,
		   "refused: %s", cases[i].why);
		tide_problems_release(&problems);
	}
}

static void test_problem_files(void)
{
	struct tide_conf *conf = NULL;
	struct tide_problems problems = {0};
	char buf[1024] = "";

	put_text("conf", "PoolPartition=p\nInclude part\nFoo=1\n");
	put_text("part", "WindowName=w Nodes=n1 Days=Sat\nFee=1000\n");
	ok(tide_conf_load(path_of("conf"), NULL, &conf, &problems, NULL) == -1,
	   "a conf with problems in two files");
	for (size_t i = 0; i < problems.count; i++)
		print(buf, sizeof(buf), problems.problem[i].file,
		      problems.problem[i].line, problems.problem[i].text);
	is_str(buf,
	       "part:1: Nodes=n1: no owner lends node 'n1'\n"
	       "part:2: Fee=1000: must be from 0 to 100\n"
	       "conf:3: Foo=1: unknown key",
	       "each names its file");
	tide_problems_release(&problems);
}

int main(void)
{

	if (!mkdtemp(folder)) {
		ok(0, "a folder of our own: %s", strerror(errno));
		return tap_done();
	}
	test_syntax();
	test_include();
	test_depth();
	test_unreadable();
	test_problem_files();
	tap_remove(folder);
	return tap_done();
}
