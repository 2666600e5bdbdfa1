#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run shellcheck over every shell script, found by name or by its first line.
cd "$(dirname "$0")/../.." || exit 1
command -v shellcheck >/dev/null || {
	echo "ok - shellcheck # SKIP shellcheck is not installed"
	exit 0
}
# sharness is sourced by a path in a variable and reads test_description.
{
	git ls-files '*.sh' '*.t'
	git ls-files | xargs awk 'FNR == 1 && /^#!\/bin\/(ba)?sh/ {
		print FILENAME }' 2>/dev/null
} | sort -u | xargs -P "$(nproc)" -n 8 \
	shellcheck -x -S warning -e SC1090,SC1091,SC2034
