#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tiderun train as batch jobs of a real Slurm (without TideFlow's plugins): how
# it starts, is warned, requeues itself, is cancelled, and shares folders.

# shellcheck disable=SC2034 # read by sharness
test_description='tiderun train in batch jobs'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'tiderun is not built' test -x "${builddir:?}/launcher/tiderun"

export PATH=$builddir/launcher:$PATH
cat "$TIDE_TOP"/launcher/*/*.[ch] >text
cluster_start --nodes 2 --cpus 2 --no-accounting --plugins none

# batch NAME STEPS OPTION...: a training on 2 nodes with 2 ranks each, in folder
# NAME, its output in NAME.out; prints the job's id.
batch() {
	local name=$1

	sed -e 's/steps: 300/steps: '"$2"'/' -e "s/directory: [a-z]*/directory: $name/" \
		-e "s/train.jsonl/$name.jsonl/" -e 's/width: 128/width: 64/' \
		-e 's/layers: 4/layers: 2/' -e 's/context: 128/context: 64/' \
		"$TIDE_TOP/contrib/examples/train.yaml" >"$name.yaml"
	shift 2
	submit --job-name=train --nodes=2 --ntasks-per-node=2 --open-mode=append \
		--output="$name.out" "$@" --wrap "srun --mpi=pmix tiderun train $name.yaml"
}

# at_step NAME N
at_step() {
	[ -s "$1.jsonl" ] && [ "$(tail -n 1 "$1.jsonl" | jq .step)" -ge "$2" ]
}

# released ID: the job waits again; let it start before Slurm would. In the
# second of its end slurmd takes a new run for the old one, whose credential is
# revoked.
released() {
	wait_job_state "$1" PENDING 30 && wait_until $(($(now) + 2)) &&
		scontrol update "jobid=$1" starttime=now
}

test_expect_success 'four ranks on two nodes find each other and finish' '
	id=$(batch whole 20) && wait_job_end $id 90 && job_is $id COMPLETED &&
	grep "starting at step 0" whole.out && grep "done: 20 steps" whole.out &&
	test "$(tail -n 1 whole.jsonl | jq -c "[.step,.ranks,.run]")" = "[20,4,0]"
'

# Slurm looks every 30 s and sends up to so much early: after 20 to 50 s here.
test_expect_success 'warned by --signal: saves, requeues itself, resumes at that step' '
	id=$(batch warned 100000 --time=2 --signal=USR1@70 --requeue) &&
	wait_for 90 grep "warned at step" warned.out && released $id &&
	test "$(job_field $id Restarts)" = 1 &&
	step=$(sed -n "s/.*warned at step \([0-9]*\):.*/\1/p" warned.out) &&
	test "$step" -gt 0 && test -s warned/step-$(printf %010d $step).h5 &&
	wait_for 60 grep "resumed at step $step from warned/step-" warned.out &&
	wait_for 30 at_step warned $((step + 1)) &&
	tail -n 1 warned.jsonl | jq -e ".run == 1" &&
	scancel $id && wait_job_end $id 60
'

test_expect_success 'cancelled: saves, and does not come back' '
	id=$(batch cancelled 100000 --requeue) && wait_for 60 at_step cancelled 5 &&
	scancel $id && wait_job_end $id 60 && job_is $id CANCELLED &&
	grep "being ended: no requeue asked for" cancelled.out &&
	test -n "$(ls cancelled/step-*.h5)" && test -z "$(find cancelled -name "*.tmp")"
'

test_expect_success 'a refused requeue is said, and the job fails with 75' '
	id=$(batch refused 100000 --no-requeue) && wait_for 60 at_step refused 5 &&
	scancel -s USR1 $id && wait_job_end $id 60 && job_is $id FAILED &&
	test "$(job_field $id ExitCode)" = 75:0 &&
	grep "cannot requeue job $id: scontrol said: ..*" refused.out &&
	test -n "$(ls refused/step-*.h5)"
'

test_expect_success 'without PMIx it is refused, with the remedy' '
	test_must_fail srun --mpi=none -N2 -n4 tiderun train whole.yaml 2>none.out &&
	grep "MPI sees 1; start with .srun --mpi=pmix." none.out
'

test_expect_success 'a second job on the folder of a live one is refused, from another node too' '
	id=$(batch live 100000 -N1 --nodelist=n1) && wait_for 60 at_step live 5 &&
	other=$(batch live 100000 -N1 --nodelist=n2 --output=other.out) &&
	wait_job_end $other 60 && job_is $other FAILED &&
	grep "in use by job $id run 0 on n1" other.out &&
	job_is $id RUNNING && scancel $id && wait_job_end $id 60
'

test_done
