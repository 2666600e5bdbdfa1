/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of the table of accelerators: their names, the fields they fill and
 * what values may be.  To add a key, add its row, its field and a line in
 * docs/devices.md.
 */
#include "config.h"

#include "common/device/table_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/device/device.h"
#include "common/util/parse.h"

enum {
	MAX_DEVICES = 64, /* of one function */
	MAX_IDS = 64,
	MAX_GB = 1 << 20,
};

enum kind {
	NAME,	       /* letters, digits, - _ . */
	TYPE,	       /* a name that is not a number */
	VARIABLES,     /* names of environment variables */
	SETTING,       /* NAME=VALUE of one, or NAME= and PART_PATTERNS */
	PATTERNS,      /* absolute paths with %n, %c or %r */
	PART_PATTERNS, /* the same, and %m */
	PATHS,	       /* absolute paths */
	LIBRARIES,     /* names of files or absolute paths */
	API,	       /* an interface of common/vendor */
	INFO,	       /* an absolute path with %p */
	ATTRIBUTE,     /* the name of a file */
	TEXT,	       /* anything printable */
	CLASSES,       /* hexadecimal digits */
	NAMES,	       /* a list of names */
	IDS,	       /* VENDOR:DEVICE */
	COUNT,
	POSITION, /* file|position */
	LOCAL,	  /* local|physical, into a bool */
	LOCAL_INT,
	YES,	/* yes|no */
	NUMBER, /* 0 to TIDE_DEVICE_MAX */
	GB,
	TFLOPS,
	SHARE, /* more than 0, at most 1 */
};

struct key {
	const char *name;
	enum tide_table_record record;
	enum kind kind;
	size_t offset;
};

#define OF_FAMILY(key, kind, field)                         \
	{                                                   \
		key, TIDE_TABLE_FAMILY, kind,               \
			offsetof(struct tide_family, field) \
	}
#define OF_MODEL(key, kind, field)                         \
	{                                                  \
		key, TIDE_TABLE_MODEL, kind,               \
			offsetof(struct tide_model, field) \
	}

#define OF_PART(key, kind, field)                                             \
	{                                                                     \
		key, TIDE_TABLE_PART, kind, offsetof(struct tide_part, field) \
	}

static const struct key keys[] = {
	OF_FAMILY("Family", NAME, name),
	OF_FAMILY("Gres", NAME, gres),
	OF_FAMILY("Class", CLASSES, class),
	OF_FAMILY("File", PATTERNS, file),
	OF_FAMILY("Also", PATTERNS, also),
	OF_FAMILY("Shared", PATHS, shared),
	OF_FAMILY("Visible", VARIABLES, visible),
	OF_FAMILY("Container", VARIABLES, container),
	OF_FAMILY("ContainerPart", SETTING, container_part),
	OF_FAMILY("SetContainer", YES, set_container),
	OF_FAMILY("Unset", VARIABLES, unset),
	OF_FAMILY("Library", LIBRARIES, library),
	OF_FAMILY("Api", API, api),
	OF_FAMILY("Info", INFO, info),
	OF_FAMILY("InfoFile", TEXT, info_file),
	OF_FAMILY("InfoNumber", TEXT, info_number),
	OF_FAMILY("InfoType", TEXT, info_type),
	OF_FAMILY("InfoBoard", TEXT, info_board),
	OF_FAMILY("NumberFile", ATTRIBUTE, number_file),
	OF_FAMILY("CountFile", ATTRIBUTE, count_file),
	OF_FAMILY("MapFile", ATTRIBUTE, map_file),
	OF_FAMILY("Flags", NAMES, flags),
	OF_FAMILY("PartFile", PART_PATTERNS, part_file),
	OF_FAMILY("PartList", PATHS, part_list),
	OF_FAMILY("PartLine", TEXT, part_line),
	OF_FAMILY("PartMode", ATTRIBUTE, part_mode),
	OF_FAMILY("PartFirst", NUMBER, part_first),
	OF_FAMILY("PartStep", NUMBER, part_step),
	OF_FAMILY("Number", POSITION, position),
	OF_FAMILY("Constrained", LOCAL, physical),
	OF_MODEL("Model", TYPE, type),
	OF_MODEL("Id", IDS, id),
	OF_MODEL("Devices", COUNT, devices),
	OF_MODEL("Constrained", LOCAL_INT, physical),
	OF_MODEL("Vf", YES, vf),
	OF_MODEL("TFLOPS", TFLOPS, tflops),
	OF_MODEL("Memory", GB, memory),
	OF_PART("Part", TYPE, type),
	OF_PART("Name", NAME, name),
	OF_PART("Of", NAMES, of),
	OF_PART("Share", SHARE, share),
	OF_PART("Memory", GB, memory),
};

