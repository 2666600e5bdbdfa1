/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GRES interface of the Slurm we build for. Includes its header and says
 * where releases differ:
 *   up to 22.05 the header lies in src/common, later in src/interfaces;
 *   up to 22.05 an epilog's environment has operations of its own, later
 *   those of prolog and epilog are one (TIDE_GRES_HAS_EPILOG);
 *   up to 24.05 a plugin is asked for data of jobs and steps
 *   (TIDE_GRES_HAS_INFO).
 * All of this can go when 22.05 does, the last when 24.05 does.
 */
#ifndef TIDE_COMPAT_GRES_H
#define TIDE_COMPAT_GRES_H

#include "compat/plugin.h"

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
#include "src/common/gres.h"
#define TIDE_GRES_HAS_EPILOG 1
#else
#include "src/interfaces/gres.h"
#define TIDE_GRES_HAS_EPILOG 0
#endif

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define TIDE_GRES_HAS_INFO 1
#else
#define TIDE_GRES_HAS_INFO 0
#endif

#endif
