/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A select plugin for tests/bench/layer.sh only: stands in front of the layer
 * as the layer stands in front of Slurm's plugin, and asks both, in turn and
 * with the same arguments, whenever backfill wants to plan a job.  Writes the
 * time each has taken so far to the file `bench` in StateSaveLocation.
 *
 * Both run in one process on the same records, so nothing but the layer is
 * between the two numbers.
 */
#include "compat/select.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugins/select/tide/forward.h"

const char plugin_name[] = "bench in front of the layer";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
const uint32_t plugin_version = TIDE_PLUGIN_VERSION;

static tide_job_test_fn stock_job_test;
static uint64_t layer_ns, stock_ns, calls;

int init(void)
{
	const char *dirs = tide_ctld_plugin_dir();
	struct tide_err err;
	char path[4096];
	void *stock;

	if (tide_forward_open(dirs, &err) < 0) {
		error("bench: %s", err.text);
		return SLURM_ERROR;
	}
	/* The last folder is Slurm's own; the layer has opened it. */
	snprintf(path, sizeof(path), "%s/select_cons_tres.so",
		 strrchr(dirs, ':') + 1);
	stock = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	stock_job_test = stock ? dlsym(stock, "select_p_job_test") : NULL;
	return stock_job_test ? SLURM_SUCCESS : SLURM_ERROR;
}

void fini(void)
{
	tide_forward_close();
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* One of the two, on a copy of the nodes. */
static uint64_t timed(tide_job_test_fn job_test,
		      const struct tide_job_test *test)
{
	struct tide_job_test copy = *test;
	uint64_t began;

	copy.nodes = bit_copy(test->nodes);
	copy.preemptee_list = NULL;
	began = cpu_ns();
	tide_job_test_call(job_test, &copy);
	began = cpu_ns() - began;
	bit_free(copy.nodes);
	return began;
}

static void report(void)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/bench", tide_ctld_state_dir());
	out = fopen(path, "w");
	if (!out)
		return;
	fprintf(out, "calls %llu layer_ns %llu stock_ns %llu\n",
		(unsigned long long)calls, (unsigned long long)layer_ns,
		(unsigned long long)stock_ns);
	fclose(out);
}

int select_p_job_test(TIDE_JOB_TEST_PARAMS)
{
	struct tide_job_test test = TIDE_JOB_TEST_PACK;

	if (tide_job_test_plans(&test)) {
		/* Who goes first finds colder caches: take turns. */
		if (calls % 2) {
			stock_ns += timed(stock_job_test, &test);
			layer_ns += timed(tide_next_select_p_job_test, &test);
		} else {
			layer_ns += timed(tide_next_select_p_job_test, &test);
			stock_ns += timed(stock_job_test, &test);
		}
		calls++;
		report();
	}
	return tide_job_test_call(tide_next_select_p_job_test, &test);
}
