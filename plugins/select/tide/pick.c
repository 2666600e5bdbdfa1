/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which nodes a pool job may choose from: see pick.h. */
#include "plugins/select/tide/pick.h"

#include <time.h>

#include "plugins/select/tide/keeper.h"
#include "plugins/select/tide/notes.h"
#include "plugins/select/tide/plan.h"

/* Slurm's own tests made, and openings looked at, for one question at most. */
#define MAX_TESTS 12
#define MAX_STEPS 256

/* What one question is about. */
struct pick {
	tide_job_test_fn stock;
	const struct tide_job_test *test;
	const struct tide_plan *plan;
	struct tide_job_view job;
	int64_t need;
	int64_t now;
	int tests; /* of Slurm's own, so far */
};

int64_t tide_pick_need(const job_record_t *job,
		       const struct tide_job_view *view, uint32_t user_min)
{
	uint32_t limit = tide_job_limit(job, user_min);

	if (view->time_min && view->time_min < limit)
		limit = view->time_min;
	return limit == INFINITE ? TIDE_FOREVER : (int64_t)limit * 60;
}

static bool enough(const struct pick *pick, bitstr_t *nodes)
{
	const bitstr_t *required = tide_job_required(pick->test->job);

	return bit_set_count(nodes) >= (int)pick->test->min_nodes &&
	       (!required || bit_super_set((bitstr_t *)required, nodes));
}

/* The next opening after `at` within the horizon, or TIDE_NEVER. */
static int64_t opening_after(const struct pick *pick, int64_t at)
{
	int64_t opening;

	return tide_openings(pick->plan->groups, pick->plan->count, at,
			     pick->now + TIDE_HORIZON, &opening, 1)
		       ? opening
		       : TIDE_NEVER;
}

/* Note that the job waits for the window these nodes are in at `at`. */
static void note_wait(const struct pick *pick, int64_t at,
		      const bitstr_t *nodes)
{
	const struct tide_open *open = NULL;

	if (at != TIDE_NEVER)
		open = tide_plan_window(pick->plan, at, nodes);
	if (open && open->open <= pick->now) {
		/* It is open: the job waits for something else. */
		tide_notes_free(pick->job.id);
		return;
	}
	tide_notes_waits(pick->job.id, open ? open->open : 0,
			 open ? open->name : NULL);
	tide_keeper_poke();
}

/* The job cannot start for want of open nodes: find out when it could. */
static void note_first_opening(const struct pick *pick, const bitstr_t *all)
{
	bitstr_t *nodes = bit_copy((bitstr_t *)all);
	int64_t at = pick->now;
	int steps = 0;

	do {
		at = opening_after(pick, at);
		if (steps++ == MAX_STEPS)
			at = TIDE_NEVER;
		if (at == TIDE_NEVER)
			break;
		bit_copybits(nodes, (bitstr_t *)all);
		tide_plan_mask(pick->plan, at, pick->need, nodes);
	} while (!enough(pick, nodes));
	note_wait(pick, at, nodes);
	FREE_NULL_BITMAP(nodes);
}

static int ask(struct pick *pick, bitstr_t *nodes)
{
	struct tide_job_test test = *pick->test;

	test.nodes = nodes;
	pick->tests++;
	return tide_job_test_call(pick->stock, &test);
}

/*
 * To start now: from the nodes that are open for long enough.  They may be
 * enough and have no such device: what it waits for is for the plan to say.
 */
static int pick_now(struct pick *pick)
{
	bitstr_t *nodes = pick->test->nodes;
	bitstr_t *all = bit_copy(nodes);
	int rc = SLURM_ERROR;

	tide_plan_mask(pick->plan, pick->now, pick->need, nodes);
	if (enough(pick, nodes)) {
		rc = ask(pick, nodes);
		if (rc == SLURM_SUCCESS)
			tide_notes_free(pick->job.id);
	} else if (enough(pick, all)) {
		note_first_opening(pick, all);
	}
	if (rc != SLURM_SUCCESS)
		bit_copybits(nodes, all);
	FREE_NULL_BITMAP(all);
	return rc;
}

/* Slurm's answer for one set of nodes. */
struct answer {
	bitstr_t *from;	 /* the nodes it was asked with; NULL: not asked */
	bitstr_t *nodes; /* those it chose */
	int rc;
	int64_t free_at; /* when they are free */
};

static void answer_release(struct answer *answer)
{
	FREE_NULL_BITMAP(answer->from);
	FREE_NULL_BITMAP(answer->nodes);
}

/* Ask, unless this is what was asked last.  Takes over `from`. */
static void ask_again(struct pick *pick, bitstr_t *from, struct answer *last)
{
	if (last->from && bit_equal(last->from, from)) {
		FREE_NULL_BITMAP(from);
		return;
	}
	answer_release(last);
	last->from = from;
	last->nodes = bit_copy(from);
	tide_job_test_reset(pick->test);
	last->rc = ask(pick, last->nodes);
	last->free_at = tide_job_planned(pick->test->job);
}

