#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The recipes of docs/researcher.md, as they stand there: each file that the
# page shows is submitted, and each command is taken from the page, on a cluster
# whose window opens, closes and opens again.  Only times and sizes are cut down,
# by options.

# shellcheck disable=SC2034 # read by sharness
test_description='the recipes of the researcher'\''s guide'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
skip_unless 'tiderun is not built' test -x "${builddir:?}/launcher/tiderun"
skip_unless 'there is no python3' command -v python3

guide=$TIDE_TOP/docs/researcher.md
export PATH=$builddir/launcher:$PATH

# as_told COMMAND: a command of the guide, for the job $job in place of 12.
as_told() {
	grep -qxF "    $1" "$guide" || {
		echo "the guide does not say: $1" >&2
		return 1
	}
	eval "${1//12/$job}"
}

# Every block that names a file is that file.
awk '/^```[a-z]+ [^ ]+$/ { file = $2; next } /^```$/ { file = "" }
	file { print > file }' "$guide"
sed -e 's/steps: 300/steps: 100000/' -e 's/width: 128/width: 64/' \
	-e 's/layers: 4/layers: 2/' -e 's/context: 128/context: 64/' \
	"$TIDE_TOP/contrib/examples/train.yaml" >train.yaml
cat "$TIDE_TOP"/launcher/*/*.[ch] >text

# lend FROM UNTIL [FROM UNTIL]: both nodes, in these windows.
lend() {
	windows "$@"
	echo "PoolAccount=centre"
	echo "IssueAccount=mint"
	echo "Device=mlu:mlu290 Rate=$RATE"
}

# lend_now FROM UNTIL ...: from now on.
lend_now() {
	lend "$@" >lent && reconfigure lent
}

opens=$(($(now) / 60 * 60 + 3600))
lend $opens $((opens + 36000)) >tide.conf
cluster_start --nodes 2 --cpus 8 --gres mlu:mlu290:8 --tide-conf tide.conf \
	--account vision,lab,centre,mint --user root \
	--set AccountingStorageEnforce=associations,limits,qos,safe \
	--partition "PartitionName=pool Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP TRESBillingWeights=GRES/mlu:mlu290=$((RATE * 1000))"

job=0
test_expect_success 'the account pays' '
	enroll vision 100000 &&
	as_told "tidectl credits balance vision"
'

test_expect_success 'before it is submitted: what it would do (1)' '
	as_told "tiderun train --check --ranks=4 train.yaml"
'

test_expect_success 'the jobs are taken: train, own, periodic (1, 3, 4)' '
	short="--time=10 --time-min=1" &&
	train=$(submit $short --signal=USR1@15 train.sh) &&
	own=$(submit $short --signal=USR1@15 own.sh) &&
	periodic=$(submit $short periodic.sh)
'

test_expect_success 'it waits, and says for what (2)' '
	job=$train &&
	at=$(date -d @$opens +%FT%R) &&
	wait_for 20 reason_is $job "next window w1 $at" &&
	as_told "tidectl windows --horizon 3d" | grep w1 &&
	as_told "squeue --me -o '\''%i %T %l %R'\''" | grep "^$job " &&
	as_told "squeue --start -j 12" | grep " $job " &&
	as_told "scontrol show job 12" | grep "JobId=$job"
'

test_expect_success 'held and released, cancelled (2)' '
	job=$(submit --time=5 --time-min=1 -J held periodic.sh) &&
	as_told "scontrol update job=12 timelimit=06:00:00" &&
	as_told "scontrol hold 12" && wait_for 20 reason_is $job JobHeldAdmin &&
	as_told "scontrol release 12" &&
	as_told "scancel 12" && wait_job_state $job CANCELLED 20
'

test_expect_success 'in the window they run' '
	lend_now $(($(now) - 60)) $(($(now) + 36000)) &&
	wait_for 90 grep "^step" train.out &&
	wait_job_state $own RUNNING 60 &&
	wait_for 60 test -s periodic.step
'

test_expect_success 'the trainer saves and requeues itself before the close (1)' '
	closes=$(($(now) + 25)) &&
	lend_now $(($(now) - 60)) $closes $((closes + 10)) $((closes + 36000)) &&
	wait_for 60 grep "warned at step" train.out
'

test_expect_success 'so does the own program (3)' '
	wait_for 60 grep "saved at step" own.out && test -s count.json
'

test_expect_success 'what knows no warning is requeued at the close (4)' '
	wait_for 60 sacct_shows $periodic State PREEMPTED
'

test_expect_success 'all go on in the next window, where they had saved' '
	wait_for 90 grep "resumed at step" train.out &&
	wait_for 60 grep "resumed at step" own.out &&
	wait_for 60 grep "from step [1-9][0-9]*, run 1" periodic.out &&
	saved=$(sed -n "s/saved at step //p" own.out | head -n 1) &&
	grep -q "resumed at step $saved\$" own.out &&
	scancel $own $periodic
'

test_expect_success 'on another number of nodes (8)' '
	job=$train && as_told "scancel 12" && wait_job_end $job 60 &&
	as_told "tiderun train --check --ranks=2 train.yaml" &&
	step=$(tail -n 1 train.jsonl | jq .step) &&
	sed -i "s/steps: 100000/steps: $((step + 20))/" train.yaml &&
	grep -qxF "    sbatch --nodes=1 train.sh" "$guide" &&
	train=$(submit $short --nodes=1 train.sh)
'

test_expect_success 'what is to come after it comes after it (6)' '
	after=$(submit --dependency=afterok:$train --time=5 evaluate.sh) &&
	wait_job_end $train 90 && job_is $train COMPLETED &&
	test "$(tail -n 1 train.jsonl | jq .ranks)" = 2 &&
	wait_job_end $after 60 && job_is $after COMPLETED &&
	grep "checkpoints/step-.*\.h5" evaluate.out
'

test_expect_success 'many short runs (5)' '
	many=$(submit --array=1-4%2 --time=5 many.sh) &&
	wait_for 60 test -s many-4.out && grep "1e-4" many-4.out
'

test_expect_success 'by hand (9)' '
	told=$(grep -o "^    srun .* --pty bash" "$guide") &&
	${told% --pty bash} bash -c "echo \$MLU_VISIBLE_DEVICES" 2>hand |
		grep -x "[0-7]" &&
	grep "cannot be requeued" hand
'

test_expect_success 'what it cost (7)' '
	job=$own && wait_for 60 charged $job 2 &&
	as_told "sacct -X -D -j 12 -o JobID,State,Elapsed,SystemComment%50" &&
	as_told "tidectl credits statement vision" | grep " $own "
'

test_expect_success 'the result (10)' '
	file=$(ls checkpoints/step-*.h5 | tail -n 1) &&
	told=$(grep -o "^    h5dump -n 1" "$guide") && $told $file | grep /parameter
'

test_done
