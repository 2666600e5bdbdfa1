#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Time of a checkpoint against writing and syncing the same number of bytes, by
# dd in the same folder; they take turns, the medians are compared.  A
# checkpoint also digests its bytes, renames the file and syncs the folder.
set -euo pipefail
# shellcheck source=tests/lib/bench.sh
. "$(dirname "$0")/../lib/bench.sh"

tiderun=${builddir:?}/launcher/tiderun
rounds=${ROUNDS:-7}
[ -x "$tiderun" ] || { echo "bench: checkpoint skipped: tiderun is not built"; exit 0; }

# Beside the build, not in /tmp, which may be memory.
work=$(mktemp -d "$builddir/bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset "${!SLURM_@}"
steps=0

# The reference model of bench-train (167 MB); a step as small as can be.
settings()
{
	cat >"$work/train.yaml" <<-YAML
	model: {layers: 6, width: 384, heads: 6, context: 256, vocabulary: 8192}
	data: {random: true}
	training: {steps: $1, batch_size: 1, learning_rate: 1e-4}
	checkpoint: {directory: $work/c, keep: 1}
	YAML
}

ours()
{
	steps=$((steps + 1))
	settings $steps
	"$tiderun" train "$work/train.yaml" >"$work/out" 2>&1 ||
		{ cat "$work/out"; exit 1; }
	sed -n 's/.*: saved .* in \([0-9.]*\) s$/\1/p' "$work/out" >>"$work/ours"
}

theirs()
{
	local began=$EPOCHREALTIME
	rm -f "$work/same"
	dd if="$(ls "$work"/c/*.h5)" of="$work/same" bs=4M conv=fsync status=none
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >>"$work/theirs"
	rm -f "$work/same"
}

for _ in $(seq "$rounds"); do
	ours
	theirs
done
awk -v a="$(median "$work/ours")" -v b="$(median "$work/theirs")" \
	-v n="$(stat -c %s "$work"/c/*.h5)" 'BEGIN {
	printf "# %.1f MB: checkpoint %.3f s, written and synced %.3f s\n",
		n / 1e6, a, b
	printf "bench: checkpoint %.2f x target <= 2.00 %s\n", a / b,
		a / b <= 2 ? "ok" : "MISSED"
}'
