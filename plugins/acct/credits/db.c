/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small wrapper of MariaDB's client library.  Knows no table.
 */
#include "config.h"

#include "plugins/acct/credits/db.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mysql.h>
#include <mysqld_error.h>
#include <errmsg.h>

#define CONNECT_TIMEOUT_S 5
#define IO_TIMEOUT_S 60
#define LOCK_TIMEOUT_S 5

struct tide_db {
	MYSQL *conn; /* NULL when not connected */
	char *host;
	char *host2;
	unsigned int port;
	char *user;
	char *password;
	char *script;
	__typeof__(((struct tide_db_where *)NULL)->ask) ask;
	char *database;
	char *options;
};

struct tide_rows {
	MYSQL_RES *result;
};

static char *copy(const char *text, bool *bad)
{
	char *s = text ? strdup(text) : NULL;

	if (text && !s)
		*bad = true;
	return s;
}

struct tide_db *tide_db_create(const struct tide_db_where *where)
{
	struct tide_db *db = calloc(1, sizeof(*db));
	bool bad = false;

	if (!db)
		return NULL;
	db->host = copy(where->host, &bad);
	db->host2 = copy(where->host2, &bad);
	db->port = where->port;
	db->user = copy(where->user, &bad);
	db->password = copy(where->password, &bad);
	db->script = copy(where->script, &bad);
	db->ask = where->ask;
	db->database = copy(where->database, &bad);
	db->options = copy(where->options, &bad);
	if (bad) {
		tide_db_destroy(db);
		errno = ENOMEM;
		return NULL;
	}
	return db;
}

static void disconnect(struct tide_db *db)
{
	if (db->conn)
		mysql_close(db->conn);
	db->conn = NULL;
}

void tide_db_destroy(struct tide_db *db)
{
	int saved = errno;

	if (!db)
		return;
	disconnect(db);
	free(db->host);
	free(db->host2);
	free(db->user);
	free(db->password);
	free(db->script);
	free(db->database);
	free(db->options);
	free(db);
	errno = saved;
}

/* The SSL_ words of StorageParameters, as slurmdbd itself understands them. */
static int set_ssl(struct tide_db *db, struct tide_err *err)
{
	const char *key = NULL, *cert = NULL, *ca = NULL, *path = NULL;
	const char *cipher = NULL;
	const struct {
		const char *name;
		const char **value;
	} words[] = {
		{"SSL_KEY=", &key},	  {"SSL_CERT=", &cert},
		{"SSL_CAPATH=", &path},	  {"SSL_CA=", &ca},
		{"SSL_CIPHER=", &cipher},
	};
	char *text, *word, *save = NULL;
	size_t i, len;

	if (!db->options)
		return 0;
	text = strdup(db->options);
	if (!text)
		return tide_err_set(err, ENOMEM, "out of memory");
	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			len = strlen(words[i].name);
			if (!strncasecmp(word, words[i].name, len))
				*words[i].value = word + len;
		}
	}
	mysql_ssl_set(db->conn, key, cert, ca, path, cipher);
	free(text);
	return 0;
}

static int fail(struct tide_db *db, struct tide_err *err, const char *what)
{
	unsigned int code = mysql_errno(db->conn);
	int number;

	switch (code) {
	case CR_CONN_HOST_ERROR:
	case CR_CONNECTION_ERROR:
	case CR_SERVER_GONE_ERROR:
	case CR_SERVER_LOST:
	case CR_SERVER_HANDSHAKE_ERR:
	case ER_SERVER_SHUTDOWN:
	case ER_CONNECTION_KILLED:
		number = ENOTCONN;
		break;
	case ER_LOCK_WAIT_TIMEOUT:
	case ER_LOCK_DEADLOCK:
		number = EAGAIN;
		break;
	case ER_DUP_ENTRY:
		number = EEXIST;
		break;
	case ER_NO_SUCH_TABLE:
		number = ENOENT;
		break;
	default:
		number = EIO;
	}
	tide_err_set(err, number, "%s: %s (%u)", what, mysql_error(db->conn),
		     code);
	if (number == ENOTCONN)
		disconnect(db);
	errno = number;
	return -1;
}

