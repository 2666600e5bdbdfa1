#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tide.conf that is wrong, or changes under running jobs: slurmctld goes on
# with the last good copy, or with owned nodes closed; and the guard.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: bad and changed tide.conf, observe, the guard'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

q="'"

# windows_now SECONDS: open since some time for that long from now on.
windows_now() {
	windows $(($(now) - 600)) $(($(now) + $1))
}

# fallbacks: how often slurmctld said that it keeps to other windows than those
# of tide.conf. Where scontrol reconfigure is a start, of a new process, it
# takes the last good copy.
fallbacks() {
	echo $(($(said "going on with the windows that are in force") +
		$(said "running on the last good tide.conf")))
}

fell_back_more() {
	[ "$(fallbacks)" -gt "$1" ]
}

# reconfigure_bad FILE: as tide.conf; it is seen to be wrong.
reconfigure_bad() {
	local n

	n=$(fallbacks)
	cp "$1" "$TIDE_CLUSTER_DIR/etc/tide.conf" && scontrol reconfigure &&
		wait_for 20 fell_back_more "$n" && wait_for 20 nodes_respond
}

# A first start with a wrong file: nothing is known but the partition.
windows_now 3600 >good
{ cat good; echo "WindowName=w9 Nodes=n1 Days=Someday"; } >bad
cp bad tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP' \
	--partition 'PartitionName=other Nodes=n[1-3] MaxTime=INFINITE State=UP'

test_expect_success 'the first start with a wrong file names file, line and value' '
	ctld_says "tide.conf:4: " &&
	ctld_says "Days=Someday" &&
	ctld_says "there is no last good tide.conf" &&
	! ctld_says "tide.conf was read"
'

test_expect_success 'then no pool job starts, and says why' '
	job=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n1 -o /dev/null) &&
	wait_for 20 reason_is "$job" \
		"next window unknown, tide.conf is not usable" &&
	any=$(submit_wrap "exec sleep 600" -t 30 -w n3 -o /dev/null) &&
	wait_for 20 reason_is "$any" \
		"next window unknown, tide.conf is not usable" &&
	scancel "$any"
'

test_expect_success 'jobs of other partitions are not touched' '
	own=$(submit_wrap true -p other -w n1 -t 1 -o /dev/null) &&
	wait_job_end "$own" 20 && job_is "$own" COMPLETED
'

test_expect_success 'the right file and scontrol reconfigure open the window' '
	reconfigure good &&
	wait_job_state "$job" RUNNING 30 &&
	wait_for 20 limit_is "$job" 00:30:00 &&
	wait_for 20 test -s "$TIDE_CLUSTER_DIR/state/tide.conf.good"
'

# kept FILE: the last good copy has its windows.
kept() {
	grep -qF "$(grep -o "Until=.*" "$1")" "$TIDE_CLUSTER_DIR/state/tide.conf.good"
}

# As on a full disk.
test_expect_success 'the copy is made later when it cannot be made now' '
	windows_now 5000 >another &&
	mkdir "$TIDE_CLUSTER_DIR/state/tide.conf.good.new" &&
	reconfigure another &&
	wait_for 30 ctld_says "could not keep a copy of tide.conf, will try again" &&
	! kept another &&
	rmdir "$TIDE_CLUSTER_DIR/state/tide.conf.good.new" &&
	wait_for 30 kept another &&
	job_is "$job" RUNNING
'

test_expect_success 'a wrong file at reconfigure: the windows in force stay' '
	reconfigure_bad bad &&
	job_is "$job" RUNNING && limit_is "$job" 00:30:00
'

test_expect_success 'an unknown node, too, named with its line' '
	sed "s/^OwnerAccount=lab Nodes=n.1-2./OwnerAccount=lab Nodes=n[1-2],x7/" \
		good >unknown &&
	reconfigure_bad unknown &&
	ctld_says \
		"tide.conf:2: OwnerAccount=lab: Slurm has no node ${q}x7$q" &&
	job_is "$job" RUNNING
'

test_expect_success 'an unknown partition, too' '
	sed "s/^PoolPartition=.*/PoolPartition=none/" good >nopart &&
	reconfigure_bad nopart &&
	ctld_says "PoolPartition=none: Slurm has no such partition" &&
	job_is "$job" RUNNING
'

test_expect_success 'a start with a wrong file takes the last good copy' '
	n=$(said "running on the last good tide.conf") &&
	cp bad "$TIDE_CLUSTER_DIR/etc/tide.conf" &&
	"$CLUSTER" restart slurmctld &&
	said_more "running on the last good tide.conf" "$n" &&
	job_is "$job" RUNNING &&
	two=$(submit_wrap "exec sleep 600" -t 30 --time-min=1 -w n2 -o /dev/null) &&
	wait_job_state "$two" RUNNING 20
'

test_expect_success 'a start without the file as well' '
	n=$(said "running on the last good tide.conf") &&
	rm "$TIDE_CLUSTER_DIR/etc/tide.conf" &&
	"$CLUSTER" restart slurmctld &&
	said_more "running on the last good tide.conf" "$n" &&
	job_is "$job" RUNNING
