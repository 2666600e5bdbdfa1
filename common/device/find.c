/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds accelerators: see find.h. */
#include "config.h"

#include "common/device/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/device/detail.h"
#include "common/device/device.h"
#include "common/device/links.h"
#include "common/device/parts.h"
#include "common/util/file.h"

struct finder {
	const struct tide_where *where;
	struct tide_root root;
	const struct tide_root *root_or_null;
	struct tide_topology *topology;
	struct tide_accels *accels;
	struct tide_problems *problems;
	struct tide_err *err;
};

static int out_of_memory(struct finder *finder)
{
	return tide_err_set(finder->err, ENOMEM, "out of memory");
}

void tide_accel_release(struct tide_accel *accel)
{
	for (size_t i = 0; i < accel->n_files; i++)
		free(accel->file[i]);
	free(accel->file);
	free(accel->type);
	free(accel->whole);
	free(accel->board);
	free(accel->path);
	free(accel->link);
	tide_near_release(&accel->near);
}

bool tide_accel_is(const struct tide_accel *accel, const char *type)
{
	if (accel->whole && accel->untold && !accel->share.num)
		return !tide_type_is(accel->whole, false, type);
	return tide_type_is(accel->type, accel->whole, type);
}

void tide_accels_release(struct tide_accels *accels)
{
	for (size_t i = 0; i < accels->count; i++)
		tide_accel_release(&accels->accel[i]);
	free(accels->accel);
	memset(accels, 0, sizeof(*accels));
}

static struct tide_accel *new_accel(struct finder *finder)
{
	struct tide_accels *accels = finder->accels;
	struct tide_accel *more =
		realloc(accels->accel, (accels->count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	accels->accel = more;
	more += accels->count++;
	*more = (struct tide_accel){
		.near.numa = -1, .part = -1, .share = {1, 1}};
	return more;
}

/* What the pattern makes of the accelerator's numbers. */
static char *make_path(const struct tide_accel *accel, const char *pattern,
		       size_t len)
{
	const struct tide_marks marks = {
		.n = accel->number,
		.m = accel->part,
		.c = accel->card,
		.r = accel->render,
	};

	return tide_pattern_make(pattern, len, &marks);
}

static int keep_file(struct tide_accel *accel, char *path)
{
	char **more = realloc(accel->file,
			      (accel->n_files + 1) * sizeof(*accel->file));

	if (!more) {
		free(path);
		return -1;
	}
	accel->file = more;
	more[accel->n_files++] = path;
	return 0;
}

/* Is the device file there, and on a living machine a device? */
static bool is_there(struct finder *finder, const struct tide_accel *accel,
		     const char *path, bool must)
{
	struct stat st;

	if (tide_root_stat(&finder->root, path + 1, &st)) {
		if (must)
			tide_problems_add(finder->problems, finder->root.name,
					  0,
					  "there is no device file '%s' of %s",
					  path, accel->pci.name);
		return false;
	}
	if (S_ISCHR(st.st_mode) || (!finder->root.live && S_ISREG(st.st_mode)))
		return true;
	tide_problems_add(finder->problems, finder->root.name, 0,
			  "'%s' is not a character device", path);
	return false;
}

static int add_files(struct finder *finder, struct tide_accel *accel,
		     const char *patterns, bool must, bool look)
{
	const char *cursor = patterns, *item;
	size_t len;

	while (tide_list_next(&cursor, &item, &len)) {
		char *path = make_path(accel, item, len);
		bool there;

		if (!path)
			return out_of_memory(finder);
		there = look ? is_there(finder, accel, path, must) : must;
		accel->missing |= must && !there;
		if (!there && !must)
			free(path);
		else if (keep_file(accel, path))
			return out_of_memory(finder);
	}
	return 0;
}

/* CPUs of a NUMA node as sysfs says; NULL. */
static char *node_cpus(struct finder *finder, int numa)
{
	char path[64], *text = NULL;

	if (numa < 0)
		return NULL;
	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist",
		 numa);
	return tide_root_read(&finder->root, path, &text, NULL) ? NULL : text;
}

/* An attribute of the function; NULL. One that is broken is said. */
static char *attribute(struct finder *finder, const struct tide_pci *pci,
		       const char *name)
{
	char path[sizeof(TIDE_PCI_FOLDER) + 64], *text = NULL;
	struct tide_err err;

	if (!finder->root_or_null)
		return NULL;
	snprintf(path, sizeof(path), TIDE_PCI_FOLDER "/%s/%s", pci->name, name);
	if (!tide_root_read(&finder->root, path, &text, &err))
		return text;
	if (errno != ENOENT)
		tide_problems_add(finder->problems, finder->root.name, 0, "%s",
				  err.text);
	return NULL;
}

static int numa_of(struct finder *finder, const struct tide_pci *pci)
{
	char *text = attribute(finder, pci, "numa_node"), *end;
	long numa = -1;

	if (text && *text) {
		numa = strtol(text, &end, 10);
		if (*end || numa < -1 || numa > 4095) {
			tide_problems_add(
				finder->problems, finder->root.name, 0,
				"numa_node of %s holds '%.32s': a number is wanted",
				pci->name, text);
			numa = -1;
		}
	}
	free(text);
	return (int)numa;
}

static int place(struct finder *finder, const struct tide_pci *pci,
		 struct tide_near *near)
{
	char *cpus = attribute(finder, pci, "local_cpulist");
	int numa = numa_of(finder, pci), rc;
	struct tide_err err;

