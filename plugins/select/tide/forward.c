/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way to Slurm's own select_cons_tres.so: see forward.h. */
#include "compat/select.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compat/loaded.h"
#include "plugins/select/tide/forward.h"

#define STOCK_FILE "select_cons_tres.so"

extern const uint32_t plugin_version;
extern const char plugin_type[];

static void *stock_handle;
static char stock_path[PATH_MAX];

/*
 * One pointer and one jump for each operation.  The jump is weak: what is
 * written in C (select_tide.c) takes its place, and reaches the original
 * through the pointer.
 */
#define POINTER(op) \
	__attribute__((visibility("hidden"))) __typeof__(op) *tide_next_##op;
#if defined(__x86_64__)
#define JUMP(op)                                        \
	__asm__(".text\n"                               \
		".weak " #op "\n"                       \
		".type " #op ", @function\n" #op ":\n"  \
		"	endbr64\n"                            \
		"	jmp *tide_next_" #op "(%rip)\n" \
		".size " #op ", . - " #op "\n");
#elif defined(__aarch64__)
#define JUMP(op)                                                   \
	__asm__(".text\n"                                          \
		".weak " #op "\n"                                  \
		".type " #op ", %function\n" #op ":\n"             \
		"	bti c\n"                                         \
		"	adrp x16, tide_next_" #op "\n"             \
		"	ldr x16, [x16, :lo12:tide_next_" #op "]\n" \
		"	br x16\n"                                        \
		".size " #op ", . - " #op "\n");
#else
#define JUMP(op) _Static_assert(0, "written for x86_64 and aarch64 only");
#endif

TIDE_OPERATIONS(POINTER)
TIDE_OPERATIONS(JUMP)

#define ENTRY(op) {#op, (void **)&tide_next_##op},
static struct {
	const char *name;
	void **pointer;
} ops[] = {TIDE_OPERATIONS(ENTRY)};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static int same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* The file this code was loaded from. */
static int own_path(char *path, size_t size, struct tide_err *err)
{
	Dl_info info;

	if (!dladdr(&stock_handle, &info) || !info.dli_fname)
		return tide_err_set(
			err, ENOENT,
			"could not find out where this plugin was loaded from");
	snprintf(path, size, "%s", info.dli_fname);
	return 0;
}

/*
 * Slurm's copy: the first one after our own folder.  If PluginDir does not
 * name our folder at all (a test that opens the file itself), the first.
 */
static int find_stock(const char *plugindir, char *ret, size_t size,
		      struct tide_err *err)
{
	char own[PATH_MAX], path[PATH_MAX], first[PATH_MAX] = "";
	const char *dir = plugindir, *end;
	int passed = 0;

	if (own_path(own, sizeof(own), err) < 0)
		return -1;
	for (; *dir; dir = *end ? end + 1 : end) {
		struct stat st;

		end = strchrnul(dir, ':');
		snprintf(path, sizeof(path), "%.*s/%s", (int)(end - dir), dir,
			 STOCK_FILE);
		if (same_file(path, own)) {
			passed = 1;
			continue;
		}
		if (stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		if (passed) {
			snprintf(ret, size, "%s", path);
			return 0;
		}
		if (!first[0])
			snprintf(first, sizeof(first), "%s", path);
	}
	if (!first[0] || passed)
		return tide_err_set(
			err, ENOENT,
			"could not find Slurm's own %s in PluginDir=%s after the folder of TideFlow",
			STOCK_FILE, plugindir);
	snprintf(ret, size, "%s", first);
	return 0;
}

static int verify(void *handle, const char *path, struct tide_err *err)
{
	const uint32_t *version = dlsym(handle, "plugin_version");
	const char *type = dlsym(handle, "plugin_type");
	struct tide_version_text theirs, ours;

	if (!version || !type || strcmp(type, plugin_type))
		return tide_err_set(err, EINVAL,
				    "%s is not a plugin of type %s", path,
				    plugin_type);
	if (*version != plugin_version)
		return tide_err_set(
			err, EINVAL,
			"%s is of Slurm %s, TideFlow was built for %s: install the build of TideFlow for that Slurm",
			path, tide_version(*version, &theirs),
			tide_version(plugin_version, &ours));
	return 0;
}

static int link_ops(void *handle, const char *path, struct tide_err *err)
{
	void *found[OPS];
	size_t i;

	for (i = 0; i < OPS; i++) {
		found[i] = dlsym(handle, ops[i].name);
		if (!found[i])
			return tide_err_set(err, EINVAL, "%s has no %s", path,
					    ops[i].name);
	}
	for (i = 0; i < OPS; i++)
		*ops[i].pointer = found[i];
	return 0;
}

int tide_forward_open(const char *plugindir, struct tide_err *err)
{
	int (*stock_init)(void);
	char path[PATH_MAX];
	void *handle;

	if (stock_handle)
		return 1;
	if (find_stock(plugindir, path, sizeof(path), err) < 0)
		return -1;
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return tide_err_set(err, ENOENT, "could not open %s: %s", path,
				    dlerror());
	if (verify(handle, path, err) < 0 || link_ops(handle, path, err) < 0)
		goto close;
	stock_init = (int (*)(void))dlsym(handle, "init");
	if (stock_init && stock_init()) {
		tide_err_set(err, EIO, "init of %s failed", path);
		goto close;
	}
	stock_handle = handle;
	memcpy(stock_path, path, sizeof(path));
	return 0;

close:
	dlclose(handle);
	return -1;
}

void tide_forward_close(void)
{
	void (*stock_fini)(void);

	if (!stock_handle)
		return;
	stock_fini = (void (*)(void))dlsym(stock_handle, "fini");
	if (stock_fini)
		stock_fini();
	dlclose(stock_handle);
	stock_handle = NULL;
}

const char *tide_forward_path(void)
{
	return stock_handle ? stock_path : NULL;
}
