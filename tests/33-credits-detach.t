#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl credits detach: what was made in Slurm for a paying account goes, and
# nothing else; jobs go on, the ledger stays, and enrolling again gives back
# what was left.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='credits: taking an enrolment back'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
credits_cluster --without select,job_submit
# Not nobody, whom Slurm from 25.11 on lets be no operator.
as_daemon="setpriv --reuid=daemon --regid=nogroup --clear-groups"

# qos_of USER: what its association with vision may use, without ours when it
# is gone.
qos_of() {
	sacctmgr -n -P show assoc where account=vision user="$1" format=qos
}

has_qos() {
	[ "$(sacctmgr -n -P show qos where name="$1" format=name)" = "$1" ]
}

# What slurmdbd was told of the job.
dbd_qos_is() {
	[ "$(sacct -n -X -P -j "$1" -o QOS)" = "$2" ]
}

# held ID: it waits because its QOS is gone.
held() {
	[ "$(job_field "$1" Reason)" = InvalidQOS ]
}

# Slurm's limit less what Slurm counted is the balance, to about a hundredth of
# a credit.
limit_is_what_is_left() {
	local off

	off=$(($(qos_limit tide_vision) - $(qos_used tide_vision) -
		$(balance_of vision balance) * 6 / 100)) &&
		[ "$off" -ge -700 ] && [ "$off" -le 700 ]
}

# lock SELECT: hold the locks of that query until unlock; fd 9 is its session.
lock() {
	rm -f rowlock locked && mkfifo rowlock || return 1
	mariadb --socket="$TIDE_DB_SOCKET" -N -n slurm_acct_db <rowlock >locked &
	exec 9>rowlock
	echo "begin; $1; select 'locked';" >&9
	wait_for 30 grep -q locked locked
}

unlock() {
	exec 9>&-
}

detaches() {
	sql "select count(*) from tide_txn where kind='detach'"
}

# release_later ID: not in the second of the detach, in which the account still
# pays.
release_later() {
	wait_until $(($(now) + 1)) && scontrol release "$1"
}

# Between others, in the list of the account and in that of a user.
test_expect_success 'an account pays, with other QOS around ours' '
	sacctmgr -i add qos long,short &&
	sacctmgr -i add user daemon account=vision &&
	sacctmgr -i modify account vision set qos+=long &&
	tidectl credits enroll vision &&
	tidectl credits grant vision 100 --note=x &&
	sacctmgr -i modify account vision set qos+=short &&
	sacctmgr -i modify user daemon where account=vision set \
		qos=normal,tide_vision,long &&
	qos_of root >before.root && qos_of daemon >before.daemon &&
	grep -q tide_vision before.root && grep -q tide_vision before.daemon
'

test_expect_success 'what makes no sense is a usage error' '
	test_expect_code 2 tidectl credits detach &&
	test_expect_code 2 tidectl credits detach vision --all &&
	test_expect_code 2 tidectl credits balance --force &&
	test_expect_code 2 tidectl credits enroll vision --dry-run
'

test_expect_success 'an account that was never enrolled is refused' '
	test_must_fail tidectl credits detach cv 2>err &&
	grep "account .cv. was never enrolled" err
'

test_expect_success 'it is for who can read slurmdbd.conf' '
	test_must_fail $as_daemon tidectl credits detach vision 2>err &&
	grep "operators" err &&
	sacctmgr -i modify user daemon set adminlevel=operator &&
	$as_daemon tidectl credits detach vision --dry-run &&
	test_must_fail $as_daemon tidectl credits detach vision 2>err &&
	grep "could not read .*slurmdbd.conf" err &&
	sacctmgr -i modify user daemon set adminlevel=none
'

