#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Credits at submission, with every plugin in place: an ordinary request gets
# the QOS of its account and the type of its device; what cannot be paid is
# refused in words; two jobs cannot spend the same credit.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='credits: what job_submit/tide does and says'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
write_tide_conf tide.conf
echo "Device=mlu:mlu370 Rate=300" >>tide.conf
cluster_start --nodes 3 --gres mlu:mlu290:2 --gres mlu:mlu370:2@n3 \
	--tide-conf tide.conf --account vision,nlp,cv,centre,mint --user root \
	--set AccountingStorageEnforce=associations,limits,qos,safe \
	--partition "PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP TRESBillingWeights=GRES/mlu:mlu290=200000,GRES/mlu:mlu370=300000" \
	--partition "PartitionName=lab Nodes=n1 AllowAccounts=nlp,vision MaxTime=INFINITE State=UP"

# ask OPTION...: a batch job of vision in the pool; the reason is in err.
ask() {
	submit -A vision -p pool -t 2 -o /dev/null "$@" --wrap "sleep 1" 2>err
}

# refused PATTERN OPTION...: and the user reads why.
refused() {
	local pattern=$1

	shift
	test_must_fail ask "$@" && grep -- "$pattern" err
}

test_expect_success 'an account that is not enrolled cannot pay' '
	refused "account .vision. is not enrolled.*tidectl credits enroll vision" --gres=mlu:1
'

test_expect_success 'each thing that is said has a line of its own' '
	test_must_fail srun -A cv -p pool -t 1 true 2>err &&
	grep "it is ended\$" err &&
	grep "account .cv. is not enrolled" err
'

test_expect_success 'enrolled, an ordinary request gets its QOS' '
	enroll vision &&
	id=$(ask -w n1 --gres=mlu:mlu290:1) &&
	test "$(job_field $id QOS)" = tide_vision &&
	wait_for 20 eval "[ \$(job_field $id Reason) = QOSGrpBillingMinutes ]" &&
	scancel $id
'

test_expect_success 'where several types could be meant the user has to say which' '
	refused "say which .mlu. is meant.*mlu:mlu290 or mlu:mlu370" --gres=mlu:1
'

test_expect_success 'where one type fits it is filled in' '
	id=$(ask -x n3 --gres=mlu:2) &&
	job_field $id TresPerNode | grep -x "gres[:/]mlu:mlu290:2" &&
	scancel $id
'

test_expect_success 'a pool job without a priced device is refused' '
	refused "has to ask for a device that has a price: --gres=mlu:mlu290:1 or --gres=mlu:mlu370:1" &&
	refused "has to ask for a device" --gres=mlu:mlu290:0
'

test_expect_success 'another QOS is refused' '
	refused "runs under the QOS of its account, .tide_vision." --qos=normal --gres=mlu:mlu290:1
'

test_expect_success 'the QOS elsewhere is refused, other partitions are left alone' '
	test_must_fail submit -A vision -p lab --qos=tide_vision --wrap true 2>err &&
	grep "is for partition .pool. alone" err &&
	id=$(submit -A nlp -p lab -t 1 -o /dev/null --gres=mlu:1 --wrap true) &&
	job_field $id TresPerNode | grep -x "gres[:/]mlu:1" &&
	wait_job_state $id COMPLETED 20
'

test_expect_success 'the pool and another partition at once are refused' '
	refused "cannot ask for other partitions" -p pool,lab --gres=mlu:mlu290:1
'

test_expect_success 'an update cannot get round it' '
	id=$(ask -w n1 --gres=mlu:mlu290:1) &&
	test_must_fail scontrol update jobid=$id qos=normal &&
	test_must_fail scontrol update jobid=$id partition=lab &&
	test_must_fail scontrol update jobid=$id account=nlp &&
	scontrol update jobid=$id timelimit=1 &&
	test "$(job_field $id QOS)" = tide_vision &&
	scancel $id
'

# 2 devices x 200 credits/h x 3 min = 20 credits.
test_expect_success 'two jobs cannot spend the same credit' '
	grant vision 20 "for one of them" &&
	one=$(submit -A vision -t 3 -o /dev/null -w n1 --gres=mlu:mlu290:2 --wrap "sleep 5") &&
	two=$(submit -A vision -t 3 -o /dev/null -w n2 --gres=mlu:mlu290:2 --wrap "sleep 1") &&
	wait_job_state $one RUNNING 20 &&
	wait_for 20 eval "[ \$(job_field $two Reason) = QOSGrpBillingMinutes ]" &&
	wait_for 40 charged $one 1 && costs_right $one 2 &&
	job_is $two PENDING
'

test_expect_success 'what the first did not use does not pay for the second' '
	test "$(balance_of vision balance)" -lt 20000000 &&
	sleep 3 && job_is $two PENDING
'

test_expect_success 'a little more does' '
	tidectl credits grant vision 1 --note="and for the other" &&
	wait_for 40 charged $two 1 && costs_right $two 2 && audit_ok
'

test_done
