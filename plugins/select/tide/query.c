/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Could a job ever run: see query.h. */
#include "plugins/select/tide/query.h"

#include <time.h>

#include "plugins/select/tide/plan.h"

/* The nodes of the partition that the request may use; NULL if none. */
static bitstr_t *usable(const struct tide_ask *ask)
{
	const bitstr_t *all = tide_ctld_partition(ask->partition);
	bitstr_t *nodes, *named;

	if (!all)
		return NULL;
	nodes = bit_copy((bitstr_t *)all);
	named = ask->exclude ? tide_ctld_nodes(ask->exclude) : NULL;
	if (named)
		bit_and_not(nodes, named);
	FREE_NULL_BITMAP(named);
	named = ask->nodelist ? tide_ctld_nodes(ask->nodelist) : NULL;
	/* More nodes than are named are chosen freely. */
	if (named && bit_set_count(named) >= (int)ask->min_nodes)
		bit_and(nodes, named);
	FREE_NULL_BITMAP(named);
	return nodes;
}

static void judge(const struct tide_plan *plan, const struct tide_ask *ask,
		  struct tide_answer *answer)
{
	bitstr_t *nodes = usable(ask);
	int64_t now = time(NULL);
	uint32_t *size;

	if (!nodes || bit_set_count(nodes) < (int)ask->min_nodes) {
		answer->fit = TIDE_FIT_NODES;
		FREE_NULL_BITMAP(nodes);
		return;
	}
	size = xcalloc(plan->count, sizeof(*size));
	tide_plan_sizes(plan, nodes, size);
	answer->longest =
		tide_longest(plan->groups, size, plan->count, ask->min_nodes,
			     now, now + TIDE_EVER, &answer->at);
	answer->fit =
		answer->longest >= ask->need ? TIDE_FIT_YES : TIDE_FIT_NEVER;
	xfree(size);
	FREE_NULL_BITMAP(nodes);
}

void tide_query_fit(const struct tide_ask *ask, struct tide_answer *ret_answer)
{
	struct tide_job_view job = {.partition = ask->partition};
	struct tide_plan *plan = tide_plan_get();
	struct tide_answer answer = {.fit = TIDE_FIT_OTHER};

	if (plan && tide_plan_is_pool(plan, &job)) {
		if (plan->closed)
			answer.fit = TIDE_FIT_YES;
		else
			judge(plan, ask, &answer);
	}
	tide_plan_put(plan);
	*ret_answer = answer;
}

const struct tide_conf *tide_query_conf(void **ret_hold)
{
	struct tide_plan *plan = tide_plan_get();

	*ret_hold = plan;
	return plan && plan->source ? plan->source->conf : NULL;
}

void tide_query_drop(void *hold)
{
	tide_plan_put(hold);
}
