#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Debian 13 beside this machine, with its Slurm 24.11, to build and test in:
# made once by mmdebstrap from this machine's own mirror, kept below
# ~/.cache/tideflow, and entered with mounts, processes and changes that are
# gone when the command ends, however it ends.  Knows nothing of builds or
# tests.
set -euo pipefail

suite=trixie
top=$(cd "$(dirname "$0")/.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tideflow

usage()
{
	cat <<'USAGE'
usage: contrib/chroot.sh make                make it, if it is not there
       contrib/chroot.sh path                print its folder, if it is there
       contrib/chroot.sh run [--bind DIR]... [--] COMMAND...
       contrib/chroot.sh shell [--bind DIR]...

Needs root and mmdebstrap.  The first time takes about two minutes and 2 GB
below ~/.cache/tideflow; a change of contrib/packages.txt makes a new one.

run and shell see this checkout, ~/.cache/tideflow and the folders given by
--bind where they are outside.  Everything else that is written, in /tmp as
anywhere, and every process that is started, is gone when the command ends.
The network is that of this machine.
USAGE
}

say() { echo "chroot: $*" >&2; }
die() { echo "chroot.sh: $*" >&2; exit 1; }

# The packages of packages.txt that this suite has: those marked for no suite
# or for this one.
wanted_packages()
{
	sed 's/#.*//' "$top/contrib/packages.txt" |
		awk -v s="@$suite" 'NF == 1 || $2 == s { print $1 }'
}

# The mirrors of this machine's Debian, as apt lines of our suite.
mirrors()
{
	local codename uri release component

	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || return 0
	# shellcheck disable=SC2016 # for apt
	apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' \
		'Created-By: Packages' | sort -u |
		while IFS='|' read -r uri release component; do
			case $component:$release in
			main:"$codename" | main:"$codename"-updates | main:"$codename"-security)
				echo "deb $uri $suite${release#"$codename"} main"
				;;
			esac
		done
}

# How this machine's apt reaches them, for the one inside.
apt_options()
{
	apt-config dump --format '%F "%v";%n' | grep -E \
		'^Acquire::(https?::(Proxy|Timeout)|Check-(Valid-Until|Date)|Retries)'
	echo 'APT::Install-Recommends "false";'
	echo 'Acquire::Languages "none";'
}

# Sets $root, the folder of the chroot for this list of packages.
name_root()
{
	local hash

	hash=$(wanted_packages | sort | sha256sum)
	root=$cache/$suite-${hash:0:12}
}

lacks()
{
	[ "$(id -u)" = 0 ] || { echo "root is needed"; return; }
	command -v mmdebstrap >/dev/null ||
		{ echo "mmdebstrap is not installed"; return; }
	grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null ||
		{ echo "the kernel has no overlay file system"; return; }
	unshare --mount --pid --fork true 2>/dev/null ||
		{ echo "mount and process namespaces are not allowed"; return; }
	# apt reads what it fetched as a user of its own; without it every
	# signature is a bad one.
	[ -n "$(find /dev/null -type c -perm -0666 2>/dev/null)" ] ||
		echo "not everybody may write to /dev/null: chmod 666 /dev/null"
}

# Holding the lock: a half-made one is under another name, and what a killed
# one left is removed here.
make_root()
{
	local work=$root.new opts=() line lacking

	[ ! -d "$root" ] || return 0
	lacking=$(lacks)
	[ -z "$lacking" ] || die "cannot make a Debian $suite: $lacking"
	mirrors >"$cache/$suite.list"
	[ -s "$cache/$suite.list" ] ||
		die "cannot make a Debian $suite: apt on this machine names no Debian mirror"
	while read -r line; do
		opts+=(--aptopt="$line")
	done < <(apt_options)
	remove_old
	say "making a Debian $suite in $root (about two minutes)"
	# In namespaces of its own: no mount outlives it.
	"${inside[@]}" mmdebstrap --mode=root --variant=apt \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		"${opts[@]}" --include="$(wanted_packages | paste -sd,)" \
		--format=directory "$suite" "$work" "$cache/$suite.list" \
		</dev/null >"$cache/$suite.log" 2>&1 || {
		grep -E "^E:|^  |rror" "$cache/$suite.log" | tail -n 10 >&2
		die "cannot make a Debian $suite: $(grep "^E:" "$cache/$suite.log" | head -n 1) (see $cache/$suite.log)"
	}
	mv -T "$work" "$root"
}

