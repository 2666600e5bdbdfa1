/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints what keydoc.h makes; run when building. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/conf/keydoc.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--example")) {
		tide_keydoc_example(stdout);
	} else if (argc == 2 && !strcmp(argv[1], "--man")) {
		tide_keydoc_man(stdout);
	} else if (argc == 2 && !strcmp(argv[1], "--markdown")) {
		tide_keydoc_markdown(stdout);
	} else {
		fputs("usage: keydoc --example | --man | --markdown\n", stderr);
		return 2;
	}
	return fflush(stdout) ? 1 : 0;
}
