#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Windows and what is rare: several partitions, heterogeneous jobs, a pool
# whose partition was renamed, a last good copy that was cut short, a layer
# that nobody guards.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by steps
test_description='windows: odd jobs and odd faults'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

# slurmctld again, on the files of etc as they are.
restart_bare() {
	"$CLUSTER" restart --as-is slurmctld
}

het_is() {
	[ "$(squeue -h -j "$1" -o %T | sort -u)" = "$2" ]
}

windows $(($(now) + 3600)) $(($(now) + 7200)) >tide.conf
windows_cluster --no-accounting --set \
	SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=-1,defer \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES PriorityTier=1 State=UP' \
	--partition 'PartitionName=spare Nodes=n3 PriorityTier=0 State=UP' \
	--partition 'PartitionName=own Nodes=n[1-3] PriorityTier=9 State=UP'

test_expect_success 'a heterogeneous batch job is told no untruth' '
	submit_wrap "exec sleep 600" -p own -w n3 -n2 -t 60 -o /dev/null &&
	het=$(submit_wrap "exec sleep 600" -o /dev/null \
		-t 30 --time-min=1 -w n3 -n1 : -t 30 --time-min=1 -w n1 -n1 2>said) &&
	! grep "not a batch job" said
'

test_expect_success 'a job of several partitions waits' '
	both=$(submit_wrap "exec sleep 600" -p pool,spare -n3 -x n2 -t 30 \
		--time-min=1 -o /dev/null) &&
	opens=$(($(now) + 12)) && closes=$((opens + 66)) &&
	windows_are $opens $closes $((closes + 3600)) $((closes + 7200)) &&
	wait_until $((opens - 3)) &&
	job_is "$both" PENDING &&
	test "$(now)" -lt $opens
'

test_expect_success 'in the window it runs up to the close, not for --time-min' '
	wait_job_state "$both" RUNNING 25 &&
	wait_for 20 ends_past "$both" $closes &&
	wait_for 20 het_is "$het" RUNNING
'

test_expect_success 'the close of one component ends the heterogeneous job, requeued' '
	wait_until $closes &&
	wait_for 20 het_is "$het" PENDING &&
	test "$(squeue -h -j "$het" -o %i | wc -l)" = 2 &&
	wait_job_state "$both" PENDING 20 &&
	limit_is "$both" 00:30:00 &&
	scancel "$both" "$het"
'

test_expect_success 'a pool whose partition was renamed does not open its nodes' '
	cp "$(etc slurm.conf)" kept &&
	sed -i s/PartitionName=pool/PartitionName=batch/ "$(etc slurm.conf)" &&
	restart_bare &&
	wait_for 20 ctld_says "PoolPartition=pool: Slurm has no such partition" &&
	lent=$(submit_wrap "exec sleep 600" -p batch -w n1 -t 1 -o /dev/null) &&
	free=$(submit_wrap "exec sleep 600" -p batch -w n3 -t 1 -o /dev/null) &&
	wait_job_state "$free" RUNNING 20 &&
	job_is "$lent" PENDING &&
	scancel "$lent" "$free" &&
	cp kept "$(etc slurm.conf)"
'

test_expect_success 'a last good copy that was cut short is not used' '
	restart_bare &&
	good=$TIDE_CLUSTER_DIR/state/tide.conf.good &&
	wait_for 20 grep -q "^# the end" "$good" &&
	head -n 1 "$good" >cut && cp cut "$good" &&
	echo Wrong=1 >>"$(etc tide.conf)" &&
	restart_bare &&
	ctld_says "tide.conf.good: its end is missing" &&
	ctld_says "there is no last good tide.conf" &&
	lent=$(submit_wrap "exec sleep 600" -w n1 -t 1 -o /dev/null) &&
	free=$(submit_wrap true -p own -w n1 -t 1 -o /dev/null) &&
	wait_job_end "$free" 20 &&
	job_is "$lent" PENDING &&
	scancel "$lent"
'

# In 25.11 and later the run has its --time back at once.
slurm_since 25.11 || test_set_prereq LEFT_AT_MIN
test_expect_success LEFT_AT_MIN 'after a crash a run at --time-min is raised all the same' '
	windows $(($(now) - 60)) $(($(now) + 7200)) >open &&
	{ cat open; echo Mode=observe; } >observe && reconfigure observe &&
	run=$(submit_wrap "exec sleep 600" -H -w n1 -t 30 --time-min=1 -o /dev/null) &&
	wait_for 20 grep -q "^job $run user 30" \
		"$TIDE_CLUSTER_DIR/state/tide_state" &&
	scontrol release "$run" &&
	wait_job_state "$run" RUNNING 40 &&
	limit_is "$run" 00:01:00 &&
	wait_for 20 grep -q "^job $run .* changed 1" \
		"$TIDE_CLUSTER_DIR/state/tide_state" &&
	wait_state_saved "$run" &&
	cp open "$(etc tide.conf)" &&
	"$CLUSTER" kill9 slurmctld &&
	restart_bare &&
	wait_for 20 limit_is "$run" 00:30:00 &&
	scancel "$run"
'

# For slurmctld it runs until the node tells that it does not.
has_its_time() {
	if job_is "$run" RUNNING; then
		grep -q "^job $run user 30 changed 1" "$state/tide_state"
	else
		limit_is "$run" 00:30:00
	fi
}

test_expect_success 'a crash before Slurm saved the end of a run costs no --time' '
	windows $(($(now) - 60)) $(($(now) + 240)) >short &&
	reconfigure short &&
	run=$(submit_wrap "exec sleep 600" -w n2 -t 30 --time-min=1 -o /dev/null) &&
	state=$TIDE_CLUSTER_DIR/state &&
	wait_for 30 grep -q "^job $run user 30 changed 1 .* set [2-6]\$" \
		"$state/tide_state" &&
	wait_state_saved "$run" &&
	cp "$state/job_state" before &&
	scontrol requeuehold "$run" &&
	wait_for 20 grep -q "^job $run user 30 changed 0" "$state/tide_state" &&
	"$CLUSTER" kill9 slurmctld &&
	cp before "$state/job_state" &&
	restart_bare &&
	wait_for 20 has_its_time &&
	scancel "$run"
'

test_expect_success 'a layer that nothing guards says so' '
	! ctld_says "JobSubmitPlugins=tide is missing" &&
	sed -i "/^JobSubmitPlugins=/d" "$(etc slurm.conf)" &&
	restart_bare &&
	ctld_says "JobSubmitPlugins=tide is missing"
'

test_done
