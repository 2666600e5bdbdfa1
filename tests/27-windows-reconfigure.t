#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scontrol reconfigure. Up to 23.02 it is read by the slurmctld that runs; from
# 23.11 on a new one is started: in the place of the old one in the foreground,
# else beside it, and when it fails the old one goes on. Either way a bad
# tide.conf leaves the last good one in force, and runs end at their close.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: scontrol reconfigure in the foreground, as a daemon, under systemd'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

if printf '%s\n' 23.11 "$(slurmctld -V | sed 's/^[^ ]* //')" | sort -C -V; then
	test_set_prereq RESTARTS
fi

# conf SECONDS: a window that closes so many seconds from now, and the next.
conf() {
	closes=$(($(now) + $1))
	windows $(($(now) - 600)) $closes $((closes + 3600)) $((closes + 7200))
}

etc() {
	printf '%s\n' "$TIDE_CLUSTER_DIR/etc/$1"
}

up() {
	scontrol ping | grep -q ' UP$'
}

pid_file() {
	cat "$TIDE_CLUSTER_DIR/run/slurmctld.slurm.pid"
}

# reconfigure_bad: with a wrong tide.conf; says which slurmctld then is there.
reconfigure_bad() {
	local n

	n=$(said "tide.conf:5: ")
	echo "WindowName=w9 Nodes=n1 Days=Someday" >>"$(etc tide.conf)"
	scontrol reconfigure && wait_for 20 said_more "tide.conf:5: " "$n" &&
		wait_for 20 up
}

# A new tide.conf, a slurmctld that has read it, and a run up to its close.
# begin SECONDS COMMAND...: with what slurmctld is started.
begin() {
	conf "$1" >"$(etc tide.conf)"
	shift
	"$@" && wait_for 30 up &&
		run=$(submit_wrap "exec sleep 600" -w n1 -t 60 --time-min=1 -o /dev/null) &&
		wait_job_state "$run" RUNNING 20 &&
		wait_for 5 limit_shorter &&
		limit=$(job_field "$run" TimeLimit)
}

limit_shorter() {
	[ "$(job_field "$run" TimeLimit)" != 01:00:00 ] &&
		[ "$(job_field "$run" TimeLimit)" != 00:01:00 ]
}

# The run is as it was, and is ended at its close with its --time given back.
goes_on() {
	wait_for 10 limit_is "$run" "$limit" && job_is "$run" RUNNING
}

ends_at_close() {
	wait_until $closes &&
		wait_job_state "$run" PENDING 10 &&
		wait_for 5 limit_is "$run" 01:00:00 &&
		scancel "$run"
}

# fails_and_resumes PID: a reconfigure after break_it, whose slurmctld does not
# start; PID prints the pid of the one that goes on. Clients read slurm.conf
# too, so mend_it comes before they are asked.
fails_and_resumes() {
	local n pid

	n=$(said "Resuming operation, reconfigure failed")
	pid=$("$1")
	break_it
	SLURM_CONF=$SHARNESS_TRASH_DIRECTORY/slurm.conf.good scontrol reconfigure
	wait_for 20 said_more "Resuming operation, reconfigure failed" "$n"
	mend_it
	said_more "Resuming operation, reconfigure failed" "$n" &&
		wait_for 10 up && [ "$("$1")" = "$pid" ]
}

# slurmd of 25.11 and later may have met the wrong slurm.conf as well, and ended.
nodes_back() {
	local n

	for n in n1 n2 n3; do
		"$CLUSTER" restart --as-is slurmd $n || return 1
	done
}

conf 3600 >tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP'
plugin=$TIDE_CLUSTER_DIR/plugins/select_cons_tres.so
cp "$(etc slurm.conf)" slurm.conf.good

# In the foreground

test_expect_success 'foreground: a wrong tide.conf, the last good one stays' '
	begin 75 "$CLUSTER" restart slurmctld &&
	starts=$(said "slurmctld version") &&
	reconfigure_bad && goes_on
'

test_expect_success RESTARTS 'that was a new slurmctld' '
	said_more "slurmctld version" "$starts" &&
	ctld_says "running on the last good tide.conf"
'

test_expect_success 'foreground: the run ends at its close' '
	ends_at_close
'

# As a daemon

as_daemon() {
	TIDE_CLUSTER_MEMBER=$TIDE_CLUSTER_DIR slurmctld
}

test_expect_success 'daemon: a wrong tide.conf, the last good one stays' '
	"$CLUSTER" kill9 slurmctld &&
	begin 75 as_daemon &&
	old=$(pid_file) &&
	reconfigure_bad && goes_on
'

test_expect_success RESTARTS 'daemon: that was a new process' '
	wait_for 10 test "$(pid_file)" != "$old" &&
	wait_for 10 test ! -d "/proc/$old"
'

test_expect_success RESTARTS 'daemon: a wrong slurm.conf, the old process goes on' '
	break_it() { echo Nonsense=1 >>"$(etc slurm.conf)"; } &&
	mend_it() { cp slurm.conf.good "$(etc slurm.conf)"; } &&
	fails_and_resumes pid_file && nodes_back && goes_on
'

test_expect_success RESTARTS 'daemon: a layer that is gone, the old one goes on' '
	break_it() { mv "$plugin" layer.so; } &&
	mend_it() { mv layer.so "$plugin"; } &&
	fails_and_resumes pid_file && goes_on &&
	ctld_says "slurmctld must not run like this"
'

test_expect_success 'daemon: the run ends at its close' '
	ends_at_close &&
	kill -TERM "$(pid_file)"
'

# Under systemd, or what slurmctld sees of it: the socket it reports to.

notify=$TIDE_CLUSTER_DIR/run/notify

listen() {
	perl -MSocket -e '$| = 1;
		socket(S, PF_UNIX, SOCK_DGRAM, 0) && bind(S, sockaddr_un($ARGV[0])) or die $!;
		print "$m\n" while defined recv(S, $m, 4096, 0)' "$notify" \
		>notified 2>&1 &
	at_exit "kill $! 2>/dev/null"
	wait_for 5 test -S "$notify"
}

main_pid() {
	sed -n 's/^MAINPID=//p' notified | tail -n 1
}

main_pid_is_not() {
	[ "$(main_pid)" != "$1" ]
}

under_systemd() {
	listen &&
		{ TIDE_CLUSTER_MEMBER=$TIDE_CLUSTER_DIR NOTIFY_SOCKET=$notify \
			slurmctld --systemd >systemd.out 2>&1 & } &&
		wait_for 30 grep -q "^READY=1" notified
}

test_expect_success RESTARTS 'systemd: a wrong tide.conf, the last good one stays' '
	begin 75 under_systemd &&
	old=$(main_pid) &&
	reconfigure_bad && goes_on
'

test_expect_success RESTARTS 'systemd: it is told of the new process' '
	wait_for 10 main_pid_is_not "$old" &&
	test -d "/proc/$(main_pid)" &&
	wait_for 10 test ! -d "/proc/$old"
'

test_expect_success RESTARTS 'systemd: a wrong slurm.conf, the old process goes on' '
	break_it() { echo Nonsense=1 >>"$(etc slurm.conf)"; } &&
	mend_it() { cp slurm.conf.good "$(etc slurm.conf)"; } &&
	fails_and_resumes main_pid && nodes_back && goes_on
'

test_expect_success RESTARTS 'systemd: the run ends at its close' '
	ends_at_close &&
	kill -TERM "$(main_pid)"
'

test_done
