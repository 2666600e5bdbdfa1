#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Credits: runs on lent nodes are charged exactly, two owners and the pool earn
# by the devices used there less the fee, sacct and tidectl show it, a limit
# holds jobs that cannot be paid, and the audit finds every change.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='credits: charges, earnings, limits, audit'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
credits_cluster --without select,job_submit
as_nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups"

test_expect_success 'an account that is not enrolled gets nothing' '
	test_must_fail tidectl credits grant vision 5 --note=x 2>err &&
	grep "not enrolled" err
'

test_expect_success 'an account that Slurm does not know is refused' '
	test_must_fail tidectl credits enroll ghost 2>err &&
	grep "no account .ghost." err
'

test_expect_success 'enrolling makes the QOS and its limit' '
	tidectl credits enroll vision &&
	sacctmgr -n -P show qos where name=tide_vision format=name,flags,grptresmins >qos &&
	echo "tide_vision|NoDecay,UsageFactorSafe|billing=0" >want &&
	test_cmp want qos &&
	sacctmgr -n -P show assoc where account=vision user=root format=qos >assoc &&
	echo "normal,tide_vision" >want &&
	test_cmp want assoc &&
	wait_for 20 ctld_has_qos tide_vision
'

test_expect_success 'enrolling twice says so' '
	tidectl credits enroll vision >out && grep before out
'

test_expect_success 'an account in capital letters would be a second one: refused' '
	for what in "enroll Vision" "grant Vision 5 --note=x" "balance Vision" "statement Vision"; do
		test_must_fail tidectl credits $what 2>err &&
		grep "account .Vision.: accounts of Slurm are in small letters" err || return 1
	done
'

test_expect_success 'an account that does not exist has no statement' '
	for what in "balance visoin" "statement visoin"; do
		test_must_fail tidectl credits $what 2>err &&
		grep "there is no account .visoin." err || return 1
	done &&
	tidectl credits balance nlp
'

test_expect_success 'without credits a job waits, for the reason that Slurm gives' '
	poor=$(pool_job 1 -N1 --gres=mlu:mlu290:1) &&
	wait_for 20 eval "[ \$(job_field $poor Reason) = QOSGrpBillingMinutes ]"
'

test_expect_success 'a grant lets it run at once' '
	tidectl credits grant vision 100 --note="a start" --json >grant &&
	test "$(jq -r .in_force grant)" = true &&
	sacctmgr -n -P show qos where name=tide_vision format=grptresmins >qos &&
	echo billing=6000000 >want && test_cmp want qos &&
	wait_job_state $poor COMPLETED 40
'

test_expect_success 'what is no grant is a usage error' '
	test_expect_code 2 tidectl credits grant vision 1 &&
	test_expect_code 2 tidectl credits grant vision 0 --note=x &&
	test_expect_code 2 tidectl credits grant vision 1e3 --note=x &&
	test_expect_code 2 tidectl credits grant vision 1.0000001 --note=x &&
	test_expect_code 2 tidectl credits grant vision --note=x &&
	test_expect_code 2 tidectl credits audit --note=x &&
	test_expect_code 2 tidectl credits nonsense &&
	test_expect_code 2 tidectl credits
'

test_expect_success 'a negative grant takes back' '
	tidectl credits grant vision -10.5 --note="too much, 多了 😀" &&
	test "$(balance_of vision granted)" = 89500000 &&
	tidectl credits statement vision | grep "too much, 多了 😀" && audit_ok
'

test_expect_success 'grants at once stand in line' '
	before=$(balance_of vision granted) &&
	for i in 1 2 3 4 5; do
		tidectl credits grant vision 0.000001 --note=$i >/dev/null &
	done && wait &&
	test "$(balance_of vision granted)" = $((before + 5)) && audit_ok
'

test_expect_success 'runs on one owner, on two, and on nobody are charged' '
	one=$(pool_job 2 -w n1 --gres=mlu:mlu290:1) &&
	two=$(pool_job 3 -N2 -w n1,n2 --gres=mlu:2) &&
	all=$(pool_job 2 -N3 --gres=mlu:mlu290:1) &&
	none=$(pool_job 1 -w n3 --gres=mlu:mlu290:2) &&
	for id in $poor $one $two $all $none; do
		wait_for 40 charged $id 1 || return 1
	done
'

test_expect_success 'every run costs devices x time x rate, to a micro-credit' '
	costs_right $poor 1 && costs_right $one 1 && costs_right $two 4 &&
	costs_right $all 3 && costs_right $none 2
