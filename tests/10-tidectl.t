#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl without a cluster: the frame, windows, and check.
#
# One release: no Slurm is asked.
# shellcheck disable=SC2034,SC2016,SC2154

test_description='tidectl on files alone'
. "$(dirname "$0")/lib/sharness.sh"

tidectl=$builddir/cmd/tidectl/tidectl
export TZ=Asia/Shanghai
unset SLURM_CONF

cat >tide.conf <<'EOF'
PoolPartition=pool
OwnerAccount=nlp  Nodes=lab[01-05]
OwnerAccount=cv   Nodes=cv[1-8],lab07
WindowName=nights  Nodes=lab[01-05] Days=Mon-Fri Start=20:00 End=08:00
WindowName=weekend Nodes=lab[01-05] Days=Sat,Sun
WindowName=trip    Nodes=lab07 From=2026-12-20T18:00 Until=2027-01-04T08:00
WindowName=berlin  Nodes=cv1 Start=22:00 End=06:00 TimeZone=Europe/Berlin
EOF

test_expect_success 'the help names every command' '
	status 0 "$tidectl" --help &&
	grep -q "^  windows " out && grep -q "^  check " out &&
	status 0 "$tidectl" windows --help && grep -q -e "--horizon" out &&
	status 0 "$tidectl" check --help && grep -q -e "--conf-dir" out &&
	status 0 "$tidectl" --version && grep -q "^tidectl [0-9]" out
'

test_expect_success 'a wrong command line is status 2 and one clear line' '
	status 2 "$tidectl" && grep -q "a command is wanted" err &&
	status 2 "$tidectl" frobnicate && grep -q "frobnicate" err &&
	status 2 "$tidectl" windows --frobnicate &&
	status 2 "$tidectl" windows stray && grep -q "stray" err &&
	status 2 "$tidectl" windows --conf tide.conf --at noon &&
	grep -q "at .noon." err &&
	status 2 "$tidectl" windows --conf tide.conf --horizon 5x &&
	grep -q "horizon .5x." err &&
	status 2 "$tidectl" windows --conf tide.conf --until 1999-01-01 &&
	status 2 "$tidectl" windows --until @1 --horizon 1 &&
	status 2 "$tidectl" check stray &&
	status 2 "$tidectl" check --nodes --live &&
	status 2 "$tidectl" check --nodes --conf-dir . &&
	status 2 "$tidectl" check --nodes --here &&
	status 2 "$tidectl" check --rsh ssh &&
	status 2 "$tidectl" check --nodes=n1 --rsh " " &&
	status 2 "$tidectl" check --nodes="n[1" && grep -q "nodes=n\[1: " err &&
	status 2 "$tidectl" check --nodes=-oX --rsh true && grep -q "no host" err
'

test_expect_success 'an answer that cannot be written is a failure' '
	status 1 sh -c "\"$tidectl\" --help >/dev/full"
'

# 2026-12-01 is a Tuesday; 12:00 there is 04:00 UTC
test_expect_success 'windows says what is open until when' '
	status 0 "$tidectl" windows --conf tide.conf --at 2026-12-01T21:00 &&
	cat >want <<-EOF &&
	at 2026-12-01T21:00:00+08:00 (2026-12-01T13:00:00Z)
	lab[01-05]  nlp  open until 2026-12-02T08:00:00+08:00 (2026-12-02T00:00:00Z)  nights
	cv1         cv   closed, opens 2026-12-02T05:00:00+08:00 (2026-12-01T21:00:00Z)  berlin
	cv[2-8]     cv   closed, no opening before 2026-12-31T21:00:00+08:00 (2026-12-31T13:00:00Z)
	lab07       cv   closed, opens 2026-12-20T18:00:00+08:00 (2026-12-20T10:00:00Z)  trip
	EOF
	diff want out
'

test_expect_success 'windows lists openings and closes of some nodes' '
	status 0 "$tidectl" windows --conf tide.conf --at 2026-12-04T04:00:00Z \
		--node lab[02-03] --until 2026-12-08T12:00 &&
	cat >want <<-EOF &&
	at 2026-12-04T12:00:00+08:00 (2026-12-04T04:00:00Z)
	lab[02-03]  nlp  closed, opens 2026-12-04T20:00:00+08:00 (2026-12-04T12:00:00Z)  nights
	    2026-12-04T20:00:00+08:00 (2026-12-04T12:00:00Z) to 2026-12-07T00:00:00+08:00 (2026-12-06T16:00:00Z)  nights
	    2026-12-07T20:00:00+08:00 (2026-12-07T12:00:00Z) to 2026-12-08T08:00:00+08:00 (2026-12-08T00:00:00Z)  nights
	EOF
	diff want out
'

