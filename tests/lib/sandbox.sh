# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# This machine as a sandbox: an overlay over / in namespaces of its own (mounts,
# processes), where packages can be installed, upgraded and purged for real.
# What is written goes to memory and is gone at the end; the checkout and the
# build tree are the real ones. Source after sharness.sh or cluster.sh.

# sandbox_lacks: why there can be none here; nothing when it can.
sandbox_lacks() {
	[ "$(id -u)" = 0 ] || { echo "not root"; return; }
	unshare --mount --pid --fork --propagation private sh -c '
		mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/m &&
		mount -t overlay overlay -o \
			lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/m
	' 2>/dev/null || echo "no overlay over / can be mounted"
}

# sandbox_start: makes it; $SANDBOX_PID is its first process. Its root is the
# root of its mounts, not a chroot: daemons that enter namespaces of their own
# stay inside.
sandbox_start() {
	local first

	SANDBOX=$PWD/sandbox # where it is put together
	mkdir -p "$SANDBOX"
	rm -f sandbox.ready
	# shellcheck disable=SC2016,SC2154 # expanded inside; builddir: sharness.sh
	SANDBOX=$SANDBOX READY=$PWD/sandbox.ready KEEP="$TIDE_TOP $builddir" \
		unshare --mount --pid --fork --propagation private bash -c '
		set -e
		mount -t tmpfs -o mode=755 tmpfs "$SANDBOX"
		cd "$SANDBOX"
		mkdir upper work root
		mount -t overlay overlay -o \
			"lowerdir=/,upperdir=$SANDBOX/upper,workdir=$SANDBOX/work" root
		mount -t proc proc root/proc
		mount --rbind /dev root/dev
		mount --rbind /sys root/sys
		mount -t tmpfs -o mode=1777 tmpfs root/tmp
		mount -t tmpfs -o mode=755 tmpfs root/run
		mkdir -p root/run/lock
		[ ! -d /run/lock ] || mount --bind /run/lock root/run/lock
		for dir in $KEEP; do
			mkdir -p "root$dir"
			mount --bind "$dir" "root$dir"
		done
		mkdir root/run/upper root/run/old
		mount --bind upper root/run/upper
		cd root
		pivot_root . run/old
		: >"$READY"
		umount --lazy /run/old
		exec sleep infinity
	' &
	first=$!
	at_exit sandbox_end "$first"
	wait_for 30 test -e sandbox.ready &&
		SANDBOX_PID=$(pgrep -P "$first")
}

# sandbox_end PID: ends all processes inside; the mounts go with the last.
sandbox_end() {
	local inside

	inside=$(pgrep -P "$1") && kill -KILL "$inside"
	wait "$1" 2>/dev/null
	rmdir "$SANDBOX" 2>/dev/null
	return 0
}

# inside COMMAND...: runs it in the sandbox, from its root folder.
inside() {
	nsenter --target "$SANDBOX_PID" --mount --pid "$@"
}

# written: every file that differs from the machine's, and our folders, with
# kind and mode; what the package tools, a cluster (its cache) and MariaDB's
# installer keep for themselves is left out, and so is the mark that an overlay
# has for a folder of ours that was removed and that the machine has.
written() {
	inside find /run/upper -mindepth 1 \
		\( ! -type d -o -path '*tideflow*' \) -printf '/%P %y %m\n' |
		grep -vE '^/(var/(lib/(dpkg|apt|systemd)|cache|log)|etc/ld.so.cache|root/.cache|usr/lib/mysql)[-/ ]|^/var/lib/tideflow c 0$' |
		sort
}
