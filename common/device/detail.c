/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One PCI function: the file of its driver in /proc, attributes in its sysfs
 * folder, its DRM nodes, and names in the topology.  Which of them a family
 * has is in the table; nothing here knows a vendor.
 */
#include "config.h"

#include "common/device/detail.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/device.h"
#include "common/device/kfd.h"
#include "common/util/parse.h"

enum {
	MAX_TYPE = 63, /* more than any name of a board */
};

struct look {
	const struct tide_root *root;
	struct tide_topology *topology;
	const struct tide_family *family;
	const struct tide_pci *pci;
	struct tide_detail *detail;
	struct tide_problems *problems;
};

/* Say what is wrong with a file below the root. */
static void complain(struct look *look, const char *path, const char *what,
		     const char *value)
{
	tide_problems_add(look->problems, look->root->name, 0,
			  "'%s' holds '%.64s': %s", path, value, what);
}

/*
 * A file that need not be there: 0 with its text, 1 when it is not, or is said
 * to be broken.
 */
static int read_maybe(struct look *look, const char *path, char **ret_text)
{
	struct tide_err err;

	if (!tide_root_read(look->root, path, ret_text, &err))
		return 0;
	if (errno != ENOENT)
		tide_problems_add(look->problems, look->root->name, 0, "%s",
				  err.text);
	return 1;
}

/* An attribute of the function; as read_maybe(). The caller frees the path. */
static int read_attribute(struct look *look, const char *name, char **ret_path,
			  char **ret_text)
{
	*ret_path = NULL;
	if (!name || !look->root ||
	    asprintf(ret_path, TIDE_PCI_FOLDER "/%s/%s", look->pci->name,
		     name) < 0) {
		*ret_path = NULL;
		return 1;
	}
	return read_maybe(look, *ret_path, ret_text);
}

/* Info= without its slash, and with the address for %p. */
static char *info_path(const struct look *look)
{
	const char *pattern = look->family->info + 1;
	const char *mark = strstr(pattern, "%p");
	char *path;

	if (!mark)
		return strdup(pattern);
	if (asprintf(&path, "%.*s%s%s", (int)(mark - pattern), pattern,
		     look->pci->name, mark + 2) < 0)
		return NULL;
	return path;
}

