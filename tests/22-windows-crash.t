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

closes=$(($(now) + 1000))
again=$((closes + 3600))
windows $(($(now) - 60)) $closes $again $((again + 3600)) >tide.conf
windows_cluster --no-accounting
conf=$TIDE_CLUSTER_DIR/etc/slurm.conf

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
	wait_job_state "$stay" RUNNING 20 &&
	wait_for 20 ends_past "$run" $closes &&
	grep -q "^job $run user 30 changed 1 " "$TIDE_CLUSTER_DIR/state/tide_state"
'

test_expect_success 'kill -9 in the middle of it: the job goes on as before' '
	wait_state_saved "$run" &&
	"$CLUSTER" kill9 slurmctld &&
	"$CLUSTER" restart slurmctld &&
	wait_job_state "$run" RUNNING 20 &&
	ends_past "$run" $closes &&
	job_is "$later" PENDING
'

test_expect_success 'a requeue still gives the --time of the user back' '
	scontrol requeue "$run" &&
	wait_job_state "$run" PENDING 20 &&
	limit_is "$run" 00:30:00
'

test_expect_success 'without the layer nothing is lost' '
	wait_job_state "$run" RUNNING 30 &&
	wait_for 20 ends_past "$run" $closes &&
	n=$(said "tide: windows over") && test "$n" -gt 0 &&
	restart_with without &&
	! said_more "tide: windows over" "$n" &&
	job_is "$stay" RUNNING &&
	job_is "$run" RUNNING &&
	limit_is "$run" 00:30:00 &&
	limit_is "$stay" 00:30:00 &&
	job_is "$later" PENDING &&
	rest=$(submit_wrap true -t 1 -w n3 -o /dev/null) &&
	wait_job_end "$rest" 20 && job_is "$rest" COMPLETED
'

test_expect_success 'nor when it is put back' '
	restart_with with &&
	job_is "$stay" RUNNING &&
	job_is "$run" RUNNING &&
	wait_for 20 ends_past "$run" $closes &&
	wait_for 20 ends_past "$stay" $closes &&
	job_is "$later" PENDING &&
	scontrol release "$later" &&
	wait_for 20 reason_is "$later" \
		"next window w2 $(local_stamp $again | sed s/:00\$//)"
'

test_expect_success 'a close while slurmctld is down is made up for' '
	closes=$(($(now) + 35)) &&
	windows_are $(($(now) - 60)) $closes $again $((again + 3600)) &&
	wait_for 20 ends_past "$run" $closes &&
	wait_state_saved "$run" &&
	"$CLUSTER" kill9 slurmctld &&
	test "$(now)" -lt $closes &&
	wait_until $((closes + 2)) &&
	"$CLUSTER" restart slurmctld &&
	wait_job_state "$run" PENDING 20 &&
	wait_job_state "$stay" PENDING 20 &&
	limit_is "$run" 00:30:00 &&
	limit_is "$stay" 00:30:00
'

test_done
