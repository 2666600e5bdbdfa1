/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the YAML file of a training with libyaml's events: a mapping of
 * sections, each a mapping of keys to plain values, and nothing cleverer.
 */
#include "config.h"

#include "launcher/train/settings.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/util/parse.h"

enum type {
	INTEGER,
	NUMBER,
	TEXT,
	BOOLEAN,
	DURATION,
	CHOICE
};

struct key {
	const char *name; /* section.key */
	enum type type;
	size_t at; /* in struct tide_settings */
	double min, max;
	const char *preset; /* NULL: must be given */
	const char *help;
};

#define AT(field) offsetof(struct tide_settings, field)

static const struct key keys[] = {
	{"model.layers", INTEGER, AT(layers), 1, 1000, NULL,
	 "transformer blocks"},
	{"model.width", INTEGER, AT(width), 1, 65536, NULL,
	 "features of a position"},
	{"model.heads", INTEGER, AT(heads), 1, 1024, NULL,
	 "attention heads; must divide width"},
	{"model.context", INTEGER, AT(context), 1, 65536, NULL,
	 "sequence length, bytes"},
	{"model.vocabulary", INTEGER, AT(vocabulary), 2, 1000000, "256",
	 "tokens; 256 for text"},
	{"model.tied", BOOLEAN, AT(tied), 0, 0, "true",
	 "the head uses the token embedding"},
	{"data.file", TEXT, AT(data), 0, 0, "", "text to train on"},
	{"data.random", BOOLEAN, AT(random), 0, 0, "false",
	 "random tokens instead of a text, for measurements"},
	{"training.steps", INTEGER, AT(steps), 1, 1e12, NULL,
	 "optimizer steps in all"},
	{"training.batch_size", INTEGER, AT(batch_size), 1, 65536, NULL,
	 "sequences a rank takes at once"},
	{"training.gradient_accumulation", INTEGER, AT(gradient_accumulation),
	 1, 65536, "1", "such batches of a rank in one step"},
	{"training.learning_rate", NUMBER, AT(learning_rate), 0, 10, NULL,
	 "highest learning rate"},
	{"training.weight_decay", NUMBER, AT(weight_decay), 0, 10, "0.1",
	 "of matrices and embeddings"},
	{"training.beta1", NUMBER, AT(beta1), 0, 0.9999999, "0.9", "of AdamW"},
	{"training.beta2", NUMBER, AT(beta2), 0, 0.9999999, "0.95", "of AdamW"},
	{"training.epsilon", NUMBER, AT(epsilon), 1e-30, 1, "1e-8", "of AdamW"},
	{"training.seed", INTEGER, AT(seed), 0, 1e15, "1",
	 "of first values and the order of samples"},
	{"scheduling.warmup_steps", INTEGER, AT(warmup_steps), 0, 1e12, "0",
	 "steps of linear warm-up"},
	{"scheduling.decay", CHOICE, AT(decay), 0, 0, "cosine",
	 "after the warm-up: cosine or constant"},
	{"scheduling.final_learning_rate", NUMBER, AT(final_learning_rate), 0,
	 10, "0", "where cosine ends"},
	{"checkpoint.directory", TEXT, AT(directory), 0, 0, NULL,
	 "folder of this job's checkpoints"},
	{"checkpoint.every", DURATION, AT(every_s), 1, 1e9, "5m",
	 "time between checkpoints, e.g. 300 or 5m"},
	{"checkpoint.keep", INTEGER, AT(keep), 1, 1000, "3",
	 "how many to keep"},
	{"log.file", TEXT, AT(log), 0, 0, "",
	 "one JSON object a step is appended here"},
};

/* of a micro-batch: rows of matrices are counted in int */
enum {
	MAX_POSITIONS = 1 << 20
};

enum {
	KEYS = sizeof(keys) / sizeof(keys[0])
};

static const char *const decays[] = {"cosine", "constant"};

struct reader {
	const char *path;
	yaml_parser_t parser;
	struct tide_settings *settings;
	int line[KEYS]; /* where it was given, 0 if not */
};

static int put_integer(const struct key *k, void *to, const char *text,
		       struct tide_err *err)
{
	int64_t value;

