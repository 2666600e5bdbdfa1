/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before the first step: builds model, data and folder, and resumes from the
 * newest good checkpoint; and saves.  Rank 0 reads and writes files; the others
 * get what they need through the group.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/parse.h"
#include "common/util/plural.h"
#include "launcher/comm/tree.h"
#include "launcher/train/trainer_impl.h"

/* A host that died holds its NFS lock for a lease of 90 s. */
#define LOCK_WAIT_S 120

/* A number that Slurm tells, else INT32_MAX. */
static int64_t told(const char *variable)
{
	const char *text = getenv(variable);
	int64_t n = INT32_MAX;

	if (text)
		tide_parse_int(text, 1, INT32_MAX, &n, NULL);
	return n;
}

/*
 * Collective: the backend at a level that every rank's CPU has, with this
 * rank's share of its host's cores.  srun binds tasks without regard to what
 * sbatch was told of cores a task, so each source is only a limit.
 */
static const struct tide_ops *choose_ops(struct tide_trainer *t)
{
	int level = tide_group_min(t->group, tide_cpu_level());
	int cpus = tide_comm_cpus_per_rank(t->comm, told("SLURM_CPUS_ON_NODE"));
	const struct tide_ops *ops = tide_cpu_ops(level);

	if (cpus > told("SLURM_CPUS_PER_TASK"))
		cpus = told("SLURM_CPUS_PER_TASK");
	ops->set_threads(cpus);
	t->threads = cpus;
	return ops;
}

static int open_data(struct tide_trainer *t, struct tide_err *err)
{
	const struct tide_settings *s = t->settings;

	if (s->random)
		return tide_data_open_random(&t->data, s->vocabulary,
					     s->context, s->seed, err);
	return tide_data_open(&t->data, s->data, s->context, s->seed, err);
}

static int build_model(struct tide_trainer *t, const struct tide_ops *ops,
		       struct tide_err *err)
{
	struct tide_shape shape = tide_settings_shape(t->settings);

	if (tide_model_create(&t->model, &shape, ops, &t->alloc,
			      t->settings->batch_size, err))
		return -1;
	t->opt.beta1 = t->settings->beta1;
	t->opt.beta2 = t->settings->beta2;
	t->opt.eps = t->settings->epsilon;
	t->opt.decay = t->settings->weight_decay;
	return tide_adamw_allocate(&t->opt, &t->model->params, &t->alloc, err);
}

/* What depends on the plan. */
static int build_buffers(struct tide_trainer *t, struct tide_err *err)
{
	size_t positions = (size_t)t->plan.batch_size * t->settings->context;
	int each = 1 + t->plan.accumulation;
	int depth = tide_tree_depth(t->plan.accumulation);

	if (tide_alloc_get(&t->alloc, positions, sizeof(*t->ids), "samples",
			   &t->ids, err) ||
	    tide_alloc_get(&t->alloc, positions, sizeof(*t->targets), "samples",
			   &t->targets, err) ||
	    tide_alloc_get(&t->alloc, each, sizeof(double), "losses", &t->mine,
			   err) ||
	    tide_alloc_get(&t->alloc, (size_t)each * t->plan.ranks,
			   sizeof(double), "losses", &t->all, err) ||
	    tide_alloc_get(&t->alloc, depth, sizeof(real *), "gradients",
			   &t->branches, err))
		return -1;
	for (int i = 0; i < depth - 1; i++)
		if (tide_alloc_get(&t->alloc, t->model->params.count,
				   sizeof(real), "gradients", &t->branches[i],
				   err))
			return -1;
	return 0;
}

static void passed_over(void *arg, const char *text)
{
	tide_trainer_say(arg, "%s; it is not used", text);
}

static int claim_folder(struct tide_trainer *t, struct tide_err *err)
{
	char model[256];
	const struct tide_claim claim = {
		.job = t->job->name,
		.model = model,
		.holder = t->job->holder,
		.same = t->job->same[0] ? t->job->same : NULL,
		.wait_s = LOCK_WAIT_S,
	};

	tide_state_model_line(&t->model->shape, t->settings->seed, model,
			      sizeof(model));
	if (tide_folder_open(&t->folder, t->settings->directory, err))
		return -1;
	return tide_folder_claim(&t->folder, &claim, err);
}

/* Rank 0: the newest good checkpoint into memory; 1 if there is none. */
static int load(struct tide_trainer *t, struct tide_ckpt_meta *have, char *name,
		struct tide_err *err)
{
	int rc;

	if (claim_folder(t, err) ||
	    tide_state_create(&t->state, t->model, &t->opt, err))
		return -1;
	rc = tide_folder_newest(&t->folder, name, passed_over, t, err);
	if (rc)
		return rc;
	if (tide_ckpt_read_meta(t->folder.fd, name, have, err) ||
	    tide_state_match(have, &t->meta, name, err))
		return -1;
	return tide_ckpt_read(t->folder.fd, name, t->state.tensors, t->state.n,
			      err);
}

/* Rank 0's result of a part that only it does, to all. */
static int share_result(struct tide_trainer *t, int rc, struct tide_err *err)
{
	int saved = errno;

	tide_group_send_all(t->group, &rc, sizeof(rc), 0);
	if (rc < 0 && t->rank)
		return tide_err_set(err, ECANCELED, "rank 0 could not go on");
	errno = saved;
	return rc;
}

static int resume(struct tide_trainer *t, int64_t *ret_global_batch,
		  struct tide_err *err)
{
	struct tide_ckpt_meta have = {0};
	struct tide_params *p = &t->model->params;
	char name[TIDE_CKPT_NAME] = "";
	size_t bytes = p->count * sizeof(real);
	int rc = t->rank ? 0 : load(t, &have, name, err);

