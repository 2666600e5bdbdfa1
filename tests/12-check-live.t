#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl check and tidectl windows on a running cluster: nothing to complain
# about where all is well, and each thing that only the daemons know.

# shellcheck disable=SC2034 # read by sharness
test_description='tidectl check and windows on a cluster'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'the plugins are not built' \
	test -e "$builddir/plugins/acct/credits/.libs/accounting_storage_credits.so"
export TZ=UTC

tidectl=$builddir/cmd/tidectl/tidectl

cat >tide.conf <<'EOF'
PoolPartition=pool
PoolAccount=centre IssueAccount=mint
Device=mlu:mlu290 Rate=100
OwnerAccount=nlp Nodes=n1
WindowName=always Nodes=n1 Days=Mon-Sun
EOF

cluster_start --nodes 2 --gres mlu:mlu290:2 --tide-conf tide.conf \
	--account centre,mint,nlp,vision \
	--set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE \
	--set SlurmctldParameters=preempt_send_user_signal \
	--set AccountingStorageEnforce=associations,limits,qos,safe \
	--partition 'PartitionName=pool Nodes=n[1-2] Default=YES GraceTime=20 TRESBillingWeights=GRES/mlu:mlu290=100000' \
	--partition 'PartitionName=nlp Nodes=n1 AllowAccounts=nlp PriorityTier=2'
etc=$TIDE_CLUSTER_DIR/etc

# check STATUS: the findings are in out.
check() {
	local got=0

	"$tidectl" check --json >out || got=$?
	[ "$got" = "$1" ] || {
		echo "status $got"
		cat out
		return 1
	}
}

# found LEVEL TEXT: a finding of that level says so.
found() {
	jq -e --arg level "$1" --arg what "$2" \
		'any(.[]; .level == $level and (.what | contains($what)))' out
}

test_expect_success 'where all is well check finds nothing' '
	check 0 &&
	jq -e "all(.[]; .level == \"ok\") and length > 20" out &&
	found ok "OwnerAccount=nlp is an account" &&
	found ok "which the plugins are built for"
'

test_expect_success 'windows reads the tide.conf of the cluster' '
	"$tidectl" windows >out &&
	grep -q "^n1  nlp  open, no close before " out &&
	test_must_fail "$tidectl" windows --node n2 2>err &&
	grep -q "lends node .n2." err
'

test_expect_success 'a QOS of a paying account that lost its flags is an error' '
	sacctmgr -i add qos tide_vision set flags=NoDecay,UsageFactorSafe &&
	check 0 && found ok "QOS tide_vision has NoDecay" &&
	sacctmgr -i modify qos tide_vision set flags=NoDecay &&
	check 1 && found error "QOS tide_vision has no UsageFactorSafe" &&
	sacctmgr -i modify qos tide_vision set flags+=UsageFactorSafe &&
	check 0
'

test_expect_success 'an owner without an account is an error' '
	sed "s/OwnerAccount=nlp/OwnerAccount=nobody/" tide.conf \
		>"$etc/tide.conf" &&
	check 1 && found error "OwnerAccount=nobody: slurmdbd knows no such" &&
	cp tide.conf "$etc/tide.conf"
'

test_expect_success 'a PluginDir that slurmctld does not know yet is said' '
	cp "$etc/slurm.conf" slurm.conf.good && mkdir -p more &&
	sed -i "s|^\(PluginDir=.*\)|\1:$PWD/more|" "$etc/slurm.conf" &&
	check 0 && found warning "but slurmctld was started with" &&
	cp slurm.conf.good "$etc/slurm.conf"
'

test_expect_success 'limits in force, one clock, one release' '
	check 0 && found ok "slurmctld enforces associations, limits and QOS" &&
	found ok "clock of slurmctld" &&
	found ok "is built for the installed Slurm"
'

test_expect_success 'daemons that are away are said, and nothing is lost' '
	"$CLUSTER" kill9 slurmctld && "$CLUSTER" kill9 slurmdbd &&
	check 0 && found warning "slurmctld could not be asked" &&
	found warning "slurmdbd could not be asked" &&
	found ok "PluginDir names TideFlow" && found ok "munged is there"
'

test_expect_success 'with --live that is an error, MUNGE that is away too' '
	test_must_fail "$tidectl" check --live --json >out &&
	found error "slurmctld could not be asked" &&
	test_expect_code 2 "$tidectl" check --live --conf-dir "$etc" &&
	"$CLUSTER" kill9 munged && rm -f "$TIDE_CLUSTER_DIR/run/munge.socket" &&
	test_must_fail "$tidectl" check --json >out &&
	found error "munged cannot be reached at $TIDE_CLUSTER_DIR/run/munge.socket"
'

test_done
