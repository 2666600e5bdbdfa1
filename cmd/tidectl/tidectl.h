/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl: what its subcommands share.  Each subcommand is one file
 * cmd_NAME.c with one struct tidectl_command; to add one, write that file,
 * declare it here, and add a line to the table in tidectl.c.
 *
 * Conventions of every subcommand: answers go to stdout, errors to stderr as
 * "tidectl: ..."; --json gives one object or array with stable keys (listed in
 * tidectl(1)) and amounts as decimal strings; the exit status is one of those
 * below.
 */
#ifndef TIDE_TIDECTL_H
#define TIDE_TIDECTL_H

#include <jansson.h>

enum tidectl_status {
	TIDECTL_DONE = 0,
	TIDECTL_FAILED = 1, /* refused, or something went wrong */
	TIDECTL_USAGE = 2,  /* the command line makes no sense */
};

struct tidectl_command {
	const char *name;
	const char *summary; /* one line of tidectl --help */
	const char *usage;   /* "[--json] ..." */
	const char *help;    /* options, a line each, and examples */
	/* argv[0] is "tidectl", the options of the subcommand follow */
	int (*run)(int argc, char **argv);
};

extern const struct tidectl_command tidectl_check;
extern const struct tidectl_command tidectl_credits; /* with Slurm only */
extern const struct tidectl_command tidectl_devices;
extern const struct tidectl_command tidectl_library;
extern const struct tidectl_command tidectl_request; /* with Slurm only */
extern const struct tidectl_command tidectl_windows;

/* "tidectl: ..." on stderr; returns TIDECTL_FAILED. */
int tidectl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with a pointer to --help; returns TIDECTL_USAGE. */
int tidectl_usage(const struct tidectl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * What every getopt_long() loop does with an option that it does not know:
 * --help (let its code be 'h') prints the help and gives TIDECTL_DONE,
 * anything else is a usage error, said already by getopt.
 */
int tidectl_other_option(const struct tidectl_command *command, int option);

/*
 * A JSON string; what is no UTF-8, as a configuration file may hold anything,
 * becomes '?'.  Null for NULL, NULL when memory is out.
 */
json_t *tidectl_json_text(const char *text);

/* Print value, end it, and return TIDECTL_DONE; NULL is a failure. */
int tidectl_print_json(json_t *value);

/*
 * The path of a file beside the slurm.conf in use: in the folder of the
 * environment's SLURM_CONF, else in /etc/slurm.  The caller frees it; NULL
 * with ENOMEM.
 */
char *tidectl_slurm_file(const char *name);

struct tide_conf;

/*
 * Load that tide.conf for a command that needs it; everything that is wrong
 * with it goes to stderr.  Returns NULL then.
 */
struct tide_conf *tidectl_load_conf(const char *path);

#endif /* TIDE_TIDECTL_H */
