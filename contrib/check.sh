#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every test: prepares the machine and builds (contrib/build.sh), runs the unit
# tests plain and under sanitizers, the static checks and the system tests; for
# this machine's Slurm, for Slurm 24.11 in a Debian 13 beside it
# (contrib/chroot.sh), and for one in a prefix.  Ends with the line
# "N passed, N failed, N skipped".
set -uo pipefail

usage()
{
	cat <<'USAGE'
usage: contrib/check.sh [--slurm 22.05|24.11|all] [--werror] [--units]
                        [--no-build] [TEST.t ...]
       contrib/check.sh --slurm-source DIR --slurm-prefix DIR [...]

Runs all tests, or the named ones, as in tests/00-cluster.t.

  --slurm RELEASE     with that Slurm: 22.05 is that of Debian 12, 24.11 that of
                      Debian 13; where this machine is another, in a chroot
                      (root; the first time makes it). all: both, side by side,
                      what has nothing to do with Slurm on one alone. Without
                      it: with the Slurm of this machine
  --slurm-source DIR  with the Slurm installed in the prefix, of which DIR is
  --slurm-prefix DIR  the configured source; tested before or not
  --werror            warnings are errors
  --units             unit tests and static checks only (no daemons)
  --no-build          what is in build*/ is good as it is

A Slurm that cannot be had here is reported as SKIPPED, with the reason.
USAGE
}

bad_usage() { echo "check.sh: $*" >&2; usage >&2; exit 2; }

top=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$top" || exit 1
werror=()
units=no
build=yes
releases=
source=
prefix=
only=()
while [ $# -gt 0 ]; do
	case $1 in
	--slurm | --slurm-source | --slurm-prefix)
		[ $# -gt 1 ] || bad_usage "$1 needs a value"
		case $1 in
		--slurm) releases=$2 ;;
		--slurm-source) source=$2 ;;
		--slurm-prefix) prefix=$2 ;;
		esac
		shift
		;;
	--werror) werror=(--werror) ;;
	--units) units=yes ;;
	--no-build) build=no ;;
	-h | --help) usage; exit 0 ;;
	-*) bad_usage "unknown option '$1'" ;;
	*) only+=("$1") ;;
	esac
	shift
done
case $releases in
'' | 22.05 | 24.11) ;;
all) releases='22.05 24.11' ;;
*) bad_usage "--slurm '$releases': 22.05, 24.11 or all" ;;
esac
case ${source:+s}${prefix:+p}${releases:+r} in
'' | r | sp) ;;
*) bad_usage "--slurm-source and --slurm-prefix go together, and without --slurm" ;;
esac
for t in "${only[@]}"; do
	[ -f "$t" ] || { echo "check.sh: there is no '$t' in $top" >&2; exit 2; }
done

# Packages first: they say which Slurm is that of this machine.
[ $build = no ] || contrib/build.sh --deps-only || exit 1

# release_of COMMAND: as in 22.05, nothing if there is no such command.
release_of()
{
	PATH=$PATH:/usr/sbin:/sbin "$1" -V 2>/dev/null |
		sed -n 's/^slurm[^ ]* \([0-9]*\.[0-9]*\).*/\1/p'
}

# A suite is one Slurm: its name, where it is, and the build tree for it.  The
# first one has what has nothing to do with Slurm.
suites=()
declare -A place tree
add_suite()
{
	suites+=("$1")
	place[$1]=$2
	tree[$1]=$top/$3
}

own=$(release_of slurmctld)
if [ -n "$prefix" ]; then
	for dir in "$source" "$prefix"; do
		[ -d "$dir" ] || bad_usage "there is no folder '$dir'"
	done
	prefix=$(realpath "$prefix") source=$(realpath "$source")
	release=$(release_of "$prefix/sbin/slurmctld")
	[ -n "$release" ] || bad_usage "there is no slurmctld in '$prefix/sbin'"
	add_suite "$release" prefix "build-$release"
elif [ -z "$releases" ]; then
	add_suite "${own:-own}" here build
