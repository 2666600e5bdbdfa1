#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# C sources as .clang-format has them.  Tests are left out, whose tables are
# set by hand, and what is more macro or assembler than C.
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || {
	echo "ok - format # SKIP clang-format is not installed"
	exit 0
}
git ls-files '*.c' '*.h' | grep -vE '/test/|/forward\.c$|^compat/slurm/' |
	xargs clang-format --dry-run -Werror
