/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the interfaces share; for nobody else.  An interface is a
 * file with one function; to add one, write it and add a row in vendor.c.
 */
#ifndef TIDE_VENDOR_IMPL_H
#define TIDE_VENDOR_IMPL_H

#include <stdbool.h>

#include "common/vendor/vendor.h"

/* A library that was opened, and who is told. */
struct tide_vendor_lib {
	void *handle;
	const char *path;
	const struct tide_vendor_sink *sink;
};

/* A function of the library and where its pointer goes. */
struct tide_vendor_symbol {
	const char *name;
	size_t offset;
	bool needed;
};

/*
 * Look the functions up; those that are not needed may be NULL after it.  -1
 * with ENOTSUP when one that is needed is missing.
 */
int tide_vendor_symbols(const struct tide_vendor_lib *lib,
			const struct tide_vendor_symbol *symbol, size_t n,
			void *functions, struct tide_err *err);

/* A device of which nothing is known. */
void tide_vendor_clear(struct tide_vendor_device *device);

void tide_vendor_pci(struct tide_vendor_device *device, unsigned domain,
		     unsigned bus, unsigned dev, unsigned fn);

/* Take what the library wrote, which may lack its end. */
void tide_vendor_text(char *to, size_t size, const void *from,
		      size_t from_size);

void tide_vendor_add_peer(struct tide_vendor_device *device, const char *peer);

__attribute__((format(printf, 3, 4))) void
tide_vendor_fault(struct tide_vendor_device *device,
		  enum tide_vendor_health health, const char *fmt, ...);

int tide_vendor_cndev(const struct tide_vendor_lib *lib, struct tide_err *err);
int tide_vendor_dcmi(const struct tide_vendor_lib *lib, struct tide_err *err);
int tide_vendor_nvml(const struct tide_vendor_lib *lib, struct tide_err *err);
int tide_vendor_rsmi(const struct tide_vendor_lib *lib, struct tide_err *err);

#endif