else
	for release in $releases; do
		if [ "$release" = "${own:-22.05}" ]; then
			add_suite "$release" here build
		elif [ "$release" = 24.11 ]; then
			add_suite "$release" chroot build-24.11
		else
			add_suite "$release" nowhere "build-$release"
		fi
	done
fi

# Every result is a line in this file, whoever writes it: suite, passed, failed,
# skipped, name and log.  The other one names the suites that can be tested.
state=$(mktemp -d) || exit 1
results=$state/results
ready=$state/ready
: >"$results"
: >"$ready"
# Not in what runs beside us.
trap '[ "$BASHPID" != $$ ] || rm -rf "$state"' EXIT

# result SUITE NAME PASSED FAILED SKIPPED SECONDS [LOG]: counts and shows it;
# of a failure all of the log's end, and nothing of another suite between.
result()
{
	(
		flock 9
		printf '%s\t%d\t%d\t%d\t%s\t%s\n' "$1" "$3" "$4" "$5" "$2" \
			"${7:-}" >>"$results"
		printf '%-6s %-40s %4d passed %3d failed %3d skipped %4ds\n' \
			"$1" "$2" "$3" "$4" "$5" "$6"
		[ -n "${7:-}" ] || return 0
		grep -iE '^ok\b.*# *skip|^1\.\.0 *# *skip' "$7" | sed 's/^/    /'
		[ "$4" = 0 ] || {
			grep -E '^not ok\b' "$7" | sed 's/^/    /'
			tail -n 200 "$7" | sed 's/^/    | /'
		}
	) 9<"$results"
}

# count SUITE NAME LOG STATUS SECONDS: add up the TAP lines of a log; a test
# that ends badly, or without having said anything, has failed.
count()
{
	local suite=$1 name=$2 log=$3 status=$4 p f s
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
	result "$suite" "$name" "$p" "$f" "$s" "$5" "$log"
}

# whole LOG: the log has its plan, 1..N, and N results.
whole()
{
	local plan
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$1" | tail -n 1)
	[ "$(grep -cE '^(not )?ok\b' "$1")" = "${plan:-none}" ]
}

# log_of SUITE NAME
log_of()
{
	mkdir -p "${tree[$1]}/check-logs"
	echo "${tree[$1]}/check-logs/$(echo "$2" | tr '/ ' '__').log"
}

# Sets INSIDE to the command that enters the suite's Slurm.
inside()
{
	case ${place[$1]} in
	chroot) INSIDE=(contrib/chroot.sh run --) ;;
	prefix) INSIDE=(env TIDE_SLURM_PREFIX="$prefix") ;;
	*) INSIDE=() ;;
	esac
}

# one SUITE NAME LIMIT COMMAND...: run one TAP producer in that suite.
one()
{
	local suite=$1 name=$2 limit=$3 log status began=$SECONDS
	shift 3
	log=$(log_of "$suite" "$name")
	inside "$suite"
	# The shell has what runs beside it ignore Ctrl-C; tests may want it.
	env --default-signal=INT,QUIT timeout -k 30 "$limit" "${INSIDE[@]}" \
		"$@" >"$log" 2>&1 </dev/null &
	running=$!
	wait $running
	status=$?
	running=
	[ $status != 0 ] || whole "$log" || status="0, but not all it had planned"
	count "$suite" "$name" "$log" "$status" $((SECONDS - began))
}

# step SUITE NAME COMMAND...: a command whose exit status is the result.
step()
{
	local suite=$1 name=$2 log status began=$SECONDS
	shift 2
	log=$(log_of "$suite" "$name")
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	[ $status != 0 ] || echo "ok - $name" >>"$log"
	count "$suite" "$name" "$log" $status $((SECONDS - began))
}

# skip SUITE REASON: it cannot be had here.
skip()
{
	echo "SKIPPED: Slurm $1: $2"
	printf '%s\t0\t0\t1\t\t\n' "$1" >>"$results"
}

is_ready() { grep -qxF "$1" "$ready"; }

last_line() { tail -n 1 "$1" | sed 's/^[a-z.]*: //'; }

