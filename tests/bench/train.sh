#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tokens a second of tiderun against PyTorch DistributedDataParallel over gloo:
# the same model (6 layers, width 384, 6 heads, vocabulary 8192, context 256),
# 2 ranks of one thread, 4 sequences a rank, random tokens, AdamW, float32.
# The two take turns; the medians of all their steps are compared.
set -euo pipefail
# shellcheck source=tests/lib/bench.sh
. "$(dirname "$0")/../lib/bench.sh"

here=$(cd "$(dirname "$0")" && pwd)
tiderun=${builddir:?}/launcher/tiderun
rounds=${ROUNDS:-2} steps=${STEPS:-8}
python=${PYTHON:-/usr/bin/python3}
[ -x "$tiderun" ] || { echo "bench: train skipped: tiderun is not built"; exit 0; }
"$python" -c 'import torch' 2>/dev/null ||
	{ echo "bench: train skipped: python3-torch is not installed"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!SLURM_@}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat >"$work/train.yaml" <<YAML
model: {layers: 6, width: 384, heads: 6, context: 256, vocabulary: 8192}
data: {random: true}
training: {steps: $steps, batch_size: 4, learning_rate: 1e-4, weight_decay: 0.01}
checkpoint: {directory: $work/checkpoints}
log: {file: $work/log}
YAML

ours()
{
	rm -rf "$work/checkpoints" "$work/log"
	SLURM_CPUS_PER_TASK=1 mpirun -np 2 --oversubscribe "$tiderun" train \
		"$work/train.yaml" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
	jq 'select(.step > 2).tokens_per_s' "$work/log" >>"$work/ours"
	jq 'select(.step > 2).comm_share' "$work/log" >>"$work/comm"
}

theirs()
{
	local port rank pids=()
	port=$("$python" -c 'import socket as s; x = s.socket(); x.bind(("127.0.0.1", 0)); print(x.getsockname()[1])')
	for rank in 0 1; do
		OMP_NUM_THREADS=1 RANK=$rank WORLD_SIZE=2 MASTER_PORT=$port \
			MASTER_ADDR=127.0.0.1 "$python" "$here/ddp.py" \
			"$steps" 4 >>"$work/theirs" 2>"$work/err$rank" &
		pids+=($!)
	done
	wait "${pids[0]}" && wait "${pids[1]}" || { cat "$work"/err*; exit 1; }
}

for _ in $(seq "$rounds"); do
	ours
	theirs
done
awk -v a="$(median "$work/ours")" -v b="$(median "$work/theirs")" \
	-v c="$(median "$work/comm")" 'BEGIN {
	printf "# tiderun %.0f tokens/s (communication %.1f%%), PyTorch DDP %.0f tokens/s\n",
		a, 100 * c, b
	printf "bench: train %.2f x target >= 0.50 %s\n", a / b,
		a / b >= 0.5 ? "ok" : "MISSED"
}'
