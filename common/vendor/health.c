/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the accelerators of a node are well: see answer.h. */
#include "config.h"

#include "common/vendor/answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/gres.h"

struct work {
	const struct tide_health_request *request;
	struct tide_health_findings *findings;
	size_t room;
};

__attribute__((format(printf, 5, 6))) static void
add(struct work *work, const struct tide_accel *accel, const char *gres,
    enum tide_vendor_health health, const char *fmt, ...)
{
	struct tide_health_finding *finding;
	va_list ap;

	if (work->findings->count == work->room)
		return;
	finding = &work->findings->finding[work->findings->count++];
	finding->accel = accel;
	finding->gres = gres;
	finding->health = health;
	va_start(ap, fmt);
	vsnprintf(finding->text, sizeof(finding->text), fmt, ap);
	va_end(ap);
}

/* Does the library know the function at least, if not which device it is? */
static bool knows_function(const struct tide_vendor_answer *answer,
			   const struct tide_accel *accel)
{
	for (size_t i = 0; i < answer->count; i++)
		if (!strcasecmp(answer->device[i].pci, accel->pci.name))
			return true;
	return false;
}

/* A part of the same device as the one before it, which speaks for both. */
static bool is_said(const struct work *work, const struct tide_accel *accel)
{
	const struct tide_accel *before = accel - 1;

	return accel->carved && !accel->missing &&
	       accel != work->request->accels->accel && before->carved &&
	       !before->missing && before->family == accel->family &&
	       before->sub == accel->sub &&
	       !strcmp(before->pci.name, accel->pci.name);
}

static void judge_device(struct work *work, const struct tide_accel *accel)
{
	const struct tide_vendor_answers *answers = work->request->answers;
	const char *gres = accel->family->gres;
	const struct tide_vendor_answer *answer =
		tide_vendor_answer_of(answers, accel->family);
	const struct tide_vendor_device *device =
		tide_vendor_device_of(answers, accel);

	if (accel->missing)
		add(work, accel, gres, TIDE_HEALTH_FAULT,
		    "its device file is not there, or is another's");
	else if (device && device->health > TIDE_HEALTH_OK &&
		 is_said(work, accel))
		return;
	else if (device && device->health != TIDE_HEALTH_UNKNOWN)
		add(work, accel, gres, device->health, "%s", device->fault);
	else if (device)
		add(work, accel, gres, TIDE_HEALTH_UNKNOWN,
		    "%s does not tell its health", answer->path);
	else if (!answer)
		add(work, accel, gres, TIDE_HEALTH_UNKNOWN,
		    "no library was asked");
	else if (knows_function(answer, accel))
		add(work, accel, gres, TIDE_HEALTH_UNKNOWN,
		    "%s tells of fewer devices there", answer->path);
	else if (answer->outcome == TIDE_VENDOR_ANSWERED)
		add(work, accel, gres, TIDE_HEALTH_FAULT,
		    "%s does not tell of it", answer->path);
	else if (answer->outcome == TIDE_VENDOR_ABSENT)
		add(work, accel, gres, TIDE_HEALTH_UNKNOWN, "%s", answer->text);
	else
		add(work, accel, gres, TIDE_HEALTH_UNKNOWN, "%s: %s",
		    answer->path, answer->text);
}

static void judge_library(struct work *work,
			  const struct tide_vendor_answer *answer)
{
	const struct tide_accels *accels = work->request->accels;
	enum tide_vendor_health health = TIDE_HEALTH_WARNING;
	const struct tide_accel *at = NULL;

	if (answer->outcome == TIDE_VENDOR_ANSWERED ||
	    answer->outcome == TIDE_VENDOR_ABSENT)
		return;
	if (answer->outcome == TIDE_VENDOR_SILENT ||
	    answer->outcome == TIDE_VENDOR_REFUSED)
		health = TIDE_HEALTH_FAULT;
	for (size_t i = 0; *answer->at && i < accels->count; i++)
		if (!strcasecmp(accels->accel[i].pci.name, answer->at))
			at = &accels->accel[i];
	add(work, at, answer->family->gres, health, "%s: %s", answer->path,
	    answer->text);
}

/* One item of Gres=, such as mlu:mlu370-x8:4(S:0). */
struct item {
	char gres[64], type[64];
	int64_t count, found;
};

static void set_item(struct item *item, const struct tide_gres *gres)
{
	snprintf(item->gres, sizeof(item->gres), "%.*s", (int)gres->name_len,
		 gres->name);
	snprintf(item->type, sizeof(item->type), "%.*s", (int)gres->type_len,
		 gres->type);
	item->count = gres->count;
}

/*
 * Is the type one of this model? Where drivers tell names, as mlu370-x8 of an
 * mlu370, it is what begins so, too. Elsewhere such a name, as a100_3g.20gb, is
 * a site's own, or of a part.
 */
static bool is_of(const struct tide_family *family,
		  const struct tide_model *model, const char *type)
{
	size_t len = strlen(model->type);

	if (!*type || tide_type_is(model->type, false, type))
		return true;
	return family->info_type && !strncasecmp(model->type, type, len) &&
	       type[len] == '-';
}