'

test_expect_success 'a close that is moved cuts the limit of running jobs' '
	windows_now 240 >sooner &&
	reconfigure sooner &&
	wait_for 20 limit_within "$job" 1 29
'

test_expect_success 'and moved out again raises it' '
	reconfigure good &&
	wait_for 20 limit_is "$job" 00:30:00
'

test_expect_success 'a window taken away ends what runs in it' '
	grep -v "^WindowName" good >none &&
	reconfigure none &&
	wait_job_state "$job" PENDING 30 &&
	wait_job_state "$two" PENDING 20 &&
	limit_is "$job" 00:30:00
'

test_expect_success 'a window without end, too, after the seconds of --signal' '
	{ cat none; echo "WindowName=w1 Nodes=n[1-2] Days=Mon-Sun"; } >always &&
	reconfigure always &&
	warned=$(submit_wrap "trap \"echo warned\" USR1; echo ready
		while :; do sleep 1; done" -t 30 -w n2 --signal=B:USR1@15 -o warned.out) &&
	wait_for 30 grep -qs ready warned.out &&
	n=$(said "tide.conf was read") && cp none "$TIDE_CLUSTER_DIR/etc/tide.conf" &&
	scontrol reconfigure &&
	wait_for 20 ctld_says "job $warned: its window closes soon" &&
	job_is "$warned" RUNNING && said_more "tide.conf was read" "$n" &&
	wait_job_state "$warned" PENDING 40 &&
	grep -q warned warned.out &&
	scancel "$warned" && wait_for 20 reason_is "$job" \
		"next window none within 14 days"
'

test_expect_success 'of nodes in several windows the one that is not open is waited for' '
	opens=$(($(now) + 3600)) &&
	{
		cat none
		echo "WindowName=w1 Nodes=n1 Days=Mon-Sun"
		windows $opens $((opens + 3600)) |
			sed -n "s/^WindowName=w1 Nodes=[^ ]*/WindowName=w2 Nodes=n2/p"
	} >several &&
	reconfigure several &&
	wait_job_state "$job" RUNNING 30 &&
	later="next window w2 $(local_stamp $opens | sed s/:00\$//)" &&
	wait_for 30 reason_is "$two" "$later" &&
	scancel "$two" &&
	both=$(submit_wrap true -t 30 -N2 -x n3 -o /dev/null) &&
	wait_for 30 reason_is "$both" "$later" &&
	scancel "$both" && reconfigure none &&
	wait_job_state "$job" PENDING 30
'

test_expect_success 'Mode=observe only says what it would do' '
	{ cat none; echo Mode=observe; } >observe &&
	reconfigure observe &&
	wait_job_state "$job" RUNNING 30 &&
	wait_for 20 ctld_says "tide: observe: job $job: would end at the close" &&
	ctld_says "tide: observe: job $job would wait for a window" &&
	job_is "$job" RUNNING &&
	scancel "$job"
'

# The guard: slurmctld does not start, and says why.

# slurmctld_refuses TEXT: in the foreground, so that it says it here.
slurmctld_refuses() {
	timeout 60 slurmctld -D -v >refused 2>&1
	[ $? != 124 ] && grep -qF -- "$1" refused &&
		grep -q "slurmctld must not run like this" refused
}

layer=$TIDE_CLUSTER_DIR/plugins/select_cons_tres.so

test_expect_success 'a layer of another version of Slurm' '
	"$CLUSTER" kill9 slurmctld &&
	cp "$layer" right.so &&
	echo "const char plugin_name[] = \"x\", plugin_type[] = \"select/cons_tres\"; const unsigned int plugin_version = 0x180b04, plugin_id = 109;" >other.c &&
	${CC:-gcc} -shared -fPIC -o "$layer" other.c &&
	slurmctld_refuses "was built for Slurm 24.11.4 and this is $(slurmctld -V | sed "s/^[^ ]* //")"
'

test_expect_success 'a layer that is not there' '
	rm "$layer" &&
	slurmctld_refuses "there is no $layer"
'

test_expect_success 'a layer that comes after the one of Slurm' '
	cp right.so "$layer" &&
	cp "$TIDE_CLUSTER_DIR/etc/slurm.conf" first &&
	sed -i "s|^PluginDir=\([^:]*\):\(.*\)|PluginDir=\2:\1|" \
		"$TIDE_CLUSTER_DIR/etc/slurm.conf" &&
	slurmctld_refuses "name its folder first in PluginDir=" &&
	cp first "$TIDE_CLUSTER_DIR/etc/slurm.conf"
'

test_expect_success 'another SelectType' '
	sed -i "s|^SelectType=.*|SelectType=select/linear|
		s|^SelectTypeParameters=.*|SelectTypeParameters=CR_Memory|" \
		"$TIDE_CLUSTER_DIR/etc/slurm.conf" &&
	slurmctld_refuses "SelectType=select/linear has no windows" &&
	cp first "$TIDE_CLUSTER_DIR/etc/slurm.conf"
'

test_expect_success 'with the right one it starts again' '
	"$CLUSTER" restart slurmctld &&
	sinfo -h
'

test_done
