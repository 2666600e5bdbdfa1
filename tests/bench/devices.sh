#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long tidectl devices takes for a (synthetic) node of sixteen devices and 64
# cores, the whole program, without a vendor's library.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
builddir=${builddir:-$top/build}
# shellcheck source=tests/lib/tree.sh
. "$top/tests/lib/tree.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_tree "$top/tests/data/devices/npu910c.tree" "$work/root"
rounds=${TIDE_BENCH_ROUNDS:-20}

for ((i = 0; i < rounds; i++)); do
	begin=${EPOCHREALTIME/./}
	"$builddir/cmd/tidectl/tidectl" devices --root "$work/root" --json \
		>"$work/out"
	echo $((${EPOCHREALTIME/./} - begin))
done >"$work/times"
[ "$(grep -c '"gres": "npu"' "$work/out")" = 16 ]
# The quickest round: other work on the machine only ever slows.
sort -n "$work/times" | awk '
	{ us[NR] = $1 }
	END {
		printf "# %d rounds of 16 devices: quickest %.1f ms, median %.1f ms\n", \
			NR, us[1] / 1000, us[int((NR + 1) / 2)] / 1000
		printf "bench: devices_16 %.1f ms target < 50 %s\n", us[1] / 1000, \
			us[1] < 50000 ? "ok" : "MISSED"
	}'
