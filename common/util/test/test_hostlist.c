/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node lists: written out, refused, folded back. */
#include "config.h"

#include "common/util/hostlist.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/err.h"
#include "tests/lib/tap.h"

static void join(const struct tide_names *names, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < names->count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
				       i ? " " : "", names->name[i]);
}

static void test_expand(void)
{
	static const struct {
		const char *text, *names;
	} cases[] = {
		{"lab07", "lab07"},
		{"lab[01-03]", "lab01 lab02 lab03"},
		{"cv[1-2],lab07", "cv1 cv2 lab07"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[08-10,12]", "n08 n09 n10 n12"},
		{"r[0-1]n[1,3]", "r0n1 r0n3 r1n1 r1n3"},
		{"r[1-2]-ib", "r1-ib r2-ib"},
		{"a,a", "a a"},
		{"node.site-x_1", "node.site-x_1"},
		{"n[999999999]", "n999999999"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_names names = {0};
		struct tide_err err;
		char buf[256];

		if (tide_hostlist_expand(cases[i].text, 16, &names, &err))
			diag("%s", err.text);
		join(&names, buf, sizeof(buf));
		is_str(buf, cases[i].names, cases[i].text);
		tide_names_release(&names);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		int errnum;
	} cases[] = {
		{"", EINVAL},	       {",a", EINVAL},	     {"a,", EINVAL},
		{"a,,b", EINVAL},      {"a[", EINVAL},	     {"a[1", EINVAL},
		{"a[]", EINVAL},       {"a[1-]", EINVAL},    {"a[-1]", EINVAL},
		{"a[3-1]", EINVAL},    {"a[1,]", EINVAL},    {"a[1-2-3]", EINVAL},
		{"a[x]", EINVAL},      {"a]", EINVAL},	     {"a b", EINVAL},
		{"a[[1]]", EINVAL},    {"a[1,2", EINVAL},    {"a/b", EINVAL},
		{"n[1-17]", E2BIG},    {"n[0-999999999]", E2BIG},
		{"n[1-9999999999]", EINVAL},
		{"n[0-9]n[0-9]n[0-9]", E2BIG},
		{"0123456789012345678901234567890123456789012345678901234567890123",
		 EINVAL},
		{"\xff", EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_names names = {(char **)1, 77};
		struct tide_err err = {""};
		int rc = tide_hostlist_expand(cases[i].text, 16, &names, &err);

		ok(rc == -1 && errno == cases[i].errnum && err.text[0] &&
			   names.count == 77,
		   "'%s' is refused: %s", cases[i].text, err.text);
	}
}

static void test_fold(void)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		{"lab01,lab03,lab02", "lab[01-03]"},
		{"lab01,lab03", "lab[01,03]"},
		{"n9,n10,n11,n8", "n[8-11]"},
		{"n0,n1,n10,n9", "n[0-1,9-10]"},
		{"n09,n10,n9", "n09,n[9-10]"},
		{"a,b", "a,b"},
		{"a,a", "a"},
		{"cv1,lab07,cv2", "cv[1-2],lab07"},
		{"r0n1,r0n2,r1n1", "r0n[1-2],r1n1"},
		{"lab[001-100]", "lab[001-100]"},
		{"x", "x"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tide_names names = {0};
		char *folded;

		tide_hostlist_expand(cases[i].text, 200, &names, NULL);
		folded = tide_hostlist_fold((const char *const *)names.name,
					    names.count);
		is_str(folded, cases[i].folded, cases[i].text);
		free(folded);
		tide_names_release(&names);
	}
}

int main(void)
{
	test_expand();
	test_refused();
	test_fold();
	return tap_done();
}
