/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents from the table of keys.  See keydoc.h. */
#include "config.h"

#include "common/conf/keydoc.h"

#include <string.h>

#include "common/conf/keys.h"

static const struct {
	const char *title; /* of the section in the man page */
	const char *intro; /* above it in the example file */
	const char *lines; /* example records */
} records[TIDE_RECORDS] = {
	[TIDE_RECORD_GLOBAL] = {"Keys of the whole file", NULL, NULL},
	[TIDE_RECORD_DEVICE] =
		{
			"Device lines",
			"Devices and their prices, a line each.",
			"Device=gpu:a100   TFLOPS=312\n"
			"Device=gpu:t4     TFLOPS=65\n"
			"Device=mlu:mlu290 Rate=100\n",
		},
	[TIDE_RECORD_OWNER] =
		{
			"OwnerAccount lines",
			"Owners and the nodes they lend, a line each.",
			"OwnerAccount=nlp  Nodes=lab[01-05]\n"
			"OwnerAccount=cv   Nodes=cv[1-8],lab07  Earn=used\n",
		},
	[TIDE_RECORD_WINDOW] =
		{
			"WindowName lines",
			"Windows: when lent nodes are open to the pool, a line each.",
			"WindowName=nights  Nodes=lab[01-05] Days=Mon-Fri Start=20:00 End=08:00 TimeZone=Asia/Shanghai\n"
			"WindowName=weekend Nodes=lab[01-05] Days=Sat,Sun\n"
			"WindowName=trip    Nodes=lab07      From=2026-12-20T18:00 Until=2027-01-04T08:00\n",
		},
};

