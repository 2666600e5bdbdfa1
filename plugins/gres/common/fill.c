/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records without File=, filled in, and those with one, compared: see fill.h.
 * Looks at no device itself.
 */
#include "plugins/gres/common/fill.h"

#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"

#include "common/conf/lines.h"
#include "common/device/table.h"
#include "compat/shape.h"
#include "plugins/gres/common/ask.h"
#include "plugins/gres/common/cores.h"
#include "plugins/gres/common/places.h"

enum {
	LIMIT_MS = 15000,	 /* for the program */
	LIMIT_COMPARE_MS = 5000, /* when nothing is to be filled in */
};

#define PART "# part: Device="
#define NEAR "#near: "
#define MISSING "#missing: "

/* What the program is to do. */
struct task {
	const char *name;  /* of the GRES */
	const char *lines; /* of gres.conf, as Slurm has read them */
	bool fill;	   /* or only compare */
	const node_config_load_t *config;
};

/* What it printed. */
struct looked {
	list_t *lines; /* struct found */
	list_t *near;  /* struct near */
};

/* "#near: FILE CPUS": which CPUs are near the device with this file. */
struct near {
	char *file, *cpus;
};

/* A line that the program printed. */
struct found {
	char *type, *file, *links;
	bool multiple;
	bool part;    /* of a device */
	bool missing; /* not usable: keeps the place that it had */
	uint64_t count;
};

/* Nobody is harmed when gres.conf is only not compared. */
static void complain(const struct task *task, const char *why)
{
	if (task->fill)
		error("cannot look for gres/%s: %s", task->name, why);
	else
		info("gres/%s: gres.conf is not compared with the devices: %s",
		     task->name, why);
}

static void free_found(void *x)
{
	struct found *found = x;

	xfree(found->type);
	xfree(found->file);
	xfree(found->links);
	xfree(found);
}

static uint64_t count_files(const char *file)
{
	tide_hostlist files = hostlist_create(file);
	uint64_t count = files ? (uint64_t)hostlist_count(files) : 0;

	if (files)
		hostlist_destroy(files);
	return count;
}

/* One line; NULL when it names no file. */
static struct found *read_line(char *line)
{
	struct found *found = xmalloc(sizeof(*found));
	char *key, *value;

	while (tide_pair_next(&line, &key, &value) > 0) {
		if (!xstrcasecmp(key, "Type"))
			found->type = xstrdup(value);
		else if (!xstrcasecmp(key, "Links"))
			found->links = xstrdup(value);
		else if (!xstrcasecmp(key, "File") ||
			 !xstrcasecmp(key, "MultipleFiles")) {
			found->file = xstrdup(value);
			found->multiple = xstrcasecmp(key, "File");
		}
	}
	if (found->file)
		found->count = found->multiple ? 1 : count_files(found->file);
	if (found->count)
		return found;
	free_found(found);
	return NULL;
}

static int has_type(void *x, void *key)
{
	return !xstrcasecmp(x, key);
}

/* "# part: Device=npu:vir04 Of=...": the type is one of parts. */
static void read_part(list_t *parts, const char *line)
{
	const char *type = xstrchr(line, ':');
	size_t len = type ? strcspn(type + 1, " ") : 0;

	if (len)
		list_append(parts, xstrndup(type + 1, len));
}

static void free_near(void *x)
{
	struct near *near = x;

	xfree(near->file);
	xfree(near->cpus);
	xfree(near);
}

static void read_near(list_t *list, const char *text)
{
	const char *space = xstrchr(text, ' ');
	struct near *near;

	if (!space)
		return;
	near = xmalloc(sizeof(*near));
	near->file = xstrndup(text, (size_t)(space - text));
	near->cpus = xstrdup(space + 1);
	list_append(list, near);
}

/*
 * What was found; what the program complained about is logged. False: no
 * answer, and the lists are NULL.
 */