# Half-made ones, and those that nobody enters and nobody used for days.
remove_old()
{
	local old

	for old in "$cache/$suite"-*; do
		[ -d "$old" ] || continue
		case $old in
		*.new) ;;
		*)
			[ -z "$(find "$old.lock" -mtime -3 2>/dev/null)" ] &&
				flock -n "$old.lock" true || continue
			;;
		esac
		rm -rf --one-file-system "$old" "$old.lock"
	done
}

# Runs a command in a process and mount namespace that dies with us.
inside=(setpriv --pdeathsig KILL unshare --mount --pid --fork
	--kill-child=KILL --mount-proc --propagation private)

make_locked()
{
	name_root
	mkdir -p "$cache"
	exec {make_lock}>>"$cache/$suite.lock"
	flock "$make_lock"
	make_root
	# Held as long as we are in it, so that nobody removes it.
	exec {use_lock}>>"$root.lock"
	flock -s "$use_lock"
	touch "$root.lock"
	exec {make_lock}>&-
}

# The first process inside: makes the mounts, runs the command, and takes
# everything with it at its end.
first_process()
{
	local home=$1 root=$2 in=/mnt/in dir
	shift 2

	mount -t tmpfs -o mode=755 tide-chroot /mnt
	mkdir /mnt/upper /mnt/work $in
	mount -t overlay -o "lowerdir=$root,upperdir=/mnt/upper,workdir=/mnt/work" \
		tide-chroot $in
	mount -t proc proc $in/proc
	mount --rbind /sys $in/sys
	mount --rbind /dev $in/dev
	mount -t tmpfs -o mode=1777 tide-shm $in/dev/shm
	mount -t tmpfs -o mode=1777 tide-tmp $in/tmp
	mount -t tmpfs -o mode=755 tide-run $in/run
	# Blocks of ports are locked there.
	mkdir $in/run/lock
	mount --bind /run/lock $in/run/lock
	cp -L /etc/hosts /etc/resolv.conf /etc/hostname $in/etc/ 2>/dev/null || :
	while [ "$1" != -- ]; do
		dir=$1
		mkdir -p "$in$dir"
		mount --rbind "$dir" "$in$dir"
		shift
	done
	shift
	dir=$PWD
	# Not chroot, which nsenter would leave again.
	cd $in
	pivot_root . mnt
	umount -l /mnt
	[ -d "$dir" ] || dir=/
	# The group of processes gets what signal there is; this one must live
	# to see the command end.
	trap : HUP INT TERM
	env --default-signal=HUP,INT,QUIT,TERM -C "$dir" -u TMPDIR \
		HOME="$home" LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"$@" <&0 &
	await $!
	exit "$rc"
}

# await PID: until it has ended, in spite of signals; sets $rc.
await()
{
	while :; do
		rc=0
		wait "$1" || rc=$?
		kill -0 "$1" 2>/dev/null || return 0
	done
}

# enter SESSION COMMAND...: with SESSION=own signals reach the command through
# us, else (own terminal) directly.
enter()
{
	local session=$1 pid
	shift

	set -- "${inside[@]}" bash "$0" --first-process "$HOME" "$root" \
		"${binds[@]}" -- "$@"
	if [ "$session" = terminal ]; then
		trap : INT
		"$@" || exit
		exit 0
	fi
	setsid "$@" <&0 &
	pid=$!
	trap 'kill -INT -- -$pid' INT
	trap 'kill -TERM -- -$pid' TERM HUP
	await $pid
	exit "$rc"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
-h | --help | help) usage; exit 0 ;;
--first-process) first_process "$@" ;;
make | path | run | shell) ;;
*) echo "chroot.sh: unknown command '$command'" >&2; usage >&2; exit 2 ;;
esac

binds=("$top" "$cache")
while [ $# -gt 0 ]; do
	case $1 in
	--bind)
		[ -d "${2:-}" ] || die "--bind needs a folder"
		binds+=("$(realpath -e "$2")")
		shift
		;;
	--) shift; break ;;
	-*) echo "chroot.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
case $command:$# in
run:0) echo "chroot.sh: run needs a command" >&2; exit 2 ;;
make:0 | path:0 | shell:0 | run:*) ;;
*) echo "chroot.sh: $command takes no '$1'" >&2; exit 2 ;;
esac

if [ "$command" = path ]; then
	name_root
	[ -d "$root" ] || die "there is no Debian $suite yet: \`contrib/chroot.sh make\`"
	echo "$root"
	exit 0
fi
make_locked
case $command in
run) enter own "$@" ;;
shell) enter terminal bash ;;
esac
