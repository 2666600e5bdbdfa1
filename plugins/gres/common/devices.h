/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices of this node as Slurm wants them: a list of gres_device_t, made
 * from the records of gres.conf in slurmd and handed on to slurmstepd.
 *
 * index counts the devices of the node in the order of the records: bit index
 * of Slurm's bitmaps means this device. dev_num is the number in the name of
 * the file. With MultipleFiles= the files of a record share an index.
 *
 * Slurm holds its gres lock around every call. Lists belong to the caller.
 */
#ifndef TIDE_GRES_DEVICES_H
#define TIDE_GRES_DEVICES_H

#include "compat/gres.h"

/*
 * A new list of the devices that the records of this GRES name; empty when
 * they name none. A file that is no device, or one that is named already, by
 * this path or another, here or in records of another GRES, is logged: its
 * device is not in the list, and its record counts one less, or goes, so that
 * Slurm drains the node. The others keep their index.
 */
list_t *tide_devices_load(list_t *records, const char *name);

/* Pack the list (NULL is empty); a new list out of the buffer, or NULL. */
void tide_devices_pack(list_t *devices, buf_t *buffer);
list_t *tide_devices_unpack(buf_t *buffer);

/*
 * The numbers of the devices whose bits are set in bits (NULL: none), and which
 * are the runtime's when that is not NULL, one per index; *ret_count of them.
 * Their indexes instead, if places. The caller xfree()s.
 */
struct tide_runtime;
uint32_t *tide_devices_numbers(list_t *devices, bitstr_t *bits,
			       const struct tide_runtime *runtime, bool places,
			       size_t *ret_count);

#endif
