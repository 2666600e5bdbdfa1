#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# clang-tidy over common/ and launcher/, the code that can be understood without
# Slurm; .clang-tidy says which checks.  A file that was clean is not looked at
# again until it, a header or the checks change.
cd "$(dirname "$0")/../.." || exit 1
builddir=${builddir:-build}
command -v clang-tidy >/dev/null || {
	echo "ok - clang-tidy # SKIP clang-tidy is not installed"
	exit 0
}
[ -f "$builddir/config.h" ] || {
	echo "ok - clang-tidy # SKIP there is no $builddir/config.h"
	exit 0
}
seen=$builddir/tests/tidy
mkdir -p "$seen"
flags="-I. -I$builddir -DHAVE_CONFIG_H -std=gnu11"
flags+=" -DTIDE_PLUGINDIR=\"/\" -DTIDE_CPU_TABLE=table"
for package in glib-2.0 jansson yaml-0.1 hdf5-serial ompi-c openblas; do
	flags+=" $(pkg-config --cflags "$package" 2>/dev/null)"
done
headers=$(cat .clang-tidy common/*/*.h launcher/*/*.h "$builddir/config.h" |
	sha256sum)

tidy()
{
	local file=$1 sum
	sum=$(cat "$file" - <<<"$headers $flags" | sha256sum | cut -c-64)
	[ ! -e "$seen/$sum" ] || return 0
	# shellcheck disable=SC2086 # several flags
	clang-tidy --quiet "$file" -- $flags 2>/dev/null && : >"$seen/$sum"
}
export -f tidy
export headers flags seen
printf '%s\n' common/*/*.c launcher/*.c launcher/*/*.c |
	xargs -P "$(nproc)" -I{} bash -c 'tidy {}'
