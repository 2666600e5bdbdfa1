#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tiderun train against PyTorch: both go on from one checkpoint, with their own
# model, gradients and AdamW, and lose the same.
#
# One release: no Slurm is asked.

# shellcheck disable=SC2034 # read by sharness
test_description='tiderun train loses what PyTorch loses'
# shellcheck source=tests/lib/sharness.sh
. "$(dirname "$0")/lib/sharness.sh"

tiderun=${builddir:?}/launcher/tiderun
python=${PYTHON:-/usr/bin/python3}
skip_unless 'tiderun is not built' test -x "$tiderun"
skip_unless 'h5dump is not installed' command -v h5dump
skip_unless 'python3-torch is not installed' "$python" -c 'import torch'
unset "${!SLURM_@}"

# One sequence and the byte after it: every sample is this one.
printf 'In the beginning God created the ' >text

# train STEPS
train() {
	cat >train.yaml <<-YAML
	model: {layers: 2, width: 48, heads: 3, context: 32}
	data: {file: text}
	training: {steps: $1, batch_size: 2, gradient_accumulation: 2, learning_rate: 3e-3}
	scheduling: {decay: constant}
	checkpoint: {directory: checkpoints}
	log: {file: log}
	YAML
	"$tiderun" train train.yaml
}

test_expect_success 'ten steps from one checkpoint: the same losses to 1e-5' '
	train 3 && train 13 &&
	jq "select(.step > 3).loss" log >ours &&
	"$python" "$TIDE_TOP/tests/lib/torch_steps.py" \
		checkpoints/step-0000000003.h5 text 4 10 3e-3 >theirs &&
	paste ours theirs &&
	paste ours theirs | awk "{ d = \$1 - \$2; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
		END { print n, worst; exit !(n == 10 && worst < 1e-5) }"
'

test_done