static bool look(const struct task *task, struct looked *looked)
{
	int limit = task->fill ? LIMIT_MS : LIMIT_COMPARE_MS;
	char *why = NULL, *line, *rest = NULL;
	char *text = tide_ask(task->name, task->lines, limit, &why);
	const char *name = task->name;
	list_t *parts = list_create(xfree_ptr);
	struct found *found;

	looked->lines = text ? list_create(free_found) : NULL;
	looked->near = text ? list_create(free_near) : NULL;
	if (!text)
		complain(task, why);
	xfree(why);
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		bool missing = !xstrncmp(line, MISSING, strlen(MISSING));

		if (missing) {
			line += strlen(MISSING);
			error("gres/%s: not used: %s", name, line);
		}
		if (!xstrncmp(line, "tidectl: ", 9))
			error("gres/%s: %s", name, line + 9);
		else if (!xstrncmp(line, PART, strlen(PART)))
			read_part(parts, line + strlen(PART));
		else if (!xstrncmp(line, NEAR, strlen(NEAR)))
			read_near(looked->near, line + strlen(NEAR));
		else if (*line != '#' && (found = read_line(line))) {
			found->part =
				list_find_first(parts, has_type, found->type);
			found->missing = missing;
			list_append(looked->lines, found);
		}
	}
	FREE_NULL_LIST(parts);
	xfree(text);
	return looked->lines;
}

static int has_file(void *x, void *key)
{
	return !xstrcmp(((struct near *)x)->file, key);
}

/* Cores near the first of the record's files; a record has those of one. */
static void give_cores(gres_slurmd_conf_t *record, const struct task *task,
		       const struct looked *looked)
{
	tide_hostlist files = hostlist_create(record->file);
	char *file = files ? hostlist_shift(files) : NULL;
	struct near *near =
		file ? list_find_first(looked->near, has_file, file) : NULL;

	if (near)
		tide_cores_give(record, near->cpus, task->config);
	free(file);
	if (files)
		hostlist_destroy(files);
}

/*
 * Take as many of the line's files as there are, at most, and leave the others
 * to it.
 */
static struct found *take_files(struct found *found, uint64_t most)
{
	struct found *taken = xmalloc(sizeof(*taken));
	tide_hostlist rest = hostlist_create(found->file), files;
	char *path;

	files = hostlist_create(NULL);
	while (taken->count < most && (path = hostlist_shift(rest))) {
		hostlist_push_host(files, path);
		free(path);
		taken->count++;
	}
	taken->type = xstrdup(found->type);
	taken->file = hostlist_ranged_string_xmalloc(files);
	found->count -= taken->count;
	xfree(found->file);
	found->file = hostlist_ranged_string_xmalloc(rest);
	hostlist_destroy(files);
	hostlist_destroy(rest);
	return taken;
}

static gres_slurmd_conf_t *make(const gres_slurmd_conf_t *record,
				const struct found *found,
				const struct task *task,
				const struct looked *looked)
{
	gres_slurmd_conf_t *new = xmalloc(sizeof(*new));

	new->config_flags = record->config_flags | GRES_CONF_HAS_FILE;
	if (found->multiple)
		new->config_flags |= GRES_CONF_HAS_MULT;
	new->type_name =
		xstrdup(record->type_name ? record->type_name : found->type);
	if (new->type_name)
		new->config_flags |= GRES_CONF_HAS_TYPE;
	new->count = found->count;
	new->cpu_cnt = task->config->cpu_cnt;
	new->file = xstrdup(found->file);
	new->links = xstrdup(found->links);
	new->name = xstrdup(record->name);
	new->plugin_id = record->plugin_id;
	give_cores(new, task, looked);
	return new;
}

static bool fits(const gres_slurmd_conf_t *record, const struct found *found,
		 bool exactly)
{
	if (!record->type_name)
		return true;
	return found->type && tide_type_is(found->type, exactly || found->part,
					   record->type_name);
}

/* How many are there that fit the record. */
static uint64_t count_there(const gres_slurmd_conf_t *record, list_t *list)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	uint64_t count = 0;

	while ((found = list_next(itr)))
		if (!found->missing && fits(record, found, false))
			count += found->count;
	list_iterator_destroy(itr);
	return count;
}

