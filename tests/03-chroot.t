#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Debian 13 beside this machine: what a command in it sees and may change,
# and that nothing of it is left, however it ends. Made elsewhere, it is not
# made here: that takes minutes.
#
# One release: there is none inside another.

# shellcheck disable=SC2034 # read by sharness
home=$HOME # sharness changes it, and the cache is there
test_description='the Debian 13 beside this machine'
# shellcheck source=tests/lib/sharness.sh
. "$(dirname "$0")/lib/sharness.sh"

inside() {
	HOME=$home "$TIDE_TOP/contrib/chroot.sh" run -- "$@"
}

root=$(HOME=$home "$TIDE_TOP/contrib/chroot.sh" path 2>/dev/null) || {
	skip_all='it was not made yet: contrib/chroot.sh make'
	test_done
}

test_expect_success 'a command sees the checkout, in another Debian' '
	(cd "$TIDE_TOP" && inside bash -c \
		". /etc/os-release; echo \$VERSION_CODENAME; pwd; ls configure.ac") >out &&
	printf "%s\n" trixie "$TIDE_TOP" configure.ac >want &&
	test_cmp want out
'

test_expect_success 'its status is passed on, and its input and output' '
	test_expect_code 7 inside sh -c "exit 7" &&
	test "$(echo in and out | inside cat)" = "in and out"
'

test_expect_success 'what it writes is gone' '
	inside sh -c "touch /etc/left /tmp/left && rm /etc/debian_version" &&
	test -e "$root/etc/debian_version" &&
	test ! -e "$root/etc/left" && test ! -e /etc/left && test ! -e /tmp/left
'

test_expect_success 'what it leaves running is ended' '
	inside sh -c "setsid sleep 31${$}1 & sleep 0.2" &&
	test -z "$(pgrep -xf "sleep 31${$}1")"
'

# ended SIGNAL STATUS: the command is there, then chroot.sh gets the signal.
ended() {
	local pid rc=0

	HOME=$home env --default-signal=INT setsid \
		"$TIDE_TOP/contrib/chroot.sh" run -- sleep "32$$" &
	pid=$!
	wait_for 20 pgrep -xf "sleep 32$$" &&
		kill "-$1" $pid || return 1
	wait $pid || rc=$?
	[ $rc = "$2" ] && wait_for 20 nothing_left
}

nothing_left() {
	! pgrep -f "sleep 32$$" && ! grep "tide-chroot" /proc/self/mountinfo
}

for signal in INT:130 TERM:143 KILL:137; do
	test_expect_success "SIG${signal%:*} ends all of it" '
		ended ${signal%:*} ${signal#*:}
	'
done

test_expect_success 'a machine that cannot make one says what it lacks' '
	mkdir -p bin cache &&
	for prog in bash dirname sed awk sha256sum sort mkdir flock touch id rm \
		grep find; do
		ln -s "$(command -v $prog)" "bin/$prog" || return 1
	done &&
	test_must_fail env PATH="$PWD/bin" XDG_CACHE_HOME="$PWD/cache" \
		"$TIDE_TOP/contrib/chroot.sh" make 2>err &&
	grep "cannot make a Debian trixie: mmdebstrap is not installed" err &&
	test -z "$(find cache -mindepth 2 -type d)"
'

# Seen: somebody had changed /dev/null, and apt called every signature bad.
test_expect_success 'nor can one whose /dev/null is not for all' '
	mknod -m 644 null c 1 3 &&
	test_must_fail env XDG_CACHE_HOME="$PWD/cache" unshare --mount \
		--propagation private sh -c "mount --bind null /dev/null &&
			exec \"$TIDE_TOP/contrib/chroot.sh\" make" 2>err &&
	grep "not everybody may write to /dev/null: chmod 666 /dev/null" err &&
	test -z "$(find cache -mindepth 2 -type d)"
'

test_done