# reach SUITE: is there such a Slurm?  A chroot is made, the source of its Slurm
# fetched; without a mirror it is skipped.
reach()
{
	local log
	log=$(log_of "$1" reach)
	case ${place[$1]} in
	nowhere)
		skip "$1" "this machine has Slurm ${own:-none}, and there is no chroot for $1"
		return 1
		;;
	chroot)
		contrib/chroot.sh make 2>&1 | tee "$log" &&
			contrib/chroot.sh run -- contrib/build.sh --deps-only \
				2>&1 | tee -a "$log" && return
		skip "$1" "$(last_line "$log")"
		return 1
		;;
	esac
}

# built SUITE NAME COMMAND...: without it there is nothing to test.
built()
{
	local suite=$1 name=$2 log began=$SECONDS
	shift 2
	log=$(log_of "$suite" "$name")
	inside "$suite"
	"${INSIDE[@]}" "$@" >"$log" 2>&1 </dev/null && return
	result "$suite" "$name" 0 1 0 $((SECONDS - began)) "$log"
	return 1
}

# build_tree SUITE DIR OPTION...: Slurm's own folder and the tests with it.
build_tree()
{
	local suite=$1 dir=$2
	shift 2
	[ $build = yes ] || return 0
	[ "${place[$suite]}" != prefix ] ||
		set -- "$@" --slurm-source "$source" --slurm-prefix "$prefix"
	echo "$suite: building in $(basename "$dir")"
	built "$suite" "build $(basename "$dir")" \
		contrib/build.sh "${werror[@]}" --builddir "$dir" "$@" &&
		built "$suite" "build of tests $(basename "$dir")" \
			make -s -C "$dir" -j"$(nproc)" check TESTS=
}

unit_tests()
{
	local suite=$1 dir=$2 t
	for t in $(find "$dir" -path '*/test/*' -type f -name 'test_*' -perm -u+x \
			! -path '*/.libs/*' ! -name '*.*' | sort); do
		one "$suite" "$(basename "$dir")/${t#"$dir"/}" 300 "$t"
	done
}

sanitized_tests()
{
	local suite=$1
	if [ $build = no ] && [ ! -d build-asan ]; then
		result "$suite" "unit tests with sanitizers: no build-asan" 0 0 1 0
		return
	fi
	build_tree "$suite" "$top/build-asan" --sanitize &&
		unit_tests "$suite" "$top/build-asan" &&
		contrib/coverage.sh build-asan
}

