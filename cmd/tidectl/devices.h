/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of tidectl devices, library and request share. */
#ifndef TIDE_TIDECTL_DEVICES_H
#define TIDE_TIDECTL_DEVICES_H

#include <jansson.h>
#include <stdio.h>

#include "common/device/find.h"
#include "common/vendor/answer.h"

/*
 * The table with that file on top, or, for NULL, devices.conf beside slurm.conf
 * if there is one.  What is wrong with it goes to stderr; then NULL for a file
 * that was given, and beside slurm.conf the other lines count.
 */
struct tide_table *devices_table(const char *path);

/*
 * tide_find() in an environment that hides nothing.  What is broken goes to
 * stderr.  -1 when nothing could be looked at, which was said.
 */
int devices_find(const struct tide_where *where,
		 struct tide_accels *ret_accels);

/* What slurm.conf, beside devices.conf, makes slurmd call a socket. */
enum tide_socket devices_socket(void);

/*
 * Forget those for which drop is not 0, or those of another GRES.  -1 without
 * memory: nothing is forgotten then.
 */
int devices_drop(struct tide_accels *accels, const char *drop);
int devices_keep(struct tide_accels *accels, const char *gres);

/* What is broken, to stderr. */
void devices_tell(const struct tide_problems *problems);

/* A device as tidectl library tells of it; NULL when memory is out. */
json_t *tidectl_json_vendor(const struct tide_vendor_device *device);

/*
 * Ask the library of each family that has a device here, side by side, each in
 * a process of its own and for limit_s seconds at most.  -1 with ENOMEM.
 */
int devices_ask(const struct tide_table *table,
		const struct tide_accels *accels, int limit_s,
		struct tide_vendor_answers *ret_answers);

/* That none was found, and on standard error what may be one all the same. */
int devices_print_none(const struct tide_accels *accels, FILE *out);

/* Print what was found, and what libraries tell of it; the exit status. */
int devices_print_json(const struct tide_accels *accels,
		       const struct tide_vendor_answers *answers);
int devices_print_table(const struct tide_accels *accels,
			const struct tide_vendor_answers *answers);

/* Print how the devices are; the exit status. */
int devices_health(const struct tide_health_request *request, int json);

/* Print lines of gres.conf, for node, NULL: all; the exit status. */
int devices_print_gres_conf(const struct tide_accels *accels, const char *node);

struct devices_compare {
	const char *path; /* of a gres.conf, - is standard input */
	const char *node; /* whose lines; NULL: this host */
	const char *gres; /* only this one; NULL: all */
	int gres_conf;	  /* print lines of what the file does not name */
};

/* Print where the file differs from what was found; the exit status. */
int devices_compare(const struct devices_compare *request,
		    struct tide_accels *accels);

#endif /* TIDE_TIDECTL_DEVICES_H */
