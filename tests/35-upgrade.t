#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A site upgrades its Slurm in place, and TideFlow's plugins with it, with jobs
# running and waiting: slurmdbd first, then slurmctld, then slurmd. Slurm turns
# its own tables and state into those of the new release; ours have to come
# through it, to the last digit. The newer Slurm is in TIDE_NEWER_PREFIX, built
# for it is TIDE_NEWER_BUILD; it has to be one that can follow this one.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='Slurm and the plugins upgraded in place'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
skip_unless 'TIDE_NEWER_PREFIX and TIDE_NEWER_BUILD name no newer Slurm' \
	test -n "${TIDE_NEWER_PREFIX:-}" -a -n "${TIDE_NEWER_BUILD:-}"

# n2 opens in an hour only.
write_tide_conf tide.conf
sed -i 's/^WindowName=always Nodes=n\[1-2\]/WindowName=always Nodes=n1/' \
	tide.conf
opens=$(date -u -d '+1 hour' +%FT%T)
echo "WindowName=later Nodes=n2 From=$opens Until=$(date -u -d '+2 days' +%FT%T) TimeZone=UTC" >>tide.conf
credits_cluster

# books FILE: every figure of the ledger, and what the runs show of it.
books() {
	tidectl credits balance --json | jq -S . >"$1" &&
		tidectl credits statement vision --json | jq -S . >>"$1" &&
		sacct_field "$ended" SystemComment >>"$1"
}

limits() {
	sacctmgr -n -P show qos format=name,flags,grptresmins | sort
}

# used: billing-minutes that Slurm has counted for vision, in slurmctld.
used() {
	scontrol -o show assoc_mgr flags=qos qos=tide_vision |
		sed -n 's/.*GrpTRESMins=[^ ]*billing=[0-9]*(\([0-9]*\)).*/\1/p'
}

waits_for_window() {
	[[ $(squeue -h -j "$1" -o %r) == "next window later"* ]]
}

# errors FILE: what tidectl check finds wrong.
errors() {
	tidectl check --json | jq -r '.[] | select(.level == "error").what' >"$1"
}

version_is() {
	[ "$("$1" -V)" = "slurm $newer" ]
}

newer=$("$TIDE_NEWER_PREFIX/sbin/slurmctld" -V)
newer=${newer##* }
note "from $(slurmctld -V) to $newer"

test_expect_success 'before: a run is charged, one goes on, one waits for its window' '
	tidectl credits enroll vision &&
	tidectl credits grant vision 1000 --note=start &&
	ended=$(pool_job 2 -w n1 --gres=mlu:mlu290:2) &&
	wait_for 60 charged "$ended" 1 && costs_right "$ended" 2 &&
	runs=$(pool_job 600 -w n1 --gres=mlu:mlu290:1) &&
	waits=$(pool_job 1 -w n2 --gres=mlu:mlu290:1) &&
	wait_job_state "$runs" RUNNING 20 &&
	wait_for 20 waits_for_window "$waits" &&
	ran_for "$runs" 5 && wait_state_saved "$runs" &&
	started=$(job_field "$runs" StartTime) && used_before=$(used) &&
	test "$used_before" -gt 0 &&
	tidectl credits audit --export-seal=seal &&
	books books.before && limits >limits.before &&
	errors errors.before
'

# In a clock of seconds: slurmctld of the older release goes on meanwhile.
test_expect_success 'slurmdbd of the newer release: the books are the same' '
	"$CLUSTER" upgrade --slurm-prefix "$TIDE_NEWER_PREFIX" \
		--build "$TIDE_NEWER_BUILD" &&
	cluster_use "$TIDE_CLUSTER_DIR" && version_is slurmdbd &&
	books books.after && diff books.before books.after &&
	limits >limits.after && diff limits.before limits.after &&
	tidectl credits audit --seal=seal
'

test_expect_success 'slurmctld: the run goes on, the other one waits for its window' '
	"$CLUSTER" restart slurmctld && version_is slurmctld &&
	ctld_says "slurmctld version $newer started" &&
	job_is "$runs" RUNNING &&
	test "$(job_field "$runs" StartTime)" = "$started" &&
	job_is "$waits" PENDING && wait_for 30 waits_for_window "$waits" &&
	test "$(used)" -ge "$used_before"
'

test_expect_success 'slurmd: the run of the older release ends and is charged' '
	for n in n1 n2 n3; do
		"$CLUSTER" restart slurmd $n || return 1
	done &&
	job_is "$runs" RUNNING && scancel "$runs" &&
	wait_job_end "$runs" 40 &&
	wait_for 60 charged "$runs" 1 && costs_right "$runs" 1 && audit_ok
'

test_expect_success 'new runs are charged, and limited' '
	run=$(pool_job 2 -w n1 --gres=mlu:mlu290:2) &&
	dear=$(pool_job 1 -t 3:00:00 -w n3 --gres=mlu:mlu290:2) &&
	wait_job_state "$run" COMPLETED 60 &&
	wait_for 60 charged "$run" 1 && costs_right "$run" 2 &&
	job_is "$dear" PENDING && job_is "$waits" PENDING &&
	books books.after && tidectl credits audit --seal=seal
'

test_expect_success 'tidectl check finds no more than before' '
	errors errors.after && diff errors.before errors.after
'

test_done
