/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of device files and lists of devices: tables of input and result. */
#include "config.h"

#include "common/device/device.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static const struct {
	const char *path;
	int number;
	int errnum;
} files[] = {
	{"/dev/cambricon_dev0", 0, 0},
	{"/dev/cambricon_dev7", 7, 0},
	{"/dev/cambricon_dev15", 15, 0},
	{"/dev/davinci007", 7, 0},
	{"/dev/dri/renderD128", 128, 0},
	{"/dev/v2x/dev65535", 65535, 0},
	{"12", 12, 0},
	{"/dev/dev65536", -1, ERANGE},
	{"/dev/dev99999999999999999999", -1, ERANGE},
	{"/dev/cambricon_ctl", -1, EINVAL},
	{"/dev/cambricon_dev3a", -1, EINVAL},
	{"", -1, EINVAL},
};

static const struct {
	size_t count;
	uint32_t numbers[8];
	const char *list;
	const char *places; /* when nothing else can be opened */
} lists[] = {
	{0, {0}, "", ""},
	{1, {0}, "0", "0"},
	{1, {3}, "3", "0"},
	{2, {0, 1}, "0,1", "0,1"},
	{2, {2, 3}, "2,3", "0,1"},
	{3, {10, 9, 2}, "2,9,10", "0,1,2"},
	{4, {65535, 0, 128, 4}, "0,4,128,65535", "0,1,2,3"},
};

/* Of a process that can open 9, 2, 5 and 7. */
static const struct {
	size_t count;
	uint32_t numbers[4];
	const char *places;
} some[] = {
	{0, {0}, ""},
	{1, {7}, "2"},
	{2, {9, 2}, "0,3"},
	{4, {2, 5, 7, 9}, "0,1,2,3"},
};

static void test_numbers(void)
{
	struct tide_err err;
	uint32_t number;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		number = 4711;
		errno = 0;
		rc = tide_device_number(files[i].path, &number, &err);
		if (!files[i].errnum) {
			ok(rc == 0 && number == (uint32_t)files[i].number,
			   "'%s' is device %d", files[i].path, files[i].number);
			continue;
		}
		ok(rc == -1 && errno == files[i].errnum, "'%s' is refused: %s",
		   files[i].path, err.text);
		is_int(number, 4711, "the result is untouched");
	}
}

static void test_lists(void)
{
	const uint32_t twice[] = {4, 1, 4};
	struct tide_err err;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		text = NULL;
		is_int(tide_device_list(lists[i].numbers, lists[i].count, &text,
					&err),
		       0, "a list is made");
		is_str(text, lists[i].list, "the list of numbers");
		free(text);
		text = NULL;
		is_int(tide_device_places(lists[i].numbers, lists[i].count,
					  lists[i].numbers, lists[i].count,
					  &text, &err),
		       0, "a list of places is made");
		is_str(text, lists[i].places, "counted from 0");
		free(text);
	}
	text = NULL;
	errno = 0;
	is_int(tide_device_list(twice, 3, &text, &err), -1, "twice is refused");
	is_int(errno, EINVAL, "with EINVAL");
	is_str(err.text, "device 4 is there twice", "and says which");
	ok(!text, "the result is untouched");
	is_int(tide_device_list(NULL, 0, &text, NULL), 0, "none may be NULL");
	is_str(text, "", "and is empty");
	free(text);
}

static void test_places(void)
{
	const uint32_t seen[] = {9, 2, 5, 7}, other[] = {2, 3};
	struct tide_err err;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		text = NULL;
		is_int(tide_device_places(some[i].numbers, some[i].count, seen,
					  4, &text, &err),
		       0, "places among those that can be opened");
		is_str(text, some[i].places, "count from 0");
		free(text);
	}
	text = NULL;
	errno = 0;
	is_int(tide_device_places(other, 2, seen, 4, &text, &err), -1,
	       "one that cannot be opened is refused");
	is_int(errno, EINVAL, "with EINVAL");
	is_str(err.text, "device 3 cannot be opened", "and says which");
	is_int(tide_device_places(seen, 4, seen, 3, &text, &err), -1,
	       "so is the last one");
	ok(!text, "the result is untouched");
}

int main(void)
{
	test_numbers();
	test_lists();
	test_places();
	return tap_done();
}
