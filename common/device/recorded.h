/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded machines that hwloc would not survive: it opens what it finds, waits
 * for ever on a pipe, and ends the program where a folder is empty.
 */
#ifndef TIDE_DEVICE_RECORDED_H
#define TIDE_DEVICE_RECORDED_H

#include "common/device/root.h"
#include "common/util/err.h"

/*
 * Is there anything but files and folders in sys and proc of the root?  0, or
 * -1 with errno EINVAL and the first such path.
 */
int tide_recorded_plain(const struct tide_root *root, struct tide_err *err);

/*
 * Have load(arg) run by a child process first, for 10 seconds at most: 0 when
 * it returned 0 there, -1 with errno EINVAL when it did not (no error text),
 * or when it crashed or came to no end (ret_why is set then, to a constant).
 * For programs of one thread.
 */
int tide_recorded_try(int (*load)(void *arg), void *arg, const char **ret_why);

#endif /* TIDE_DEVICE_RECORDED_H */
