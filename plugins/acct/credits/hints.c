/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bounded list of rows: see hints.h. */
#include "config.h"

#include "plugins/acct/credits/hints.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HINTS 20000

static struct {
	pthread_mutex_t lock;
	struct tide_hint *hints;
	size_t n, size;
	bool lost;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock. */
static void add(const struct tide_hint *hint)
{
	struct tide_hint *more;
	size_t size;

	if (list.n == list.size) {
		size = list.size ? 2 * list.size : 64;
		more = size > MAX_HINTS
			       ? NULL
			       : realloc(list.hints, size * sizeof(*more));
		if (!more) {
			list.lost = true;
			return;
		}
		list.hints = more;
		list.size = size;
	}
	list.hints[list.n++] = *hint;
}

bool tide_hints_add(const char *cluster, uint64_t row, int64_t now)
{
	struct tide_hint hint = {.row = row, .told = now};
	bool first;

	pthread_mutex_lock(&list.lock);
	first = !list.n;
	if (strlen(cluster) < sizeof(hint.cluster)) {
		snprintf(hint.cluster, sizeof(hint.cluster), "%s", cluster);
		add(&hint);
	} else {
		list.lost = true;
	}
	pthread_mutex_unlock(&list.lock);
	return first;
}

struct tide_hint *tide_hints_take(size_t *ret_n, bool *ret_lost)
{
	struct tide_hint *hints;

	pthread_mutex_lock(&list.lock);
	hints = list.hints;
	*ret_n = list.n;
	if (list.lost)
		*ret_lost = true;
	list.hints = NULL;
	list.n = list.size = 0;
	list.lost = false;
	pthread_mutex_unlock(&list.lock);
	return hints;
}

void tide_hints_return(const struct tide_hint *hint)
{
	pthread_mutex_lock(&list.lock);
	add(hint);
	pthread_mutex_unlock(&list.lock);
}

bool tide_hints_any(void)
{
	bool any;

	pthread_mutex_lock(&list.lock);
	any = list.n || list.lost;
	pthread_mutex_unlock(&list.lock);
	return any;
}