/*
 * Take what fits the record off the list, and put it into records: *missing of
 * those that are missing at most, which is lowered.
 */
static uint64_t take(list_t *records, const gres_slurmd_conf_t *record,
		     uint64_t limit, uint64_t *missing, const struct task *task,
		     struct looked *looked, bool exactly)
{
	list_itr_t *itr = list_iterator_create(looked->lines);
	struct found *found;
	uint64_t count = 0;

	while (count < limit && (found = list_next(itr))) {
		if (!fits(record, found, exactly) ||
		    (found->missing && !*missing))
			continue;
		if (found->missing)
			--*missing;
		if (found->count > limit - count) {
			struct found *some = take_files(found, limit - count);

			list_append(records, make(record, some, task, looked));
			count += some->count;
			free_found(some);
			break;
		}
		list_append(records, make(record, found, task, looked));
		count += found->count;
		list_delete_item(itr);
	}
	list_iterator_destroy(itr);
	return count;
}

static char *types_of(list_t *list)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	char *text = NULL;

	while ((found = list_next(itr)))
		if (!found->missing)
			xstrfmtcat(text, "%s%s:%llu", text ? "," : "",
				   found->type,
				   (unsigned long long)found->count);
	list_iterator_destroy(itr);
	return text;
}

/*
 * While too few are there, those that are missing keep their places: steps of
 * jobs that run would be given each other's devices. What reads the records
 * then leaves them out. True: all are there.
 */
static bool fill_record(list_t *records, const gres_slurmd_conf_t *record,
			const struct task *task, struct looked *looked)
{
	uint64_t there = count_there(record, looked->lines);
	uint64_t lost = there < record->count ? record->count - there : 0;
	uint64_t missing = lost;
	uint64_t count = take(records, record, record->count, &missing, task,
			      looked, true);
	char *others;

	if (count < record->count)
		count += take(records, record, record->count - count, &missing,
			      task, looked, false);
	count -= lost - missing;
	if (count >= record->count)
		return true;
	others = types_of(looked->lines);
	error("gres/%s: slurm.conf has %llu of type '%s' on this node, found are %llu%s%s: mend Gres= of the node, or the device (tidectl devices)",
	      record->name, (unsigned long long)record->count,
	      record->type_name ? record->type_name : "any",
	      (unsigned long long)count, others ? ", and of others " : "",
	      others ? others : "");
	xfree(others);
	return false;
}

/*
 * Slurm wants links to as many devices as it counts: with fewer or more of them
 * there are none.
 */
static void check_links(list_t *list, uint64_t wanted)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	uint64_t count = 0;

	while ((found = list_next(itr)))
		count += found->missing ? 0 : found->count;
	list_iterator_reset(itr);
	while (count != wanted && (found = list_next(itr)))
		xfree(found->links);
	list_iterator_destroy(itr);
}

/* What slurm.conf does not count is in no record, and so not constrained. */
static void say_rest(const char *name, list_t *list)
{
	char *rest = types_of(list);

	if (rest)
		error("gres/%s: found are %s more than slurm.conf has on this node: no job gets them, and every job can open them: mend Gres= of the node (tidectl devices --gres-conf)",
		      name, rest);
	xfree(rest);
}

static int is_fileless(void *x, void *key)
{
	gres_slurmd_conf_t *record = x;

	return !xstrcmp(record->name, key) && !record->file && record->count;
}

/* The records as lines of gres.conf; their cores are compared here. */
static char *write_lines(list_t *records, const char *name)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	char *text = NULL;

	while ((record = list_next(itr))) {
		bool multiple = record->config_flags & GRES_CONF_HAS_MULT;

		if (xstrcmp(record->name, name) ||
		    (!record->file && !record->count))
			continue;
		xstrfmtcat(text, "Name=%s", name);
		if (record->type_name)
			xstrfmtcat(text, " Type=%s", record->type_name);
		if (record->file)
			xstrfmtcat(text, " %s=%s",
				   multiple ? "MultipleFiles" : "File",
				   record->file);
		xstrcat(text, "\n");
	}
	list_iterator_destroy(itr);
	return text;
}

