/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vendors' libraries said about the accelerators that were found without
 * them: which of the library's devices is which, where the two differ, and
 * whether a node's devices are well.  Asks nobody.
 */
#ifndef TIDE_VENDOR_ANSWER_H
#define TIDE_VENDOR_ANSWER_H

#include "common/device/find.h"
#include "common/vendor/vendor.h"

enum tide_vendor_outcome {
	TIDE_VENDOR_ANSWERED,
	TIDE_VENDOR_ABSENT,  /* there is no library */
	TIDE_VENDOR_UNFIT,   /* it is of a version that we do not know */
	TIDE_VENDOR_REFUSED, /* it said that it cannot */
	TIDE_VENDOR_CRASHED, /* its process ended without an answer */
	TIDE_VENDOR_SILENT,  /* it gave no answer in time */
};

/* Of one family's library; what it told before it failed is kept. */
struct tide_vendor_answer {
	const struct tide_family *family;
	enum tide_vendor_outcome outcome;
	char path[256];	  /* the library */
	char version[80]; /* "" when it does not tell */
	char text[512];	  /* why there is no answer; "" */
	char at[24];	  /* the device that was asked last, or "" */
	struct tide_vendor_device *device;
	size_t count;
	struct tide_vendor_part *part;
	size_t n_parts;
};

struct tide_vendor_answers {
	struct tide_vendor_answer *answer;
	size_t count;
};

void tide_vendor_answers_release(struct tide_vendor_answers *answers);

/* The answer for this family; NULL when its library was not asked. */
const struct tide_vendor_answer *
tide_vendor_answer_of(const struct tide_vendor_answers *answers,
		      const struct tide_family *family);

/*
 * What a library told of an accelerator, or of the device that it is a part of:
 * its health and its place are those of its parts.  NULL when nothing.
 */
const struct tide_vendor_device *
tide_vendor_device_of(const struct tide_vendor_answers *answers,
		      const struct tide_accel *accel);

/*
 * The same of the accelerator alone, as its memory: NULL for a part that the
 * library does not tell from its device.
 */
const struct tide_vendor_device *
tide_vendor_own_device(const struct tide_vendor_answers *answers,
		       const struct tide_accel *accel);

/* What a library told of a part, by its device file; NULL when nothing. */
const struct tide_vendor_part *
tide_vendor_part_of(const struct tide_vendor_answers *answers,
		    const struct tide_accel *accel);

/*
 * Parts whose profile nobody has told get their type from what libraries told.
 * A name that is no type is a problem.  -1 with ENOMEM.
 */
int tide_vendor_name_parts(const struct tide_table *table,
			   const struct tide_vendor_answers *answers,
			   struct tide_accels *accels,
			   struct tide_problems *problems);

/*
 * Where the libraries and the kernel differ, and why a library that is there
 * gave no answer: problems, each with the library as its file.
 */
void tide_vendor_compare(const struct tide_vendor_answers *answers,
			 const struct tide_accels *accels,
			 struct tide_problems *problems);

/*
 * How many links the accelerator at index has to each of its GRES, -1 itself;
 * NULL when none is told.  The caller frees it.
 */
int *tide_vendor_links(const struct tide_vendor_answers *answers,
		       const struct tide_accels *accels, size_t index);

/*
 * Let the libraries' word count: for cores and NUMA node, where the kernel
 * knows neither; for the links of a GRES, where they are told of all its
 * devices: as many as are up.  -1 with ENOMEM.
 */
int tide_vendor_apply(const struct tide_where *where,
		      const struct tide_vendor_answers *answers,
		      struct tide_accels *accels,
		      struct tide_problems *problems);

/* One thing about the health of a node. */
struct tide_health_finding {
	const struct tide_accel *accel; /* NULL: of a GRES, or a library */
	const char *gres;
	enum tide_vendor_health health;
	char text[600]; /* "" when all is well */
};

struct tide_health_findings {
	struct tide_health_finding *finding;
	size_t count;
};

/* What the health of a node is judged by. */
struct tide_health_request {
	const struct tide_table *table;
	const struct tide_accels *accels;
	const struct tide_vendor_answers *answers;
	const char *expect; /* Gres= of slurm.conf; NULL: not known */
	const char *except; /* PCI addresses that are known to be out; NULL */
};

/*
 * A finding for each device that is not an exception, and for each GRES that
 * is not there in full; faults first.  A fault of a device that is cut into
 * parts is said of the first of them.  A library that crashes or does not fit
 * says nothing about a device: warnings; one that hangs or refuses is a fault,
 * as jobs will fare no better.  -1 with ENOMEM.
 */
int tide_health(const struct tide_health_request *request,
		struct tide_health_findings *ret_findings);

void tide_health_release(struct tide_health_findings *findings);

#endif
