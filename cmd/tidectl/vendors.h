/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of tidectl devices and tidectl library share. */
#ifndef TIDE_TIDECTL_VENDORS_H
#define TIDE_TIDECTL_VENDORS_H

#include <jansson.h>

#include "common/vendor/answer.h"

/* A device as tidectl library tells of it; NULL when memory is out. */
json_t *tidectl_json_vendor(const struct tide_vendor_device *device);

/*
 * Ask the library of each family that has a device here, side by side, each in
 * a process of its own and for limit_s seconds at most.  -1 with ENOMEM.
 */
int devices_ask(const struct tide_table *table,
		const struct tide_accels *accels, int limit_s,
		struct tide_vendor_answers *ret_answers);

/* Print what was found, and what libraries tell of it; the exit status. */
int devices_print_json(const struct tide_accels *accels,
		       const struct tide_vendor_answers *answers);
int devices_print_table(const struct tide_accels *accels,
			const struct tide_vendor_answers *answers);

/* Print how the devices are; the exit status. */
int devices_health(const struct tide_health_request *request, int json);

#endif
