/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tidectl request, inside: what was asked for, its answers in print
 * (request_print.c), and what Slurm says to it (request_said.c).
 */
#ifndef TIDE_TIDECTL_REQUEST_H
#define TIDE_TIDECTL_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/tidectl/tidectl.h"
#include "common/device/offer.h"

struct request {
	struct tide_wish wish;
	const char *partition, *account;  /* or NULL */
	const char *limit, *time_min;	  /* as they were written, or NULL */
	uint32_t limit_min, time_min_min; /* or 0; TIDE_NO_LIMIT */
	int list, json, nodes_given;
};

/* "npu:ascend910b:2", as --gres wants it. */
void request_gres(const struct request *request, const struct tide_offer *offer,
		  char *text, size_t size);

/*
 * From the first to the second what is written to standard error is kept, by
 * Slurm's library too, and then written, of equal lines the first alone.  The
 * second does nothing where there was no first.
 */
void request_said_start(void);
void request_said_end(void);

/*
 * The answer, of offers in the order of choice of which the first `fit` fit;
 * the status.
 */
int request_print(const struct request *request,
		  const struct tide_offers *offers, size_t fit,
		  const char *partition);

#endif /* TIDE_TIDECTL_REQUEST_H */
