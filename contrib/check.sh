#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every test: prepares the machine (contrib/build.sh), runs the unit tests
# plain and under sanitizers, the static checks and the system tests.  Ends
# with the line "N passed, N failed, N skipped".
set -uo pipefail

usage()
{
	cat <<'USAGE'
usage: contrib/check.sh [--werror] [--units] [--no-build] [TEST.t ...]

Runs all tests, or the named ones, as in tests/00-cluster.t.

  --werror    warnings are errors
  --units     unit tests and static checks only (no daemons, no root)
  --no-build  what is in build/ and build-asan/ is good as it is
USAGE
}

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
werror=()
units=no
build=yes
only=()
while [ $# -gt 0 ]; do
	case $1 in
	--werror) werror=(--werror) ;;
	--units) units=yes ;;
	--no-build) build=no ;;
	-h | --help) usage; exit 0 ;;
	-*) echo "check.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
	*) only+=("$1") ;;
	esac
	shift
done

passed=0 failed=0 skipped=0
failures=()
logs=$top/build/check-logs

# count NAME LOG STATUS: add up the TAP lines of a log; a test that ends
# badly, or without having said anything, has failed.
count()
{
	local name=$1 log=$2 status=$3 p f s
	s=$(grep -ciE '^ok\b.*# *skip|^1\.\.0 *# *skip' "$log")
	p=$(($(grep -cE '^ok\b' "$log") - $(grep -ciE '^ok\b.*# *skip' "$log")))
	f=$(grep -E '^not ok\b' "$log" | grep -cviE '# *todo')
	if [ "$status" != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "not ok - $name ended with status $status" >>"$log"
	elif [ $((p + f + s)) = 0 ]; then
		f=1
		echo "not ok - $name said nothing" >>"$log"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-44s %4d passed %3d failed %3d skipped  %4ds\n' \
		"$name" "$p" "$f" "$s" "$((SECONDS - began))"
	grep -iE '^ok\b.*# *skip|^1\.\.0 *# *skip' "$log" | sed 's/^/    /'
	[ "$f" = 0 ] || {
		failures+=("$name ($log)")
		grep -E '^not ok\b' "$log" | sed 's/^/    /'
		tail -n 200 "$log" | sed 's/^/    | /'
	}
}

# whole LOG: the log has its plan, 1..N, and N results.
whole()
{
	local plan
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$1" | tail -n 1)
	[ "$(grep -cE '^(not )?ok\b' "$1")" = "${plan:-none}" ]
}

# A test that runs when we are stopped ends its own services first.
running=
stopped()
{
	trap '' INT TERM HUP
	[ -z "$running" ] || { kill "$running"; wait "$running"; } 2>/dev/null
	exit "$1"
}
trap 'stopped 130' INT
trap 'stopped 143' TERM
trap 'stopped 129' HUP

# one NAME LIMIT COMMAND...: run one TAP producer.
one()
{
	local name=$1 limit=$2 log status
	shift 2
	log=$logs/$(echo "$name" | tr '/ ' '__').log
	began=$SECONDS
	# The shell has what runs beside it ignore Ctrl-C; tests may want it.
	env --default-signal=INT,QUIT timeout -k 30 "$limit" "$@" \
		>"$log" 2>&1 </dev/null &
	running=$!
	wait $running
	status=$?
	running=
	[ $status != 0 ] || whole "$log" || status="0, but not all it had planned"
	count "$name" "$log" "$status"
}

# step NAME COMMAND...: a command whose exit status is the result.
step()
{
	local name=$1 log status
	shift
	log=$logs/$(echo "$name" | tr '/ ' '__').log
	began=$SECONDS
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	[ $status != 0 ] || echo "ok - $name" >>"$log"
	count "$name" "$log" $status
}

unit_tests()
{
	local dir=$1 t
	for t in $(find "$dir" -path '*/test/*' -type f -name 'test_*' -perm -u+x \
			! -path '*/.libs/*' ! -name '*.*' | sort); do
		one "$(basename "$dir")/${t#"$dir"/}" 300 "$t"
	done
}

# A system test runs in a folder of the build tree, where its trash goes.
system_test()
{
	mkdir -p build/t
	one "$1" 900 env -C build/t builddir="$top/build" \
		bash "$(realpath "$1")"
}

for t in "${only[@]}"; do
	[ -f "$t" ] || { echo "check.sh: there is no '$t' in $top" >&2; exit 2; }
done
mkdir -p "$logs"
if [ $build = yes ]; then
	contrib/build.sh "${werror[@]}" || exit 1
	make -s -C build -j"$(nproc)" check TESTS= >build/make-check.out 2>&1 ||
		{ tail -n 40 build/make-check.out; echo "check.sh: could not build the tests" >&2; exit 1; }
fi
if [ ${#only[@]} = 0 ]; then
	if [ $build = yes ]; then
		contrib/build.sh "${werror[@]}" --sanitize || exit 1
		make -s -C build-asan -j"$(nproc)" check TESTS= \
			>build-asan/make-check.out 2>&1 ||
			{ tail -n 40 build-asan/make-check.out; echo "check.sh: could not build the tests with sanitizers" >&2; exit 1; }
	fi
	unit_tests build
	unit_tests build-asan
	contrib/coverage.sh build-asan
	for t in tests/static/*.sh; do
		[ ! -f "$t" ] || step "$t" bash "$t"
	done
	one fuzz 300 env builddir="$top/build" bash tests/fuzz/run.sh
	[ $units = yes ] || only=(tests/*.t)
fi
for t in "${only[@]}"; do
	system_test "$t"
done

[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
