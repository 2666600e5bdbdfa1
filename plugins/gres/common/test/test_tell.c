/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes are told of their devices, with Slurm's own environments and
 * bitmaps, but without a daemon or a device file.
 */
#include "plugins/gres/common/tell.h"

#include "src/common/bitstring.h"
#include "src/common/env.h"
#include "src/common/list.h"

#include "plugins/gres/common/runtimes.h"
#include "tests/lib/tap.h"

enum {
	DEVICES = 8
};

const char plugin_type[] = "gres/test";

/* Bits of a list such as "2-3,5"; NULL of NULL. */
static bitstr_t *bits(const char *text)
{
	bitstr_t *set = text ? bit_alloc(DEVICES) : NULL;

	if (set && *text)
		bit_unfmt(set, (char *)text);
	return set;
}

static void free_runtime(void *x)
{
	struct tide_runtime *runtime = x;

	FREE_NULL_BITMAP(runtime->devices);
	FREE_NULL_BITMAP(runtime->parts);
	xfree(runtime);
}

static struct tide_runtime *add_runtime(struct tide_node *node,
					const char *visible,
					const char *devices, const char *parts)
{
	struct tide_runtime *runtime = xmalloc(sizeof(*runtime));

	runtime->visible = (char *)visible;
	runtime->devices = bits(devices);
	runtime->parts = bits(parts);
	list_append(node->runtimes, runtime);
	return runtime;
}

/* Eight devices, numbered from 10 on. */
static struct tide_node new_node(void)
{
	struct tide_node node = {
		.devices = list_create(destroy_gres_device),
		.runtimes = list_create(free_runtime),
	};

	for (int i = 0; i < DEVICES; i++) {
		gres_device_t *device = xmalloc(sizeof(*device));

		device->index = i;
		device->dev_num = 10 + i;
		list_append(node.devices, device);
	}
	return node;
}

static void free_node(struct tide_node *node)
{
	FREE_NULL_LIST(node->devices);
	FREE_NULL_LIST(node->runtimes);
}

static char **new_env(void)
{
	char **env = env_array_create();

	env_array_overwrite(&env, "SEE", "old");
	env_array_overwrite(&env, "FILTER", "old");
	env_array_overwrite(&env, "BOX", "old");
	env_array_overwrite(&env, "BOX_PARTS", "old");
	env_array_overwrite(&env, "IDS", "old");
	return env;
}

static void is_env(char **env, const char *name, const char *want,
		   const char *what)
{
	const char *got = getenvp(env, name);

	is_str(got ? got : "unset", want, what);
}

static void tell(char ***env, const struct tide_node *node, const char *mine,
		 const char *seen, bool constrained)
{
	struct tide_scope scope = {
		.mine = bits(mine),
		.seen = bits(seen),
		.constrained = constrained,
		.numbers = "IDS",
	};

	tide_tell(env, node, &scope);
	FREE_NULL_BITMAP(scope.mine);
	FREE_NULL_BITMAP(scope.seen);
}

static const struct {
	const char *mine, *seen;
	bool constrained, physical;
	const char *see, *ids;
	const char *what;
} rows[] = {
	{"2-3", "2-3", false, false, "12,13", "12,13", "a job, free"},
	{"2-3", "2-3", true, false, "0,1", "12,13", "a job, constrained"},
	{"2-3", "2-3", true, true, "12,13", "12,13", "that keeps numbers"},
	{"3", "2-3", false, false, "13", "13", "a task, free"},
	{"3", "2-3", true, false, "1", "13", "a task beside others"},
	{"3", "2-3", true, true, "13", "13", "that keeps numbers"},
	{"2,5", "2-3,5", true, false, "0,2", "12,15", "two of three"},
	{"", "", true, false, "", "unset", "nothing, constrained"},
	{NULL, NULL, true, false, "", "unset", "nothing at all"},
	{NULL, NULL, false, false, "", "unset", "nothing, free"},
};

