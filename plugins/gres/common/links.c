/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links in the order that Slurm takes them: see links.h. */
#include "plugins/gres/common/links.h"

#if TIDE_LINKS_LEAST_FIRST

#include <ctype.h>

#include "src/common/list.h"

static long most_of(list_t *records, const char *name)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	long most = 0;

	while ((record = list_next(itr))) {
		const char *at = record->links;

		while (!xstrcmp(record->name, name) && at && *at) {
			char *end;
			long value = strtol(at, &end, 10);

			most = value > most ? value : most;
			at = *end && end != at ? end + 1 : NULL;
		}
	}
	list_iterator_destroy(itr);
	return most;
}

/* Every number but -1, which is the device itself, and what is none. */
static char *turn(const char *links, long most)
{
	char *text = NULL;

	while (*links) {
		size_t len = strcspn(links, ",");
		char *end;
		long value = strtol(links, &end, 10);

		if (isdigit((unsigned char)*links) && end == links + len)
			xstrfmtcat(text, "%ld", most - value);
		else
			xstrncat(text, links, len);
		links += len;
		if (*links)
			xstrncat(text, links++, 1);
	}
	return text;
}

void tide_links_turn(list_t *records, const char *name)
{
	long most = most_of(records, name);
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;

	while ((record = list_next(itr))) {
		char *links = record->links;

		if (xstrcmp(record->name, name) || !links)
			continue;
		record->links = turn(links, most);
		xfree(links);
	}
	list_iterator_destroy(itr);
}

#else

void tide_links_turn(list_t *records, const char *name)
{
	(void)records, (void)name;
}

#endif
