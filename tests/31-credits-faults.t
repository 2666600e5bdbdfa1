#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Credits when things break: slurmctld, slurmdbd and mariadbd are each killed
# with SIGKILL in the middle of jobs and started again. No job is lost, no charge
# is lost or made twice, the ledger is balanced.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='credits: daemons killed in the middle of jobs'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
credits_cluster --without select,job_submit
enroll vision 1000 >/dev/null || error "could not enroll"
jobs=

# some_jobs [SECONDS]: short ones that end while the daemon is away, so many
# seconds later if given, one that goes on, one that waits; sets $batch and adds
# to $jobs.
some_jobs() {
	local more=${1:-0}

	batch="$(pool_job $((3 + more)) -w n1 --gres=mlu:mlu290:1)
		$(pool_job $((4 + more)) -w n2 --gres=mlu:mlu290:2)
		$(pool_job $((10 + more)) -w n3 --gres=mlu:mlu290:1)
		$(pool_job 2 -w n3 --gres=mlu:mlu290:2)"
	for id in $batch; do jobs="$jobs $id"; done
	set -- $batch
	wait_for 20 started "$1" && wait_for 20 started "$2" &&
		wait_for 20 started "$3"
}

# started ID: on a busy machine it may be over by now.
started() {
	job_is "$1" 'RUNNING|COMPLETING|COMPLETED'
}

# all_paid: every job of the batch completed, has one charge, of its worth.
all_paid() {
	local id devices=(1 2 1 2) i=0

	for id in $batch; do
		wait_for 60 charged "$id" 1 &&
			sacct_shows "$id" State '^COMPLETED$' &&
			costs_right "$id" "${devices[i]}" || {
			sql "select id_job,state,time_submit,time_start,time_end,nodelist,account from tide_job_table where id_job>=$id" >&2
			sql "select * from tide_run" >&2
			return 1
		}
		i=$((i + 1))
	done
}

# The sum of what all runs of all jobs show is what vision spent.
sums_up() {
	local id sum=0 c

	for id in $jobs; do
		for c in $(credits_of "$id"); do sum=$((sum + c)); done
	done
	[ "$(balance_of vision spent)" = $sum ]
}

# Slurm 25.05 and later number the rows themselves, with the highest bit set on
# every second cluster; earlier ones go on from here.
test_expect_success 'numbers of rows use all 64 bits' '
	sql "alter table tide_job_table auto_increment=14796163929838288896" &&
	some_jobs && all_paid && sums_up && audit_ok
'

# What slurmctld has not written down when it is killed it does not know, so no
# job ends between that and the kill.
test_expect_success 'slurmctld killed: nothing is lost' '
	some_jobs 8 &&
	set -- $batch && wait_state_saved $4 &&
	"$CLUSTER" kill9 slurmctld && sleep 6 &&
	"$CLUSTER" restart slurmctld &&
	all_paid && sums_up && audit_ok
'

test_expect_success 'slurmdbd killed: nothing is lost' '
	some_jobs &&
	"$CLUSTER" kill9 slurmdbd && sleep 6 &&
	"$CLUSTER" restart slurmdbd &&
	all_paid && sums_up && audit_ok
'

test_expect_success 'mariadbd killed: nothing is lost' '
	some_jobs &&
	"$CLUSTER" kill9 mariadbd && sleep 6 &&
	"$CLUSTER" restart mariadbd &&
	all_paid && sums_up && audit_ok
'

test_expect_success 'without the database slurmdbd lives, and tidectl says why' '
	"$CLUSTER" kill9 mariadbd &&
	{ tidectl credits balance vision 2>err && failed=no || failed=yes; } &&
	"$CLUSTER" restart mariadbd &&
	wait_for 40 tidectl credits balance vision &&
	test $failed = yes && grep -i "database\|lost connection" err
'

# db_runs PATTERN [STATE]: a statement like this, in a state like that.
db_runs() {
	[ "$(sql "select count(*) from information_schema.processlist where id<>connection_id() and info like \"$1\" and state like \"${2:-%}\"")" -ge 1 ]
}

test_expect_success 'slurmdbd killed in the middle of an answer: tidectl says so' '
	{ mariadb --socket="$TIDE_DB_SOCKET" slurm_acct_db -e \
		"lock tables tide_account write; do sleep(60)" & } && lock=$! &&
	wait_for 20 db_runs "do sleep%" &&
	{ tidectl credits balance vision 2>err & } && asked=$! &&
	wait_for 20 db_runs "%tide_account%" "%lock%" &&
	"$CLUSTER" kill9 slurmdbd &&
	test_expect_code 1 wait $asked && kill $lock &&
	grep "tidectl: could not ask slurmdbd: " err &&
	"$CLUSTER" restart slurmdbd && wait_for 20 audit_ok
