/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sacct shows: the SystemComment of every charged run gets
 * "credits=12.500000 rate=200/h to=nlp" when jobs are read; nothing is written
 * to the database, other text there is kept.
 *
 * Threads: any of slurmdbd's RPC threads.
 */
#ifndef TIDE_ACCT_COMMENT_H
#define TIDE_ACCT_COMMENT_H

#include "src/common/list.h"

/* Of slurmdb_job_rec_t.  Without the database the list stays as it is. */
void tide_comment_jobs(list_t *jobs);

void tide_comment_close(void);

#endif
