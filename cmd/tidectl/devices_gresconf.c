/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl devices: lines of gres.conf, and those by hand compared with what was
 * found.  Writes no file.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tidectl/devices.h"
#include "cmd/tidectl/tidectl.h"
#include "common/device/gresconf.h"
#include "common/site/compare.h"
#include "common/util/err.h"

static int print_text(char *text)
{
	if (!text)
		return tidectl_fail("out of memory");
	fputs(text, stdout);
	free(text);
	return TIDECTL_DONE;
}

int devices_print_gres_conf(const struct tide_accels *accels, const char *node)
{
	return print_text(tide_gresconf_write(accels, node));
}

/* Each difference to the lines by hand. */
static void print_differences(const struct devices_compare *request,
			      const struct tide_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct tide_finding *f = &findings->finding[i];

		if (request->gres_conf)
			tidectl_fail("%s; remedy: %s", f->what,
				     f->fix ? f->fix : "none");
		else if (f->line)
			printf("%s:%d: %s\n  fix: %s\n", f->file, f->line,
			       f->what, f->fix ? f->fix : "none");
		else
			printf("%s: %s\n  fix: %s\n", f->file, f->what,
			       f->fix ? f->fix : "none");
	}
	if (!findings->count && !request->gres_conf)
		printf("%s: gres.conf is what was found\n", request->path);
}

/* Those that a line by hand names are not to be printed again. */
static int drop_named(struct tide_accels *accels, const char *named)
{
	size_t all = accels->count;

	if (devices_drop(accels, named))
		return tidectl_fail("out of memory");
	/* links are to all of them */
	for (size_t i = 0; accels->count < all && i < accels->count; i++) {
		free(accels->accel[i].link);
		accels->accel[i].link = NULL;
	}
	return TIDECTL_DONE;
}

/*
 * Standard input as a file, which is what configuration is read from: path is
 * room for its name.  -1 when it cannot be read.
 */
static int input_file(char *path, size_t size)
{
	int fd = memfd_create("gres.conf", MFD_CLOEXEC);
	char part[4096];
	ssize_t got = 0;

	while (fd >= 0 && (got = read(STDIN_FILENO, part, sizeof(part))) > 0)
		if (write(fd, part, (size_t)got) != got)
			break;
	if (fd < 0 || got) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

int devices_compare(const struct devices_compare *request,
		    struct tide_accels *accels)
{
	struct tide_findings findings = {0};
	char host[HOST_NAME_MAX + 1] = "", *named = NULL;
	char input[64];
	const char *path = request->path;
	int status = TIDECTL_DONE, fd = -1;
	struct tide_err err;

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	if (!strcmp(path, "-")) {
		fd = input_file(input, sizeof(input));
		if (fd < 0)
			return tidectl_fail("cannot read standard input: %s",
					    strerror(errno));
		path = input;
	} else if (access(path, R_OK)) {
		return tidectl_fail("cannot read '%s': %s", path,
				    strerror(errno));
	}
	if (tide_compare(path, request->node ? request->node : host,
			 request->gres, accels, &findings, &named, &err)) {
		status = tidectl_fail("%s", err.text);
	} else {
		print_differences(request, &findings);
		if (request->gres_conf) {
			status = print_text(tide_gresconf_near(accels));
			if (!status)
				status = drop_named(accels, named);
			if (!status)
				status = devices_print_gres_conf(accels,
								 request->node);
		} else if (findings.count) {
			status = TIDECTL_FAILED;
		}
	}
	if (fd >= 0)
		close(fd);
	tide_findings_release(&findings);
	free(named);
	return status;
}