	if ((!cpus || !*cpus) && finder->root_or_null) {
		free(cpus);
		cpus = node_cpus(finder, numa);
	}
	rc = tide_topology_near(finder->topology, pci, cpus, numa, near, &err);
	if (rc && errno != ENOMEM) {
		tide_problems_add(finder->problems,
				  finder->root_or_null ? finder->root.name
						       : finder->where->xml,
				  0, "local_cpulist of %s: %s", pci->name,
				  err.text);
		rc = tide_topology_near(finder->topology, pci, NULL, numa, near,
					&err);
	}
	free(cpus);
	return rc ? out_of_memory(finder) : 0;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* A device that its driver has cut, as in mi300a-cpx: the type and the share.
 */
static int name_mode(struct finder *finder, struct tide_accel *accel,
		     const struct tide_detail *detail)
{
	const struct tide_part *part =
		tide_table_part(finder->where->table, accel->family,
				accel->type, accel->model->type, detail->mode);

	accel->whole = accel->type;
	accel->type = NULL;
	if (part)
		accel->type = strdup(part->type);
	else if (asprintf(&accel->type, "%s-%s", accel->whole, detail->mode) <
		 0)
		accel->type = NULL;
	if (!accel->type)
		return out_of_memory(finder);
	accel->part = accel->sub;
	accel->share = part ? part->share
			    : (struct tide_frac){1, (int64_t)detail->count};
	return 0;
}

static int add_one(struct finder *finder, const struct tide_pci *pci,
		   const struct tide_model *model,
		   const struct tide_detail *detail, size_t sub)
{
	struct tide_accel *accel = new_accel(finder);

	if (!accel)
		return out_of_memory(finder);
	accel->family = &finder->where->table->family[model->family];
	accel->model = model;
	accel->type = strdup(detail->type ? detail->type : model->type);
	accel->pci = *pci;
	accel->sub = (int)sub;
	accel->number = detail->number[sub];
	accel->card = detail->card[sub];
	accel->render = detail->render[sub];
	accel->board = copy(detail->board);
	accel->path = copy(detail->path);
	if (!accel->type)
		return out_of_memory(finder);
	if (detail->mode && name_mode(finder, accel, detail))
		return -1;
	return place(finder, pci, &accel->near);
}

/* Processing accelerators, 3D and other display controllers. */
static bool may_be_one(const struct tide_pci *pci)
{
	return !pci->vf && (pci->class >> 8 == 0x12 || pci->class == 0x0302 ||
			    pci->class == 0x0380);
}

static int add_function(struct finder *finder, const struct tide_pci *pci)
{
	struct tide_accels *accels = finder->accels;
	const struct tide_model *model = tide_table_match(
		finder->where->table, pci->vendor, pci->device, pci->class);
	struct tide_detail detail;
	int rc = 0;

	if (!model && may_be_one(pci) && accels->strangers < TIDE_STRANGERS_MAX)
		accels->stranger[accels->strangers++] = *pci;
	if (!model || model->vf || pci->vf)
		return 0;
	if (tide_detail(finder->root_or_null, finder->topology,
			&finder->where->table->family[model->family], model,
			pci, &detail, finder->problems, finder->err))
		return -1;
	for (size_t i = 0; !rc && i < detail.count; i++)
		rc = add_one(finder, pci, model, &detail, i);
	tide_detail_release(&detail);
	return rc;
}

static int find_all(struct finder *finder)
{
	struct tide_pci *list = NULL;
	size_t count = 0;
	int rc = 0;

	if (finder->root_or_null &&
	    tide_pci_list(&finder->root, &list, &count, finder->problems,
			  finder->err))
		return -1;
	if (!count) {
		free(list);
		if (tide_topology_pcis(finder->topology, &list, &count,
				       finder->err))
			return -1;
	}
	for (size_t i = 0; !rc && i < count; i++)
		rc = add_function(finder, &list[i]);
	free(list);
	return rc;
}

/* By GRES and family; in a family by address. */
static int by_address(const void *a, const void *b)
{
	const struct tide_accel *x = a, *y = b;
	int cmp = strcmp(x->family->gres, y->family->gres);

	if (cmp)
		return cmp;
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	cmp = tide_pci_cmp(&x->pci, &y->pci);
	return cmp ? cmp : x->sub - y->sub;
}

static int by_number(const void *a, const void *b)
{
	const struct tide_accel *x = a, *y = b;

	if (x->family != y->family || x->family->position ||
	    (x->number == y->number && x->part == y->part))
		return by_address(a, b);
	if (x->number == y->number)
		return x->part - y->part;
	return x->number - y->number;
}

/* The accelerator of the family, before end, that has the number; NULL. */
static struct tide_accel *with_number(struct tide_accels *accels, size_t end,
				      const struct tide_family *family,
				      int number)
{
	for (size_t i = 0; i < end; i++)
		if (accels->accel[i].family == family &&
		    accels->accel[i].number == number)
			return &accels->accel[i];
	return NULL;
}

/* Two that say they are the same device: the later one is not handed out. */
static void check_twice(struct finder *finder, size_t at)
{
	struct tide_accel *accel = &finder->accels->accel[at];
	struct tide_accel *first =
		with_number(finder->accels, at, accel->family, accel->number);

	if (!first || accel->number < 0)
		return;
	tide_problems_add(finder->problems, finder->where->root, 0,
			  "%s and %s both say that they are %s device %d",
			  first->pci.name, accel->pci.name, accel->family->name,
			  accel->number);
	accel->number = -1;
	accel->missing = true;
}

/* Everyone gets a number: those that told none, the next free ones. */
static void give_numbers(struct finder *finder)
{
	struct tide_accels *accels = finder->accels;
	int position = 0, next = 0;

	for (size_t i = 0; i < accels->count; i++)
		check_twice(finder, i);
	for (size_t i = 0; i < accels->count; i++) {
		struct tide_accel *accel = &accels->accel[i];

		if (i && accel[-1].family == accel->family)
			position++;
		else
			position = next = 0;
		if (accel->family->position &&
		    !strstr(accel->family->file, "%n"))
			accel->number = position;
		accel->guessed = accel->number < 0;
		for (; accel->number < 0; next++)
			if (!with_number(accels, accels->count, accel->family,
					 next))
				accel->number = next;
		accel->guessed |= (accel->card < 0 &&
				   strstr(accel->family->file, "%c")) ||
				  (accel->render < 0 &&
				   strstr(accel->family->file, "%r"));
		if (accel->card < 0)
			accel->card = position;
		if (accel->render < 0)
			accel->render = 128 + position;
	}
}

/*
 * Are device files of the family to be looked for?  A recorded machine may
 * have none, since making them takes root.
 */
static bool has_files(struct finder *finder, const struct tide_family *family)
{
	const struct tide_accels *accels = finder->accels;
	bool found = finder->root.live;

	for (size_t i = 0; !found && i < accels->count; i++) {
		char *path;

		if (!finder->root_or_null || accels->accel[i].family != family)
			continue;
		path = make_path(&accels->accel[i], family->file,
				 strcspn(family->file, ","));
		found = path && tide_root_has(&finder->root, path + 1);
		free(path);
	}
	return found;
}

static int give_files(struct finder *finder)
{
	bool look = false;

	for (size_t i = 0; i < finder->accels->count; i++) {
		struct tide_accel *accel = &finder->accels->accel[i];
		const struct tide_family *family = accel->family;

		if (!i || accel[-1].family != family)
			look = has_files(finder, family);
		if (accel->part >= 0 && accel->whole && family->part_file) {
			if (add_files(finder, accel, family->part_file, true,
				      look))
				return -1;
			continue;
		}
		if (add_files(finder, accel, family->file, true, look) ||
		    add_files(finder, accel, family->also, false, look))
			return -1;
	}
	return 0;
}

/*
 * One device under two paths, as by a link: the later one is not handed out.
 * All have files by now.
 */
static int drop_same(struct finder *finder)
{
	struct tide_accel *accel = finder->accels->accel;
	size_t count = finder->accels->count;
	struct stat *st = calloc(count + 1, sizeof(*st));

	if (!st)
		return out_of_memory(finder);
	for (size_t i = 0; finder->root_or_null && i < count; i++) {
		size_t j = 0;

		if (accel[i].missing ||
		    tide_root_stat(&finder->root, accel[i].file[0] + 1, &st[i]))
			continue;
		while (j < i && (accel[j].missing || !st[j].st_mode ||
				 tide_file_cmp(&st[j], &st[i])))
			j++;
		if (j == i)
			continue;
		tide_problems_add(finder->problems, finder->root.name, 0,
				  "'%s' of %s is the same device as '%s' of %s",
				  accel[i].file[0], accel[i].pci.name,
				  accel[j].file[0], accel[j].pci.name);
		accel[i].missing = true;
	}
	free(st);
	return 0;
}

static int finish(struct finder *finder)
{
	struct tide_accels *accels = finder->accels;

	if (!accels->count)
		return 0;
	qsort(accels->accel, accels->count, sizeof(*accels->accel), by_address);
	give_numbers(finder);
	qsort(accels->accel, accels->count, sizeof(*accels->accel), by_number);
	if (finder->root_or_null &&
	    tide_parts_split(&finder->root, finder->where->table, accels,
			     finder->problems))
		return out_of_memory(finder);
	if (give_files(finder) || drop_same(finder))
		return -1;
	if (tide_links_make(accels, finder->root_or_null, finder->topology))
		return out_of_memory(finder);
	return 0;
}

int tide_find(const struct tide_where *where, struct tide_accels *ret_accels,
	      struct tide_problems *problems, struct tide_err *err)
{
	struct tide_accels accels = {0};
	struct finder finder = {
		.where = where,
		.root = {.fd = -1},
		.accels = &accels,
		.problems = problems,
		.err = err,
	};
	struct tide_err why;
	int rc = -1;

	if (where->root) {
		if (tide_root_open(&finder.root, where->root, err))
			return -1;
		finder.root_or_null = &finder.root;
	}
	if (tide_topology_load(&finder.root, where->xml, where->socket,
			       &finder.topology, &why)) {
		if (where->xml || errno == ENOMEM) {
			tide_err_set(err, errno, "%s", why.text);
			goto out;
		}
		tide_problems_add(problems, where->root, 0, "%s", why.text);
	}
	rc = find_all(&finder) || finish(&finder) ? -1 : 0;
	if (!rc) {
		*ret_accels = accels;
		accels = (struct tide_accels){0};
	}
out:
	tide_accels_release(&accels);
	tide_topology_destroy(finder.topology);
	tide_root_close(&finder.root);
	return rc;
}

size_t tide_accels_same_gres(const struct tide_accels *accels, size_t index)
{
	size_t i = index;

	while (i < accels->count && !strcmp(accels->accel[i].family->gres,
					    accels->accel[index].family->gres))
		i++;
	return i - index;
}
