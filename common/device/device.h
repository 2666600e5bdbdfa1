/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accelerators of one node as plain numbers: which number a device file
 * carries, and the text that tells a runtime which devices it may use.  Opens
 * no file; devices are found by find.h.
 *
 * A device is known by its number: the digits that end the name of its device
 * file (/dev/cambricon_dev3 is 3), which the vendors' tools use too.  Numbers
 * are at most TIDE_DEVICE_MAX.
 *
 * Errors: the functions return 0, or -1 with errno and a text.
 * Threads: no state, every function may run anywhere.
 * Source: Cambricon's device plugin (cambricon_dev<i> is device i of the
 * vendor's library) and the environment variables of the vendors' runtimes.
 */
#ifndef TIDE_DEVICE_DEVICE_H
#define TIDE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/err.h"

/* Highest number of a device; Slurm's own limit for File= is 1024 devices. */
#define TIDE_DEVICE_MAX 65535

/*
 * The number of the device file at path: its last digits.
 * EINVAL: the name does not end in a digit.  ERANGE: above TIDE_DEVICE_MAX.
 */
int tide_device_number(const char *path, uint32_t *ret_number,
		       struct tide_err *err);

/*
 * The numbers as text, ascending, joined by commas without blanks: "0,3".  No
 * numbers give "".  The caller frees *ret_text.
 * EINVAL: a number is there twice.  ENOMEM.
 */
int tide_device_list(const uint32_t *numbers, size_t count, char **ret_text,
		     struct tide_err *err);

/*
 * What a runtime must be told to use these devices, where the process can open
 * no devices but those of seen and the runtime counts these from 0: "0,1" for
 * the devices 2 and 5 when it can open 2, 5 and 7.  Ownership as for
 * tide_device_list.
 * EINVAL: a number is there twice, or not in seen.  ENOMEM.
 */
int tide_device_places(const uint32_t *numbers, size_t count,
		       const uint32_t *seen, size_t seen_count, char **ret_text,
		       struct tide_err *err);

#endif
