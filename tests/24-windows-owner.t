#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An owner's job takes its nodes back by Slurm's own preemption, through the
# layer: the pool job is warned, requeued with the --time of its user, and
# comes back when the owner is done.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: the owner comes back'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

closes=$(($(now) + 1800))
windows $(($(now) - 60)) $closes >tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=5 MaxTime=INFINITE State=UP' \
	--partition 'PartitionName=lab Nodes=n[1-2] PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP' \
	--set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE \
	--set SlurmctldParameters=preempt_send_user_signal
out=$SHARNESS_TRASH_DIRECTORY

# A step that says when it can be warned.
cat >step <<'STEP'
#!/bin/bash
trap 'echo warned >>"$1"' USR1
echo >"$1.ready"
while :; do sleep 0.2; done
STEP
chmod +x step

test_expect_success 'a pool job runs on lent nodes, its limit set' '
	job=$(submit_wrap "srun $out/step $out/warned" -t 600 --time-min=10 \
		-N2 -w "n[1-2]" --exclusive --signal=USR1@3 \
		--open-mode=append -o "$out/a") &&
	wait_job_state "$job" RUNNING 20 &&
	wait_for 20 ends_past "$job" $closes &&
	wait_for 20 test -e "$out/warned.ready"
'

test_expect_success 'the owner has its node within the grace time' '
	began=$(now) &&
	own=$(submit_wrap "sleep 3" -p lab -N1 --exclusive -t 60 -o /dev/null) &&
	wait_job_state "$own" RUNNING 40 &&
	test $(($(now) - began)) -le 35
'

test_expect_success 'the pool job was warned and requeued, its --time is back' '
	wait_for 20 test -s "$out/warned" &&
	wait_job_state "$job" PENDING 20 &&
	limit_is "$job" 10:00:00 &&
	test "$(job_field "$job" Restarts)" = 1
'

test_expect_success 'the job of the owner met no window' '
	limit_is "$own" 01:00:00 &&
	wait_job_end "$own" 30 &&
	job_is "$own" COMPLETED
'

test_expect_success 'then the pool job comes back' '
	wait_job_state "$job" RUNNING 40 &&
	wait_for 20 ends_past "$job" $closes &&
	test "$(job_field "$job" Restarts)" = 1 &&
	scancel "$job"
'

test_done
