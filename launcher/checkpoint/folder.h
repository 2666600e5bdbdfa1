/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of a training's checkpoints.  It belongs to one job name and one
 * model (its file `owner` says which), and to one live job at a time: that job
 * holds a lock on `owner`.
 *
 * The lock is an open-file-description lock (fcntl, F_OFD_SETLK): it ends with
 * the process, however that dies, and holds between hosts on file systems that
 * carry POSIX locks (NFS, Lustre mounted with flock).  A host that dies keeps
 * its NFS lock until the lease ends; the same job, started again, waits for it.
 */
#ifndef TIDE_CHECKPOINT_FOLDER_H
#define TIDE_CHECKPOINT_FOLDER_H

#include <limits.h>
#include <stdint.h>

#include "launcher/checkpoint/checkpoint.h"

struct tide_folder {
	char path[PATH_MAX];
	int fd;
	int owner_fd; /* -1: not claimed */
};

/* Who claims a folder. */
struct tide_claim {
	const char *job;    /* name */
	const char *model;  /* one line */
	const char *holder; /* this run, e.g. "job 12 on node3, process 88" */
	const char *same;   /* holders that begin so are waited for, or NULL */
	int wait_s;	    /* for so long */
};

/* Told of checkpoints that are passed over. */
typedef void tide_folder_report(void *arg, const char *text);

/* Open the folder, making it (not its parents) if need be. */
int tide_folder_open(struct tide_folder *folder, const char *path,
		     struct tide_err *err);
void tide_folder_close(struct tide_folder *folder);

/*
 * Claim it, and remove temporary files that a killed save left.  Errors: EBUSY
 * (another live job holds it), EPERM (it belongs to another job name or model);
 * those of open, fcntl and write.
 */
int tide_folder_claim(struct tide_folder *folder,
		      const struct tide_claim *claim, struct tide_err *err);

/*
 * Name of the newest checkpoint whose digest is right, into ret_name.  A
 * damaged one is reported and renamed to NAME.bad, so that it neither counts
 * nor comes back.  Returns 0; 1 if there is none at all; -1 with ENODATA if all
 * that were there are damaged, or those of reading the folder.
 */
int tide_folder_newest(struct tide_folder *folder, char *ret_name,
		       tide_folder_report *report, void *arg,
		       struct tide_err *err);

/* The same, but damaged ones are passed over and nothing is changed. */
int tide_folder_peek(struct tide_folder *folder, char *ret_name,
		     struct tide_err *err);

/* Remove all but the newest `keep` checkpoints. */
int tide_folder_prune(struct tide_folder *folder, int keep,
		      struct tide_err *err);

#endif
