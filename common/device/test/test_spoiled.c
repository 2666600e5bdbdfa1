/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded machines of which one file is something else: the rest is found, it
 * is said, and nothing hangs or crashes.  The same where the list of functions
 * breaks off, or memory is out.  Synthetic, from tests/data/devices.
 */
#include "config.h"

#include "common/device/find.h"

#include "common/device/test/tree.h"
#include "common/util/file.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/sysmacros.h>

#define TREES TOP_SRCDIR "/tests/data/devices/"
#define PCI "sys/bus/pci/devices/"

static char folder[] = "/tmp/tide-spoiled.XXXXXX";
static struct tide_table *table;

/* What is there in the place of a file. */
enum kind {
	GONE,
	PIPE,
	DEVICE,
	FOLDER,
	LOOP,
	EMPTY,
	BINARY,
	ZERO,
	HUGE,
	KINDS
};

static const char *const kinds[KINDS] = {"gone",   "a pipe", "a device",
					 "folder", "a loop", "empty",
					 "binary", "zeros",  "huge"};

/* Of how many kinds at the least it is said that they are bad, and how many
 * devices are found at the least.
 */
static const struct {
	const char *tree, *path;
	int said;
	size_t least;
} cases[] = {
	{"npu310p", PCI "0000:01:00.0", 8, 3},
	{"npu310p", PCI "0000:01:00.0/vendor", 9, 3},
	{"npu310p", PCI "0000:01:00.0/device", 9, 3},
	{"npu310p", PCI "0000:01:00.0/class", 9, 3},
	{"npu310p", PCI "0000:01:00.0/numa_node", 7, 4},
	{"npu310p", PCI "0000:01:00.0/local_cpulist", 7, 4},
	{"npu310p", PCI "0000:82:00.0/devdrv_sysfs_bdf_to_devid", 6, 4},
	{"npu310p", "etc/vnpu.cfg", 6, 4},
	{"npu310p", "sys/devices/system/node", 2, 4},
	{"npu310p", "sys/devices/system/cpu/cpu0/topology/core_id", 2, 4},
	{"mlu370", "proc/driver/cambricon/mlus/0000:3d:00.0/information", 8, 4},
	{"dcu", PCI "0000:33:00.0/drm", 7, 4},
	{"dcu", "dev/dri/card1", 4, 4},
};

/* The call of readdir() or malloc() from now on that fails; -1: none. */
static long readdir_left = -1, malloc_left = -1;

struct dirent *readdir(DIR *dir)
{
	static struct dirent *(*real)(DIR *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	if (readdir_left < 0 || readdir_left--)
		return real(dir);
	errno = EIO;
	return NULL;
}

/* the sanitizer has its own */
#ifndef __SANITIZE_ADDRESS__
#define FAILING_MALLOC 1
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	if (malloc_left < 0 || malloc_left--)
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}
#else
#define FAILING_MALLOC 0
#endif

static void remove_all(const char *path)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command))
		diag("cannot remove %s", path);
}

static void put(const char *path, const char *text, size_t len)
{
	FILE *out = fopen(path, "we");

	if (!out || fwrite(text, 1, len, out) != len || fclose(out))
		diag("cannot write %s", path);
}

static void spoil(char *path, enum kind kind)
{
	remove_all(path);
	tree_folders(path);
	if (kind == PIPE && mkfifo(path, 0600))
		diag("no pipe");
	if (kind == DEVICE)
		mknod(path, S_IFCHR | 0600, makedev(1, 5));
	if (kind == FOLDER && mkdir(path, 0700))
		diag("no folder");
	if (kind == LOOP && symlink(strrchr(path, '/') + 1, path))
		diag("no link");
	if (kind == EMPTY || kind == HUGE)
		put(path, "", 0);
	if (kind == BINARY)
		put(path, "\xff\xfe: \x80\n", 6);
	if (kind == ZERO)
		put(path,
		    "1\0"
		    "2\n",
		    4);
	if (kind == HUGE && truncate(path, 1L << 40))
		diag("no large file");
}

static void test_case(size_t i)
{
	const char *name = strrchr(cases[i].path, '/') + 1;
	size_t least = SIZE_MAX;
	int said = 0, failed = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		char root[128], file[512], path[512];
		struct tide_where where = {.table = table, .root = root};
		struct tide_problems problems = {0};
		struct tide_accels accels = {0};
		struct tide_err err = {""};

		snprintf(root, sizeof(root), "%s/%zu.%d", folder, i, kind);
		snprintf(file, sizeof(file), TREES "%s.tree", cases[i].tree);
		snprintf(path, sizeof(path), "%s/%s", root, cases[i].path);
		tree_make(file, root);
		spoil(path, (enum kind)kind);
		if (tide_find(&where, &accels, &problems, &err)) {
			diag("%s: %s: %s", name, kinds[kind], err.text);
			failed++;
		}
		said += problems.count &&
			!strchr(problems.problem[0].text, '\n');
		if (!problems.count)
			diag("%s: %s: nothing is said", name, kinds[kind]);
		least = accels.count < least ? accels.count : least;
		tide_accels_release(&accels);
		tide_problems_release(&problems);
		remove_all(root);
	}
	is_int(failed, 0, cases[i].path);
	is_int((int64_t)least, (int64_t)cases[i].least, "the others are found");
	ok(said >= cases[i].said, "it is said, of %d", said);
}

/*
 * The list of functions with a call that fails, the first, the second and so
 * on: it is whole, or there is an error.
 */
static void test_list(long *left, const char *name)
{
	struct tide_root root = {.fd = -1};
	int errors = 0, short_lists = 0, all = 0;
	char path[128];
	long at = 0;

	snprintf(path, sizeof(path), "%s/list", folder);
	tree_make(TREES "npu310p.tree", path);
	tide_root_open(&root, path, NULL);
	do {
		struct tide_problems problems = {0};
		struct tide_pci *list = NULL;
		struct tide_err err = {""};
		size_t count = 0;
		int rc;

		*left = at++;
		rc = tide_pci_list(&root, &list, &count, &problems, &err);
		all = *left >= 0;
		*left = -1;
		errors += rc != 0;
		short_lists += !rc && count < 5 && !problems.count;
		free(list);
		tide_problems_release(&problems);
	} while (!all && at < 1000);
	tide_root_close(&root);
	ok(all && errors > 3, "%s that fails: of %ld calls %d are errors", name,
	   at, errors);
	is_int(short_lists, 0, "no function is passed over in silence");
	remove_all(path);
}

int main(void)
{
	struct tide_problems problems = {0};

	if (!mkdtemp(folder) || tide_table_load(NULL, &table, &problems, NULL))
		return 1;
	if (geteuid()) {
		skip("spoiled machines", "making a device file needs root");
		return tap_done();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_case(i);
	test_list(&readdir_left, "readdir()");
	if (FAILING_MALLOC)
		test_list(&malloc_left, "malloc()");
	else
		skip("malloc() that fails", "it is the sanitizer's");
	tide_table_destroy(table);
	remove_all(folder);
	return tap_done();
}