/* Write text as comment lines of at most 78 columns. */
static void comment(FILE *out, const char *indent, const char *text)
{
	enum {
		WIDTH = 78
	};
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (!column)
			column = (size_t)fprintf(out, "#%s %.*s", indent,
						 (int)word, text);
		else
			column +=
				(size_t)fprintf(out, " %.*s", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* "In percent, from 0 to 100. Default: 0." in buf */
static void facts(const struct tide_key *key, char *buf, size_t size)
{
	const char *space = key->range ? strchr(key->range, ' ') : NULL;
	size_t n = 0;

	buf[0] = '\0';
	if (key->unit)
		n += (size_t)snprintf(buf + n, size - n, " Unit: %s.",
				      key->unit);
	if (space)
		n += (size_t)snprintf(buf + n, size - n, " From %.*s to %s.",
				      (int)(space - key->range), key->range,
				      space + 1);
	else if (key->range && strchr(key->range, '|'))
		n += (size_t)snprintf(buf + n, size - n, " One of: %s.",
				      key->range);
	if (key->fallback)
		snprintf(buf + n, size - n, " Default: %s.", key->fallback);
}

static void example_record(FILE *out, enum tide_record record)
{
	char text[600], more[200];

	fputc('\n', out);
	comment(out, "", records[record].intro);
	for (int i = 0; i < tide_n_keys; i++) {
		const struct tide_key *key = &tide_keys[i];

		if (key->record != record || key->type == TIDE_KEY_LATER)
			continue;
		facts(key, more, sizeof(more));
		snprintf(text, sizeof(text), "%s: %s%s", key->name, key->help,
			 more);
		comment(out, "  ", text);
	}
	fputs(records[record].lines, out);
}

void tide_keydoc_example(FILE *out)
{
	char text[600], more[200];

	fputs("# tide.conf: an example with every key; see tide.conf(5).\n"
	      "#\n"
	      "# It lies beside slurm.conf on the slurmctld hosts and beside slurmdbd.conf on\n"
	      "# the slurmdbd hosts. `tidectl check` says whether it is right.\n",
	      out);
	for (int i = 0; i < tide_n_keys; i++) {
		const struct tide_key *key = &tide_keys[i];

		if (key->record != TIDE_RECORD_GLOBAL ||
		    key->type == TIDE_KEY_LATER)
			continue;
		facts(key, more, sizeof(more));
		snprintf(text, sizeof(text), "%s%s", key->help, more);
		fputc('\n', out);
		comment(out, "", text);
		fprintf(out, "%s=%s\n", key->name, key->example);
	}
	for (int i = TIDE_RECORD_GLOBAL + 1; i < TIDE_RECORDS; i++)
		example_record(out, (enum tide_record)i);
}

/* Text for troff: a dash that is no hyphen, a dot that is no request. */
static void troff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void man_key(FILE *out, const struct tide_key *key)
{
	char more[200];

	fprintf(out, ".TP\n\\fB%s\\fR=", key->name);
	troff(out, key->example);
	fputc('\n', out);
	troff(out, key->help);
	facts(key, more, sizeof(more));
	troff(out, more);
	fputc('\n', out);
}

static void man_later(FILE *out, enum tide_record record)
{
	const char *before = ".PP\nNot supported yet, and refused: ";

	for (int i = 0; i < tide_n_keys; i++) {
		if (tide_keys[i].record != record ||
		    tide_keys[i].type != TIDE_KEY_LATER)
			continue;
		fprintf(out, "%s\\fB%s\\fR", before, tide_keys[i].name);
		before = ", ";
	}
	if (*before == ',')
		fputs(".\n", out);
}

void tide_keydoc_man(FILE *out)
{
	for (int record = 0; record < TIDE_RECORDS; record++) {
		fprintf(out, ".SS %s\n", records[record].title);
		for (int i = 0; i < tide_n_keys; i++)
			if (tide_keys[i].record == (enum tide_record)record &&
			    tide_keys[i].type != TIDE_KEY_LATER)
				man_key(out, &tide_keys[i]);
		man_later(out, (enum tide_record)record);
	}
}

/* What a value is, for people; units, ranges and choices say the rest. */
static const char *const takes[] = {
	[TIDE_KEY_NAME] = "a name: letters, digits and `_ - . @ +`",
	[TIDE_KEY_ACCOUNT] = "an account of Slurm, in small letters",
	[TIDE_KEY_TEXT] = "text",
	[TIDE_KEY_DEVICE] = "name:type of a GRES",
	[TIDE_KEY_NODES] = "a node list",
	[TIDE_KEY_DECIMAL] = "a number",
	[TIDE_KEY_SHARE] = "a share, as 1/2 or 0.25",
	[TIDE_KEY_PERCENT] = "a number",
	[TIDE_KEY_DAYS] = "days of the week",
	[TIDE_KEY_CLOCK] = "a time of day",
	[TIDE_KEY_DATETIME] = "a date and time",
	[TIDE_KEY_ZONE] = "a time zone",
	[TIDE_KEY_CHOICE] = "a word",
	[TIDE_KEY_LATER] = "",
};

/* Text for a cell of a table: a bar ends a cell, also between backquotes. */
static void cell(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void markdown_key(FILE *out, const struct tide_key *key)
{
	const char *space = key->range ? strchr(key->range, ' ') : NULL;

	fprintf(out, "| `%s` | %s", key->name, takes[key->type]);
	if (key->unit)
		fprintf(out, "; %s", key->unit);
	if (space)
		fprintf(out, "; %.*s to %s", (int)(space - key->range),
			key->range, space + 1);
	else if (key->range) {
		fputs("; `", out);
		cell(out, key->range);
		fputc('`', out);
	}
	fprintf(out, " | %s | `%s` | ", key->fallback ? key->fallback : "",
		key->example);
	cell(out, key->help);
	fputs(" |\n", out);
}

void tide_keydoc_markdown(FILE *out)
{
	fputs("# Keys of tide.conf\n\n"
	      "Made by `make -C build/common/conf update-docs` from the table in\n"
	      "`common/conf/keys.c`; `make check` compares. `man tide.conf` has the syntax of the\n"
	      "file and how windows meet clocks, [configuration.md](configuration.md) the reasons,\n"
	      "[contrib/examples/tide.conf](../contrib/examples/tide.conf) a whole file. Keys later\n"
	      "versions will have are refused as `not supported yet`.\n",
	      out);
	for (int record = 0; record < TIDE_RECORDS; record++) {
		const char *lead = "\nRefused, not supported yet: ";

		fprintf(out,
			"\n## %s\n\n| key | takes | default | example | |\n|---|---|---|---|---|\n",
			records[record].title);
		for (int i = 0; i < tide_n_keys; i++)
			if (tide_keys[i].record == (enum tide_record)record &&
			    tide_keys[i].type != TIDE_KEY_LATER)
				markdown_key(out, &tide_keys[i]);
		for (int i = 0; i < tide_n_keys; i++) {
			if (tide_keys[i].record != (enum tide_record)record ||
			    tide_keys[i].type != TIDE_KEY_LATER)
				continue;
			fprintf(out, "%s`%s`", lead, tide_keys[i].name);
			lead = ", ";
		}
		fputs(*lead == ',' ? ".\n" : "", out);
	}
}