'

test_expect_success 'sacct says rate and who earns' '
	sacct_shows $one SystemComment "^credits=[0-9.]+ rate=200/h to=nlp,centre$" &&
	sacct_shows $two SystemComment "rate=800/h to=nlp,cv,centre$" &&
	sacct_shows $none SystemComment "rate=400/h to=centre$"
'

test_expect_success 'owners earn by the nodes used, less the fee' '
	spent=$(credits_of $two) &&
	tidectl credits statement nlp --json >nlp &&
	tidectl credits statement cv --json >cv &&
	tidectl credits statement centre --json >centre &&
	for a in nlp cv centre; do
		got=$(jq -r ".[] | select(.job==$two) | .amount" $a) &&
		eval "$a=\$(micro $got)" || return 1
	done &&
	test $((nlp + cv + centre)) = $spent &&
	test $((nlp - cv)) -le 1 && test $((nlp - cv)) -ge -1 &&
	test $((centre - spent / 10)) -le 1 &&
	test $((centre - spent / 10)) -ge -1 &&
	test "$(jq -r ".[] | select(.job==$two) | .counterparty" nlp)" = vision &&
	ended=$(jq -r ".[] | select(.job==$two) | .end" nlp) &&
	test "$(date -d "$ended" +%s)" = \
		"$(date -d "$(sacct_field $two End)" +%s)"
'

test_expect_success 'times of a statement are ISO 8601' '
	start=$(sacct -nX -P -j $two -o Start) &&
	test "$(jq -r ".[] | select(.job==$two) | .start" nlp)" = \
		"$(date -u -d "@$(date -d "$start" +%s)" +%FT%TZ)" &&
	jq -e "all(.[].time; endswith(\"Z\"))" nlp
'

test_expect_success 'balances add up to nothing' '
	tidectl credits balance --json >all.json &&
	sum=0 &&
	for b in $(jq -r ".[].balance" all.json); do
		sum=$((sum + $(micro $b))) || return 1
	done &&
	test $sum = 0 &&
	test "$(balance_of vision balance)" = \
		"$(tidectl credits statement vision --json | jq -r ".[-1].balance" | tr -d .)"
'

test_expect_success 'Slurm counts what the ledger counts' '
	used=$(qos_used tide_vision) &&
	spent=$(balance_of vision spent) &&
	off=$((used - spent * 6 / 100)) &&
	test $off -ge -5 && test $off -le 5
'

