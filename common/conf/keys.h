/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of tide.conf: one table from which the parser, the example file and
 * the option table of tide.conf(5) are made.  To add a key, add its row (and
 * the field that it fills); to add a rule between keys, see check.c.
 */
#ifndef TIDE_CONF_KEYS_H
#define TIDE_CONF_KEYS_H

#include <stddef.h>

enum tide_key_type {
	TIDE_KEY_NAME,	   /* of a partition, a window: no blanks, commas */
	TIDE_KEY_ACCOUNT,  /* the same in small letters, as Slurm has them */
	TIDE_KEY_TEXT,	   /* printable text */
	TIDE_KEY_DEVICE,   /* name:type of a GRES */
	TIDE_KEY_NODES,	   /* node list */
	TIDE_KEY_DECIMAL,  /* exact decimal number */
	TIDE_KEY_SHARE,	   /* exact fraction, more than 0, at most 1 */
	TIDE_KEY_PERCENT,  /* decimal, kept as a share of one */
	TIDE_KEY_DAYS,	   /* "Mon-Fri,Sun" */
	TIDE_KEY_CLOCK,	   /* time of day */
	TIDE_KEY_DATETIME, /* local date and time */
	TIDE_KEY_ZONE,	   /* name of a time zone */
	TIDE_KEY_CHOICE,   /* one of the words in `range` */
	TIDE_KEY_LATER,	   /* refused: not supported yet */
};

/* A record is a line; its first key says which kind it is. */
enum tide_record {
	TIDE_RECORD_GLOBAL, /* keys of the whole file, one or more a line */
	TIDE_RECORD_DEVICE,
	TIDE_RECORD_OWNER,
	TIDE_RECORD_WINDOW,
	TIDE_RECORDS,
};

struct tide_key {
	const char *name;
	enum tide_record record;
	enum tide_key_type type;
	size_t offset;	      /* of the field in the record's struct */
	const char *unit;     /* for people; NULL: none */
	const char *range;    /* "MIN MAX" of numbers, "a|b" of a choice */
	const char *fallback; /* the default as it would be written, or NULL */
	const char *example;
	const char *help; /* one sentence */
};

extern const struct tide_key tide_keys[];
extern const int tide_n_keys;

/* Index of the key of that record, in any case; -1 when there is none. */
int tide_key_find(enum tide_record record, const char *name);

/* The key that begins a record of that kind ("WindowName"). */
const char *tide_record_name(enum tide_record record);

#endif /* TIDE_CONF_KEYS_H */
