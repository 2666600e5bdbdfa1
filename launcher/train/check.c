/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tiderun train --check`: what a training would do; nothing is changed. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/plural.h"
#include "launcher/checkpoint/folder.h"
#include "launcher/data/text.h"
#include "launcher/train/check.h"
#include "launcher/train/plan.h"

static int check_data(const struct tide_settings *s, struct tide_check *c,
		      struct tide_err *err)
{
	struct tide_data data;

	if (s->random)
		return 0;
	if (tide_data_open(&data, s->data, s->context, s->seed, err))
		return -1;
	c->data_bytes = data.size;
	c->data_pieces = data.pieces;
	tide_data_close(&data);
	return 0;
}

/* The folder may not exist yet. */
static int check_folder(const struct tide_settings *s, struct tide_check *c,
			int64_t *ret_global_batch, struct tide_err *err)
{
	struct tide_folder folder = {.fd = -1, .owner_fd = -1};
	struct tide_ckpt_meta meta;
	int rc;

	snprintf(folder.path, sizeof(folder.path), "%s", s->directory);
	folder.fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder.fd < 0 && errno == ENOENT)
		return 0;
	if (folder.fd < 0)
		return tide_err_set(err, errno,
				    "cannot open checkpoint folder '%s': %s",
				    s->directory, strerror(errno));
	rc = tide_folder_peek(&folder, c->checkpoint, err);
	if (!rc) {
		rc = tide_ckpt_read_meta(folder.fd, c->checkpoint, &meta, err);
		if (!rc) {
			c->step = meta.step;
			*ret_global_batch = meta.global_batch;
		}
	}
	tide_folder_close(&folder);
	/* 1: there is none */
	return rc < 0 ? -1 : 0;
}

int tide_check_make(struct tide_check *ret_check, const struct tide_settings *s,
		    int ranks, struct tide_err *err)
{
	const struct tide_shape shape = tide_settings_shape(s);
	struct tide_check c = {.steps = s->steps, .ranks = ranks};
	struct tide_plan plan;
	int64_t global_batch = 0;

	c.parameters = tide_shape_params(&shape);
	/* parameters and two moments, 4 bytes each */
	c.checkpoint_bytes = 12 * c.parameters;
	if (check_data(s, &c, err) || check_folder(s, &c, &global_batch, err) ||
	    tide_plan_make(&plan, global_batch, s->batch_size,
			   s->gradient_accumulation, ranks, err))
		return -1;
	c.global_batch = plan.global_batch;
	c.accumulation = plan.accumulation;
	c.tokens_per_step = plan.global_batch * s->context;
	*ret_check = c;
	return 0;
}

void tide_check_print(const struct tide_check *c, FILE *to)
{
	fprintf(to, "parameters        %lld\n", (long long)c->parameters);
	fprintf(to, "checkpoint        about %lld bytes\n",
		(long long)c->checkpoint_bytes);
	if (c->data_bytes)
		fprintf(to,
			"text              %lld bytes, %lld sequence%s an epoch\n",
			(long long)c->data_bytes, (long long)c->data_pieces,
			tide_plural(c->data_pieces));
	fprintf(to,
		"step              %lld sequence%s, %lld tokens: %d rank%s, each %d micro-batch%s\n",
		(long long)c->global_batch, tide_plural(c->global_batch),
		(long long)c->tokens_per_step, c->ranks, tide_plural(c->ranks),
		c->accumulation, c->accumulation == 1 ? "" : "es");
	if (c->checkpoint[0])
		fprintf(to, "would resume      at step %lld of %lld from %s\n",
			(long long)c->step, (long long)c->steps, c->checkpoint);
	else
		fprintf(to, "would start       at step 0 of %lld\n",
			(long long)c->steps);
}

void tide_check_print_json(const struct tide_check *c, FILE *to)
{
	fprintf(to,
		"{\"parameters\":%lld,\"checkpoint_bytes\":%lld,\"data_bytes\":%lld,\"data_sequences\":%lld,\"ranks\":%d,\"accumulation\":%d,\"global_batch\":%lld,\"tokens_per_step\":%lld,\"step\":%lld,\"steps\":%lld,\"checkpoint\":",
		(long long)c->parameters, (long long)c->checkpoint_bytes,
		(long long)c->data_bytes, (long long)c->data_pieces, c->ranks,
		c->accumulation, (long long)c->global_batch,
		(long long)c->tokens_per_step, (long long)c->step,
		(long long)c->steps);
	/* a name of ours: nothing in it wants escaping */
	if (c->checkpoint[0])
		fprintf(to, "\"%s\"}\n", c->checkpoint);
	else
		fprintf(to, "null}\n");
}
