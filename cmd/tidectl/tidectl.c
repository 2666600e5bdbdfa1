/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl: finds the subcommand and runs it.  Knows nothing of what they do.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/tidectl/tidectl.h"
#include "common/conf/conf.h"
#include "common/util/err.h"

static const struct tidectl_command *const commands[] = {
	&tidectl_check,
#if TIDE_WITH_SLURM
	&tidectl_credits,
#endif
	&tidectl_devices, &tidectl_library,
#if TIDE_WITH_SLURM
	&tidectl_request,
#endif
	&tidectl_windows,
	/* end */
};

enum {
	COMMANDS = sizeof(commands) / sizeof(*commands)
};

int tidectl_usage(const struct tidectl_command *command, const char *fmt, ...)
{
	va_list ap;

	fputs("tidectl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (command)
		fprintf(stderr, "\nusage: tidectl %s %s\n", command->name,
			command->usage);
	else
		fputs("\ntry: tidectl --help\n", stderr);
	return TIDECTL_USAGE;
}

int tidectl_other_option(const struct tidectl_command *command, int option)
{
	if (option == 'h') {
		printf("usage: tidectl %s %s\n\n%s\n\n%s", command->name,
		       command->usage, command->summary, command->help);
		return TIDECTL_DONE;
	}
	fprintf(stderr, "usage: tidectl %s %s\n", command->name,
		command->usage);
	return TIDECTL_USAGE;
}

json_t *tidectl_json_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char *copy = value ? NULL : strdup(text);

	if (!copy)
		return value;
	for (char *p = copy; *p; p++)
		if (*p & 0x80)
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

int tidectl_print_json(json_t *value)
{
	int rc;

	if (!value)
		return tidectl_fail("cannot write JSON: out of memory");
	rc = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	json_decref(value);
	putchar('\n');
	return rc ? tidectl_fail("cannot write JSON") : TIDECTL_DONE;
}

struct tide_conf *tidectl_load_conf(const char *path)
{
	struct tide_problems problems = {0};
	struct tide_conf *conf = NULL;
	struct tide_err err;

	if (tide_conf_load(path, NULL, &conf, &problems, &err)) {
		if (!problems.count || errno == ENOMEM)
			tidectl_fail("%s", err.text);
		for (size_t i = 0; i < problems.count; i++) {
			const struct tide_problem *p = &problems.problem[i];

			if (p->line)
				tidectl_fail("%s:%d: %s", p->file, p->line,
					     p->text);
			else
				tidectl_fail("%s: %s", p->file, p->text);
		}
	}
	tide_problems_release(&problems);
	return conf;
}

static void print_help(void)
{
	puts("usage: tidectl COMMAND [OPTION ...]\n\n"
	     "Shows lent nodes, their windows, credits and accelerators, and checks the\n"
	     "configuration.\n\n"
	     "commands:");
	for (int i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\noptions:\n"
	     "  --help     this text; tidectl COMMAND --help for that command\n"
	     "  --version  the version, and that of the Slurm it is for\n\n"
	     "Every command knows --json. Exit status: 0 done, 1 refused or\n"
	     "failed, 2 wrong usage. See tidectl(1), tide.conf(5).");
}

static int run(int argc, char **argv)
{
#if TIDE_WITH_SLURM
	static const char version[] =
		"tidectl " PACKAGE_VERSION " for Slurm " TIDE_SLURM_VERSION;
#else
	static const char version[] = "tidectl " PACKAGE_VERSION;
#endif
	static char program[] = "tidectl";

	if (argc < 2)
		return tidectl_usage(NULL, "a command is wanted");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help();
		return TIDECTL_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts(version);
		return TIDECTL_DONE;
	}
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i]->name))
			continue;
		/* getopt begins its complaints with it */
		argv[1] = program;
		return commands[i]->run(argc - 1, argv + 1);
	}
	return tidectl_usage(NULL, "unknown command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	/* a full disk or a closed pipe must not look like an answer */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "tidectl: cannot write the answer: %s\n",
			strerror(errno));
		return TIDECTL_FAILED;
	}
	return status;
}