/* A copy of what follows "key:" in the text; NULL when nothing does. */
static char *value_of(const char *text, const char *key)
{
	size_t len = key ? strlen(key) : 0;

	while (key && text) {
		const char *at = text + strspn(text, " \t");

		if (!strncmp(at, key, len)) {
			const char *colon = at + len + strspn(at + len, " \t");

			if (*colon == ':') {
				const char *value =
					colon + 1 + strspn(colon + 1, " \t");
				size_t n = strcspn(value, "\r\n");

				while (n &&
				       isblank((unsigned char)value[n - 1]))
					n--;
				return n ? strndup(value, n) : NULL;
			}
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/*
 * "MLU370 X8" as a type of Slurm: mlu370_x8; NULL when no letter is in it, or
 * Slurm would take it for a count.
 */
static char *as_type(char *name)
{
	char *to = name;

	for (const char *from = name; *from && to < name + MAX_TYPE; from++) {
		int c = (unsigned char)*from;

		if (isalnum(c) || strchr("-_.", c))
			*to++ = (char)tolower(c);
		else if (isblank(c))
			*to++ = '_';
	}
	*to = '\0';
	if (strpbrk(name, "abcdefghijklmnopqrstuvwxyz") &&
	    !tide_parse_is_count(name, strlen(name)))
		return name;
	free(name);
	return NULL;
}

static void set_number(struct look *look, const char *path, const char *value,
		       int is_file)
{
	struct tide_err err;
	uint32_t number;
	int64_t whole;

	if (is_file && !tide_device_number(value, &number, &err))
		look->detail->number[0] = (int)number;
	else if (!is_file &&
		 !tide_parse_int(value, 0, TIDE_DEVICE_MAX, &whole, &err))
		look->detail->number[0] = (int)whole;
	else
		complain(look, path, err.text, value);
}

static void ask_info(struct look *look)
{
	const struct tide_family *family = look->family;
	char *path, *text = NULL, *file, *number, *type;

	if (!family->info || !look->root)
		return;
	path = info_path(look);
	if (!path || read_maybe(look, path, &text)) {
		free(path);
		return;
	}
	file = value_of(text, family->info_file);
	number = value_of(text, family->info_number);
	type = value_of(text, family->info_type);
	if (file)
		set_number(look, path, file, 1);
	else if (number)
		set_number(look, path, number, 0);
	else if (family->info_file || family->info_number)
		tide_problems_add(look->problems, look->root->name, 0,
				  "'%s' has no line '%s:'", path,
				  family->info_file ? family->info_file
						    : family->info_number);
	look->detail->board = value_of(text, family->info_board);
	look->detail->type = type ? as_type(type) : NULL;
	free(file);
	free(number);
	free(text);
	free(path);
}

/* Add a number; false when there is no room. */
static void add_number(struct tide_detail *detail, size_t *count,
		       int64_t number)
{
	if (*count < TIDE_DETAIL_MAX)
		detail->number[(*count)++] = (int)number;
}

/*
 * Is the line of a map, "3d:00.0 4 ...", of that function?  Its number then.
 * The first line says what the columns are, and is of none.
 */
static bool is_map_line(const char *line, const struct tide_pci *pci,
			unsigned long *ret_number)
{
	char *end, *from;
	unsigned long bus, dev, fn;

	bus = strtoul(line, &end, 16);
	if (end == line || *end != ':')
		return false;
	dev = strtoul(end + 1, &end, 16);
	if (*end != '.')
		return false;
	fn = strtoul(end + 1, &from, 16);
	*ret_number = strtoul(from, &end, 10);
	return *from == ' ' && end != from && bus == pci->bus &&
	       dev == pci->dev && fn == pci->fn;
}

/*
 * A map of all functions does not name the domain: it is not asked on a machine
 * with several.
 */
static size_t ask_map(struct look *look)
{
	const struct tide_pci *pci = look->pci;
	char *path, *text = NULL, *line, *rest;
	unsigned long number;
	size_t count = 0;

	if (pci->domain ||
	    read_attribute(look, look->family->map_file, &path, &text)) {
		if (!pci->domain)
			free(path);
		return 0;
	}
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (is_map_line(line, pci, &number) &&
		    number <= TIDE_DEVICE_MAX)
			add_number(look->detail, &count, (int64_t)number);
	free(text);
	free(path);
	return count;
}

/* A number that is alone in an attribute; -1 when there is none. */
static int64_t ask_number(struct look *look, const char *name, int64_t max)
{
	char *path, *text = NULL;
	struct tide_err err;
	int64_t number = -1;

	if (!read_attribute(look, name, &path, &text)) {
		if (*text && tide_parse_int(text, 0, max, &number, &err))
			complain(look, path, err.text, text);
		free(text);
	}
	free(path);
	return number;
}

/* Numbers out of attributes: the count of accelerators that they make. */
static size_t ask_attributes(struct look *look)
{
	size_t count = ask_map(look);
	int64_t first, many;

	if (count)
		return count;
	many = ask_number(look, look->family->count_file, TIDE_DETAIL_MAX);
	first = ask_number(look, look->family->number_file, TIDE_DEVICE_MAX);
	for (int64_t i = 0; first >= 0 && i < (many < 1 ? 1 : many); i++)
		add_number(look->detail, &count, first + i);
	if (!count && many > 0)
		count = (size_t)many;
	return count;
}

/* Numbers of names such as renderD128 in the function's folder drm. */
static size_t folder_names(struct look *look, const char *prefix, int *numbers)
{
	char path[sizeof(TIDE_PCI_FOLDER) + 64], **names = NULL;
	size_t n = 0, count = 0, len = strlen(prefix);
	struct tide_err err;
	int64_t number;

	snprintf(path, sizeof(path), TIDE_PCI_FOLDER "/%s/drm",
		 look->pci->name);
	if (tide_root_list(look->root, path, &names, &n, &err)) {
		tide_problems_add(look->problems, look->root->name, 0, "%s",
				  err.text);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(names[i], prefix, len) &&
		    !tide_parse_int(names[i] + len, 0, TIDE_DEVICE_MAX, &number,
				    NULL) &&
		    count < TIDE_DETAIL_MAX)
			numbers[count++] = (int)number;
		free(names[i]);
	}
	free(names);
	return count;
}

static int int_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static size_t ask_names(struct look *look, const char *prefix, int *numbers)
{
	size_t count = look->root ? folder_names(look, prefix, numbers) : 0;

	if (!count)
		return tide_topology_names(look->topology, look->pci, prefix,
					   numbers, TIDE_DETAIL_MAX);
	qsort(numbers, count, sizeof(*numbers), int_cmp);
	return count;
}

static bool has_mark(const struct tide_family *family, const char *mark)
{
	return strstr(family->file, mark) ||
	       (family->also && strstr(family->also, mark));
}

/* How many accelerators a function is where DRM or a library has listed them.
 */
static size_t ask_drm(struct look *look)
{
	int others[TIDE_DETAIL_MAX];
	size_t count = 0, n;

	if (has_mark(look->family, "%r") || has_mark(look->family, "%c")) {
		n = ask_names(look, "card", look->detail->card);
		count = ask_names(look, "renderD", look->detail->render);
		count = count > n ? count : n;
	}
	n = tide_topology_names(look->topology, look->pci, "rsmi", others,
				TIDE_DETAIL_MAX);
	return count > n ? count : n;
}

/* The DRM card of a render node, wherever the driver has put it; -1. */
static int card_of(const struct look *look, int render)
{
	char path[64], **names = NULL;
	size_t n = 0;
	int64_t card = -1;

	snprintf(path, sizeof(path), "sys/class/drm/renderD%d/device/drm",
		 render);
	if (tide_root_list(look->root, path, &names, &n, NULL))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(names[i], "card", 4))
			tide_parse_int(names[i] + 4, 0, TIDE_DEVICE_MAX, &card,
				       NULL);
		free(names[i]);
	}
	free(names);
	return (int)card;
}

