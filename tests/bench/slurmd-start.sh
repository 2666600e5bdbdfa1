#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How much longer slurmd takes to start when our plugin fills gres.conf in by
# discovery, against Slurm's own counting of lines written by hand: one node of
# sixteen (synthetic) devices, starts by turns, from the exec of slurmd until it
# logs that it has started. For comparison also the plugin with lines by hand,
# which it compares with what is found.
set -euo pipefail

# shellcheck source=tests/lib/bench.sh
. "$(dirname "$0")/../lib/bench.sh"
# shellcheck source=tests/lib/tree.sh
. "$top/tests/lib/tree.sh"
bench_cluster
rounds=${TIDE_BENCH_ROUNDS:-21}

# in_node COMMAND...
in_node() {
	nsenter --target "$node" --mount --uts "$@"
}

# seconds TIME: of a time in slurmd's log.
seconds() {
	date -d "$1" +%s.%3N
}

# start_slurmd FILE: one more line in it, with how many milliseconds it took.
start_slurmd() {
	local pid log=$dir/log/slurmd-n1.log tries=0 line

	: >"$log"
	# shellcheck disable=SC2016 # for the shell in the node
	env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" TIDE_CLUSTER_MEMBER="$dir" \
		nsenter --target "$node" --mount --uts bash -c \
		'echo "$EPOCHREALTIME" >"$1"; exec slurmd -D -N n1' - \
		"$dir/begin" &>/dev/null &
	pid=$!
	until line=$(grep -m 1 'slurmd started on' "$log"); do
		[ $((tries += 1)) -lt 200 ] || {
			echo "slurmd did not start" >&2
			cat "$log" >&2
			return 1
		}
		sleep 0.1
	done
	line=${line#\[}
	echo "$(seconds "${line%%]*}") $(<"$dir/begin")" |
		awk '{ printf "%.1f\n", ($1 - $2) * 1000 }' >>"$1"
	kill "$pid"
	wait "$pid" || :
}

# by_hand, filled_in: what gres.conf says.
by_hand() { cp "$work/hand" "$dir/etc/gres.conf"; }
filled_in() { echo "NodeName=n1 Name=npu" >"$dir/etc/gres.conf"; }
# plugin, no_plugin: is it where Slurm looks?
plugin() { cp "$work/gres_npu.so" "$dir/plugins/"; }
no_plugin() { rm -f "$dir/plugins/gres_npu.so"; }

make_tree "$top/tests/data/devices/npu910c.tree" "$work/machine"
# the processors are those of this machine
for list in "$work"/machine/sys/bus/pci/devices/*/local_cpulist; do
	cp /sys/devices/system/cpu/online "$list"
done
dir=$("$cluster" start --build "$builddir" --nodes 1 --cpus "$(nproc)" \
	--gres npu:ascend910c:16 --no-accounting --bind "$work" \
	--set LogTimeFormat=iso8601_ms)
eval "$("$cluster" env --dir "$dir")"
read -r node _ <"$dir/run/node-n1.pid"
in_node mount --bind "$work/machine/sys/bus/pci/devices" /sys/bus/pci/devices
cp "$dir/etc/gres.conf" "$work/hand"
cp "$dir/plugins/gres_npu.so" "$work/"
"$cluster" kill9 --dir "$dir" slurmd n1 >/dev/null

for ((i = 0; i <= rounds; i++)); do
	# the first ones only warm up
	[ "$i" != 1 ] || rm -f "$work"/ms.*
	by_hand && no_plugin && start_slurmd "$work/ms.without"
	filled_in && plugin && start_slurmd "$work/ms.filled"
	! grep 'error: gres/npu' "$dir/log/slurmd-n1.log"
	by_hand && start_slurmd "$work/ms.compared"
done

awk -v without="$(median "$work/ms.without")" \
	-v filled="$(median "$work/ms.filled")" \
	-v compared="$(median "$work/ms.compared")" -v rounds="$rounds" 'BEGIN {
	printf "# medians of %d starts: without %.1f ms, filled in %.1f ms, by hand and compared %.1f ms\n", \
		rounds, without, filled, compared
	printf "bench: slurmd-start %.2f x target <= 1.10 %s\n", \
		filled / without, filled <= without * 1.1 ? "ok" : "MISSED"
}'
