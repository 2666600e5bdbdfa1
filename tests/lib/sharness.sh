# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What every system test sources first: Debian's sharness, run in the build
# tree, with what the steps wrote shown when one failed, and one place where
# cleanup is registered for exit and signals. A test sets test_description
# before and calls test_done last. $builddir names the build tree.

TIDE_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
builddir=${builddir:-$TIDE_TOP/build}
[ -d "$builddir" ] || {
	echo "1..0 # SKIP no build tree in $builddir"
	exit 0
}
builddir=$(cd "$builddir" && pwd -P)
export builddir
# Not the Slurm of this system but one installed elsewhere.
[ -z "${TIDE_SLURM_PREFIX:-}" ] ||
	PATH=$TIDE_SLURM_PREFIX/sbin:$TIDE_SLURM_PREFIX/bin:$PATH
SHARNESS_TEST_DIRECTORY=$builddir/tests
SHARNESS_BUILD_DIRECTORY=$builddir
mkdir -p "$SHARNESS_TEST_DIRECTORY"
[ -r /usr/share/sharness/sharness.sh ] || {
	echo "1..0 # SKIP sharness is not installed"
	exit 0
}
# shellcheck source=/dev/null
. /usr/share/sharness/sharness.sh

# The same folder without the blank in its name, which job scripts trip over.
tide_trash=$SHARNESS_TEST_DIRECTORY/trash.$(basename "$0" .t)
rm -rf "$tide_trash"
mv "$SHARNESS_TRASH_DIRECTORY" "$tide_trash"
cd -P "$tide_trash" || exit 1
SHARNESS_TRASH_DIRECTORY=$PWD HOME=$PWD
[ -z "${remove_trash:-}" ] || remove_trash=$PWD

# What the steps write, unless -v sends it to the terminal.
TIDE_STEPS=
[ "${verbose:-}" = t ] || {
	TIDE_STEPS=$SHARNESS_TEST_DIRECTORY/${0##*/}.steps
	exec 3>"$TIDE_STEPS" 4>&3
}

# at_exit CMD...: CMD runs when the test ends, however it ends; last first.
TIDE_AT_EXIT=()
at_exit() {
	TIDE_AT_EXIT=("$*" "${TIDE_AT_EXIT[@]}")
}

tide_exit() {
	local rc=$? cmd

	trap '' INT TERM HUP
	trap - EXIT
	[ -n "$EXIT_OK" ] || [ $rc != 0 ] || rc=1
	[ $rc = 0 ] || [ -z "$TIDE_STEPS" ] ||
		tail -n 400 "$TIDE_STEPS" | sed 's/^/# /'
	TIDE_FAILED=$rc
	for cmd in "${TIDE_AT_EXIT[@]}"; do
		eval "$cmd"
	done
	[ $rc != 0 ] || rm -f "$TIDE_STEPS"
	exit "$rc"
}
trap tide_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# note TEXT: says in the log of the steps where we are.
note() {
	echo "# $*" >&3
}

# wait_for SECONDS CMD...: runs CMD until it succeeds; false, and said, when
# the time is over.
wait_for() {
	local limit=$((SECONDS + $1)) what

	shift
	what=$*
	until "$@"; do
		[ "$SECONDS" -lt "$limit" ] || {
			echo "waited in vain for: $what" >&2
			return 1
		}
		sleep 0.1
	done
}

# skip_unless REASON CMD...: ends the test as skipped when CMD fails.
skip_unless() {
	local reason=$1

	shift
	"$@" >/dev/null 2>&1 && return
	skip_all=$reason
	test_done
}

# status N COMMAND...: the command ends with exit status N; files out and err
# have what it wrote.
status() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got, wanted $want: $*"
		head -c 2000 out err
		return 1
	}
}