	rc = share_result(t, rc, err);
	if (rc < 0)
		return -1;
	t->saved_step = -1;
	if (rc) {
		tide_params_init(p, t->settings->seed);
		if (t->job->restarts)
			tide_trainer_say(
				t,
				"this job was requeued %d time%s, but '%s' holds no checkpoint: is it on a file system that all nodes share?",
				t->job->restarts, tide_plural(t->job->restarts),
				t->settings->directory);
		tide_trainer_say(t, "starting at step 0");
		return 0;
	}
	tide_group_send_all(t->group, &have, sizeof(have), 0);
	tide_group_send_all(t->group, p->value, bytes, 0);
	tide_group_send_all(t->group, t->opt.m, bytes, 0);
	tide_group_send_all(t->group, t->opt.v, bytes, 0);
	t->step = have.step;
	t->saved_step = have.step;
	*ret_global_batch = have.global_batch;
	tide_trainer_say(t, "resumed at step %lld from %s/%s",
			 (long long)have.step, t->settings->directory, name);
	return 0;
}

static int plan_steps(struct tide_trainer *t, int64_t global_batch,
		      struct tide_err *err)
{
	const struct tide_settings *s = t->settings;

	if (tide_plan_make(&t->plan, global_batch, s->batch_size,
			   s->gradient_accumulation, tide_group_size(t->group),
			   err)) {
		/* the same on all ranks: one says it */
		errno = t->rank ? ECANCELED : EINVAL;
		return -1;
	}
	t->meta.global_batch = t->plan.global_batch;
	if (t->plan.accumulation != s->gradient_accumulation)
		tide_trainer_say(
			t,
			"the global batch stays %lld sequence%s: on %d rank%s each takes %d times %d",
			(long long)t->plan.global_batch,
			tide_plural(t->plan.global_batch), t->plan.ranks,
			tide_plural(t->plan.ranks), t->plan.accumulation,
			t->plan.batch_size);
	return 0;
}

/* One rank's failure is every rank's, before anything is waited for. */
static int together(struct tide_trainer *t, int rc, struct tide_err *err)
{
	int saved = errno;

	if (!tide_group_min(t->group, rc))
		return 0;
	if (!rc)
		return tide_err_set(err, ECANCELED,
				    "another rank could not start");
	errno = saved;
	return -1;
}

static int build(struct tide_trainer *t, struct tide_err *err)
{
	const struct tide_ops *ops = choose_ops(t);
	int rc = open_data(t, err);

	if (!rc)
		rc = build_model(t, ops, err);
	if (together(t, rc, err))
		return -1;
	t->meta.seed = t->settings->seed;
	t->meta.shape = t->model->shape;
	memcpy(t->meta.data_print, t->data.print, sizeof(t->data.print));
	return 0;
}

int tide_trainer_setup(struct tide_trainer *t, struct tide_err *err)
{
	int64_t global_batch = 0;
	int rc;

	tide_alloc_init(&t->alloc);
	t->group = tide_comm_group(t->comm, TIDE_GROUP_DATA);
	t->rank = tide_group_rank(t->group);
	t->data.fd = t->folder.fd = t->folder.owner_fd = -1;
	if (build(t, err) || resume(t, &global_batch, err))
		return -1;
	rc = plan_steps(t, global_batch, err);
	if (!rc)
		rc = build_buffers(t, err);
	if (!rc && !t->rank)
		rc = tide_telemetry_open(&t->telemetry, t->person,
					 t->settings->log, err);
	if (together(t, rc, err))
		return -1;
	tide_trainer_say(
		t,
		"%lld parameters, %d rank%s with %d thread%s each, %lld sequence%s of %lld a step",
		(long long)tide_shape_params(&t->model->shape), t->plan.ranks,
		tide_plural(t->plan.ranks), t->threads, tide_plural(t->threads),
		(long long)t->plan.global_batch,
		tide_plural(t->plan.global_batch),
		(long long)t->settings->context);
	t->first_step = t->step;
	t->last_save = tide_trainer_now();
	return 0;
}

void tide_trainer_release(struct tide_trainer *t)
{
	tide_telemetry_close(&t->telemetry);
	tide_state_release(&t->state);
	tide_folder_close(&t->folder);
	tide_data_close(&t->data);
	tide_model_destroy(t->model);
	tide_alloc_release(&t->alloc);
}

int tide_trainer_save(struct tide_trainer *t)
{
	double began = tide_trainer_now();
	char name[TIDE_CKPT_NAME];
	struct tide_err err;
	int rc;

	t->meta.step = t->step;
	t->meta.samples = t->step * t->plan.global_batch;
	rc = tide_ckpt_write(t->folder.fd, &t->meta, t->state.tensors,
			     t->state.n, &err);
	t->last_save = tide_trainer_now();
	if (rc) {
		tide_trainer_say(t, "%s; training goes on", err.text);
		if (t->saved_step >= 0)
			tide_trainer_say(
				t, "the last good checkpoint is of step %lld",
				(long long)t->saved_step);
		return -1;
	}
	t->saved_step = t->step;
	tide_ckpt_name(name, t->step);
	tide_trainer_say(t, "saved %s/%s in %.2f s", t->settings->directory,
			 name, t->last_save - began);
	if (tide_folder_prune(&t->folder, t->settings->keep, &err))
		tide_trainer_say(t, "%s", err.text);
	return 0;
}
