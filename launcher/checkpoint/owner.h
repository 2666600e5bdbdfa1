/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside checkpoint/ only: what owner.c wants of folder.c. */
#ifndef TIDE_CHECKPOINT_OWNER_H
#define TIDE_CHECKPOINT_OWNER_H

#include "launcher/checkpoint/folder.h"

/* Remove temporary files; only the holder of the lock may. */
void tide_folder_clean(struct tide_folder *folder);

#endif
