#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A ledger outlives Slurm's releases, and ours: one that was written by the
# first version of its tables under Slurm 22.05.8 (data/ledger-1.sql) is read
# and continued by this build under this Slurm, as after an upgrade.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='credits: the ledger of an earlier release goes on'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
credits_cluster --without select,job_submit
old=$TIDE_TOP/tests/data/ledger-1

# sealed: the audit is content, and knows the old ledger's last transaction.
sealed() {
	tidectl credits audit --seal="$old.seal" >audit.out 2>&1 || {
		cat audit.out
		return 1
	}
}

# slurmctld is started after slurmdbd, as in an upgrade: it does not hear of a QOS
# that slurmdbd makes before it has registered again.
test_expect_success 'slurmdbd starts on it, balances and audit are as they were' '
	"$CLUSTER" kill9 slurmdbd &&
	mariadb --no-defaults --socket="$TIDE_DB_SOCKET" slurm_acct_db \
		<"$old.sql" &&
	"$CLUSTER" restart slurmdbd &&
	wait_for 20 eval "[ -n \"\$(dbd_limit vision)\" ]" &&
	"$CLUSTER" restart slurmctld &&
	test "$(balance_of vision balance)" = 898500000 &&
	test "$(balance_of vision spent)" = 1000000 &&
	test "$(balance_of nlp earned)" = 100000 &&
	test "$(balance_of cv earned)" = 511111 &&
	test "$(balance_of centre balance)" = 388889 &&
	test "$(balance_of mint balance)" = -899500000 &&
	sealed
'

test_expect_success 'a grant and a run go on from there' '
	enroll vision && grant vision 10 more &&
	job=$(pool_job 2 -w n1 --gres=mlu:mlu290:2) &&
	wait_for 60 charged "$job" 1 && costs_right "$job" 2 &&
	test "$(balance_of vision balance)" = \
		$((908500000 - $(credits_of "$job"))) &&
	sealed
'

test_expect_success 'the statement has old and new in one' '
	tidectl credits statement vision --json >statement &&
	test "$(jq -r "map(.kind) | join(\" \")" statement)" = \
		"grant grant charge charge charge grant charge"
'

test_done
