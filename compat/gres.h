/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GRES interface of the Slurm we build for, and its operations. */
#ifndef TIDE_COMPAT_GRES_H
#define TIDE_COMPAT_GRES_H

#include "compat/plugin.h"

#if TIDE_INTERFACES_FOLDER
#include "src/interfaces/gres.h"
#else
#include "src/common/gres.h"
#endif

#include "compat/ops_gres.h"

#endif
