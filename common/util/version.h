/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A version of Slurm, which Slurm keeps as one number: a byte each for major,
 * minor and micro.  In a header alone, since plugins too are told by it that
 * link nothing else of ours.
 */
#ifndef TIDE_UTIL_VERSION_H
#define TIDE_UTIL_VERSION_H

#include <stdint.h>
#include <stdio.h>

struct tide_version_text {
	char text[16];
};

/* As people write it, "22.05.8"; returns ret->text. */
static inline const char *tide_version(uint32_t version,
				       struct tide_version_text *ret)
{
	snprintf(ret->text, sizeof(ret->text), "%u.%02u.%u",
		 version >> 16 & 0xff, version >> 8 & 0xff, version & 0xff);
	return ret->text;
}

#endif