/* Partitions have nodes of KFD; the DRM nodes of all but one are elsewhere. */
static size_t ask_kfd(struct look *look)
{
	static const char folder[] = TIDE_KFD_FOLDER;
	const struct tide_pci *pci = look->pci;
	long place = pci->bus << 8 | pci->dev << 3 | pci->fn;
	char **names = NULL, path[128], *text;
	size_t n = 0, count = 0;
	struct tide_err err;

	if (tide_root_list(look->root, folder, &names, &n, &err)) {
		tide_problems_add(look->problems, look->root->name, 0, "%s",
				  err.text);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%.32s/properties", folder,
			 names[i]);
		free(names[i]);
		if (read_maybe(look, path, &text))
			continue;
		if (tide_kfd_property(text, "location_id") == place &&
		    tide_kfd_property(text, "domain") == (long)pci->domain &&
		    tide_kfd_property(text, "drm_render_minor") > 0 &&
		    count < TIDE_DETAIL_MAX)
			look->detail->render[count++] = (int)tide_kfd_property(
				text, "drm_render_minor");
		free(text);
	}
	free(names);
	qsort(look->detail->render, count, sizeof(int), int_cmp);
	for (size_t i = 0; i < count; i++)
		look->detail->card[i] = card_of(look, look->detail->render[i]);
	return count;
}

/* How the driver has cut the function; one part, "SPX", is the whole. */
static void ask_mode(struct look *look)
{
	char *path, *text = NULL;

	if (!read_attribute(look, look->family->part_mode, &path, &text)) {
		text = as_type(text);
		if (text && strcmp(text, "spx")) {
			look->detail->mode = text;
			text = NULL;
		}
		free(text);
	}
	free(path);
}

int tide_detail(const struct tide_root *root, struct tide_topology *topology,
		const struct tide_family *family,
		const struct tide_model *model, const struct tide_pci *pci,
		struct tide_detail *ret_detail, struct tide_problems *problems,
		struct tide_err *err)
{
	struct look look = {root, topology, family, pci, ret_detail, problems};
	char path[sizeof(TIDE_PCI_FOLDER) + 32];
	size_t count, drm;

	*ret_detail = (struct tide_detail){0};
	for (int i = 0; i < TIDE_DETAIL_MAX; i++)
		ret_detail->number[i] = ret_detail->card[i] =
			ret_detail->render[i] = -1;
	ask_info(&look);
	count = ask_attributes(&look);
	drm = ask_drm(&look);
	count = count > drm ? count : drm;
	if (!count)
		count = (size_t)model->devices;
	ask_mode(&look);
	if (ret_detail->mode) {
		size_t parts = ask_kfd(&look);

		count = count > parts ? count : parts;
	}
	ret_detail->count = count;
	if (root) {
		snprintf(path, sizeof(path), TIDE_PCI_FOLDER "/%s", pci->name);
		ret_detail->path = tide_root_link(root, path);
	}
	if (problems->lost) {
		tide_detail_release(ret_detail);
		return tide_err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

void tide_detail_release(struct tide_detail *detail)
{
	free(detail->type);
	free(detail->board);
	free(detail->mode);
	free(detail->path);
	memset(detail, 0, sizeof(*detail));
}