'

test_expect_success 'slurmdbd killed again and again while jobs end' '
	some_jobs &&
	for i in 1 2 3; do
		"$CLUSTER" kill9 slurmdbd && "$CLUSTER" restart slurmdbd || return 1
		sleep 1
	done &&
	all_paid && sums_up && audit_ok
'

test_expect_success 'the database forgets nothing when both are killed' '
	some_jobs &&
	"$CLUSTER" kill9 slurmdbd && "$CLUSTER" kill9 mariadbd && sleep 3 &&
	"$CLUSTER" restart mariadbd && "$CLUSTER" restart slurmdbd &&
	all_paid && sums_up && audit_ok
'

# looked_again: slurmdbd lost the database, has it again and looks through all
# of the job table.
looked_again() {
	local n

	n=$(dbd_said "credits: all is well again")
	"$CLUSTER" kill9 mariadbd &&
		wait_for 40 tail_says "$TIDE_CLUSTER_DIR/log/slurmdbd.log" \
			"could not post" "all is well" &&
		"$CLUSTER" restart mariadbd &&
		wait_for 60 dbd_said_more "credits: all is well again" "$n"
}

# tail_says FILE TEXT OTHER: the later one of both in the file is TEXT.
tail_says() {
	grep -e "$2" -e "$3" "$1" | tail -n 1 | grep -q -e "$2"
}

# As from 24.11 on, where a row is numbered when its job is submitted: it comes
# in when rows behind it are settled. Here it is taken out and put in again.
test_expect_success 'a row that comes in below and after its hint was given up' '
	id=$(pool_job 300 -w n1 --gres=mlu:mlu290:1) && wait_job_state $id RUNNING 20 &&
	after=$(pool_job 1 -w n2 --gres=mlu:mlu290:1) && wait_job_end $after 30 &&
	wait_for 30 charged $after 1 &&
	sql "create table kept_row select * from tide_job_table where id_job=$id and time_end=0;
		delete from tide_job_table where id_job=$id" &&
	looked_again &&
	scancel $id && wait_job_end $id 30 && told=$(date +%s) &&
	wait_until $((told + 8)) &&
	sql "update kept_row set state=3, time_start=time_submit, time_end=time_submit+3600, tres_alloc=if(tres_alloc=\"\", tres_req, tres_alloc);
		insert into tide_job_table select * from kept_row; drop table kept_row" &&
	looked_again && wait_for 20 charged $id 1 && jobs="$jobs $after $id" && sums_up
'

# storage_is NAME: from the next start of slurmdbd on.
storage_is() {
	sed -i "s,^StorageType=.*,StorageType=accounting_storage/$1," \
		"$TIDE_CLUSTER_DIR/etc/slurmdbd.conf" &&
		"$CLUSTER" restart slurmdbd
}

test_expect_success 'a start that comes in after the end, and its hint' '
	id=$(pool_job 300 -w n1 --gres=mlu:mlu290:1) && wait_job_state $id RUNNING 20 &&
	wait_for 20 sacct_shows $id State "^RUNNING$" &&
	sql "update tide_job_table set time_end=unix_timestamp(), state=3, time_start=0, nodelist=\"None assigned\" where id_job=$id" &&
	looked_again && charged $id 0 &&
	scontrol update jobid=$id jobname=later && wait_for 20 charged $id 1 &&
	scancel $id && wait_job_end $id 30 && jobs="$jobs $id" && sums_up
'

test_expect_success 'taken away and put back: what ran meanwhile is charged' '
	storage_is mysql && some_jobs && set -- $batch &&
	wait_for 60 sacct_shows $3 State "^COMPLETED$" &&
	wait_for 60 sacct_shows $4 State "^COMPLETED$" && charged $4 0 &&
	test_must_fail tidectl credits audit 2>err && grep "without the credits plugin" err &&
	storage_is credits && all_paid && sums_up && audit_ok
'

test_expect_success 'slurmdbd that ends in an orderly way leaves nothing behind' '
	"$CLUSTER" restart slurmdbd && audit_ok &&
	test_must_fail grep -i "segfault\|fatal" "$TIDE_CLUSTER_DIR/log/slurmdbd.log"
'

test_done