static void test_rows(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-7", "");
	char **env;

	runtime->unset = (char *)"FILTER";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		env = new_env();
		runtime->physical = rows[i].physical;
		tell(&env, &node, rows[i].mine, rows[i].seen,
		     rows[i].constrained);
		is_env(env, "SEE", rows[i].see, rows[i].what);
		is_env(env, "IDS", rows[i].ids, "numbers are those of files");
		is_env(env, "FILTER", "unset", "one level only");
		is_env(env, "BOX", "old", "containers are a site's choice");
		env_array_free(env);
	}
	free_node(&node);
}

static void test_container(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-7", "6-7");
	char **env = new_env();

	runtime->container = (char *)"BOX";
	runtime->container_part = (char *)"BOX_PARTS=VIRTUAL";
	tell(&env, &node, "3", "2-3", true);
	is_env(env, "BOX", "13", "a container is told the node's numbers");
	is_env(env, "BOX_PARTS", "unset", "of no parts");
	tell(&env, &node, "6-7", "6-7", false);
	is_env(env, "SEE", "0,1", "parts count from 0");
	is_env(env, "BOX", "16,17", "a container gets the vendor's numbers");
	is_env(env, "BOX_PARTS", "VIRTUAL", "and that they are parts");
	runtime->container_part = NULL;
	tell(&env, &node, "6-7", "6-7", false);
	is_env(env, "BOX", "", "none where it cannot be told of parts");
	tell(&env, &node, "2,6", "2,6", false);
	is_env(env, "BOX", "12", "but of whole ones beside them");
	tell(&env, &node, NULL, NULL, false);
	is_env(env, "BOX", "", "none without devices");
	env_array_free(env);
	free_node(&node);
}

/* Devices 6 and 7 are parts of card 3, of which there is a file of 6 each. */
static void test_container_files(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-7", "6-7");
	list_itr_t *itr = list_iterator_create(node.devices);
	gres_device_t *device;
	char **env = new_env();

	while ((device = list_next(itr)))
		device->path = xstrdup_printf(device->index < 6 ? "/dev/d%d"
								: "/dev/d3_m%d",
					      device->index);
	list_iterator_destroy(itr);
	device = xmalloc(sizeof(*device));
	device->index = 7;
	device->path = xstrdup("/dev/d3");
	list_append(node.devices, device);
	runtime->container = (char *)"BOX";
	runtime->container_part = (char *)"BOX_PARTS=/dev/d%n,/dev/m%m";
	runtime->part_file = (char *)"/dev/d%n_m%m";
	tell(&env, &node, "6-7", "6-7", true);
	is_env(env, "BOX_PARTS", "/dev/d3,/dev/m6;/dev/d3,/dev/m7",
	       "a container is told files of each part");
	is_env(env, "BOX", "unset", "and no numbers");
	tell(&env, &node, "7", "6-7", false);
	is_env(env, "BOX_PARTS", "/dev/d3,/dev/m7", "a task its own");
	tell(&env, &node, "2,6", "2,6", false);
	is_env(env, "BOX_PARTS", "/dev/d3,/dev/m6", "of both kinds: parts");
	is_env(env, "BOX", "12", "and whole ones");
	tell(&env, &node, "2", "2,6", false);
	is_env(env, "BOX_PARTS", "unset", "no parts: no files");
	is_env(env, "BOX", "12", "and numbers");
	tell(&env, &node, NULL, NULL, false);
	is_env(env, "BOX_PARTS", "unset", "nothing: no files");
	is_env(env, "BOX", "", "and no numbers");
	env_array_free(env);
	free_node(&node);
}

