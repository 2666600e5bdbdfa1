/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounting_storage interface of the Slurm we build for, and its
 * operations: for a plugin in slurmdbd, where accounting_storage_mysql.so has
 * those that are not ours.
 */
#ifndef TIDE_COMPAT_DBD_H
#define TIDE_COMPAT_DBD_H

#include "compat/plugin.h"

#include "slurm/slurmdb.h"
#include "src/common/list.h"
#include "src/common/slurmdb_defs.h"
#include "src/slurmctld/slurmctld.h"
#if TIDE_INTERFACES_FOLDER
#include "src/interfaces/accounting_storage.h"
#else
#include "src/common/slurm_accounting_storage.h"
#endif

#include "compat/ops_accounting_storage.h"

/*
 * Is the record, which Slurm has allocated, of the size that we were built
 * for?  Versions can agree where records differ.  If not, which is logged once,
 * it is to be left alone: the database has the same in other words.
 */
static inline bool tide_dbd_knows(const void *record, size_t size,
				  const char *what)
{
	static bool said;
	size_t theirs = xsize((void *)record);

	if (theirs != size && !said) {
		error("credits: this is another Slurm %s than the one TideFlow was built for: its record of a %s has %zu bytes, not %zu; install the build of TideFlow for this Slurm",
		      SLURM_VERSION_STRING, what, theirs, size);
		said = true;
	}
	return theirs == size;
}

#endif