enum {
	KEYS = sizeof(keys) / sizeof(*keys)
};

bool tide_list_next(const char **cursor, const char **ret_item, size_t *ret_len)
{
	const char *item = *cursor;

	if (!item || !*item)
		return false;
	*ret_item = item;
	*ret_len = strcspn(item, ",");
	*cursor = item + *ret_len + (item[*ret_len] == ',');
	return true;
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return len;
}

/* A path in which only these letters follow a '%', and no part is "..". */
static bool is_path(const char *path, size_t len, const char *letters)
{
	if (len < 2 || *path != '/')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isgraph((unsigned char)path[i]) || path[i] == '[')
			return false;
		if (!strncmp(path + i, "/..", 3))
			return false;
		if (path[i] != '%')
			continue;
		if (i + 1 == len || !strchr(letters, path[i + 1]))
			return false;
	}
	return true;
}

/* Slurm wants the name of a device file to end in its number. */
static bool is_pattern(const char *path, size_t len, const char *letters)
{
	return is_path(path, len, letters) &&
	       (isdigit((unsigned char)path[len - 1]) || path[len - 2] == '%');
}

static bool is_class(const char *text, size_t len)
{
	return len && len <= 4 && strspn(text, "0123456789abcdefABCDEF") >= len;
}

static bool is_variable(const char *text, size_t len)
{
	return is_name(text, len) && !isdigit((unsigned char)*text) &&
	       !memchr(text, '-', len) && !memchr(text, '.', len);
}

/* Every item of the list is one; a list has no empty items. */
static bool is_list(enum kind kind, const char *value)
{
	const char *cursor = value, *item;
	size_t len;

	while (tide_list_next(&cursor, &item, &len)) {
		if ((kind == PATTERNS && !is_pattern(item, len, "ncr")) ||
		    (kind == PART_PATTERNS && !is_pattern(item, len, "ncrm")) ||
		    (kind == NAMES && !is_name(item, len)) ||
		    (kind == PATHS && !is_path(item, len, "")) ||
		    (kind == LIBRARIES && !is_path(item, len, "") &&
		     !is_name(item, len)) ||
		    (kind == INFO && !is_path(item, len, "p")) ||
		    (kind == CLASSES && !is_class(item, len)) ||
		    (kind == VARIABLES && !is_variable(item, len)))
			return false;
	}
	return *value && value[strlen(value) - 1] != ',';
}

static bool is_setting(const char *value)
{
	const char *equal = strchr(value, '=');

	return equal && is_variable(value, (size_t)(equal - value)) &&
	       (is_name(equal + 1, strlen(equal + 1)) ||
		(strchr(equal, '%') && is_list(PART_PATTERNS, equal + 1)));
}

static bool is_api(const char *value)
{
	return !strcmp(value, "cndev") || !strcmp(value, "dcmi") ||
	       !strcmp(value, "nvml") || !strcmp(value, "rsmi");
}