test_expect_success 'jobs under the QOS are named, and nothing is changed' '
	done=$(pool_job 1 -w n1 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $done 1 &&
	runs=$(pool_job 600 -w n1 --gres=mlu:mlu290:2) &&
	wait_job_state $runs RUNNING 20 &&
	waits=$(pool_job 2 -w n1 --gres=mlu:mlu290:2) &&
	wait_for 20 sacct_shows $waits State PENDING &&
	tidectl credits detach vision --dry-run >out &&
	grep "account vision: enrolled, QOS tide_vision is there" out &&
	grep "job $runs of root, cluster tide, running: holds it" out &&
	grep "job $waits of root, cluster tide, pending: holds it" out &&
	tidectl credits detach --all --dry-run --json >out.json &&
	jq -e ".[0] | .account == \"vision\" and .enrolled and .qos_there and (.jobs | length) == 2 and .down == []" out.json &&
	test_must_fail tidectl credits detach vision >out 2>err &&
	grep "QOS .tide_vision. is in use by job $runs of cluster .tide. (running) and 1 more" err &&
	grep "job $waits .*holds it" out &&
	test "$(job_field $waits QOS)" = tide_vision &&
	test "$(job_field $runs QOS)" = tide_vision && has_qos tide_vision
'

test_expect_success 'while slurmctld is away it is refused' '
	wait_state_saved $waits && "$CLUSTER" kill9 slurmctld &&
	wait_for 20 eval "tidectl credits detach vision --dry-run |
		grep \"slurmctld of cluster tide is not connected\"" &&
	test_must_fail tidectl credits detach vision 2>err &&
	grep "slurmctld of cluster .tide. is not connected" err &&
	"$CLUSTER" restart slurmctld && wait_job_state $runs RUNNING 20
'

# What starts in the second of the detach is charged: Slurm's times are whole.
test_expect_success 'with nothing running, what waits is moved and goes on' '
	wait_for 20 eval "! tidectl credits detach vision --dry-run |
		grep connected" &&
	scontrol hold $waits && scancel $runs &&
	wait_for 40 charged $runs 1 &&
	tidectl credits balance --json >balance &&
	tidectl credits detach vision >out &&
	grep "job $waits of root, cluster tide, pending: moved to QOS normal" out &&
	grep "account vision pays no more; its balance and every posting stay$" out &&
	test "$(job_field $waits QOS)" = normal && ! has_qos tide_vision &&
	release_later $waits && wait_job_state $waits COMPLETED 30
'

test_expect_success 'of the QOS of its associations only ours is gone' '
	for user in root daemon; do
		sed "s/tide_vision//; s/,,/,/; s/^,//; s/,\$//" before.$user >want &&
		qos_of $user >now && test_cmp want now || return 1
	done &&
	id=$(sql "select count(*) from tide_assoc_table where qos regexp \",[0-9]+,[0-9]*[^0-9,]\" or qos like \"%,,%\" or delta_qos like \"%,,%\"") &&
	test "$id" = 0 &&
	sacctmgr -i modify account vision set qos+=normal &&
	grep -q long now && qos_of root | grep long | grep short
'

test_expect_success 'the ledger is as it was, and the audit says so' '
	tidectl credits balance --json >now &&
	jq "map(del(.enrolled, .qos, .limit_minutes))" balance >want &&
	jq "map(del(.enrolled, .qos, .limit_minutes))" now >got &&
	test_cmp want got &&
	jq -e "any(.[]; .account == \"vision\" and (.enrolled | not) and .qos == null)" now &&
	audit_ok &&
	test_must_fail tidectl credits grant vision 5 --note=x 2>err &&
	grep "not enrolled" err
'

test_expect_success 'a second time changes nothing' '
	head=$(sql "select txn from tide_head") &&
	tidectl credits detach vision >out && grep "paid no more before" out &&
	test "$(sql "select txn from tide_head")" = "$head" &&
	tidectl credits detach --all --json >out.json &&
	jq -e ".[0] | .already and .in_force and (.enrolled | not)" out.json
'

test_expect_success 'its runs are free now' '
	free=$(submit -A vision -p pool -t 5 -o /dev/null -w n1 --gres=mlu:mlu290:1 --wrap "sleep 1") &&
	wait_job_end $free 30 && wait_for 20 sacct_shows $free State COMPLETED
'

test_expect_success 'enrolled again, it has what was left, and pays again' '
	before=$(balance_of vision balance) &&
	tidectl credits enroll vision >out && grep "is enrolled" out &&
	wait_for 20 qos_limit_is tide_vision $((before * 6 / 100)) &&
	test "$(qos_used tide_vision)" = 0 &&
	paid=$(pool_job 1 -w n1 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $paid 1 && charged $free 0 && charged $waits 0 &&
	test "$(balance_of vision balance)" = $((before - $(credits_of $paid))) &&
	audit_ok
'

# Up to 23.11 slurmctld asks every five seconds for the numbers of new rows, and
# takes no update of a job while it waits for the answer, which the lock keeps
# back. Just after one was answered there is time.
just_numbered() {
	local id

	id=$(submit_wrap true -H -p lab -A nlp -t 1 -o /dev/null) &&
		wait_for 20 sacct_shows "$id" State PENDING
}

# With all of its table locked slurmdbd can add no job, and reads as before.
test_expect_success 'a job that slurmdbd does not know of yet is moved as well' '
	just_numbered &&
	lock "select count(*) from tide_job_table for update" &&
	new=$(pool_job 1 -H -w n1 --gres=mlu:mlu290:1) &&
	tidectl credits detach vision --json >out.json && unlock &&
	jq -e ".[0].jobs == [{cluster: \"tide\", job: $new, user: \"root\", running: false, recorded: false, moved: \"normal\"}]" out.json &&
	test "$(job_field $new QOS)" = normal && ! has_qos tide_vision &&
	wait_for 20 dbd_qos_is $new normal && release_later $new &&
	wait_job_state $new COMPLETED 60 && charged $new 0 && audit_ok
'

test_expect_success 'one that runs, and slurmdbd does not know, refuses it' '
	enroll vision &&
	lock "select count(*) from tide_job_table for update" &&
	new=$(pool_job 600 -w n1 --gres=mlu:mlu290:1) &&
	wait_job_state $new RUNNING 20 &&
	test_must_fail tidectl credits detach vision 2>err && unlock &&
	grep "QOS .tide_vision. is in use by job $new of cluster .tide., which slurmdbd does not know of yet" err &&
	has_qos tide_vision && scancel $new && wait_for 40 charged $new 1
'

# The ledger has the detach, Slurm cannot remove the QOS yet.
test_expect_success 'a job that comes in between is moved when the QOS is gone' '
	before=$(detaches) &&
	lock "select id from qos_table where name=\"tide_vision\" for update" &&
	{ tidectl credits detach vision >out 2>err & } && pid=$! &&
	wait_for 20 eval "test \$(detaches) = $((before + 1))" &&
	new=$(pool_job 1 -H -w n1 --gres=mlu:mlu290:1) && unlock &&
	wait $pid && wait_for 20 eval "! has_qos tide_vision" &&
	grep "job $new of root, cluster tide, pending: moved to QOS normal" out &&
	test "$(job_field $new QOS)" = normal && release_later $new &&
	wait_job_state $new COMPLETED 60 && charged $new 0 && audit_ok &&
	enroll vision
'

# As after a crash of slurmctld that started the job and had not saved it.
test_expect_success 'what slurmctld lost runs for slurmdbd only, and is moved' '
	new=$(pool_job 1 -H -w n1 --gres=mlu:mlu290:1) &&
	wait_for 20 dbd_qos_is $new tide_vision &&
	sql "update tide_job_table set state=1 where id_job=$new" &&
	tidectl credits detach vision --dry-run --json >out.json &&
	jq -e ".[0].jobs[0] | .job == $new and .running == false" out.json &&
	tidectl credits detach vision >out &&
	grep "job $new of root, cluster tide, pending: moved to QOS normal" out &&
	test "$(job_field $new QOS)" = normal && release_later $new &&
	wait_job_state $new COMPLETED 60 && charged $new 0 && audit_ok &&
	enroll vision
'

test_expect_success 'forced, a run goes on, what waits is held' '
	runs=$(pool_job 600 --requeue -w n1 --gres=mlu:mlu290:2) &&
	wait_job_state $runs RUNNING 20 &&
	sacctmgr -i modify user root where account=vision set qos=tide_vision &&
	waits=$(pool_job 1 -w n1 --gres=mlu:mlu290:2) &&
	wait_for 20 sacct_shows $waits State PENDING &&
	tidectl credits detach vision --force >out &&
	grep "job $waits .*pending: holds it, and cannot be moved (user .root. may use no other QOS in account .vision.)" out &&
	grep "job $runs .*running: holds it$" out &&
	if slurm_since 25.05; then
		grep "its QOS will be removed when no job has it" out
	else
		! has_qos tide_vision
	fi &&
	wait_for 20 held $waits && job_is $runs RUNNING
'

test_expect_success 'while it runs the account cannot be enrolled again' '
	test_must_fail tidectl credits enroll vision 2>err &&
	grep "cannot be enrolled again yet: the QOS it had before is in use by job $runs" err
'

test_expect_success 'its end is charged, as it began when the account paid' '
	before=$(balance_of vision balance) && ran_for $runs 2 &&
	scancel $runs && wait_for 40 charged $runs 1 &&
	test "$(balance_of vision balance)" = $((before - $(credits_of $runs))) &&
	costs_right $runs 2 && audit_ok
'

# From 25.05 on Slurm keeps the QOS for what waits, too: it has to be moved.
free_qos() {
	slurm_since 25.05 || return 0
	test_must_fail tidectl credits enroll vision 2>err &&
		grep "in use by job $waits of cluster .tide. (pending)" err &&
		scontrol hold $waits && scontrol update jobid=$waits qos=normal &&
		wait_for 40 eval "! has_qos tide_vision"
}

test_expect_success 'what was held goes on when it pays again' '
	free_qos &&
	enroll vision &&
	{ ! slurm_since 25.05 ||
		{ scontrol update jobid=$waits qos=tide_vision &&
		scontrol release $waits; }; } &&
	wait_job_state $waits COMPLETED 60 && wait_for 40 charged $waits 1 &&
	wait_for 20 limit_is_what_is_left
'

# A slurmdbd that dies when the ledger says one thing and Slurm another: the
# QOS cannot be removed as long as somebody has its row.
test_expect_success 'a crash in the middle is made up for at the next start' '
	before=$(detaches) &&
	lock "select id from qos_table where name=\"tide_vision\" for update" &&
	tidectl credits detach vision >out &&
	grep "its QOS will be removed soon" out && has_qos tide_vision &&
	"$CLUSTER" kill9 slurmdbd && unlock &&
	"$CLUSTER" restart slurmdbd && wait_for 30 eval "! has_qos tide_vision" &&
	test "$(detaches)" = $((before + 1)) &&
	audit_ok
'

test_expect_success 'an enrolment that somebody made up is found' '
	sql "insert into tide_account (account, enrolled, balance) select \"vision\", max(time), (select sum(amount) from tide_line where account=\"vision\") from tide_txn where kind=\"enroll\"" &&
	test_must_fail tidectl credits audit >out &&
	grep "FAULT: 1 accounts are not enrolled and detached as" out &&
	sql "delete from tide_account where account=\"vision\"" && audit_ok
'

test_done
