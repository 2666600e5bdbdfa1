#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Windows over crashes and restarts of slurmctld: what the layer has to
# remember, it does; a close that comes while slurmctld is down is made up for;
# and the layer can be taken away and put back with jobs running and pending.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: kill -9, restart, taking the layer away'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

opens=$(($(now) + 12))
closes=$((opens + 75))
windows $opens $closes $((closes + 3600)) $((closes + 7200)) >tide.conf
windows_cluster --no-accounting
conf=$TIDE_CLUSTER_DIR/etc/slurm.conf

# cut_short ID: its limit is that of the close; how many minutes that is depends
# on when, after a requeue, it was started again.
cut_short() {
	limit_is "$1" 00:03:00 || limit_is "$1" 00:02:00
}

# Put a slurm.conf in place and restart slurmctld with it.
restart_with() {
	cp "$1" "$conf" && "$CLUSTER" restart slurmctld
}

without_layer() {
	sed -e "/^JobSubmitPlugins=/d" \
		-e "s|^PluginDir=[^:]*:|PluginDir=|" "$1"
}

test_expect_success 'a job starts in the window and its limit is set' '
	cp "$conf" with && without_layer with >without &&
	run=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n1 -o /dev/null) &&
	stay=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n2 -o /dev/null) &&
	later=$(submit_wrap "exec sleep 600" -t 30 --time-min=20 -w n1 -H -o /dev/null) &&
	wait_job_state "$run" RUNNING 20 &&
	wait_job_state "$stay" RUNNING 5 &&
	wait_for 5 limit_is "$run" 00:03:00 &&
	grep -q "^job $run user 30 changed 1 " "$TIDE_CLUSTER_DIR/state/tide_state"
'

test_expect_success 'kill -9 in the middle of it: the job goes on as before' '
	wait_state_saved "$run" &&
	"$CLUSTER" kill9 slurmctld &&
	"$CLUSTER" restart slurmctld &&
	wait_job_state "$run" RUNNING 10 &&
	limit_is "$run" 00:03:00 &&
	job_is "$later" PENDING
'

test_expect_success 'a requeue still gives the --time of the user back' '
	scontrol requeue "$run" &&
	wait_job_state "$run" PENDING 10 &&
	limit_is "$run" 00:30:00
'

test_expect_success 'without the layer nothing is lost' '
	wait_job_state "$run" RUNNING 15 &&
	wait_for 5 cut_short "$run" &&
	restart_with without &&
	job_is "$stay" RUNNING &&
	job_is "$run" RUNNING &&
	limit_is "$run" 00:30:00 &&
	limit_is "$stay" 00:30:00 &&
	job_is "$later" PENDING &&
	ctld_says "tide: windows over" &&
	rest=$(submit_wrap true -t 1 -w n3 -o /dev/null) &&
	wait_job_end "$rest" 10 && job_is "$rest" COMPLETED
'

test_expect_success 'nor when it is put back' '
	restart_with with &&
	job_is "$stay" RUNNING &&
	job_is "$run" RUNNING &&
	wait_for 5 cut_short "$run" &&
	wait_for 5 cut_short "$stay" &&
	job_is "$later" PENDING &&
	scontrol release "$later" &&
	wait_for 10 reason_is "$later" \
		"next window w2 $(local_stamp $((closes + 3600)) | sed s/:00\$//)"
'

test_expect_success 'a close while slurmctld is down is made up for' '
	wait_state_saved "$run" &&
	"$CLUSTER" kill9 slurmctld &&
	test "$(now)" -lt $closes &&
	wait_until $((closes + 2)) &&
	"$CLUSTER" restart slurmctld &&
	wait_job_state "$run" PENDING 10 &&
	wait_job_state "$stay" PENDING 10 &&
	limit_is "$run" 00:30:00 &&
	limit_is "$stay" 00:30:00
'

test_done