/* What each kind of text is to be. */
static const char *const wanted[] = {
	[NAME] = "a name of letters, digits, '-', '_' and '.' is wanted",
	[ATTRIBUTE] = "a name of letters, digits, '-', '_' and '.' is wanted",
	[TYPE] =
		"a type is wanted: letters, digits, '-', '_' and '.', and not a count such as 8 or 310p",
	[PATTERNS] =
		"absolute paths are wanted that end in a number: %n, %c, %r or digits",
	[PART_PATTERNS] =
		"absolute paths are wanted that end in a number: %n, %m, %c, %r or digits",
	[NAMES] = "names are wanted",
	[PATHS] = "absolute paths are wanted",
	[LIBRARIES] = "names of libraries or absolute paths are wanted",
	[API] = "cndev, dcmi, nvml or rsmi is wanted",
	[INFO] = "an absolute path is wanted, with %p for the PCI address",
	[CLASSES] =
		"up to four hexadecimal digits are wanted, as in 12 or 0380",
	[VARIABLES] = "names of environment variables are wanted",
	[SETTING] =
		"an environment variable and its value are wanted, NAME=VALUE, or NAME= and file names with %n and %m",
	[TEXT] = "a text is wanted",
};

static bool is_good(enum kind kind, const char *value)
{
	size_t len = strlen(value);

	switch (kind) {
	case NAME:
	case ATTRIBUTE:
		return is_name(value, len) && *value != '.';
	case TYPE:
		return is_name(value, len) && !tide_parse_is_count(value, len);
	case API:
		return is_api(value);
	case INFO:
		return is_list(kind, value) && !strchr(value, ',');
	case SETTING:
		return is_setting(value);
	case TEXT:
		return len;
	default:
		return is_list(kind, value);
	}
}

static int set_text(char **field, enum kind kind, const char *value,
		    struct tide_err *err)
{
	char *copy;

	if (!is_good(kind, value))
		return tide_err_set(err, EINVAL, "%s", wanted[kind]);
	copy = strdup(value);
	if (!copy)
		return tide_err_set(err, ENOMEM, "out of memory");
	free(*field);
	*field = copy;
	return 0;
}

/* Four hexadecimal digits at text; -1 when they are not. */
static int32_t hex4(const char *text)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		int c = tolower((unsigned char)text[i]);

		if (!isxdigit(c))
			return -1;
		value = value * 16 + (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return value;
}

static int parse_id(const char *item, size_t len, struct tide_pci_id *id)
{
	int32_t vendor = len > 5 ? hex4(item) : -1;

	if (vendor < 0 || item[4] != ':')
		return -1;
	id->vendor = (uint16_t)vendor;
	id->device = -1;
	if (len == 6 && item[5] == '*')
		return 0;
	if (len != 9)
		return -1;
	id->device = hex4(item + 5);
	return id->device < 0 ? -1 : 0;
}

static int set_ids(struct tide_model *model, const char *value,
		   struct tide_err *err)
{
	struct tide_pci_id *ids = calloc(MAX_IDS, sizeof(*ids));
	const char *cursor = value, *item;
	size_t len, count = 0;

	if (!ids)
		return tide_err_set(err, ENOMEM, "out of memory");
	while (tide_list_next(&cursor, &item, &len)) {
		if (count < MAX_IDS && !parse_id(item, len, &ids[count])) {
			count++;
			continue;
		}
		count = 0;
		break;
	}
	if (!count) {
		free(ids);
		return tide_err_set(
			err, EINVAL,
			"PCI ids are wanted, as in 19e5:d802, or cabc:* for all of a vendor, at most %d",
			MAX_IDS);
	}
	free(model->id);
	model->id = ids;
	model->n_ids = count;
	return 0;
}

/* 1 for the second word, 0 for the first. */
static int choose(const char *value, const char *zero, const char *one,
		  int *ret_choice, struct tide_err *err)
{
	if (strcasecmp(value, zero) && strcasecmp(value, one))
		return tide_err_set(err, EINVAL, "%s or %s is wanted", zero,
				    one);
	*ret_choice = !strcasecmp(value, one);
	return 0;
}

static int set_choice(enum kind kind, void *field, const char *value,
		      struct tide_err *err)
{
	int choice = 0, rc;

