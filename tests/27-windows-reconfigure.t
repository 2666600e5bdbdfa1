#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scontrol reconfigure. Up to 23.02 it is read by the slurmctld that runs; from
# 23.11 on a new one is started: in the place of the old one in the foreground,
# else beside it, and when it fails the old one goes on. Either way a bad
# tide.conf leaves the last good one in force, and runs end at their close.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by steps
test_description='windows: scontrol reconfigure in the foreground, as a daemon, under systemd'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

! slurm_since 23.11 || test_set_prereq RESTARTS

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

# begin SECONDS COMMAND...: slurmctld is started by it, and there is a run whose
# window closes so many seconds from then. All that is tried with the run comes
# before that, many times as fast even on a busy machine.
begin() {
	local lasts=$1

	shift
	windows $(($(now) - 600)) $(($(now) + 3600)) >"$(etc tide.conf)"
	"$@" && wait_for 30 up && wait_for 30 nodes_respond &&
		run=$(submit_wrap "exec sleep 600" -w n1 -t 60 --time-min=1 -o /dev/null) &&
		wait_job_state "$run" RUNNING 20 &&
		closes=$(($(now) + lasts)) &&
		windows_are $(($(now) - 600)) $closes $((closes + 3600)) $((closes + 7200)) &&
		wait_for 20 ends_past "$run" $closes
}

# The run is as it was, and is ended at its close with its --time given back.
goes_on() {
	wait_for 20 ends_past "$run" $closes && job_is "$run" RUNNING
}

ends_at_close() {
	wait_until $closes &&
		wait_job_state "$run" PENDING 20 &&
		limit_is "$run" 01:00:00 &&
		scancel "$run"
}

# What a reconfigure cannot start with: break it, mend it.
break_conf() {
	echo Nonsense=1 >>"$(etc slurm.conf)"
}

mend_conf() {
	cp slurm.conf.good "$(etc slurm.conf)"
}

break_layer() {
	mv "$plugin" layer.so
}

mend_layer() {
	mv layer.so "$plugin"
}

# fails_and_resumes WHAT PID: a reconfigure with WHAT (conf, layer) broken, whose
# slurmctld does not start; PID prints the pid of the one that goes on. Clients
# read slurm.conf too, so it is mended before they are asked.
fails_and_resumes() {
	local n pid

	n=$(said "Resuming operation, reconfigure failed")
	pid=$("$2")
	"break_$1"
	SLURM_CONF=$SHARNESS_TRASH_DIRECTORY/slurm.conf.good scontrol reconfigure
	wait_for 30 said_more "Resuming operation, reconfigure failed" "$n"
	"mend_$1"
	said_more "Resuming operation, reconfigure failed" "$n" &&
		wait_for 20 up && [ "$("$2")" = "$pid" ]
}

# pid_is_not PID COMMAND: what it prints is another one.
pid_is_not() {
	local pid

	pid=$("$2") && [ -n "$pid" ] && [ "$pid" != "$1" ]
}

# is_new OLD COMMAND: another process, that COMMAND tells, came and OLD went.
is_new() {
	wait_for 20 pid_is_not "$1" "$2" &&
		wait_for 20 eval "test -d /proc/\$($2)" &&
		wait_for 20 test ! -d "/proc/$1"
}

# slurmd of 25.11 and later may have met the wrong slurm.conf as well, and ended.
nodes_back() {
	local n

	for n in n1 n2 n3; do
		"$CLUSTER" restart --as-is slurmd $n || return 1
	done
}

windows $(($(now) - 600)) $(($(now) + 3600)) >tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP'
plugin=$TIDE_CLUSTER_DIR/plugins/select_cons_tres.so
cp "$(etc slurm.conf)" slurm.conf.good

# In the foreground

test_expect_success 'foreground: a wrong tide.conf, the last good one stays' '
	begin 35 "$CLUSTER" restart slurmctld &&
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

# ends PID: the next one needs its ports.
ends() {
	kill -TERM "$1" && wait_for 30 test ! -d "/proc/$1"
}

as_daemon() {
	TIDE_CLUSTER_MEMBER=$TIDE_CLUSTER_DIR slurmctld
}

test_expect_success 'daemon: a wrong tide.conf, the last good one stays' '
	"$CLUSTER" kill9 slurmctld &&
	begin $(test_have_prereq RESTARTS && echo 60 || echo 35) as_daemon &&
	old=$(pid_file) &&
	reconfigure_bad && goes_on
'

test_expect_success RESTARTS 'daemon: that was a new process' '
	is_new "$old" pid_file
'

test_expect_success RESTARTS 'daemon: a wrong slurm.conf, the old process goes on' '
	fails_and_resumes conf pid_file && nodes_back && goes_on
'

test_expect_success RESTARTS 'daemon: a layer that is gone, the old one goes on' '
	fails_and_resumes layer pid_file && goes_on &&
	ctld_says "slurmctld must not run like this"
'

test_expect_success 'daemon: the run ends at its close' '
	ends_at_close && ends "$(pid_file)"
'

# Under systemd, or what slurmctld sees of it: the socket it reports to.

notify=$TIDE_CLUSTER_DIR/run/notify

listen() {
	perl -MSocket -e '$| = 1;
		socket(S, PF_UNIX, SOCK_DGRAM, 0) && bind(S, sockaddr_un($ARGV[0])) or die $!;
		print "$m\n" while defined recv(S, $m, 4096, 0)' "$notify" \
		>notified 2>&1 &
	at_exit "kill $! 2>/dev/null"
	wait_for 20 test -S "$notify"
}

main_pid() {
	sed -n 's/^MAINPID=//p' notified | tail -n 1
}

under_systemd() {
	listen &&
		{ TIDE_CLUSTER_MEMBER=$TIDE_CLUSTER_DIR NOTIFY_SOCKET=$notify \
			slurmctld --systemd >systemd.out 2>&1 & } &&
		wait_for 30 grep -q "^READY=1" notified
}

test_expect_success RESTARTS 'systemd: a wrong tide.conf, the last good one stays' '
	begin 45 under_systemd &&
	old=$(main_pid) &&
	reconfigure_bad && goes_on
'

test_expect_success RESTARTS 'systemd: it is told of the new process' '
	is_new "$old" main_pid
'

test_expect_success RESTARTS 'systemd: a wrong slurm.conf, the old process goes on' '
	fails_and_resumes conf main_pid && nodes_back && goes_on
'

test_expect_success RESTARTS 'systemd: the run ends at its close' '
	ends_at_close && ends "$(main_pid)"
'

test_done
