/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the accelerators of a node are well: see answer.h. */
#include "config.h"

#include "common/vendor/answer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Is the address an item of the list? */
static bool in_list(const char *list, const char *pci)
{
	size_t len;

	for (; list && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len == strlen(pci) && !strncasecmp(list, pci, len))
			return true;
	}
	return false;
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
	long count;
};

static bool read_item(const char *text, size_t len, struct item *item)
{
	char copy[192], *type, *count;

	memset(item, 0, sizeof(*item));
	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	copy[strcspn(copy, "(")] = '\0';
	type = strchr(copy, ':');
	count = strrchr(copy, ':');
	if (type)
		*type++ = '\0';
	if (count && count + 1 > type)
		*count++ = '\0';
	else
		count = type;
	if (!count || !isdigit((unsigned char)*count) ||
	    count[strspn(count, "0123456789")])
		return false;
	item->count = strtol(count, NULL, 10);
	snprintf(item->gres, sizeof(item->gres), "%.63s", copy);
	if (type != count)
		snprintf(item->type, sizeof(item->type), "%.63s", type);
	return true;
}

/*
 * Is the type one of this model? Where drivers tell names, as mlu370-x8 of an
 * mlu370, it is what begins so, too. Elsewhere such a name, as a100_3g.20gb, is
 * a site's own, or of a part, which cannot be counted by what is found.
 */
static bool is_of(const struct tide_family *family,
		  const struct tide_model *model, const char *type)
{
	size_t len = strlen(model->type);

	if (!*type || !strcasecmp(model->type, type))
		return true;
	return family->info_type && !strncasecmp(model->type, type, len) &&
	       type[len] == '-';
}

/* The name of the item's GRES, if its type is one of whole devices; NULL. */
static const char *known(const struct tide_health_request *request,
			 const struct item *item)
{
	const struct tide_table *table = request->table;

	for (size_t i = 0; i < table->n_models; i++) {
		const struct tide_model *model = &table->model[i];
		const struct tide_family *family =
			&table->family[model->family];

		if (!model->vf && !strcmp(family->gres, item->gres) &&
		    is_of(family, model, item->type))
			return family->gres;
	}
	return NULL;
}

/* As slurmd fills it in: a type stands for what has it in its name. */
static bool counts_as(const struct tide_accel *accel, const char *type)
{
	return accel->whole ? !strcasecmp(accel->type, type)
			    : !!strcasestr(accel->type, type);
}

static void judge_count(struct work *work, const struct item *item)
{
	const struct tide_accels *accels = work->request->accels;
	const char *gres = known(work->request, item);
	const char *colon = *item->type ? ":" : "";
	long count = 0;

	for (size_t i = 0; i < accels->count; i++) {
		const struct tide_accel *accel = &accels->accel[i];

		if (!strcmp(accel->family->gres, item->gres) &&
		    (!*item->type || counts_as(accel, item->type)) &&
		    !in_list(work->request->except, accel->pci.name))
			count++;
	}
	if (gres && count < item->count)
		add(work, NULL, gres, TIDE_HEALTH_FAULT,
		    "slurm.conf has %s%s%s:%ld, PCI lists %ld", item->gres,
		    colon, item->type, item->count, count);
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

int tide_health(const struct tide_health_request *request,
		struct tide_health_findings *ret_findings)
{
	const struct tide_accels *accels = request->accels;
	struct work work = {.request = request, .findings = ret_findings};
	const char *at = request->expect;
	struct item item;
	size_t len;

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
		if (!in_list(request->except, accels->accel[i].pci.name))
			judge_device(&work, &accels->accel[i]);
	for (size_t i = 0; i < request->answers->count; i++)
		judge_library(&work, &request->answers->answer[i]);
	for (; at && *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		if (read_item(at, len, &item))
			judge_count(&work, &item);
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
