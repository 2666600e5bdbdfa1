# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the benchmarks share; sourced.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
builddir=${builddir:-$top/build}

# median FILE: of the numbers in it, one a line.
median() {
	sort -g "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

# bench_cluster: for a benchmark with a cluster: $cluster is the command, $work
# a folder; $dir is to be set to the cluster's.  Both go at the end.
bench_cluster() {
	cluster=$top/tests/cluster
	work=$(mktemp -d /tmp/tide-bench.XXXXXX)
	dir=
	trap bench_clean_up EXIT
	trap 'exit 130' INT TERM
	"$cluster" check
}

bench_clean_up() {
	[ -z "$dir" ] || "$cluster" stop --dir "$dir" >/dev/null 2>&1 || true
	rm -rf "$work"
}
