#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which lines the unit tests ran, in a build that counts them (one with
# --enable-sanitizers), by folder, on one line.  With --files a line a file.
# Headers and tests do not count, nor what only daemons run: plugins.
set -euo pipefail
export LC_ALL=C

usage()
{
	cat <<'USAGE'
usage: contrib/coverage.sh [--files] BUILD

Which lines the unit tests ran in BUILD, a folder built with --sanitize
(contrib/build.sh), in common/ and launcher/.

  --files  and in each file
USAGE
}

files=0
case ${1:-} in
-h | --help) usage; exit 0 ;;
--files) files=1; shift ;;
esac
[ $# = 1 ] && [[ $1 != -* ]] || { usage >&2; exit 2; }
[ -d "$1" ] || { echo "coverage.sh: there is no folder '$1'" >&2; exit 1; }
build=$(cd "$1" && pwd)
counts=$(find "$build/common" "$build/launcher" -name '*.gcda' ! -path '*/test/*')
[ -n "$counts" ] || { echo "coverage: no test ran in $build"; exit 0; }
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# A line counts once, whatever was built from it how often.
xargs -n 20 gcov --json-format --stdout <<<"$counts" 2>/dev/null |
	jq -r '.files[] | .file as $f | .lines[] |
		"\($f) \(.line_number) \(.count)"' |
	sed -nE 's,^.*/((common|launcher)/[^ ]*\.c) ,\1 ,p' |
	grep -v '/test/' | awk -v files="$files" '
	{ key = $1 " " $2; if (!(key in n) || $3 > n[key]) n[key] = $3 }
	END {
		for (key in n) {
			split(key, part, " ")
			split(part[1], name, "/")
			all[name[1]]++; ran[name[1]] += n[key] > 0
			one[part[1]]++; hit[part[1]] += n[key] > 0
		}
		if (files)
			for (f in one)
				printf "%6.1f %% of %4d lines  %s\n",
					100 * hit[f] / one[f], one[f], f | "sort -n"
		close("sort -n")
		printf "coverage of unit tests: common %.1f %% of %d lines, launcher %.1f %% of %d\n",
			100 * ran["common"] / all["common"], all["common"],
			all["launcher"] ? 100 * ran["launcher"] / all["launcher"] : 0,
			all["launcher"]
	}'
