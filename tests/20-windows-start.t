#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Windows before and at an opening: who may start, who waits and is told for
# what, who is refused, what is planned, and what starts when it opens.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: gate, reason, plan, refusal, wake-up'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

# Far ahead: first is asked what waits, and for what.
opens=$(($(now) / 60 * 60 + 3600))
windows $opens $((opens + 150)) >tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP' \
	--partition 'PartitionName=own Nodes=n[1-2] PriorityTier=10 MaxTime=INFINITE State=UP'
out=$TIDE_CLUSTER_DIR/out
mkdir "$out"

# shown_start_is ID TIME: what squeue --start says.
shown_start_is() {
	[ "$(squeue -h --start -j "$1" -o %S)" = "$2" ]
}

test_expect_success 'the layer is loaded and says over what' '
	ctld_says "tide: windows over /"
'

test_expect_success 'a job of another partition meets no windows' '
	own=$(submit_wrap "sleep 2" -p own -N2 -t 10 -o /dev/null) &&
	wait_job_end "$own" 20 &&
	job_is "$own" COMPLETED
'

test_expect_success 'a job that needs lent nodes waits, with the reason' '
	both=$(submit_wrap "sleep 1" -N2 -x n3 -t 1 -o /dev/null) &&
	wait_for 20 reason_is "$both" \
		"next window w1 $(local_stamp $opens | sed s/:00\$//)" &&
	job_is "$both" PENDING
'

test_expect_success 'and is planned for the opening' '
	wait_for 20 epoch_is "$both" StartTime $opens &&
	wait_for 20 shown_start_is "$both" "$(local_stamp $opens)"
'

test_expect_success 'the reason stays while schedulers pass over the job' '
	for i in 1 2 3 4 5 6 7 8; do
		job_reason "$both" && sleep 0.5
	done >reasons &&
	! grep -qv -e "^next window w1 " -e "^Resources$" reasons &&
	test $(grep -c "^next window" reasons) -ge 6
'

test_expect_success 'a short job on a node of nobody starts meanwhile' '
	short=$(submit_wrap "sleep 1" -N1 -t 1 --time-min=1 -w n3 -o /dev/null) &&
	wait_job_end "$short" 20 &&
	job_is "$short" COMPLETED
'

test_expect_success 'sbatch --test-only knows the windows' '
	sbatch --test-only -N2 -w "n[1-2]" -t 1 --wrap true 2>said &&
	grep -q "start at" said &&
	at=$(sed -n "s/.*start at \([^ ]*\) .*/\1/p" said) &&
	test "$(date -d "$at" +%s)" -ge $opens
'

test_expect_success 'a job no window fits is refused in words' '
	test_must_fail sbatch -N2 -w "n[1-2]" -t 10 --wrap true 2>said &&
	grep -q "no window is long enough for 00:10:00 on 2 node(s): the longest is 00:02:30" said &&
	grep -q -e "--time-min=00:02:30 or less" said
'

test_expect_success 'so is one without any limit' '
	test_must_fail sbatch -N2 -w "n[1-2]" --wrap true 2>said &&
	grep -q "needs a time limit" said
'

test_expect_success 'not where nodes of nobody are enough, nor elsewhere' '
	long=$(submit_wrap true -N1 -t 600 -w n3 -H) &&
	scancel "$long" &&
	long=$(submit_wrap true -N2 -p own -H) &&
	scancel "$long" &&
	long=$(submit_wrap true -N2 -w "n[1-2]" -p pool,own -t 600 -H) &&
	scancel "$long"
'

test_expect_success 'with --time-min it is accepted' '
	min=$(submit_wrap "sleep 300" -N2 -w "n[1-2]" -c1 -t 10 --time-min=1 -o /dev/null)
'

test_expect_success 'a job of two partitions starts where it may' '
	two=$(submit_wrap true -p pool,own -w n1 -t 10 -o /dev/null) &&
	wait_job_end "$two" 20 &&
	job_is "$two" COMPLETED
'

test_expect_success 'inside a reservation there are no windows' '
	scontrol create reservation=free nodes=n2 users=root \
		start=now duration=2 flags=ignore_jobs >/dev/null &&
	in=$(submit_wrap true --reservation=free -w n2 -t 1 -o /dev/null) &&
	wait_job_end "$in" 20 &&
	job_is "$in" COMPLETED &&
	scontrol delete reservation=free
'

test_expect_success 'an interactive job is told that it cannot be requeued' '
	timeout 20 srun -N1 -w n3 -t 1 true 2>said &&
	grep -q "cannot be requeued" said &&
	timeout 20 srun -p own -N1 -t 1 true 2>said &&
	! grep -q "cannot be requeued" said
'

test_expect_success 'nothing of the pool has started on a lent node' '
	job_is "$both" PENDING &&
	job_is "$min" PENDING &&
	opens=$(($(now) + 15)) && closes=$((opens + 300)) &&
	windows_are $opens $closes &&
	job_is "$both" PENDING &&
	job_is "$min" PENDING &&
	test "$(now)" -lt $opens
'

test_expect_success 'at the opening both start at once' '
	wait_until $opens &&
	wait_job_state "$min" RUNNING 20 &&
	wait_job_end "$both" 20 &&
	for id in $min $both; do
		late=$(($(job_epoch "$id" StartTime) - opens)) &&
		test $late -ge 0 && test $late -le 5 || return 1
	done
'

test_expect_success 'the limit is raised to just past the close' '
	wait_for 20 ends_past "$min" $closes
'

test_expect_success 'what does not fit behind the running jobs is not planned' '
	tight=$(submit_wrap true -w n1 --exclusive -t 2 -o /dev/null) &&
	sleep 3 &&
	test "$(job_field "$tight" StartTime)" = Unknown &&
	scancel "$tight"
'

test_expect_success 'a job of --time alone keeps its limit' '
	one=$(submit_wrap "sleep 30" -N1 -w n1 -t 1 -o /dev/null) &&
	wait_job_state "$one" RUNNING 20 &&
	sleep 1 &&
	limit_is "$one" 00:01:00 &&
	scancel "$one"
'

test_expect_success 'a user who lowers the limit of a run is obeyed' '
	scontrol update jobid="$min" TimeLimit=2 &&
	sleep 7 &&
	limit_is "$min" 00:02:00 &&
	scancel "$min"
'

test_done
