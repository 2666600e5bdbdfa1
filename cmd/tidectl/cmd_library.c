/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl library: what one vendor's management library tells, as JSON, a line
 * an object.  This process is given to the library: it may crash, hang, or
 * write what it likes, and who wants the answer (tidectl devices) sets it a
 * limit of time.  Each line is out before the next question is asked.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/vendor/vendor.h"

enum {
	MAX_FILE = 64 << 20,
};

/* Ends the value. */
static void line(FILE *out, json_t *value)
{
	if (value)
		json_dumpf(value, out, JSON_COMPACT);
	fputc('\n', out);
	fflush(out);
	json_decref(value);
}

static void on_library(void *arg, const char *path, const char *version)
{
	line(arg, json_pack("{s:o, s:o}", "library", tidectl_json_text(path),
			    "version",
			    tidectl_json_text(*version ? version : NULL)));
}

static void on_asking(void *arg, const char *pci)
{
	line(arg, json_pack("{s:s}", "asking", pci));
}

static void on_told(void *arg, const struct tide_vendor_device *device)
{
	line(arg, tidectl_json_vendor(device));
}

static void on_part(void *arg, const struct tide_vendor_part *part)
{
	line(arg,
	     json_pack("{s:o, s:o, s:o}", "part", tidectl_json_text(part->file),
		       "profile", tidectl_json_text(part->profile), "uuid",
		       tidectl_json_text(*part->uuid ? part->uuid : NULL)));
}

/*
 * Standard output for the answer alone: what the library prints goes to
 * standard error.
 */
static FILE *take_output(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return NULL;
	return fdopen(fd, "w");
}

/*
 * A library that prints without end is not to fill the memory that its output
 * goes to; it reads in errno that there is no more room.
 */
static void set_limits(void)
{
	const struct rlimit none = {0, 0}, output = {MAX_FILE, MAX_FILE};

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &output);
	signal(SIGXFSZ, SIG_IGN);
}

static int ask(const char *api, const char *libraries)
{
	struct tide_vendor_sink sink = {
		.library = on_library,
		.asking = on_asking,
		.told = on_told,
		.part = on_part,
	};
	struct tide_err err;
	FILE *out = take_output();
	const char *why;
	int absent;

	if (!out)
		return tidectl_fail("cannot write the answer: %s",
				    strerror(errno));
	set_limits();
	sink.arg = out;
	if (!tide_vendor_ask(api, libraries, &sink, &err)) {
		line(out, json_pack("{s:b}", "done", 1));
		if (ferror(out))
			tidectl_fail("cannot write the answer");
		/* the library's own end might never come */
		_exit(ferror(out) ? TIDECTL_FAILED : TIDECTL_DONE);
	}
	absent = errno == ENOENT;
	why = absent ? "absent" : errno == ENOTSUP ? "unfit" : "refused";
	line(out, json_pack("{s:s, s:o}", "failed", why, "text",
			    tidectl_json_text(err.text)));
	tidectl_fail("%s%s%s", absent ? "" : libraries, absent ? "" : ": ",
		     err.text);
	_exit(TIDECTL_FAILED);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (option != 'j')
			return tidectl_other_option(&tidectl_library, option);
	if (argc - optind != 2)
		return tidectl_usage(&tidectl_library,
				     "an interface and libraries are wanted");
	if (!tide_vendor_knows(argv[optind]))
		return tidectl_usage(&tidectl_library,
				     "'%s' is no interface that is known",
				     argv[optind]);
	if (!argv[optind + 1][strspn(argv[optind + 1], ",")])
		return tidectl_usage(&tidectl_library,
				     "the file of a library is wanted");
	return ask(argv[optind], argv[optind + 1]);
}

const struct tidectl_command tidectl_library = {
	.name = "library",
	.summary = "what a vendor's library tells of its devices",
	.usage = "[--json] cndev|dcmi|nvml|rsmi LIBRARY[,...]",
	.help = "  --json         always: JSON, a line an object; keys in tidectl(1)\n"
		"\n"
		"The first of the libraries that is there is opened and asked. tidectl devices\n"
		"asks so, each library in a process of its own, and for 10 seconds at most.\n",
	.run = run,
};