test_expect_success 'the own jobs of an owner are not charged' '
	own=$(submit -A nlp -p lab -t 5 -o /dev/null --gres=mlu:mlu290:1 --wrap "sleep 1") &&
	wait_for 40 sacct_shows $own State COMPLETED &&
	after=$(pool_job 1 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $after 1 && charged $own 0
'

test_expect_success 'a requeued job is charged for each run' '
	again=$(pool_job 60 --requeue -w n2 --gres=mlu:mlu290:1) &&
	wait_job_state $again RUNNING 20 &&
	ran_for $again 2 &&
	scontrol requeue $again &&
	wait_for 40 charged $again 1 &&
	wait_job_state $again RUNNING 40 && ran_for $again 1 &&
	scancel $again &&
	wait_for 40 charged $again 2 &&
	costs_right $again 1
'

test_expect_success 'suspended time is not charged' '
	still=$(pool_job 6 -w n3 --gres=mlu:mlu290:1) &&
	wait_job_state $still RUNNING 20 && ran_for $still 1 &&
	scontrol suspend $still && sleep 4 && scontrol resume $still &&
	wait_for 40 charged $still 1 &&
	sacct -n -X -P -j $still -o ElapsedRaw,Suspended >took &&
	IFS="|" read -r elapsed suspended <took &&
	test "$suspended" != 00:00:00 &&
	test "$(credits_of $still)" = "$(cost 1 $elapsed)"
'

test_expect_success 'a run that began before its account was enrolled is free' '
	free=$(submit -A cv -p pool -t 5 -o /dev/null -w n3 --gres=mlu:mlu290:1 --wrap "sleep 60") &&
	wait_job_state $free RUNNING 20 && ran_for $free 1 &&
	tidectl credits enroll cv && ran_for $free 3 && scancel $free &&
	wait_for 20 sacct_shows $free State CANCELLED &&
	later=$(pool_job 1 -w n3 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $later 1 && charged $free 0
'

test_expect_success 'a run costs by the UsageFactor of its QOS' '
	sacctmgr -i modify qos tide_vision set usagefactor=0.5 &&
	half=$(pool_job 2 -w n3 --gres=mlu:mlu290:2) &&
	wait_for 40 charged $half 1 &&
	sacctmgr -i modify qos tide_vision set usagefactor=1 &&
	sacct_shows $half SystemComment "rate=200/h" &&
	costs_right $half 1
'

# Slurm up to 24.11 writes the time of the requeue as the end of that run.
test_expect_success 'a job requeued when it had ended is not charged again for that run' '
	ended=$(pool_job 1 --requeue -w n3 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $ended 1 && before=$(credits_of $ended) &&
	end=$(sacct_field $ended End) &&
	scontrol requeue $ended &&
	wait_for 40 charged $ended 2 &&
	test "$(credits_of $ended | head -1)" = "$before" &&
	moved=1 && if sacct_field $ended End | grep -qxF "$end"; then moved=0; fi &&
	tidectl credits audit --json >out && test "$(jq .moved out)" = $moved
'

test_expect_success 'a run that a failing node ends is paid back' '
	before=$(balance_of vision balance) &&
	lost=$(pool_job 100 --no-requeue -w n1 --gres=mlu:mlu290:2) &&
	wait_job_state $lost RUNNING 20 && ran_for $lost 2 &&
	scontrol update nodename=n1 state=down reason=test &&
	wait_for 40 charged $lost 1 &&
	{ scontrol update nodename=n1 state=resume || :; } &&
	sacct_shows $lost State NODE_FAIL &&
	wait_for 20 sacct_shows $lost SystemComment "credits=0.000000 refund=[0-9.]*[1-9][0-9.]* rate=400/h" &&
	test "$(balance_of vision balance)" = "$before" &&
	tidectl credits statement vision | grep "refund .*$lost.*a node failed"
'

test_expect_success 'other text in SystemComment is kept' '
	sacctmgr -i modify job where jobid=$one set systemcomment="kept" &&
	sacct_shows $one SystemComment "^kept credits="
'

test_expect_success 'an account shows itself to its members, the audit to operators' '
	sacctmgr -i add user nobody account=vision &&
	$as_nobody tidectl credits balance --json >mine &&
	test "$(jq -r ".[].account" mine | paste -sd,)" = vision &&
	$as_nobody tidectl credits statement vision >out &&
	test_must_fail $as_nobody tidectl credits statement nlp 2>err &&
	grep "may not see" err &&
	test_must_fail $as_nobody tidectl credits audit 2>err &&
	grep "operators" err
'

test_expect_success 'changes are for those who can read slurmdbd.conf' '
	test_must_fail $as_nobody tidectl credits grant vision 5 --note=x 2>err &&
	grep "could not read .*slurmdbd.conf" err &&
	mkdir -p elsewhere && cp "$SLURM_CONF" elsewhere/ &&
	echo "StoragePass=guess" >elsewhere/slurmdbd.conf &&
	test_must_fail env "SLURM_CONF=$PWD/elsewhere/slurm.conf" \
		tidectl credits grant vision 5 --note=x 2>err &&
	grep "does not show" err
'

test_expect_success 'other queries of transactions are still answered by Slurm' '
	sacctmgr -n -P list transactions action="Add QOS" >out &&
	grep tide_vision out
'

test_expect_success 'the audit finds nothing wrong, and gives a seal' '
	tidectl credits audit --export-seal=seal.json >out &&
	grep "audit: ok" out && jq -e .hash seal.json &&
	test_must_fail tidectl credits audit --export-seal=seal.json 2>err &&
	grep "File exists" err &&
	tidectl credits audit --seal=seal.json --json >out.json &&
	test "$(jq .ok out.json)" = true
'

test_expect_success 'a seal that could not be written whole is not there' '
	(
		trap "" XFSZ
		ulimit -f 0
		tidectl credits audit --export-seal=half.json 2>&1 || :
	) | grep "could not write the seal half.json: File too large" &&
	test ! -e half.json
'

# tampered STATEMENT UNDO: the audit notices.
tampered() {
	sql "$1" || return 1
	test_must_fail tidectl credits audit >out 2>&1 &&
	grep FAULT out &&
	sql "$2" && audit_ok
}

test_expect_success 'a changed amount is found' '
	tampered "update tide_line set amount=amount+1 where txn=3 and line=1" \
		"update tide_line set amount=amount-1 where txn=3 and line=1"
'

test_expect_success 'a changed amount that balances is found' '
	tampered "update tide_line set amount=2*amount where txn=3" \
		"update tide_line set amount=amount/2 where txn=3"
'

test_expect_success 'a changed note, time or price is found' '
	tampered "update tide_txn set note=concat(note,\"x\") where id=3" \
		"update tide_txn set note=left(note,length(note)-1) where id=3" &&
	tampered "update tide_txn set time=time+1 where id=3" \
		"update tide_txn set time=time-1 where id=3" &&
	tampered "update tide_txn set detail=replace(detail,\"mlu290\\\":[200,\",\"mlu290\\\":[100,\") where id=1" \
		"update tide_txn set detail=replace(detail,\"mlu290\\\":[100,\",\"mlu290\\\":[200,\") where id=1"
'

test_expect_success 'a removed, moved or added transaction is found' '
	tampered "update tide_txn set id=id+1000000 where id=4; update tide_line set txn=txn+1000000 where txn=4" \
		"update tide_txn set id=4 where id=1000004; update tide_line set txn=4 where txn=1000004" &&
	tampered "insert into tide_line values (999, 0, \"vision\", 5)" \
		"delete from tide_line where txn=999" &&
	tampered "update tide_account set balance=balance+1" \
		"update tide_account set balance=balance-1"
'

test_expect_success 'a refund without its lines is found' '
	refund=$(sql "select id from tide_txn where kind=\"refund\"") &&
	tampered "update tide_line set txn=-txn where txn=$refund" \
		"update tide_line set txn=-txn where txn=-$refund" &&
	grep "transaction $refund: it refunds no charge" out
'

test_expect_success 'a changed job row is found' '
	tampered "update tide_job_table set time_end=time_end-1 where id_job=$one" \
		"update tide_job_table set time_end=time_end+1 where id_job=$one" &&
	tampered "update tide_job_table set account=\"cv\" where id_job=$one" \
		"update tide_job_table set account=\"vision\" where id_job=$one"
'

test_expect_success 'a ledger built anew does not fit an earlier seal' '
	jq -c ".hash |= (.[1:] + .[:1])" seal.json >other.json &&
	test_must_fail tidectl credits audit --seal=other.json >out &&
	grep "does not fit the seal" out &&
	jq -c ".id = 100000" seal.json >other.json &&
	test_must_fail tidectl credits audit --seal=other.json >out &&
	grep "the ledger ends at" out &&
	echo nonsense >other.json &&
	test_must_fail tidectl credits audit --seal=other.json
'

# prices_known N: tide.conf was taken over so often.
prices_known() {
	[ "$(sql "select count(*) from tide_txn where kind='prices'")" = "$1" ]
}

test_expect_success 'a new rate holds for runs that start after it' '
	old=$(pool_job 4 -w n3 --gres=mlu:mlu290:1) &&
	wait_job_state $old RUNNING 20 && ran_for $old 2 &&
	sed -i "s/Rate=200/Rate=400/" "$tide_conf" &&
	kill -HUP $(cat "$TIDE_CLUSTER_DIR/run/slurmdbd.slurm.pid") &&
	wait_for 20 prices_known 2 &&
	new=$(pool_job 1 -w n2 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $old 1 && wait_for 40 charged $new 1 &&
	sacct_shows $old SystemComment rate=200/h &&
	sacct_shows $new SystemComment rate=400/h &&
	sed -i "s/Rate=400/Rate=200/" "$tide_conf" &&
	wait_for 20 prices_known 3 && audit_ok
'

# The first prices and the third are the same, but for their time.
test_expect_success 'prices of another time are found' '
	first=$(sql "select min(id) from tide_txn where kind=\"prices\"") &&
	third=$(sql "select max(id) from tide_txn where kind=\"prices\"") &&
	third_run=$(pool_job 1 -w n3 --gres=mlu:mlu290:1) &&
	wait_for 40 charged $third_run 1 && audit_ok &&
	charge=$(sql "select id from tide_txn where ref like \"run % $third_run %\"") &&
	tampered "update tide_txn set detail=replace(detail,\"prices\\\":$third,\",\"prices\\\":$first,\") where id=$charge" \
		"update tide_txn set detail=replace(detail,\"prices\\\":$first,\",\"prices\\\":$third,\") where id=$charge" &&
	grep "transaction $charge: job $third_run was charged at the prices of another time" out
'

test_expect_success 'a bad tide.conf stops charging, not slurmdbd' '
	cp "$tide_conf" good.conf &&
	echo "Fee=lots" >>"$tide_conf" &&
	wait_for 20 dbd_log "charging stops: .*tide.conf:[0-9]*: .*Fee=lots" &&
	late=$(pool_job 1 -w n3 --gres=mlu:mlu290:1) &&
	wait_job_state $late COMPLETED 20 &&
	wait_for 20 sacct_shows $late State COMPLETED &&
	charged $late 0 &&
	tidectl credits balance vision
'

test_expect_success 'mended, what was missed is charged' '
	cp good.conf "$tide_conf" &&
	wait_for 30 charged $late 1 && costs_right $late 1 && audit_ok
'

dbd_reconfigure() {
	kill -HUP "$(cat "$TIDE_CLUSTER_DIR/run/slurmdbd.slurm.pid")"
}

# The first right file after the bad one names another partition, and all of
# the job table is looked through for that one.
test_expect_success 'what a wrong PoolPartition missed is charged, too' '
	stops=$(dbd_said "charging stops: ") &&
	echo "Fee=lots" >>"$tide_conf" && dbd_reconfigure &&
	wait_for 20 dbd_said_more "charging stops: " $stops &&
	missed=$(pool_job 1 -w n3 --gres=mlu:mlu290:1) &&
	wait_for 40 sacct_shows $missed State COMPLETED &&
	known=$(sql "select count(*) from tide_txn where kind=\"prices\"") &&
	sed "s/^PoolPartition=.*/PoolPartition=lab/" good.conf >"$tide_conf" &&
	wait_for 20 prices_known $((known + 1)) &&
	ran_for $missed 10 && charged $missed 0 &&
	cp good.conf "$tide_conf" &&
	wait_for 20 prices_known $((known + 2)) &&
	wait_for 20 charged $missed 1 && costs_right $missed 1 && audit_ok
'

limit() {
	dbd_limit vision
}

# limit_near MINUTES: as before, to a hundredth of a credit.
limit_near() {
	local off

	off=$(($(limit) - $1)) && [ "$off" -gt -600 ] && [ "$off" -lt 600 ]
}

test_expect_success 'a QOS that was changed or deleted has its limit again' '
	before=$(limit) && test "$before" -gt 1000000 &&
	sacctmgr -i modify qos tide_vision set grptresmins=billing=5 &&
	dbd_reconfigure && wait_for 20 limit_near $before &&
	sacctmgr -i modify qos tide_vision set grptresmins=billing=-1 &&
	test -z "$(limit)" && dbd_reconfigure && wait_for 20 limit_near $before &&
	sacctmgr -i delete qos tide_vision && test -z "$(limit)" &&
	dbd_reconfigure && wait_for 20 limit_near $before &&
	sacctmgr -n -P show qos where name=tide_vision format=flags >flags &&
	echo NoDecay,UsageFactorSafe >want && test_cmp want flags &&
	sacctmgr -n -P show assoc where account=vision user=root format=qos >assoc &&
	grep tide_vision assoc &&
	sacctmgr -i delete qos tide_vision && test -z "$(limit)" &&
	tidectl credits enroll vision | grep "enrolled before" &&
	wait_for 20 limit_near $before
'

# elsewhere SECONDS: another slurmdbd holds the ledger for so long.
elsewhere() {
	sql "update tide_head set holder='elsewhere:1:1', held_until=unix_timestamp()+$1"
}

# not_in_force: a grant does not claim that Slurm knows of it.
not_in_force() {
	tidectl credits grant vision 1 --note=x --json >grant &&
		[ "$(jq .in_force grant)" = false ]
}

test_expect_success 'while another slurmdbd posts, a grant does not claim to be in force' '
	elsewhere 60 && wait_for 30 not_in_force &&
	elsewhere -1 && wait_for 30 eval \
		"tidectl credits grant vision -1 --note=x | grep -v soon" &&
	audit_ok
'

test_expect_success 'help and version' '
	tidectl credits --help | grep statement &&
	tidectl --help | grep credits &&
	test_expect_code 2 tidectl credits grant vision 5 2>err &&
	grep "say why with --note" err &&
	grep "usage: tidectl credits grant ACCOUNT AMOUNT --note=TEXT" err &&
	test_expect_code 2 tidectl credits statement 2>err &&
	grep "usage: tidectl credits statement ACCOUNT" err
'

test_done