	if (kind == POSITION)
		rc = choose(value, "file", "position", &choice, err);
	else if (kind == YES)
		rc = choose(value, "no", "yes", &choice, err);
	else
		rc = choose(value, "local", "physical", &choice, err);
	if (rc)
		return rc;
	if (kind == LOCAL_INT)
		*(int *)field = choice;
	else
		*(bool *)field = choice;
	return 0;
}

static int set_frac(const struct key *key, struct tide_frac *field,
		    const char *value, struct tide_err *err)
{
	const struct tide_frac one = {1, 1};
	struct tide_frac frac;
	bool share = key->kind == SHARE;

	if ((share ? tide_frac_parse_ratio(value, &frac)
		   : tide_frac_parse(value, &frac)) ||
	    frac.num <= 0 || (share && tide_frac_cmp(frac, one) > 0))
		return tide_err_set(
			err, EINVAL, "%s",
			share ? "a share is wanted, as in 1/2 or 0.25"
			      : "a number above 0 is wanted");
	*field = frac;
	return 0;
}

static int set_int(const struct key *key, int *field, const char *value,
		   struct tide_err *err)
{
	int64_t number;

	if (tide_parse_int(value, key->kind == COUNT,
			   key->kind == COUNT ? MAX_DEVICES
			   : key->kind == GB  ? MAX_GB
					      : TIDE_DEVICE_MAX,
			   &number, err))
		return -1;
	*field = (int)number;
	return 0;
}

static int set_key(const struct key *key, void *object, const char *value,
		   struct tide_err *err)
{
	void *field = (char *)object + key->offset;

	switch (key->kind) {
	case IDS:
		return set_ids(object, value, err);
	case COUNT:
	case NUMBER:
	case GB:
		return set_int(key, field, value, err);
	case TFLOPS:
	case SHARE:
		return set_frac(key, field, value, err);
	case POSITION:
	case LOCAL:
	case LOCAL_INT:
	case YES:
		return set_choice(key->kind, field, value, err);
	default:
		return set_text(field, key->kind, value, err);
	}
}

/* Keys of several records belong to the first of them, in messages. */
int tide_table_set(enum tide_table_record record, void *object, const char *key,
		   const char *value, struct tide_err *err)
{
	static const char *const first[] = {"Family", "Model", "Part"};

	for (int i = 0; i < KEYS; i++)
		if (keys[i].record == record && !strcasecmp(keys[i].name, key))
			return set_key(&keys[i], object, value, err);
	for (int i = 0; i < KEYS; i++)
		if (!strcasecmp(keys[i].name, key))
			return tide_err_set(
				err, EINVAL,
				"belongs on a line that begins with %s=",
				first[keys[i].record]);
	return tide_err_set(err, EINVAL, "unknown key");
}

static bool is_text(enum kind kind)
{
	return kind < IDS;
}

static char **text_of(const struct key *key, const void *object)
{
	return (char **)((char *)object + key->offset);
}

void tide_family_release(struct tide_family *family)
{
	for (int i = 0; i < KEYS; i++)
		if (keys[i].record == TIDE_TABLE_FAMILY &&
		    is_text(keys[i].kind))
			free(*text_of(&keys[i], family));
	memset(family, 0, sizeof(*family));
}

int tide_family_copy(struct tide_family *to, const struct tide_family *from)
{
	int rc = 0;

	*to = *from;
	for (int i = 0; i < KEYS; i++) {
		char *text;

		if (keys[i].record != TIDE_TABLE_FAMILY ||
		    !is_text(keys[i].kind))
			continue;
		text = *text_of(&keys[i], from);
		*text_of(&keys[i], to) = text ? strdup(text) : NULL;
		if (text && !*text_of(&keys[i], to))
			rc = -1;
	}
	if (rc) {
		tide_family_release(to);
		errno = ENOMEM;
	}
	return rc;
}

void tide_model_release(struct tide_model *model)
{
	free(model->type);
	free(model->id);
	memset(model, 0, sizeof(*model));
}

void tide_part_release(struct tide_part *part)
{
	free(part->type);
	free(part->name);
	free(part->of);
	memset(part, 0, sizeof(*part));
}
