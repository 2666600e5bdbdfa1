# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Nodes of a throwaway cluster. A node is a holder process that keeps mount and
# UTS namespaces alive: a hostname, a private /tmp and /dev with synthetic
# device files, and the cluster's folder bound back in. slurmd runs inside and
# may die and come back without the node changing. Nothing is mounted outside.
# With --cgroup it also has a cgroup namespace: a tree of its own in the v1
# hierarchies, so that nodes and clusters side by side cannot meet there.

# Majors 120-127 are reserved for local use: no driver answers an open.
SYNTHETIC_MAJOR=120

# The v1 controllers that --cgroup uses.
CONTROLLERS=(devices freezer)

# start_node NAME: starts the holder; node_ready tells when it is set up.
start_node() {
	local namespaces=(--mount --uts)

	mkdir -p "$DIR/spool/$1" "$DIR/nodes/$1/dev"
	[ -z "$CGROUP" ] || namespaces+=(--cgroup)
	enter_cgroups "$1"
	launch "node-$1" "${ENTER[@]}" \
		unshare "${namespaces[@]}" --propagation private \
		bash "$LIB/cluster_node_init.sh" "$1" "$DIR" "$SYNTHETIC_MAJOR" \
		"$(node_devices "$1" | cut -d' ' -f3 | tr , ' ' | xargs)" \
		"${CGROUP:+${CONTROLLERS[*]}}" "${BINDS[@]}"
}

# Sets ENTER to a prefix that moves a command into the cgroups of node $1.
enter_cgroups() {
	local controller procs=()

	ENTER=()
	[ -n "$CGROUP" ] || return 0
	for controller in "${CONTROLLERS[@]}"; do
		procs+=("/sys/fs/cgroup/$controller/$(cgroup_name)/$1/cgroup.procs")
		mkdir -p "${procs[-1]%/*}" || return 1
	done
	# shellcheck disable=SC2016 # expanded by that shell
	ENTER=(bash -c 'for file in $1; do echo $$ >"$file" || exit 1; done
		shift
		exec "$@"' enter "${procs[*]}")
}

cgroup_name() {
	printf 'tide-%s-%s\n' "$PORT" "${DIR##*/}"
}

# Removes the cgroups, which have no process any more.
remove_cgroups() {
	[ -n "$CGROUP" ] || return 0
	find "${CONTROLLERS[@]/#//sys/fs/cgroup/}" -depth -type d \
		-path "*/$(cgroup_name)*" -exec rmdir {} +
}

# Prints why devices cannot be constrained by cgroup; nothing when they can.
cgroup_lacks() {
	local controller

	for controller in "${CONTROLLERS[@]}"; do
		[ -w "/sys/fs/cgroup/$controller/cgroup.procs" ] || {
			echo "no cgroup v1 controller '$controller' to write to"
			return
		}
	done
	unshare --cgroup true 2>/dev/null ||
		echo "cgroup namespaces are not allowed"
}

node_ready() {
	[ -e "$DIR/nodes/$1/ready" ]
}

# Sets NODE_COMMAND to a prefix that runs a command in node $1.
node_command() {
	local pid

	pid=$(daemon_pid "node-$1") || return 1
	enter_cgroups "$1" || return 1
	# shellcheck disable=SC2034 # for the caller
	NODE_COMMAND=("${ENTER[@]}" nsenter --target "$pid" --mount --uts
		${CGROUP:+--cgroup})
}

# Prints the pids of all processes in the namespaces of node $1 but its holder.
# The holder lives, so the namespace number cannot be another's by now.
node_processes() {
	local holder dir

	holder=$(daemon_pid "node-$1") || return 0
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
