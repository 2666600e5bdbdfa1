/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vendors' management libraries, where a machine has them: what each tells of
 * its devices.  A library is opened by name at run time, its symbols stay out
 * of everybody's sight, and nothing of it is needed to build.
 *
 * A library may crash, hang, write to standard output or start threads, and
 * stays loaded: ask one in a process of its own, once, with a limit of time
 * (tidectl library does).  What was told before comes out by then.
 *
 * Only calls whose records are known are made, and what a library does not
 * tell stays unknown.  Sources: the headers that the vendors publish with
 * their exporters and device plugins.
 *
 * Threads: one.
 */
#ifndef TIDE_VENDOR_VENDOR_H
#define TIDE_VENDOR_VENDOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

enum {
	TIDE_VENDOR_DEVICES = 128, /* more are not asked for */
	TIDE_VENDOR_PEERS = 32,	   /* links of a device */
	TIDE_VENDOR_PARTS = 1024,  /* of all devices: Slurm's own limit */
};

enum tide_vendor_health {
	TIDE_HEALTH_UNKNOWN, /* the library has no such call, or did not say */
	TIDE_HEALTH_OK,
	TIDE_HEALTH_WARNING, /* it works */
	TIDE_HEALTH_FAULT,
};

/* Texts are "" and numbers -1 where nothing was told. */
struct tide_vendor_device {
	char pci[24];
	char uuid[64];
	int64_t number; /* in the name of its device file */
	int64_t memory; /* MiB */
	int64_t memory_used;
	int64_t power;	     /* W */
	int64_t utilization; /* percent */
	int64_t temperature; /* degrees Celsius */
	int64_t numa;
	char cpus[256]; /* that are near, as a list */
	enum tide_vendor_health health;
	char fault[160]; /* what is wrong */
	/* The other end of each link that is up: a UUID or a PCI address. */
	char peer[TIDE_VENDOR_PEERS][64];
	size_t n_peers;
};

/* A part of a device that somebody has set up. */
struct tide_vendor_part {
	char file[104];	   /* its device file */
	char profile[112]; /* as the vendor's tools call it, with its kind */
	char uuid[64];
};

/* Called while the library is asked, in this order, the last three by turns. */
struct tide_vendor_sink {
	void *arg;
	/*
	 * The library was opened, and again when its version is known; version
	 * is "" when it is not.
	 */
	void (*library)(void *arg, const char *path, const char *version);
	/* This device is asked next; pci is "" while it is not known. */
	void (*asking)(void *arg, const char *pci);
	void (*told)(void *arg, const struct tide_vendor_device *device);
	/* Of the device that was told before. */
	void (*part)(void *arg, const struct tide_vendor_part *part);
};

/* Is it an interface that we know: cndev, dcmi, nvml or rsmi? */
int tide_vendor_knows(const char *api);

/*
 * Open the first library of the list (names or absolute paths, by commas) that
 * is there, and ask it through this interface.  0; -1 with a text about "it",
 * which is the library, and errno
 *	ENOENT	none is there
 *	ENOTSUP	it cannot be loaded, or speaks another version
 *	EIO	it refuses, as without a driver
 *	EINVAL	no such interface
 */
int tide_vendor_ask(const char *api, const char *libraries,
		    const struct tide_vendor_sink *sink, struct tide_err *err);

#endif
