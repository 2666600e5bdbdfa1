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

/* See release.h. */
#if TIDE_GRES_HAS_EPILOG
typedef gres_epilog_info_t gres_prep_t;
#define gres_p_prep_build_env gres_p_epilog_build_env
#define gres_p_prep_set_env gres_p_epilog_set_env
#endif

#include "compat/ops_gres.h"

/*
 * Is the record of a job's devices, which Slurm has allocated, of the size that
 * we were built for?  Versions can agree where records differ.
 */
static inline bool tide_gres_knows(gres_job_state_t *record)
{
	return xsize(record) == sizeof(*record);
}

#endif