/* A start that was found. */
struct start {
	int64_t at;
	bitstr_t *from; /* NULL: none yet */
};

/*
 * Could it start with the nodes open at `at`?  Keeps the earliest start.
 * Returns the time at which they are free when they are not open then.
 */
static int64_t try_at(struct pick *pick, int64_t at, const bitstr_t *all,
		      struct answer *last, struct start *best)
{
	bitstr_t *from = bit_copy((bitstr_t *)all);
	int64_t start;

	tide_plan_mask(pick->plan, at, pick->need, from);
	if (!enough(pick, from)) {
		FREE_NULL_BITMAP(from);
		return TIDE_NEVER;
	}
	ask_again(pick, from, last);
	if (last->rc != SLURM_SUCCESS)
		return TIDE_NEVER;
	start = last->free_at > at ? last->free_at : at;
	if (!tide_plan_fits(pick->plan, start, pick->need, last->nodes))
		return start > at ? start : TIDE_NEVER;
	if (!best->from || start < best->at) {
		FREE_NULL_BITMAP(best->from);
		best->from = bit_copy(last->from);
		best->at = start;
	}
	return TIDE_NEVER;
}

/*
 * Step over now, or when the caller says that it begins, the openings, and the
 * times at which nodes come free.  A start behind the end that backfill asks
 * for is no fault: it comes again for what is later.
 */
static void search(struct pick *pick, const bitstr_t *all, struct answer *last,
		   struct start *best)
{
	int64_t from = tide_job_test_from(pick->test);
	int64_t at = from > pick->now ? from : pick->now;
	int steps;

	for (steps = 0; steps < MAX_STEPS && pick->tests < MAX_TESTS &&
			at != TIDE_NEVER && (!best->from || at < best->at);
	     steps++) {
		int64_t busy = try_at(pick, at, all, last, best);
		int64_t opening = opening_after(pick, at);

		at = busy < opening ? busy : opening;
		if (pick->job.now_only)
			break;
	}
}

/* To plan: the earliest start that windows and running jobs allow. */
static int pick_planned(struct pick *pick)
{
	bitstr_t *nodes = pick->test->nodes;
	bitstr_t *all = bit_copy(nodes);
	struct answer last = {.rc = SLURM_ERROR};
	struct start best = {0};
	int rc = SLURM_ERROR;
	bool open;

	tide_plan_mask(pick->plan, pick->now, pick->need, nodes);
	open = enough(pick, nodes);
	search(pick, all, &last, &best);
	if (!best.from && open)
		tide_notes_free(pick->job.id);
	else if (!best.from && enough(pick, all))
		note_first_opening(pick, all);
	if (best.from) {
		/* Leaves Slurm's record of the job as this answer has it. */
		ask_again(pick, best.from, &last);
		best.from = NULL;
		note_wait(pick, best.at, last.nodes);
		bit_copybits(nodes, last.nodes);
		tide_job_set_planned(pick->test->job, best.at);
		rc = last.rc;
	} else {
		bit_copybits(nodes, all);
	}
	answer_release(&last);
	FREE_NULL_BITMAP(all);
	return rc;
}

static void observe(const struct pick *pick)
{
	bitstr_t *nodes = bit_copy(pick->test->nodes);

	tide_plan_mask(pick->plan, pick->now, pick->need, nodes);
	if (enough(pick, pick->test->nodes) && !enough(pick, nodes))
		verbose("tide: observe: job %u would wait for a window",
			pick->job.id);
	FREE_NULL_BITMAP(nodes);
}

/* A start now would lose its --time: the next pass notes it. */
static int pick_later(void)
{
	tide_keeper_poke();
	return SLURM_ERROR;
}

int tide_pick(tide_job_test_fn stock, const struct tide_job_test *test)
{
	bool runs = tide_job_test_runs(test), plans = tide_job_test_plans(test);
	struct pick pick = {.stock = stock, .test = test};
	struct tide_plan *plan = NULL;
	uint32_t user_min;
	bool noted;
	int rc;

	tide_job_view(test->job, &pick.job);
	plan = tide_plan_get();
	if (!plan || !tide_plan_is_pool(plan, &pick.job)) {
		tide_plan_put(plan);
		return tide_job_test_call(stock, test);
	}
	pick.plan = plan;
	noted = tide_notes_user_min(&pick.job, &user_min);
	pick.need = tide_pick_need(test->job, &pick.job, user_min);
	pick.now = time(NULL);
	if (plan->observe && runs)
		observe(&pick);
	if (plan->observe || (!runs && !plans))
		rc = tide_job_test_call(stock, test);
	else if (runs && !noted)
		rc = pick_later();
	else
		rc = runs ? pick_now(&pick) : pick_planned(&pick);
	tide_plan_put(plan);
	return rc;
}
