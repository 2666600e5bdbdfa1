/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic: what the stand-ins for vendors' libraries have in common.  No
 * vendor's code, and no hardware.  FAKE in the environment says how one
 * behaves:
 *
 *	crash, hang	when it is asked how device 2 is
 *	fault		device 2 is broken
 *	refuse		it does not start, as without a driver
 *	version		it knows none of our versions
 *	old		it speaks an older version
 *	less		it does not know of its last device
 *	parts		devices 2 and 3 are cut
 *	noise		it prints to standard output
 *	flood		so much of it that it would fill the memory
 */
#ifndef TIDE_VENDOR_TEST_FAKE_H
#define TIDE_VENDOR_TEST_FAKE_H

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int fake_is(const char *mode)
{
	const char *value = getenv("FAKE");

	return value && !strcmp(value, mode);
}

/* Before it tells how a device is. */
static void fake_act(unsigned device)
{
	if (device != 2)
		return;
	if (fake_is("crash"))
		abort();
	while (fake_is("hang"))
		pause();
}

static void fake_noise(void)
{
	for (int i = 0; fake_is("flood") && i < 1 << 20; i++)
		printf("%099d\n", i);
	if (!fake_is("noise"))
		return;
	puts("{\"done\": true}");
	fflush(stdout);
}

#endif