static_tests()
{
	local suite=$1 t
	for t in tests/static/*.sh; do
		step "$suite" "$t" bash "$t"
	done
	one "$suite" fuzz 300 env builddir="${tree[$suite]}" bash tests/fuzz/run.sh
}

# has_line NAME TEST: the test has a line "# NAME: WHY".
has_line() { grep -q "^# $1: " "$2"; }

# A system test runs in a folder of the build tree, where its trash goes.
system_test()
{
	local dir=${tree[$1]}
	mkdir -p "$dir/t"
	one "$1" "$2" 900 env -C "$dir/t" builddir="$dir" \
		bash "$(realpath "$2")"
}

# Those of one release that keep the processors busy and look at no clock, as
# their line "# Busy: WHY" says.
busy_tests()
{
	local t
	[ $units = no ] || return 0
	for t in tests/*.t; do
		! has_line Busy "$t" || system_test "$1" "$t"
	done
}

# prepare SUITE: all that keeps the machine busy, before anything that looks at
# the clock.  What has nothing to do with the release of Slurm is done once.
prepare()
{
	local suite=$1
	reach "$suite" || return 0
	build_tree "$suite" "${tree[$suite]}" || return 0
	echo "$suite" >>"$ready"
	[ ${#only[@]} = 0 ] || return 0
	if [ "${place[$suite]}" = here ]; then
		beside static_tests "$suite"
		beside sanitized_tests "$suite"
	fi
	unit_tests "$suite" "${tree[$suite]}"
	[ "$suite" != "${suites[0]}" ] || busy_tests "$suite"
	together
}

# tests_of SUITE: its system tests, one a line.  One for one release alone (its
# line "# One release: WHY" says so) is the first suite's, if that was built; so
# are the busy ones, which then were run.
tests_of()
{
	local t
	for t in tests/*.t; do
		if is_ready "${suites[0]}"; then
			! has_line Busy "$t" || continue
			[ "$1" = "${suites[0]}" ] ||
				! has_line 'One release' "$t" || continue
		fi
		echo "$t"
	done
}

# Those that take longest, before all others: so the lanes end together.
long=(tests/90-demo.t tests/27-windows-reconfigure.t tests/26-windows-odd.t
	tests/21-windows-close.t tests/31-credits-faults.t tests/30-credits.t
	tests/00-cluster.t)

# system_tests SUITE: in two lanes, since most of the time they wait.  What has
# windows open and close at a moment is never beside another of its suite that
# does; so it has one lane, which then helps the other.
system_tests()
{
	local suite=$1 t tests=("${only[@]}")
	is_ready "$suite" || return 0
	[ ${#tests[@]} != 0 ] || mapfile -t tests < <(
		{ tests_of "$suite" | grep -xF "$(printf '%s\n' "${long[@]}")"
		  tests_of "$suite"; } | awk '!seen[$0]++')
	for t in "${tests[@]}"; do
		if grep -qE '/lib/windows\.sh"$|/demo\.sh"' "$t"; then
			echo "clock $t"
		else
			echo "other $t"
		fi
	done >"$state/$suite.todo"
	beside take_tests "$suite" clock other
	beside take_tests "$suite" other
	together
}

# take_tests SUITE KIND...: of the first kind that is left, until none is.
take_tests()
{
	local suite=$1 t
	shift
	while t=$(take "$state/$suite.todo" "$@"); do
		system_test "$suite" "$t"
	done
}

# take FILE KIND...: prints the first of the first kind, and takes it out.
take()
{
	local file=$1 kind n
	shift
	(
		flock 9
		for kind; do
			n=$(grep -n -m 1 "^$kind " "$file") || continue
			echo "${n#* }"
			sed -i "${n%%:*}d" "$file"
			exit 0
		done
		exit 1
	) 9<"$results"
}

# A test that runs when we are stopped ends its own services first, and so does
# what runs beside us.
running=
lanes=()
stopped()
{
	trap '' INT TERM HUP
	[ "$BASHPID" != $$ ] || echo "check.sh: stopped by a signal"
	[ -z "$running" ] || { kill "$running"; wait "$running"; } 2>/dev/null
	[ ${#lanes[@]} = 0 ] || { kill "${lanes[@]}"; wait "${lanes[@]}"; } 2>/dev/null
	exit "$1"
}

on_signals()
{
	trap 'stopped 130' INT
	trap 'stopped 143' TERM
	trap 'stopped 129' HUP
}

lane()
{
	lanes=()
	on_signals
	"$@"
}

# beside COMMAND...: runs it beside us, until together.
beside()
{
	lane "$@" &
	lanes+=($!)
}

together()
{
	[ ${#lanes[@]} = 0 ] || wait "${lanes[@]}"
	lanes=()
}

# side_by_side FUNCTION: for all suites.
side_by_side()
{
	local suite began=$SECONDS
	for suite in "${suites[@]}"; do
		beside "$1" "$suite"
	done
	together
	echo "$1: $((SECONDS - began)) s"
}

summary()
{
	local suite
	awk -F '\t' '$3 > 0 {print "failed: " $1 " " $5 " (" $6 ")"}' "$results"
	[ ${#suites[@]} = 1 ] || for suite in "${suites[@]}"; do
		awk -F '\t' -v s="$suite" '$1 == s {p += $2; f += $3; k += $4}
			END {printf "Slurm %s: %d passed, %d failed, %d skipped\n", s, p, f, k}' \
			"$results"
	done
	awk -F '\t' '{p += $2; f += $3; k += $4}
		END {printf "%d passed, %d failed, %d skipped\n", p, f, k
		     exit f || !p}' "$results"
}

on_signals
side_by_side prepare
[ $units = yes ] || side_by_side system_tests
summary
