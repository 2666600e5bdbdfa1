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

#endif