/* Cores of records by hand: of a record with several files it is said once. */
static void compare_cores(list_t *records, const struct task *task,
			  const struct looked *looked)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;

	while ((record = list_next(itr))) {
		tide_hostlist files;
		struct near *near;
		bool said = false;
		char *file;

		if (xstrcmp(record->name, task->name) || !record->file ||
		    !record->cpus)
			continue;
		files = hostlist_create(record->file);
		while (files && (file = hostlist_shift(files))) {
			near = list_find_first(looked->near, has_file, file);
			if (near && !said)
				said = tide_cores_compare(
					record, file, near->cpus, task->config);
			free(file);
		}
		if (files)
			hostlist_destroy(files);
	}
	list_iterator_destroy(itr);
}

static int is_of_type(void *x, void *key)
{
	const gres_slurmd_conf_t *record = x, *bare = key;

	return !bare->type_name ||
	       !xstrcasecmp(record->type_name, bare->type_name);
}

/*
 * More are there than slurm.conf counts.  Which of them jobs that run have is
 * not known here: a device that is back would take the place of another, and be
 * given to a second job.  So none is used, and Slurm drains the node. True: so
 * it is.
 */
static bool drop_unclear(list_t *made, const gres_slurmd_conf_t *bare,
			 const struct looked *looked)
{
	if (!count_there(bare, looked->lines))
		return false;
	error("gres/%s: more of type '%s' are there than slurm.conf has on this node, and which of them jobs have is not known: none is used: mend Gres= of the node, or name the files in gres.conf (tidectl devices --gres-conf)",
	      bare->name, bare->type_name ? bare->type_name : "any");
	list_delete_all(made, is_of_type, (void *)bare);
	return true;
}

/* What is gone altogether is in no line; its place is known from before. */
static void keep_places(list_t *made, list_t *bare, const char *name, bool all)
{
	const char *folder = tide_shape_spool();
	char *path;

	if (!folder)
		return;
	path = xstrdup_printf("%s/tide-gres-%s", folder, name);
	if (all)
		tide_places_remember(made, path);
	else
		tide_places_recall(made, bare, path);
	xfree(path);
}

/* Put what was found into the place of records without a file. */
static void replace(list_t *records, const struct task *task,
		    struct looked *looked)
{
	list_t *bare = list_create(tide_place_free);
	list_t *made = list_create(tide_place_free);
	gres_slurmd_conf_t *record;
	bool all = true, unclear = false;
	uint64_t wanted = 0;
	list_itr_t *itr;

	while ((record = list_remove_first(records, is_fileless,
					   (void *)task->name))) {
		wanted += record->count;
		list_append(bare, record);
	}
	check_links(looked->lines, wanted);
	itr = list_iterator_create(bare);
	while ((record = list_next(itr)))
		all &= fill_record(made, record, task, looked);
	list_iterator_reset(itr);
	while ((record = list_next(itr)))
		unclear |= drop_unclear(made, record, looked);
	list_iterator_destroy(itr);
	if (task->fill && !unclear)
		keep_places(made, bare, task->name, all);
	if (task->fill)
		say_rest(task->name, looked->lines);
	while ((record = list_pop(made)))
		list_append(records, record);
	FREE_NULL_LIST(made);
	FREE_NULL_LIST(bare);
}

void tide_fill(list_t *records, const char *name,
	       const node_config_load_t *config)
{
	char *lines = write_lines(records, name);
	struct task task = {
		.name = name,
		.lines = lines,
		.fill = list_find_first(records, is_fileless, (void *)name),
		.config = config,
	};
	struct looked looked;

	if (lines && look(&task, &looked)) {
		compare_cores(records, &task, &looked);
		replace(records, &task, &looked);
		FREE_NULL_LIST(looked.lines);
		FREE_NULL_LIST(looked.near);
	} else if (lines) {
		/* no job is to be started for devices that it would not get */
		list_delete_all(records, is_fileless, (void *)name);
	}
	xfree(lines);
}
