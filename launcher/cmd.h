/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of tiderun; each returns the exit status. */
#ifndef TIDE_LAUNCHER_CMD_H
#define TIDE_LAUNCHER_CMD_H

enum {
	TIDE_EXIT_OK = 0,
	TIDE_EXIT_FAILED = 1,
	TIDE_EXIT_USAGE = 2
};

int tide_cmd_train(int argc, char **argv);

#endif
