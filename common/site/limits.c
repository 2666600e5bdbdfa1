/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of accounts, users and QOS that somebody wrote down once and that
 * begin to bind when Slurm enforces them.  Those that say the same are one
 * finding, as a large site has thousands.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/site/live.h"
#include "common/site/rules.h"

#define NAMED 5 /* of those that share a limit */

static const char fix[] =
	"take out with sacctmgr what is not meant (-1 is no limit)";

struct limited {
	const char *account; /* of a user; NULL: this is an account */
	const char *name;
	char *limits;
};

struct all {
	struct tide_site *site;
	struct limited *limited;
	size_t count;
	const struct tide_live_assoc **account; /* by name */
	size_t n_accounts;
};

static int account_cmp(const void *a, const void *b)
{
	const struct tide_live_assoc *x =
		*(const struct tide_live_assoc *const *)a;
	const struct tide_live_assoc *y =
		*(const struct tide_live_assoc *const *)b;

	return strcmp(x->account, y->account);
}

static int name_cmp(const void *name, const void *assoc)
{
	const struct tide_live_assoc *x =
		*(const struct tide_live_assoc *const *)assoc;

	return strcmp(name, x->account);
}

static int has_word(const char *words, const char *word, size_t len)
{
	for (; *words; words += *words == ' ') {
		size_t n = strcspn(words, " ");

		if (n == len && !strncmp(words, word, len))
			return 1;
		words += n;
	}
	return 0;
}

/* A user shows the limits of its account too; what is left are its own. */
static char *own_limits(const struct tide_live_assoc *user, const char *account)
{
	const char *word = user->limits;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (; *word; word += *word == ' ') {
		size_t n = strcspn(word, " ");

		if (!has_word(account, word, n))
			fprintf(out, "%s%.*s", ftell(out) ? " " : "", (int)n,
				word);
		word += n;
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void add(struct all *all, const struct tide_live_assoc *assoc)
{
	const struct tide_live_assoc **account =
		bsearch(assoc->account, all->account, all->n_accounts,
			sizeof(*all->account), name_cmp);
	int is_user = *assoc->user != '\0';
	char *limits =
		own_limits(assoc, is_user && account ? (*account)->limits : "");

	if (!limits)
		all->site->findings->lost = 1;
	if (!limits || !*limits) {
		free(limits);
		return;
	}
	all->limited[all->count++] = (struct limited){
		.account = is_user ? assoc->account : NULL,
		.name = is_user ? assoc->user : assoc->account,
		.limits = limits,
	};
}

static int same_cmp(const struct limited *x, const struct limited *y)
{
	int order = strcmp(x->account ? x->account : "",
			   y->account ? y->account : "");

	return order ? order : strcmp(x->limits, y->limits);
}

static int limited_cmp(const void *a, const void *b)
{
	const struct limited *x = a, *y = b;
	int order = same_cmp(x, y);

	return order ? order : strcmp(x->name, y->name);
}

/* "user 'a', 'b' and 12 more of account 'x'" */
static char *who(const struct limited *first, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(first->account ? "user " : "account ", out);
	for (size_t i = 0; i < n && i < NAMED; i++)
		fprintf(out, "%s'%s'", i ? ", " : "", first[i].name);
	if (n > NAMED)
		fprintf(out, " and %zu more", n - NAMED);
	if (first->account)
		fprintf(out, " of account '%s'", first->account);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void say(struct all *all, const struct limited *first, size_t n)
{
	char *names = who(first, n);

	if (names)
		tide_site_say(all->site, TIDE_LEVEL_WARNING, NULL, fix,
			      "with AccountingStorageEnforce %s is limited: %s",
			      names, first->limits);
	else
		all->site->findings->lost = 1;
	free(names);
}

static size_t check_assocs(struct all *all, const struct tide_live *live)
{
	size_t found = 0, n;

	for (size_t i = 0; i < live->n_assocs; i++)
		if (!*live->assoc[i].user)
			all->account[all->n_accounts++] = &live->assoc[i];
	qsort(all->account, all->n_accounts, sizeof(*all->account),
	      account_cmp);
	for (size_t i = 0; i < live->n_assocs; i++)
		if (*live->assoc[i].limits)
			add(all, &live->assoc[i]);
	qsort(all->limited, all->count, sizeof(*all->limited), limited_cmp);
	for (size_t i = 0; i < all->count; i += n) {
		for (n = 1; i + n < all->count &&
			    !same_cmp(&all->limited[i], &all->limited[i + n]);
		     n++)
			;
		say(all, &all->limited[i], n);
		found++;
	}
	return found;
}

/* Those of paying accounts are meant. */
static size_t check_qos(struct tide_site *site, const struct tide_live *live)
{
	size_t found = 0;

	for (size_t i = 0; i < live->n_qos; i++) {
		const struct tide_live_qos *qos = &live->qos[i];

		if (!qos->limits || !*qos->limits ||
		    tide_site_pays(live, qos->name))
			continue;
		found++;
		tide_site_say(
			site, TIDE_LEVEL_WARNING, NULL, fix,
			"with AccountingStorageEnforce whoever runs under QOS '%s' is limited: %s",
			qos->name, qos->limits);
	}
	return found;
}

size_t tide_site_limits(struct tide_site *site, const struct tide_live *live)
{
	struct all all = {.site = site};
	size_t found = 0;

	all.limited = calloc(live->n_assocs + 1, sizeof(*all.limited));
	all.account = calloc(live->n_assocs + 1, sizeof(*all.account));
	if (all.limited && all.account)
		found = check_assocs(&all, live) + check_qos(site, live);
	else
		site->findings->lost = 1;
	for (size_t i = 0; i < all.count; i++)
		free(all.limited[i].limits);
	free(all.limited);
	free(all.account);
	return found;
}
