# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Nodes of a throwaway cluster. A node is a holder process that keeps mount and
# UTS namespaces alive: a hostname, a private /tmp and /dev with synthetic
# device files, and the cluster's folder bound back in. slurmd runs inside and
# may die and come back without the node changing. Nothing is mounted outside.

# Majors 120-127 are reserved for local use: no driver answers an open.
SYNTHETIC_MAJOR=120

# start_node NAME: starts the holder; node_ready tells when it is set up.
start_node() {
	mkdir -p "$DIR/nodes/$1/spool" "$DIR/nodes/$1/dev"
	launch "node-$1" unshare --mount --uts --propagation private \
		bash "$LIB/cluster_node_init.sh" "$1" "$DIR" "$SYNTHETIC_MAJOR" \
		"$(node_devices "$1")" "${BINDS[@]}"
}

node_ready() {
	[ -e "$DIR/nodes/$1/ready" ]
}

# Prints the names of the device files of node $1, blank separated.
node_devices() {
	local name type count i devices=()

	while IFS=: read -r name type count; do
		for ((i = 0; i < count; i++)); do
			devices+=("$(device_file "$name" "$type" "$i")")
		done
	done < <(node_gres "$1")
	printf '%s\n' "${devices[*]}"
}

# Runs CMD in node $1: in_node NAME CMD...
node_command() {
	local pid

	pid=$(daemon_pid "node-$1") || return 1
	NODE_COMMAND=(nsenter --target "$pid" --mount --uts)
}

# Prints the pids of all processes in the namespaces of node $1 but its holder.
# The holder lives, so the namespace number cannot be another's by now.
node_processes() {
	local holder ns dir

	holder=$(daemon_pid "node-$1") || return 0
	ns=$(readlink "/proc/$holder/ns/mnt") || return 0
	for dir in /proc/[0-9]*; do
		[ "${dir#/proc/}" != "$holder" ] &&
			[ "$dir/ns/mnt" -ef "/proc/$holder/ns/mnt" ] &&
			printf '%s\n' "${dir#/proc/}"
	done
}

# Kills everything in node $1; true when only the holder is left.
empty_node() {
	local pid left=0

	for pid in $(node_processes "$1"); do
		kill -KILL "$pid" 2>/dev/null
		left=1
	done
	return $left
}