/* Parts that have a number in their card only, which whole ones have too. */
static void test_placed(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-7", "0-1");
	list_itr_t *itr = list_iterator_create(node.devices);
	gres_device_t *device;
	char **env = new_env();

	while ((device = list_next(itr)))
		device->dev_num = device->index < 2 ? 1 : device->index - 1;
	list_iterator_destroy(itr);
	runtime->placed = true;
	tell(&env, &node, "0-1", "0-1", false);
	is_env(env, "SEE", "0,1", "two parts");
	is_env(env, "IDS", "0,1", "have places for numbers");
	tell(&env, &node, "1-2", "1-3", true);
	is_env(env, "SEE", "0,1", "a part and a whole one, of three");
	is_env(env, "IDS", "1,2", "have places as well");
	tell(&env, &node, "3", "1-3", true);
	is_env(env, "SEE", "2", "a whole one beside them");
	is_env(env, "IDS", "2", "has its own number");
	tell(&env, &node, "2-3", "2-3", false);
	is_env(env, "SEE", "1,2", "so have whole ones alone");
	env_array_free(env);
	free_node(&node);
}

static void test_several(void)
{
	struct tide_node node = new_node();
	char **env = new_env();

	add_runtime(&node, "SEE", "0-3", "");
	add_runtime(&node, "ALSO,FILTER", "4-7", "");
	tell(&env, &node, "3-5", "3-5", true);
	is_env(env, "SEE", "0", "each runtime counts its own");
	is_env(env, "ALSO", "0,1", "from 0");
	is_env(env, "FILTER", "0,1", "in every variable it has");
	is_env(env, "IDS", "3,4,5", "numbers are places on the node");
	tide_tell_own(&env, &node, 1);
	is_env(env, "SEE", "0", "nobody knows whose the one is");
	is_env(env, "ALSO", "0,1", "so this stays");
	env_array_free(env);
	free_node(&node);
}

static void test_own(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-7", "");
	char **env = new_env();

	tide_tell_own(&env, &node, 2);
	is_env(env, "SEE", "0,1", "a task alone with two");
	is_env(env, "IDS", "old", "whose numbers are those of the step");
	runtime->physical = true;
	tide_tell_own(&env, &node, 1);
	is_env(env, "SEE", "0,1", "or keeps numbers: as the step");
	env_array_free(env);
	free_node(&node);
}

static void test_prolog(void)
{
	struct tide_node node = new_node();
	struct tide_runtime *runtime = add_runtime(&node, "SEE", "0-3", "");
	bitstr_t *mine = bits("1,3");
	char **env = NULL;

	add_runtime(&node, "ALSO", "4-7", "");
	runtime->container = (char *)"BOX";
	tide_tell_prolog(&env, &node, mine, "IDS");
	is_env(env, "SEE", "11,13", "prolog: numbers of the node");
	is_env(env, "IDS", "1,3", "by place, where there are several kinds");
	is_env(env, "ALSO", "unset", "nothing of a kind that the job has not");
	is_env(env, "BOX", "unset", "nor of containers");
	env_array_free(env);
	FREE_NULL_BITMAP(mine);
	free_node(&node);
}

static const struct {
	const char *step, *alloc, *usable, *want;
	const char *what;
} tasks[] = {
	{"2-3", "2-3", "3", "3", "numbers of the node"},
	{"2-3", "0-1", "1", "3", "pushed together"},
	{"2-3", "0-1", "0-1", "2-3", "both of them"},
	{"1,4,6", "0-2", "0,2", "1,6", "with holes"},
	{"0-1", "0-1", "1", "1", "the same either way"},
	{"2-3", "2-3", "5", "", "none of the step's"},
};

static void test_tasks(void)
{
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		bitstr_t *step = bits(tasks[i].step);
		bitstr_t *alloc = bits(tasks[i].alloc);
		bitstr_t *usable = bits(tasks[i].usable);
		bitstr_t *mine = tide_task_devices(step, alloc, usable);
		char *got = bit_fmt_full(mine);

		is_str(got ? got : "", tasks[i].want, tasks[i].what);
		xfree(got);
		FREE_NULL_BITMAP(step);
		FREE_NULL_BITMAP(alloc);
		FREE_NULL_BITMAP(usable);
		FREE_NULL_BITMAP(mine);
	}
}

int main(void)
{
	test_rows();
	test_container();
	test_container_files();
	test_placed();
	test_several();
	test_own();
	test_prolog();
	test_tasks();
	return tap_done();
}
