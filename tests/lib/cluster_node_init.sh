#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# First process of a node of a throwaway cluster, inside its new namespaces:
# sets them up and then holds them until it is killed.
# Arguments: NODE DIR MAJOR "DEVICE..." "CONTROLLER..." BIND...

set -e -u
node=$1 dir=$2 major=$3 devices=$4 controllers=$5
shift 5
dev=$dir/nodes/$node/dev

# make_dev: a small /dev of its own; $devices are synthetic, nothing drives them.
make_dev() {
	local file i=0

	mount -t tmpfs -o mode=755,size=1m tide-dev "$dev"
	mkdir "$dev/pts" "$dev/shm" "$dev/mqueue"
	for file in null zero full random urandom tty; do
		touch "$dev/$file"
		mount --bind "/dev/$file" "$dev/$file"
	done
	mount --bind /dev/pts "$dev/pts"
	mount -t tmpfs -o mode=1777 tide-shm "$dev/shm"
	ln -s pts/ptmx "$dev/ptmx"
	ln -s /proc/self/fd "$dev/fd"
	ln -s /proc/self/fd/0 "$dev/stdin"
	ln -s /proc/self/fd/1 "$dev/stdout"
	ln -s /proc/self/fd/2 "$dev/stderr"
	for file in $devices; do
		mkdir -p "$dev/$(dirname "${file#/dev/}")"
		mknod -m 666 "$dev/${file#/dev/}" c "$major" "$i"
		i=$((i + 1))
	done
	mount --move "$dev" /dev
}

# private_tmp FOLDER...: an empty /tmp in which the folders are seen again. One
# inside another comes after it, and is seen with it.
private_tmp() {
	local folder fd folders fds=()

	mapfile -t folders < <(printf '%s\n' "$@" | LC_ALL=C sort -u)
	for folder in "${folders[@]}"; do
		exec {fd}<"$folder"
		fds+=("$fd")
	done
	mount -t tmpfs -o mode=1777 tide-tmp /tmp
	for folder in "${folders[@]}"; do
		fd=${fds[0]}
		fds=("${fds[@]:1}")
		[ -e "$folder" ] || {
			mkdir -p "$folder"
			mount --no-canonicalize --bind "/proc/self/fd/$fd" \
				"$folder"
		}
		exec {fd}<&-
	done
}

# private_cgroups: the trees of our cgroup namespace, where Slurm looks.
private_cgroups() {
	local controller

	[ -n "$controllers" ] || return 0
	mount -t tmpfs -o mode=755,size=1m tide-cgroup /sys/fs/cgroup
	for controller in $controllers; do
		mkdir "/sys/fs/cgroup/$controller"
		mount -t cgroup -o "$controller" "$controller" \
			"/sys/fs/cgroup/$controller"
	done
}

hostname "$node"
mount --bind "$dir/etc/hosts" /etc/hosts
make_dev
private_cgroups
private_tmp "$dir" "$@"
cd /
touch "$dir/nodes/$node/ready"
exec sleep infinity