/*
 * The name of the item's GRES, if its type is one that the table knows, of
 * devices or of parts; NULL: what is found cannot be counted as that.
 */
static const char *known(const struct tide_table *table,
			 const struct item *item)
{
	for (size_t i = 0; i < table->n_models; i++) {
		const struct tide_model *model = &table->model[i];
		const struct tide_family *family =
			&table->family[model->family];

		if (!model->vf && !strcmp(family->gres, item->gres) &&
		    is_of(family, model, item->type))
			return family->gres;
	}
	for (size_t i = 0; i < table->n_parts; i++) {
		const char *gres = table->family[table->part[i].family].gres;

		if (!strcmp(gres, item->gres) &&
		    tide_type_is(table->part[i].type, true, item->type))
			return gres;
	}
	return NULL;
}

/*
 * As slurmd fills in: a type stands for devices that have it in their name; and
 * the family's, as in gpu:nvidia:4, for all of it.
 */
static bool fits(const struct tide_accel *accel, const struct item *item,
		 bool exactly)
{
	if (strcmp(accel->family->gres, item->gres))
		return false;
	if (exactly)
		return *item->type && !strcasecmp(accel->type, item->type);
	if (!*item->type)
		return true;
	if (!strcasecmp(accel->family->name, item->type))
		return !accel->whole;
	return tide_accel_is(accel, item->type);
}

/* Count devices that no item has taken yet for this one. */
static void take(struct work *work, struct item *item, bool exactly, char *used)
{
	const struct tide_accels *accels = work->request->accels;

	for (size_t i = 0; i < accels->count && item->found < item->count;
	     i++) {
		const struct tide_accel *accel = &accels->accel[i];

		if (used[i] || !fits(accel, item, exactly) ||
		    tide_list_has(work->request->except, accel->pci.name))
			continue;
		used[i] = 1;
		item->found++;
	}
}

/* Each device is counted once, where its type is said in full first. */
static void judge_counts(struct work *work, struct item *items, size_t count,
			 char *used)
{
	for (size_t i = 0; i < count; i++)
		take(work, &items[i], true, used);
	for (size_t i = 0; i < count; i++)
		take(work, &items[i], false, used);
	for (size_t i = 0; i < count; i++) {
		const struct item *item = &items[i];
		const char *gres = known(work->request->table, item);

		if (gres && item->found < item->count)
			add(work, NULL, gres, TIDE_HEALTH_FAULT,
			    "slurm.conf has %s%s%s:%lld, found are %lld",
			    item->gres, *item->type ? ":" : "", item->type,
			    (long long)item->count, (long long)item->found);
	}
}

static int by_health(const void *a, const void *b)
{
	const struct tide_health_finding *x = a, *y = b;

	/* qsort() keeps no order of its own */
	if (x->health != y->health)
		return x->health > y->health ? -1 : 1;
	if (!x->accel != !y->accel)
		return x->accel ? -1 : 1;
	return x->accel < y->accel ? -1 : x->accel > y->accel;
}

static size_t count_items(const char *text)
{
	size_t count = 1;

	for (; text && *text; text++)
		count += *text == ',';
	return count;
}

/* Gres= against what was found; -1 with ENOMEM. */
static int judge_expected(struct work *work)
{
	const char *at = work->request->expect;
	struct item *items = calloc(count_items(at), sizeof(*items));
	char *used = calloc(work->request->accels->count + 1, 1);
	int rc = items && used ? 0 : -1;
	struct tide_gres gres;
	size_t count = 0;

	while (!rc && tide_gres_next(&at, &gres))
		set_item(&items[count++], &gres);
	if (!rc)
		judge_counts(work, items, count, used);
	free(items);
	free(used);
	return rc;
}

int tide_health(const struct tide_health_request *request,
		struct tide_health_findings *ret_findings)
{
	const struct tide_accels *accels = request->accels;
	struct work work = {.request = request, .findings = ret_findings};

	memset(ret_findings, 0, sizeof(*ret_findings));
	work.room = accels->count + request->answers->count +
		    count_items(request->expect);
	ret_findings->finding =
		calloc(work.room, sizeof(*ret_findings->finding));
	if (!ret_findings->finding) {
		errno = ENOMEM;
		return -1;
	}
	for (size_t i = 0; i < accels->count; i++)
		if (!tide_list_has(request->except, accels->accel[i].pci.name))
			judge_device(&work, &accels->accel[i]);
	for (size_t i = 0; i < request->answers->count; i++)
		judge_library(&work, &request->answers->answer[i]);
	if (judge_expected(&work)) {
		tide_health_release(ret_findings);
		errno = ENOMEM;
		return -1;
	}
	qsort(ret_findings->finding, ret_findings->count,
	      sizeof(*ret_findings->finding), by_health);
	return 0;
}

void tide_health_release(struct tide_health_findings *findings)
{
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}