static int ask_password(struct tide_db *db, const char *host,
			struct tide_err *err)
{
	char *password = NULL;

	if (!db->script)
		return 0;
	if (db->ask(db->script, host, db->port, db->user, &password, err)) {
		errno = ENOTCONN;
		return -1;
	}
	free(db->password);
	db->password = password;
	return 0;
}

static int try_host(struct tide_db *db, const char *host, struct tide_err *err)
{
	unsigned int connect = CONNECT_TIMEOUT_S, io = IO_TIMEOUT_S;

	if (ask_password(db, host, err))
		return -1;
	db->conn = mysql_init(NULL);
	if (!db->conn)
		return tide_err_set(err, ENOMEM, "out of memory");
	mysql_options(db->conn, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
	mysql_options(db->conn, MYSQL_OPT_READ_TIMEOUT, &io);
	mysql_options(db->conn, MYSQL_OPT_WRITE_TIMEOUT, &io);
	/* As the tables are: the chain is over bytes, whatever the default. */
	mysql_options(db->conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (set_ssl(db, err)) {
		disconnect(db);
		return -1;
	}
	if (mysql_real_connect(db->conn, host, db->user, db->password,
			       db->database, db->port, NULL, 0))
		return 0;
	tide_err_set(err, ENOTCONN,
		     "could not connect to database '%s' on '%s': %s",
		     db->database, host ? host : "localhost",
		     mysql_error(db->conn));
	disconnect(db);
	errno = ENOTCONN;
	return -1;
}

int tide_db_connect(struct tide_db *db, struct tide_err *err)
{
	if (db->conn)
		return 1;
	if (try_host(db, db->host, err) &&
	    (!db->host2 || try_host(db, db->host2, err)))
		return -1;
	if (tide_db_exec(
		    db, err,
		    "set session transaction isolation level read committed") ||
	    tide_db_exec(
		    db, err,
		    "set session innodb_lock_wait_timeout=?d, session sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		    (int64_t)LOCK_TIMEOUT_S)) {
		disconnect(db);
		return -1;
	}
	return 0;
}

bool tide_db_connected(const struct tide_db *db)
{
	return db->conn;
}

static void put_string(struct tide_db *db, FILE *out, const char *text)
{
	size_t len;
	char *buf;

	if (!text) {
		fputs("null", out);
		return;
	}
	len = strlen(text);
	buf = malloc(2 * len + 1);
	if (!buf) {
		/* Not to be executed: the statement does not parse. */
		fputs("'", out);
		return;
	}
	mysql_real_escape_string(db->conn, buf, text, len);
	fprintf(out, "'%s'", buf);
	free(buf);
}

static void put_name(FILE *out, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("_.-", *text))
			fputc(*text, out);
}

/* The statement with its arguments in place; NULL with ENOMEM. */
static char *expand(struct tide_db *db, const char *sql, va_list ap)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (; *sql; sql++) {
		if (*sql != '?') {
			fputc(*sql, out);
			continue;
		}
		switch (*++sql) {
		case 's':
			put_string(db, out, va_arg(ap, const char *));
			break;
		case 'd':
			fprintf(out, "%" PRId64, va_arg(ap, int64_t));
			break;
		case 'u':
			fprintf(out, "%" PRIu64, va_arg(ap, uint64_t));
			break;
		case 'n':
			put_name(out, va_arg(ap, const char *));
			break;
		case 'r':
			fputs(va_arg(ap, const char *), out);
			break;
		default:
			fputc('?', out);
			sql--;
		}
	}
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}

char *tide_db_format(struct tide_db *db, const char *sql, ...)
{
	va_list ap;
	char *text;

	va_start(ap, sql);
	text = expand(db, sql, ap);
	va_end(ap);
	return text;
}

static int vexec(struct tide_db *db, struct tide_err *err, const char *sql,
		 va_list ap)
{
	char *text;
	int rc;

	if (!db->conn)
		return tide_err_set(err, ENOTCONN, "not connected");
	text = expand(db, sql, ap);
	if (!text)
		return tide_err_set(err, ENOMEM, "out of memory");
	rc = mysql_real_query(db->conn, text, strlen(text));
	free(text);
	return rc ? fail(db, err, "the database refused a statement") : 0;
}

int tide_db_exec(struct tide_db *db, struct tide_err *err, const char *sql, ...)
{
	MYSQL_RES *result;
	va_list ap;
	int rc;

	va_start(ap, sql);
	rc = vexec(db, err, sql, ap);
	va_end(ap);
	if (rc)
		return rc;
	result = mysql_store_result(db->conn);
	if (result)
		mysql_free_result(result);
	return 0;
}

static int vquery(struct tide_db *db, struct tide_rows **ret_rows,
		  struct tide_err *err, const char *sql, va_list ap)
{
	struct tide_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return tide_err_set(err, ENOMEM, "out of memory");
	if (vexec(db, err, sql, ap))
		goto bad;
	rows->result = mysql_store_result(db->conn);
	if (!rows->result) {
		fail(db, err, "could not read a result");
		goto bad;
	}
	*ret_rows = rows;
	return 0;
bad:
	tide_rows_free(rows);
	return -1;
}

int tide_db_query(struct tide_db *db, struct tide_rows **ret_rows,
		  struct tide_err *err, const char *sql, ...)
{
	va_list ap;
	int rc;

	va_start(ap, sql);
	rc = vquery(db, ret_rows, err, sql, ap);
	va_end(ap);
	return rc;
}

char **tide_rows_next(struct tide_rows *rows)
{
	return mysql_fetch_row(rows->result);
}

void tide_rows_free(struct tide_rows *rows)
{
	int saved = errno;

	if (!rows)
		return;
	if (rows->result)
		mysql_free_result(rows->result);
	free(rows);
	errno = saved;
}

int64_t tide_rows_int(const char *column)
{
	return column ? strtoll(column, NULL, 10) : 0;
}

uint64_t tide_rows_key(const char *column)
{
	return column ? strtoull(column, NULL, 10) : 0;
}

/* The first column of the first row, as the one or the other; 0 if none. */
static int vnumber(struct tide_db *db, int64_t *ret, uint64_t *ret_key,
		   struct tide_err *err, const char *sql, va_list ap)
{
	struct tide_rows *rows;
	const char *column;
	char **row;

	if (vquery(db, &rows, err, sql, ap))
		return -1;
	row = tide_rows_next(rows);
	column = row ? row[0] : NULL;
	if (ret)
		*ret = tide_rows_int(column);
	if (ret_key)
		*ret_key = tide_rows_key(column);
	tide_rows_free(rows);
	return 0;
}

int tide_db_number(struct tide_db *db, int64_t *ret, struct tide_err *err,
		   const char *sql, ...)
{
	va_list ap;
	int rc;

	va_start(ap, sql);
	rc = vnumber(db, ret, NULL, err, sql, ap);
	va_end(ap);
	return rc;
}

int tide_db_key(struct tide_db *db, uint64_t *ret, struct tide_err *err,
		const char *sql, ...)
{
	va_list ap;
	int rc;

	va_start(ap, sql);
	rc = vnumber(db, NULL, ret, err, sql, ap);
	va_end(ap);
	return rc;
}

int tide_db_begin(struct tide_db *db, struct tide_err *err)
{
	return tide_db_exec(db, err, "start transaction");
}

int tide_db_commit(struct tide_db *db, struct tide_err *err)
{
	return tide_db_exec(db, err, "commit");
}

void tide_db_rollback(struct tide_db *db)
{
	int saved = errno;

	if (db->conn)
		tide_db_exec(db, NULL, "rollback");
	errno = saved;
}
