/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a vendor's library and passes it on to the file of its interface: see
 * vendor.h.  Calls nothing in it.
 */
#include "config.h"

#include "common/vendor/vendor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/util/file.h"
#include "common/vendor/impl.h"

static const struct {
	const char *name;
	int (*ask)(const struct tide_vendor_lib *lib, struct tide_err *err);
} apis[] = {
	{"cndev", tide_vendor_cndev},
	{"dcmi", tide_vendor_dcmi},
	{"nvml", tide_vendor_nvml},
	{"rsmi", tide_vendor_rsmi},
};

enum {
	APIS = sizeof(apis) / sizeof(*apis)
};

static int find_api(const char *name)
{
	for (int i = 0; i < APIS; i++)
		if (!strcmp(apis[i].name, name))
			return i;
	return -1;
}

int tide_vendor_knows(const char *api)
{
	return find_api(api) >= 0;
}

int tide_vendor_symbols(const struct tide_vendor_lib *lib,
			const struct tide_vendor_symbol *symbol, size_t n,
			void *functions, struct tide_err *err)
{
	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(lib->handle, symbol[i].name);

		if (!address && symbol[i].needed)
			return tide_err_set(
				err, ENOTSUP,
				"it has no function '%s': it is of another version",
				symbol[i].name);
		memcpy((char *)functions + symbol[i].offset, &address,
		       sizeof(address));
	}
	return 0;
}

void tide_vendor_clear(struct tide_vendor_device *device)
{
	memset(device, 0, sizeof(*device));
	device->memory = device->memory_used = -1;
	device->power = device->utilization = device->temperature = -1;
	device->numa = device->number = -1;
}

void tide_vendor_pci(struct tide_vendor_device *device, unsigned domain,
		     unsigned bus, unsigned dev, unsigned fn)
{
	snprintf(device->pci, sizeof(device->pci), "%04x:%02x:%02x.%x", domain,
		 bus & 0xff, dev & 0x1f, fn & 7);
}

void tide_vendor_text(char *to, size_t size, const void *from, size_t from_size)
{
	size_t len = strnlen(from, from_size);

	len = len < size ? len : size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
	tide_err_clean(to);
}

void tide_vendor_add_peer(struct tide_vendor_device *device, const char *peer)
{
	if (device->n_peers == TIDE_VENDOR_PEERS || !*peer)
		return;
	tide_vendor_text(device->peer[device->n_peers], sizeof(device->peer[0]),
			 peer, strlen(peer));
	device->n_peers++;
}

void tide_vendor_fault(struct tide_vendor_device *device,
		       enum tide_vendor_health health, const char *fmt, ...)
{
	va_list ap;

	/* the first and worst one is told */
	if (device->health >= health && *device->fault)
		return;
	device->health = health;
	va_start(ap, fmt);
	vsnprintf(device->fault, sizeof(device->fault), fmt, ap);
	va_end(ap);
	tide_err_clean(device->fault);
}

/*
 * Open it.  NULL with ENOENT when there is no such file, or with ENOTSUP when
 * there is and it cannot be loaded, as without a library that it needs.
 */
static void *open_library(const char *path, struct tide_err *err)
{
	size_t len = strlen(path);
	struct tide_err kind;
	const char *why;
	void *handle;

	/* dlopen() would wait for who writes into a pipe */
	if (strchr(path, '/') && tide_file_plain(path, &kind) &&
	    errno == EINVAL) {
		tide_err_set(err, ENOTSUP, "it cannot be loaded: %s",
			     kind.text);
		return NULL;
	}
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (handle)
		return handle;
	why = dlerror();
	/* dlopen() begins with the name of the file that it does not find */
	if (!strncmp(why, path, len) &&
	    strstr(why + len, "No such file or directory"))
		tide_err_set(err, ENOENT, "there is no %s", path);
	else
		tide_err_set(err, ENOTSUP, "it cannot be loaded: %s", why);
	return NULL;
}

/* None of the list is there. */
static int say_absent(const char *libraries, struct tide_err *err)
{
	int several = strchr(libraries, ',') != NULL;
	char names[512] = "";
	size_t used = 0;

	while (*libraries && used + 3 < sizeof(names)) {
		if (*libraries == ',')
			names[used++] = ',';
		names[used++] = *libraries == ',' ? ' ' : *libraries;
		libraries++;
	}
	names[used] = '\0';
	return tide_err_set(err, ENOENT, "there is %s %s",
			    several ? "none of" : "no", names);
}

int tide_vendor_ask(const char *api, const char *libraries,
		    const struct tide_vendor_sink *sink, struct tide_err *err)
{
	struct tide_vendor_lib lib = {.sink = sink};
	int which = find_api(api);
	char path[512];

	if (which < 0)
		return tide_err_set(
			err, EINVAL,
			"no interface '%s' is known: cndev, dcmi, nvml and rsmi are",
			api);
	for (const char *at = libraries; *at;) {
		size_t len = strcspn(at, ",");

		snprintf(path, sizeof(path), "%.*s", (int)len, at);
		at += len + (at[len] == ',');
		lib.handle = len ? open_library(path, err) : NULL;
		if (lib.handle) {
			lib.path = path;
			sink->library(sink->arg, path, "");
			return apis[which].ask(&lib, err);
		}
		if (len && errno != ENOENT)
			return -1;
	}
	return say_absent(libraries, err);
}
