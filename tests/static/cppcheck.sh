#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cppcheck over every C file, warnings as errors.
cd "$(dirname "$0")/../.." || exit 1
command -v cppcheck >/dev/null || {
	echo "ok - cppcheck # SKIP cppcheck is not installed"
	exit 0
}
cppcheck --quiet --error-exitcode=1 --inline-suppr -j "$(nproc)" \
	--enable=warning,performance,portability --std=c11 \
	--suppress=missingInclude --suppress=unusedStructMember \
	--suppress=missingIncludeSystem --suppress=unmatchedSuppression \
	-I. -Ibuild -DHAVE_CONFIG_H \
	common compat plugins cmd launcher tests
