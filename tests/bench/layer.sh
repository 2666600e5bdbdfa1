#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the layer adds to job_test: a real slurmctld with 10,000 nodes (half of
# them lent, in ten groups of windows, open now), jobs running on most of them
# and jobs waiting; backfill plans, and for each plan both the layer and
# Slurm's own cons_tres are asked in turn, with the same arguments.
set -euo pipefail

# shellcheck source=tests/lib/bench.sh
. "$(dirname "$0")/../lib/bench.sh"
bench_cluster
calls_wanted=100
make -s -C "$builddir/plugins/select/tide" test/bench_select.la >&2
mkdir "$work/bench" "$work/layer"
cp "$builddir/plugins/select/tide/test/.libs/bench_select.so" \
	"$work/bench/select_cons_tres.so"
cp "$builddir/plugins/select/tide/.libs/select_cons_tres.so" "$work/layer/"
stock=$(sed -n 's/^#define TIDE_SLURM_PLUGINDIR "\(.*\)"/\1/p' \
	"$builddir/config.h")

cat >"$work/nodes" <<'CONF'
NodeName=c[0001-9990] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 State=CLOUD
CONF
{
	echo "PoolPartition=pool"
	for i in 0 1 2 3 4 5 6 7 8 9; do
		nodes="c[$(printf '%04d-%04d' $((i * 500 + 1)) $((i * 500 + 500)))]"
		echo "OwnerAccount=o$i Nodes=$nodes"
		echo "WindowName=w$i Nodes=$nodes TimeZone=UTC" \
			"From=$(date -u -d '-1 hour' +%FT%T)" \
			"Until=$(date -u -d "+$((48 + i)) hours" +%FT%T)"
	done
} >"$work/tide.conf"

dir=$("$cluster" start --build "$builddir" --no-accounting --nodes 1 --bind "$work" \
	--plugins none --tide-conf "$work/tide.conf" \
	--conf-append "$work/nodes" \
	--partition 'PartitionName=pool Nodes=c[0001-9990] Default=YES MaxTime=INFINITE State=UP' \
	--set "PluginDir=$work/bench:$work/layer:$stock" \
	--set SuspendProgram=/bin/true --set ResumeProgram=/bin/true \
	--set SuspendTime=INFINITE --set ResumeTimeout=65000 \
	--set ResumeRate=0 --set SuspendRate=0 --set SlurmdTimeout=0 \
	--set SchedulerParameters=bf_interval=1,bf_max_job_test=50,bf_continue,max_rpc_cnt=0)
eval "$("$cluster" env --dir "$dir")"

# More than fits: 110 or so run, the rest wait and are planned.
for ((i = 0; i < 160; i++)); do
	sbatch -Q -N$((60 + i % 61)) --exclusive -t $((60 + i % 7 * 30)) \
		-o /dev/null --wrap true
done
limit=$((SECONDS + 240))
calls=0
while [ "$calls" -lt $calls_wanted ]; do
	[ $SECONDS -lt $limit ] || { echo "layer.sh: only $calls plans in 240 s" >&2; exit 1; }
	sleep 1
	calls=$(awk '{ print $2 }' "$dir/state/bench" 2>/dev/null || true)
	calls=${calls:-0}
done
awk '{
	ratio = $4 / $6
	printf "# %d plans, stock %.3f ms each, with the layer %.3f ms\n", \
		$2, $6 / $2 / 1e6, $4 / $2 / 1e6
	printf "bench: layer_job_test %.3f x target <= 1.05 %s\n", ratio, \
		ratio <= 1.05 ? "ok" : "MISSED"
}' "$dir/state/bench"