	if (tide_parse_int(text, k->min, k->max, &value, NULL))
		return tide_err_set(
			err, EINVAL,
			"'%.99s' is not a whole number from %.0f to %.0f", text,
			k->min, k->max);
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int put_number(const struct key *k, void *to, const char *text,
		      struct tide_err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end ||
	    strspn(text, "0123456789.eE+-") != strlen(text) ||
	    !(value >= k->min && value <= k->max))
		return tide_err_set(err, EINVAL,
				    "'%.99s' is not a number from %g to %g",
				    text, k->min, k->max);
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int put_text(void *to, const char *text, struct tide_err *err)
{
	size_t len = strlen(text);

	if (len >= PATH_MAX)
		return tide_err_set(err, EINVAL, "the value is too long");
	memcpy(to, text, len + 1);
	return 0;
}

static int put_boolean(void *to, const char *text, struct tide_err *err)
{
	bool value = !strcmp(text, "true");

	if (!value && strcmp(text, "false"))
		return tide_err_set(err, EINVAL, "'%.99s' is not true or false",
				    text);
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int put_duration(const struct key *k, void *to, const char *text,
			struct tide_err *err)
{
	int64_t value;

	if (tide_parse_duration(text, &value, NULL) || value < k->min ||
	    value > k->max)
		return tide_err_set(
			err, EINVAL,
			"'%.99s' is not a duration such as 300 or 5m", text);
	memcpy(to, &value, sizeof(value));
	return 0;
}

static int put_decay(void *to, const char *text, struct tide_err *err)
{
	for (int64_t i = 0; i < 2; i++)
		if (!strcmp(text, decays[i])) {
			memcpy(to, &i, sizeof(i));
			return 0;
		}
	return tide_err_set(err, EINVAL, "'%.99s' is not cosine or constant",
			    text);
}

static int put_value(const struct key *k, struct tide_settings *s,
		     const char *text, struct tide_err *err)
{
	void *to = (char *)s + k->at;

	switch (k->type) {
	case INTEGER:
		return put_integer(k, to, text, err);
	case NUMBER:
		return put_number(k, to, text, err);
	case TEXT:
		return put_text(to, text, err);
	case BOOLEAN:
		return put_boolean(to, text, err);
	case DURATION:
		return put_duration(k, to, text, err);
	case CHOICE:
		return put_decay(to, text, err);
	}
	return -1;
}

static int wrong(struct reader *r, int line, struct tide_err *err,
		 const char *text, const char *what)
{
	return tide_err_set(err, EINVAL, "%s:%d: '%.99s': %s", r->path, line,
			    text, what);
}

/* The next event that matters; the caller deletes it. */
static int next(struct reader *r, yaml_event_t *event, struct tide_err *err)
{
	if (yaml_parser_parse(&r->parser, event))
		return 0;
	return tide_err_set(err, EINVAL, "%s:%zu: not valid YAML: %s", r->path,
			    r->parser.problem_mark.line + 1,
			    r->parser.problem ? r->parser.problem
					      : "unreadable");
}

static int line_of(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

/* A NUL would hide what comes after it. */
static bool has_nul(const yaml_event_t *event)
{
	return strlen((const char *)event->data.scalar.value) !=
	       event->data.scalar.length;
}

static const char *text_of(const yaml_event_t *event)
{
	return (const char *)event->data.scalar.value;
}

static int section_known(const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < KEYS; i++)
		if (!strncmp(keys[i].name, name, len) &&
		    keys[i].name[len] == '.')
			return 1;
	return 0;
}

static int find_key(const char *section, const char *name)
{
	size_t len = strlen(section);

	for (int i = 0; i < KEYS; i++)
		if (!strncmp(keys[i].name, section, len) &&
		    keys[i].name[len] == '.' &&
		    !strcmp(keys[i].name + len + 1, name))
			return i;
	return -1;
}

static int set_key(struct reader *r, int i, const yaml_event_t *value,
		   struct tide_err *err)
{
	if (r->line[i])
		return tide_err_set(err, EINVAL,
				    "%s:%d: %s: given again, first in line %d",
				    r->path, line_of(value), keys[i].name,
				    r->line[i]);
	r->line[i] = line_of(value);
	if (value->type != YAML_SCALAR_EVENT || value->data.scalar.anchor)
		return tide_err_set(err, EINVAL, "%s:%d: %s: wants one value",
				    r->path, line_of(value), keys[i].name);
	if (has_nul(value))
		return tide_err_set(err, EINVAL,
				    "%s:%d: %s: the value holds a NUL", r->path,
				    line_of(value), keys[i].name);
	if (put_value(&keys[i], r->settings, text_of(value), err))
		return tide_err_prefix(err, "%s:%d: %s", r->path,
				       line_of(value), keys[i].name);
	return 0;
}

static int read_key(struct reader *r, const char *section,
		    const yaml_event_t *name, struct tide_err *err)
{
	yaml_event_t value;
	char full[128];
	int i, rc;

	if (name->type != YAML_SCALAR_EVENT)
		return wrong(r, line_of(name), err, section,
			     "wants plain keys");
	i = has_nul(name) ? -1 : find_key(section, text_of(name));
	if (i < 0) {
		snprintf(full, sizeof(full), "%s.%s", section, text_of(name));
		return wrong(r, line_of(name), err, full, "unknown key");
	}
	if (next(r, &value, err))
		return -1;
	rc = set_key(r, i, &value, err);
	yaml_event_delete(&value);
	return rc;
}

/* From after a section's name to the end of its mapping. */
static int read_section(struct reader *r, const char *section, int line,
			struct tide_err *err)
{
	yaml_event_t event;
	bool end;
	int rc;

	if (!section_known(section))
		return wrong(r, line, err, section, "unknown section");
	if (next(r, &event, err))
		return -1;
	rc = event.type == YAML_MAPPING_START_EVENT
		     ? 0
		     : wrong(r, line_of(&event), err, section,
			     "wants keys, each with a value, below it");
	yaml_event_delete(&event);
	for (end = false; !rc && !end;) {
		if (next(r, &event, err))
			return -1;
		end = event.type == YAML_MAPPING_END_EVENT;
		if (!end)
			rc = read_key(r, section, &event, err);
		yaml_event_delete(&event);
	}
	return rc;
}

/* One section; names holds those that were there, in order. */
static int read_name(struct reader *r, const yaml_event_t *event, char **names,
		     struct tide_err *err)
{
	const char *name = text_of(event);
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return wrong(r, line_of(event), err, name,
				     "section given again");
	if (has_nul(event))
		return wrong(r, line_of(event), err, name, "unknown section");
	if (read_section(r, name, line_of(event), err))
		return -1;
	/* only known names come here, so there is room */
	names[i] = strdup(name);
	return names[i] ? 0 : tide_err_set(err, ENOMEM, "out of memory");
}

static int read_event(struct reader *r, const yaml_event_t *event, bool *inside,
		      char **names, struct tide_err *err)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		if (*inside)
			return read_name(r, event, names, err);
		/* An empty document is an empty scalar: keys are missing. */
		if (!*text_of(event))
			return 0;
		break;
	case YAML_MAPPING_START_EVENT:
		if (!*inside) {
			*inside = true;
			return 0;
		}
		break;
	case YAML_SEQUENCE_START_EVENT:
	case YAML_ALIAS_EVENT:
		break;
	default:
		return 0;
	}
	return tide_err_set(
		err, EINVAL,
		"%s:%d: wants sections such as 'model:', each with keys below it",
		r->path, line_of(event));
}

