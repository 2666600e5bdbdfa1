/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of gres.conf: see gresconf.h. */
#include "config.h"

#include "common/device/gresconf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/device.h"

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The path up to the digits at its end. */
static size_t stem(const char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] >= '0' && path[len - 1] <= '9')
		len--;
	return len;
}

/* May b follow a on its line? */
static bool goes_on(const struct tide_accel *a, const struct tide_accel *b)
{
	size_t len = stem(a->file[0]);
	uint32_t x, y;

	return a->family == b->family && !b->missing && !a->link && !b->link &&
	       a->n_files == 1 && b->n_files == 1 &&
	       same_text(a->type, b->type) &&
	       same_text(a->near.cores, b->near.cores) &&
	       same_text(a->near.local_cpus, b->near.local_cpus) &&
	       stem(b->file[0]) == len &&
	       !strncmp(a->file[0], b->file[0], len) &&
	       !tide_device_number(a->file[0], &x, NULL) &&
	       !tide_device_number(b->file[0], &y, NULL) && y == x + 1;
}

static void write_files(FILE *out, const struct tide_accel *first,
			const struct tide_accel *last)
{
	const char *file = first->file[0];
	size_t len = stem(file);

	if (first != last) {
		fprintf(out, " File=%.*s[%s-%s]", (int)len, file, file + len,
			last->file[0] + len);
		return;
	}
	fprintf(out, " %s=", first->n_files > 1 ? "MultipleFiles" : "File");
	for (size_t i = 0; i < first->n_files; i++)
		fprintf(out, "%s%s", i ? "," : "", first->file[i]);
}

/* Slurm refuses a GRES whose lines have different ones. */
static bool same_flags(const struct tide_accel *all, size_t same)
{
	for (size_t i = 0; i < same; i++)
		if (!all[i].family->flags ||
		    strcmp(all[i].family->flags, all->family->flags))
			return false;
	return true;
}

/* all: those of the GRES, to which there are links. */
static void write_line(FILE *out, const struct tide_accel *first,
		       const struct tide_accel *last,
		       const struct tide_accel *all, size_t same,
		       const char *node)
{
	const char *comma = " Links=";

	if (first->near.cores && first->near.local &&
	    strcmp(first->near.cores, first->near.local))
		fprintf(out,
			"# Cores= are whole sockets, as Slurm takes no less; near it are %s\n",
			first->near.local);
	if (first->missing)
		fputs("#missing: ", out);
	if (node)
		fprintf(out, "NodeName=%s ", node);
	fprintf(out, "Name=%s Type=%s", first->family->gres, first->type);
	write_files(out, first, last);
	if (same_flags(all, same))
		fprintf(out, " Flags=%s", first->family->flags);
	if (first->near.cores)
		fprintf(out, " Cores=%s", first->near.cores);
	for (size_t i = 0; first->link && i < same; i++) {
		if (all[i].missing)
			continue;
		fprintf(out, "%s%d", comma, first->link[i]);
		comma = ",";
	}
	fputc('\n', out);
}

/* "mlu:mlu290:4,mlu:mlu370:2" of one GRES, of those that are there. */
static void write_types(FILE *out, const struct tide_accel *accel, size_t count)
{
	const char *comma = "";

	for (size_t i = 0; i < count; i++) {
		size_t same = 0, before = 0;

		for (size_t j = 0; j < count; j++) {
			if (accel[j].missing ||
			    strcmp(accel[j].type, accel[i].type))
				continue;
			same++;
			before += j < i;
		}
		if (accel[i].missing || before)
			continue;
		fprintf(out, "%s%s:%s:%zu", comma, accel->family->gres,
			accel[i].type, same);
		comma = ",";
	}
	if (!*comma)
		fprintf(out, "%s:0", accel->family->gres);
}

/* Gres= of the node, which has one for all. */
static void write_gres(FILE *out, const struct tide_accels *accels,
		       const char *node)
{
	size_t same;

	if (accels->count)
		fprintf(out, "# NodeName=%s Gres=", node ? node : "...");
	for (size_t i = 0; i < accels->count; i += same) {
		same = tide_accels_same_gres(accels, i);
		if (i)
			fputc(',', out);
		write_types(out, &accels->accel[i], same);
	}
	if (accels->count)
		fputc('\n', out);
}

/* What is a part of what: as lines for tide.conf, where the share is known. */
static void write_parts(FILE *out, const struct tide_accel *accel, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *gres = accel[i].family->gres;
		bool before = !accel[i].whole;

		for (size_t j = 0; !before && j < i; j++)
			before = accel[j].whole &&
				 !strcmp(accel[j].type, accel[i].type);
		if (before)
			continue;
		fprintf(out, "# part: Device=%s:%s Of=%s:%s Share=", gres,
			accel[i].type, gres, accel[i].whole);
		if (accel[i].share.num)
			fprintf(out, "%lld/%lld\n",
				(long long)accel[i].share.num,
				(long long)accel[i].share.den);
		else
			fputs("?\n", out);
	}
}

char *tide_gresconf_near(const struct tide_accels *accels)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_accel *accel = &accels->accel[i];

		if (accel->near.local_cpus && !accel->missing)
			fprintf(out, "#near: %s %s\n", accel->file[0],
				accel->near.local_cpus);
	}
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}

char *tide_gresconf_write(const struct tide_accels *accels, const char *node)
{
	char *text = NULL;
	size_t size, i = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	write_gres(out, accels, node);
	while (i < accels->count) {
		size_t same = tide_accels_same_gres(accels, i);
		const struct tide_accel *all = &accels->accel[i];
		size_t end = i + same, last;

		write_parts(out, &accels->accel[i], same);
		for (; i < end; i = last + 1) {
			last = i;
			while (last + 1 < end && !accels->accel[i].missing &&
			       goes_on(&accels->accel[last],
				       &accels->accel[last + 1]))
				last++;
			write_line(out, &accels->accel[i], &accels->accel[last],
				   all, same, node);
		}
	}
	if (fclose(out)) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	return text;
}
