#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: contrib/compile-releases.sh SLURM_SOURCE...
#
# Do the plugins fit these releases of Slurm?  For each configured source tree
# everything is compiled with warnings as errors, each operation compared with
# what that release calls, and each plugin searched for what its loader looks
# up.  Nothing of it runs and nothing is installed.  TAP, a test a release;
# what is built stays in build-compile/VERSION for the next time.
set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n 's/^# \{0,1\}//; 4,10p' "$0"; }
case ${1:-} in
-h | --help) usage; exit 0 ;;
'' | -*) usage >&2; exit 2 ;;
esac

# compile SOURCE DIR
compile()
{
	mkdir -p "$2" && cd "$2" || return 1
	[ -f config.status ] && [ ! "$top/configure" -nt config.status ] ||
		"$top/configure" -q --enable-compile-only --enable-werror \
			--with-slurm-source="$1" || return 1
	make -s -j"$(nproc)" -C common &&
		make -s -j"$(nproc)" -C compat &&
		make -s -j"$(nproc)" -C plugins &&
		make -s -j"$(nproc)" -C cmd
}

n=0 failed=0
echo "1..$#"
for source; do
	n=$((n + 1))
	version=$(sed -n 's/^#define SLURM_VERSION_STRING "\(.*\)"/\1/p' \
		"$source/config.h" 2>/dev/null)
	name="the plugins compile for Slurm ${version:-in $source}"
	log=$top/build-compile/${version:-unknown}.log
	mkdir -p "$top/build-compile"
	if [ -n "$version" ] &&
	   (compile "$(realpath "$source")" "$top/build-compile/$version") \
		>"$log" 2>&1; then
		echo "ok $n - $name"
		cat "$top/build-compile/$version"/plugins/*/*/symbols.ok |
			sed 's/^/# /'
		continue
	fi
	failed=1
	echo "not ok $n - $name"
	if [ -n "$version" ]; then
		grep -E -A4 'rror|lacks' "$log" | head -n 40 | sed 's/^/# /'
	else
		echo "# $source is no configured source of Slurm"
	fi
done
exit $failed