static int read_top(struct reader *r, struct tide_err *err)
{
	char *names[KEYS + 1] = {NULL};
	bool end = false, inside = false;
	yaml_event_t event;
	int rc = 0;

	while (!rc && !end) {
		rc = next(r, &event, err);
		if (rc)
			break;
		end = event.type == YAML_STREAM_END_EVENT;
		rc = read_event(r, &event, &inside, names, err);
		yaml_event_delete(&event);
	}
	for (int i = 0; names[i]; i++)
		free(names[i]);
	return rc;
}

static int set_defaults(struct reader *r, struct tide_err *err)
{
	for (int i = 0; i < KEYS; i++) {
		if (r->line[i])
			continue;
		if (!keys[i].preset)
			return tide_err_set(err, EINVAL,
					    "%s: %s: missing, it must be given",
					    r->path, keys[i].name);
		if (put_value(&keys[i], r->settings, keys[i].preset, err))
			return -1;
	}
	return 0;
}

static int line_for(const struct reader *r, const char *name)
{
	for (int i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].name, name))
			return r->line[i];
	return 0;
}

/* A complaint about a key whose value is no good beside the others. */
__attribute__((format(printf, 4, 5))) static int refuse(struct reader *r,
							const char *key,
							struct tide_err *err,
							const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return tide_err_set(err, EINVAL, "%s:%d: %s: %s", r->path,
			    line_for(r, key), key, text);
}

