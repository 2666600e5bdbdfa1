/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What table.c and table_keys.c share; for nobody else. */
#ifndef TIDE_DEVICE_TABLE_IMPL_H
#define TIDE_DEVICE_TABLE_IMPL_H

#include "common/device/table.h"

/* A record of the table, and what its key fills. */
enum tide_table_record {
	TIDE_TABLE_FAMILY,
	TIDE_TABLE_MODEL,
	TIDE_TABLE_PART,
};

/*
 * Put the value of a key into a family or model (record says which).  0; -1
 * with a text when there is no such key or the value is bad; errno is ENOMEM
 * when it is that.
 */
int tide_table_set(enum tide_table_record record, void *object, const char *key,
		   const char *value, struct tide_err *err);

/* Give back what a family or model holds. */
void tide_family_release(struct tide_family *family);
void tide_model_release(struct tide_model *model);
void tide_part_release(struct tide_part *part);

/* A copy that stands alone; -1 with ENOMEM. */
int tide_family_copy(struct tide_family *to, const struct tide_family *from);

#endif