test_expect_success 'windows --json has its stable keys' '
	status 0 "$tidectl" windows --conf tide.conf --at @1796130000 --json \
		--node lab01,cv1 --horizon 1d &&
	jq -e ".at == \"2026-12-01T13:00:00Z\" and .zone == \"Asia/Shanghai\"
		and .until == \"2026-12-02T13:00:00Z\"
		and (.groups | length) == 2" out &&
	jq -e ".groups[] | select(.nodes == \"lab01\") |
		.owner == \"nlp\" and .state == \"open\" and
		.window == \"nights\" and
		.closes == \"2026-12-02T00:00:00Z\" and
		.opens == \"2026-12-02T12:00:00Z\" and
		(.spans | length) == 2 and .spans[1].beyond and
		(.spans[0].close_local == \"2026-12-02T08:00:00+08:00\")" out &&
	jq -e ".groups[] | select(.nodes == \"cv1\") |
		.state == \"closed\" and .window == null and .closes == null and
		.opens == \"2026-12-01T21:00:00Z\"" out
'

test_expect_success 'windows says that Mode=observe enforces none of it' '
	{ cat tide.conf; echo Mode=observe; } >observe.conf &&
	status 0 "$tidectl" windows --conf observe.conf &&
	grep -q "^Mode=observe: none of this is enforced" out &&
	status 0 "$tidectl" windows --conf observe.conf --json &&
	jq -e ".mode == \"observe\"" out &&
	status 0 "$tidectl" windows --conf tide.conf &&
	! grep -q observe out &&
	status 0 "$tidectl" windows --conf tide.conf --json &&
	jq -e ".mode == \"enforce\"" out
'

test_expect_success 'a node that nobody lends is named' '
	status 1 "$tidectl" windows --conf tide.conf --node lab01,lab06 &&
	grep -q "lends node .lab06." err &&
	status 2 "$tidectl" windows --conf tide.conf --node "lab[1" &&
	grep -q "lab\[1" err
'

test_expect_success 'without --conf the one beside SLURM_CONF is read' '
	mkdir -p etc && cp tide.conf etc/tide.conf &&
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" windows &&
	grep -q "^lab07" out &&
	status 1 env SLURM_CONF=/nowhere/slurm.conf "$tidectl" windows &&
	grep -q "there is no /nowhere/tide.conf on this host: copy it" err &&
	status 1 "$tidectl" windows --conf /nowhere/tide.conf &&
	echo "tidectl: /nowhere/tide.conf: cannot be read: No such file or directory" >want &&
	diff want err
'

test_expect_success 'every error of a tide.conf is shown, with its line' '
	mkdir -p bad &&
	sed -e "s/Days=Mon-Fri/Days=Mon-Fry/" -e "s/From=/Form=/" \
		-e "2a IdleAfter=5" tide.conf >bad/tide.conf &&
	status 1 "$tidectl" windows --conf bad/tide.conf &&
	cat >want <<-EOF &&
	tidectl: bad/tide.conf:3: IdleAfter=5: belongs on a line that begins with WindowName=
	tidectl: bad/tide.conf:5: Days=Mon-Fry: days are wanted, as in Mon-Fri,Sun
	tidectl: bad/tide.conf:7: Form=2026-12-20T18:00: unknown key
	EOF
	diff want err && test ! -s out &&
	status 1 "$tidectl" check --conf-dir bad &&
	grep -q "^error    bad/tide.conf:3: IdleAfter=5" out &&
	grep -q "^0 ok, 0 warnings, 3 errors" out
'

test_expect_success 'an error in bytes that are no text is shown in JSON, too' '
	mkdir -p bytes && printf "PoolPartition=pool\nFee=\\377\n" >bytes/tide.conf &&
	status 1 "$tidectl" check --conf-dir bytes --json &&
	jq -e "length == 1 and .[0].line == 2 and .[0].fix == \"see tide.conf(5)\" and
		.[0].what == \"Fee=?: a decimal number is wanted\"" out
'

cat >slurm.conf <<EOF
ClusterName=t
PluginDir="$PWD/ours:$PWD/stock"
SelectType=select/cons_tres
JobSubmitPlugins=tide
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
NodeName=lab[01-05],lab07,cv[1-8]
PartitionName=pool Nodes=ALL GraceTime=60
PartitionName=nlp Nodes=lab[01-05] AllowAccounts=nlp PriorityTier=2
PartitionName=cv Nodes=cv[1-8],lab07 AllowAccounts=cv PriorityTier=2
EOF
mkdir -p ours stock
touch ours/job_submit_tide.so stock/select_cons_tres.so

test_expect_success 'check passes a site without prices, with a warning' '
	status 0 "$tidectl" check --conf-dir . &&
	grep -q "^warning  ./tide.conf: there is no Device line" out &&
	grep -q " 1 warning, 0 errors" out
'

test_expect_success 'check without a tide.conf looks at PluginDir all the same' '
	mkdir -p none && cp slurm.conf none &&
	status 1 "$tidectl" check --conf-dir none &&
	grep "^error    none/tide.conf: cannot be read: No such file" out &&
	grep "fix: .*contrib/examples/tide.conf" out &&
	grep "^ok       none/slurm.conf:2: PluginDir names" out &&
	sed -i "s,$PWD/ours,$PWD/empty," none/slurm.conf && mkdir empty &&
	status 1 "$tidectl" check --conf-dir none &&
	grep "no folder in PluginDir has TideFlow.s job_submit_tide.so" out &&
	grep "fix: PluginDir=.*, with job_submit_tide.so in the first" out
'

"$tidectl" --help | grep -q "^  credits " && test_set_prereq SLURM

test_expect_success SLURM 'check says when Slurm itself refuses slurm.conf' '
	status 1 env "SLURM_CONF=$PWD/slurm.conf" "$tidectl" check &&
	grep "^error .*slurm.conf: Slurm refuses this file: .*SlurmctldHost" out &&
	grep "^ok .*SelectType=select/cons_tres" out
'

test_expect_success 'check finds what is wrong, with the line to write' '
	sed -i "s/cv\[1-8\],lab07 Allow/cv[2-8],lab07 Allow/" slurm.conf &&
	status 1 "$tidectl" check --conf-dir . --json &&
	jq -e "[.[] | select(.level == \"error\")] | length == 1 and
		(.[0].what | contains(\"cv1\")) and
		(.[0].fix | contains(\"PriorityTier=2\")) and
		.[0].line == 0 and (.[0].file | endswith(\"slurm.conf\"))" out
'

test_expect_success 'the example in the tree is good' '
	status 0 "$tidectl" windows --at 2026-12-24 \
		--conf "$TIDE_TOP/contrib/examples/tide.conf" &&
	grep -q "^lab07 .*open until 2027-01-04T08:00" out
'

test_done
