#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The limit of a run, whichever scheduler started it: cut or raised to just past
# the close, never past what the account can pay nor past the planned start of
# a job ahead of it; and what is kept of --time meanwhile.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: the limit after a start by either scheduler'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

main='bf_interval=3600,sched_interval=1,batch_sched_delay=0'
backfill='bf_interval=1,bf_resolution=1,sched_interval=-1,defer'

# matrix WHO PARAMETERS: the same jobs under one scheduler.
matrix() {
	windows $(($(now) + 3600)) $(($(now) + 7200)) >tide.conf
	windows_cluster --no-accounting --set "SchedulerParameters=$2"

	test_expect_success "$1: jobs wait for the opening" '
		plain=$(submit_wrap "exec sleep 600" -t 2 -w n1 -o /dev/null) &&
		min=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n1 -o /dev/null) &&
		stays=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 --no-requeue -w n1 -o /dev/null) &&
		array=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n2 -n2 --array=1-3 -o /dev/null) &&
		opens=$(($(now) + 12)) && closes=$((opens + 200)) &&
		windows_are $opens $closes &&
		for id in $plain $min $stays; do
			job_is $id PENDING || return 1
		done &&
		test "$(now)" -lt $opens
	'

	test_expect_success "$1: and start at it" '
		wait_until $opens &&
		for id in $plain $min $stays ${array}_1 ${array}_2; do
			wait_job_state $id RUNNING 20 || return 1
		done
	'

	test_expect_success "$1: --time alone is the limit" '
		sleep 1 &&
		limit_is "$plain" 00:02:00
	'

	test_expect_success "$1: with --time-min it ends past the close" '
		for id in $min $stays ${array}_1 ${array}_2; do
			wait_for 20 ends_past $id $closes || return 1
		done
	'

	test_expect_success "$1: the waiting rest of an array keeps its --time" '
		wait_for 20 limit_is "${array}_3" 00:30:00 &&
		job_is "${array}_3" PENDING
	'

	test_expect_success "$1: so does a task that is requeued" '
		scontrol requeue "${array}_2" &&
		wait_job_state "${array}_2" PENDING 20 &&
		limit_is "${array}_2" 00:30:00
	'
	cluster_stop
}

matrix main "$main"
matrix backfill "$backfill"

windows $(($(now) - 60)) $(($(now) + 1200)) >tide.conf
windows_cluster --no-accounting --set "SchedulerParameters=$backfill"

test_expect_success 'not past the planned start of a job ahead of it' '
	first=$(submit_wrap "exec sleep 600" -t 3 -w n1 --exclusive -o /dev/null) &&
	wait_job_state "$first" RUNNING 20 &&
	ahead=$(submit_wrap "exec sleep 600" -t 3 -N2 -w "n[1-2]" --exclusive --priority=1000 -o /dev/null) &&
	wait_for 20 epoch_is "$ahead" StartTime "$(job_epoch "$first" EndTime)" &&
	low=$(submit_wrap "exec sleep 600" -t 60 --time-min=1 -w n2 --exclusive --priority=10 -o /dev/null) &&
	wait_job_state "$low" RUNNING 20 &&
	sleep 1 &&
	limit_within "$low" 1 3 &&
	test "$(job_epoch "$low" EndTime)" -le "$(job_epoch "$first" EndTime)"
'
cluster_stop

windows $(($(now) - 60)) $(($(now) + 7200)) >tide.conf
windows_cluster --account vision --set "SchedulerParameters=$backfill" \
	--set AccountingStorageEnforce=limits,qos,safe \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE TRESBillingWeights=CPU=1.0 State=UP'

test_expect_success 'not further than the account can pay' '
	sacctmgr -i modify qos normal set GrpTRESMins=billing=12 >/dev/null &&
	wait_for 20 qos_limit_is normal 12 &&
	job=$(submit_wrap "exec sleep 600" -A vision -t 60 --time-min=2 -w n1 -o /dev/null) &&
	wait_job_state "$job" RUNNING 20 &&
	wait_for 20 limit_within "$job" 11 12
'

test_expect_success 'and Slurm holds the next job for want of credit' '
	next=$(submit_wrap "exec sleep 600" -A vision -t 60 --time-min=2 -w n2 -o /dev/null) &&
	wait_for 20 reason_is "$next" QOSGrpBillingMinutes
'

test_expect_success 'requeued it has its --time, and what it held is free' '
	scontrol requeue "$job" &&
	wait_job_state "$job" PENDING 20 &&
	limit_is "$job" 01:00:00 &&
	wait_job_state "$next" RUNNING 30
'

test_expect_success 'one that can pay for --time-min shows its window, not credits' '
	scancel "$job" "$next" &&
	wait_job_end "$job" 20 && wait_job_end "$next" 20 &&
	windows $(($(now) + 3000)) $(($(now) + 9000)) >later &&
	reconfigure later &&
	poor=$(submit_wrap true -A vision -t 60 --time-min=20 -w n1 -o /dev/null) &&
	waits=$(submit_wrap true -A vision -t 60 --time-min=2 -w n2 -o /dev/null) &&
	wait_for 20 eval "job_reason $waits | grep -q \"next window\"" &&
	wait_for 20 reason_is "$poor" QOSGrpBillingMinutes
'

test_done
