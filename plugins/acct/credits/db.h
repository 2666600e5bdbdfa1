/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of our own to the database that slurmdbd uses, with errors
 * that are returned and not fatal.  Slurm's connections and transactions are
 * never touched; statements are short, wait a few seconds for a lock at most,
 * and read what is committed (READ COMMITTED).  Includes no Slurm header.
 *
 * Errors: functions return 0, or -1 with errno and err written:
 *	ENOTCONN  the server cannot be reached, or the connection broke (it is
 *		  closed; what was not committed is rolled back)
 *	EAGAIN	  a lock could not be had in time, or a deadlock
 *	EEXIST	  a unique key is there already
 *	ENOENT	  no such table
 *	ENOMEM, EIO  anything else
 *
 * Threads: a connection belongs to one thread at a time.
 */
#ifndef TIDE_ACCT_DB_H
#define TIDE_ACCT_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/err.h"

struct tide_db;

/* Copied; host2, script, ask and options may be NULL. */
struct tide_db_where {
	const char *host;
	const char *host2; /* tried when host does not answer */
	unsigned int port;
	const char *user;
	const char *password;
	/* ... or what tells it for each new connection, asked by ask. */
	const char *script;
	int (*ask)(const char *script, const char *host, unsigned int port,
		   const char *user, char **ret_password, struct tide_err *err);
	const char *database;
	const char *options; /* StorageParameters: SSL_CA=...,SSL_CERT=... */
};

/* Not connected yet.  NULL with ENOMEM. */
struct tide_db *tide_db_create(const struct tide_db_where *where);
void tide_db_destroy(struct tide_db *db);

/* Connect if need be.  1 when it was connected already. */
int tide_db_connect(struct tide_db *db, struct tide_err *err);
bool tide_db_connected(const struct tide_db *db);

/*
 * Statements are written with marks that take the arguments in turn:
 *	?s  const char *   a quoted string; NULL is null
 *	?d  int64_t
 *	?u  uint64_t
 *	?n  const char *   part of an identifier: letters, digits, _ . - only
 *	?r  const char *   SQL of our own, as it is
 */
int tide_db_exec(struct tide_db *db, struct tide_err *err, const char *sql,
		 ...);

/*
 * The text of a statement, or of a part of one, with its arguments in place;
 * connected.  The caller frees it; NULL with ENOMEM.
 */
char *tide_db_format(struct tide_db *db, const char *sql, ...);

/* The rows of a result, held in memory; columns are strings or NULL. */
struct tide_rows;

int tide_db_query(struct tide_db *db, struct tide_rows **ret_rows,
		  struct tide_err *err, const char *sql, ...);
/* The next row, or NULL after the last; valid until the next call. */
char **tide_rows_next(struct tide_rows *rows);
void tide_rows_free(struct tide_rows *rows);
/* A column as a number; 0 for NULL. */
int64_t tide_rows_int(const char *column);
/* One as a key of a row, which may be any number of 64 bits. */
uint64_t tide_rows_key(const char *column);

/*
 * The one number that a query selects; 0 when there is no row or it is null.
 */
int tide_db_number(struct tide_db *db, int64_t *ret, struct tide_err *err,
		   const char *sql, ...);
int tide_db_key(struct tide_db *db, uint64_t *ret, struct tide_err *err,
		const char *sql, ...);

int tide_db_begin(struct tide_db *db, struct tide_err *err);
int tide_db_commit(struct tide_db *db, struct tide_err *err);
/* Keeps errno; a broken connection has rolled back by itself. */
void tide_db_rollback(struct tide_db *db);

#endif