/* What no single key can tell. */
static int check_together(struct reader *r, struct tide_err *err)
{
	const struct tide_settings *s = r->settings;

	if (s->width % s->heads)
		return refuse(r, "model.heads", err,
			      "%lld does not divide model.width %lld",
			      (long long)s->heads, (long long)s->width);
	if (s->batch_size * s->context > MAX_POSITIONS)
		return refuse(
			r, "training.batch_size", err,
			"%lld sequences of %lld are too many at once, %d positions are the most",
			(long long)s->batch_size, (long long)s->context,
			MAX_POSITIONS);
	if (!s->random && !s->data[0])
		return tide_err_set(err, EINVAL,
				    "%s: data.file: missing, it must be given",
				    r->path);
	if (s->random && s->data[0])
		return refuse(r, "data.random", err,
			      "true, but data.file is given too");
	if (!s->random && s->vocabulary != 256)
		return refuse(r, "model.vocabulary", err,
			      "'%lld': a text is read by bytes and wants 256",
			      (long long)s->vocabulary);
	if (s->learning_rate <= 0)
		return refuse(r, "training.learning_rate", err,
			      "must be above 0");
	if (!s->directory[0])
		return refuse(r, "checkpoint.directory", err,
			      "must not be empty");
	return 0;
}

int tide_settings_read(struct tide_settings *ret_settings, const char *path,
		       struct tide_err *err)
{
	struct tide_settings settings = {0};
	struct reader r = {.path = path, .settings = &settings};
	FILE *file = fopen(path, "re");
	int rc;

	if (!file)
		return tide_err_set(err, errno, "cannot open '%s': %s", path,
				    strerror(errno));
	if (!yaml_parser_initialize(&r.parser)) {
		fclose(file);
		return tide_err_set(err, ENOMEM,
				    "cannot read '%s': out of memory", path);
	}
	yaml_parser_set_input_file(&r.parser, file);
	rc = read_top(&r, err);
	if (!rc)
		rc = set_defaults(&r, err);
	if (!rc)
		rc = check_together(&r, err);
	yaml_parser_delete(&r.parser);
	fclose(file);
	if (rc) {
		errno = EINVAL;
		return -1;
	}
	*ret_settings = settings;
	return 0;
}

struct tide_shape tide_settings_shape(const struct tide_settings *s)
{
	return (struct tide_shape){
		.layers = s->layers,
		.width = s->width,
		.heads = s->heads,
		.context = s->context,
		.vocabulary = s->vocabulary,
		.tied = s->tied,
	};
}

void tide_settings_help(FILE *to)
{
	for (int i = 0; i < KEYS; i++) {
		fprintf(to, "  %-32s %s", keys[i].name, keys[i].help);
		if (!keys[i].preset)
			fprintf(to, " (must be given)");
		else if (keys[i].preset[0])
			fprintf(to, " (default %s)", keys[i].preset);
		fputc('\n', to);
	}
}

double tide_settings_rate(const struct tide_settings *s, int64_t step)
{
	double left, end = s->final_learning_rate;

	if (step < s->warmup_steps)
		return s->learning_rate * (step + 1) / s->warmup_steps;
	if (s->decay == TIDE_DECAY_CONSTANT || s->steps <= s->warmup_steps)
		return s->learning_rate;
	left = (double)(s->steps - step) / (s->steps - s->warmup_steps);
	return end + (s->learning_rate - end) * 0.5 * (1 - cos(M_PI * left));
}
