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
	--partition 'PartitionName=nlp Nodes=n1 AllowAccounts=nlp PriorityTier=2' \
	--partition 'PartitionName=any Nodes=n[1-2]'
etc=$TIDE_CLUSTER_DIR/etc

# A stand-in for ssh: no node has a sshd. It enters the node's namespaces, in
# which a shell reads the words as sshd's would. The clock of a node named in
# $LATE is 42 seconds behind.
mkdir bin
cat >bin/ssh <<'END'
#!/bin/bash
while [ "$1" = -o ]; do shift 2; done
read -r pid _ <"$TIDE_CLUSTER_DIR/run/node-$1.pid" || exit 255
late=0
[ "${LATE:-}" != "$1" ] || late=42
shift
nsenter --target "$pid" --mount --uts sh -c "$*" | jq ".time -= $late"
exit "${PIPESTATUS[0]}"
END
chmod +x bin/ssh
PATH=$PWD/bin:$PATH

# in_node NODE COMMAND...
in_node() {
	local pid

	read -r pid _ <"$TIDE_CLUSTER_DIR/run/node-$1.pid" && shift &&
		nsenter --target "$pid" --mount --uts "$@"
}

# ask STATUS OPTION...: of nodes; the findings are in out.
ask() {
	local want=$1 got=0

	shift
	"$tidectl" check --json "$@" >out || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got"
		cat out
		return 1
	}
}

# of HOSTS LEVEL TEXT: a finding of these hosts says so.
of() {
	jq -e --arg host "$1" --arg level "$2" --arg what "$3" \
		'any(.[]; .host == $host and .level == $level and (.what | test($what)))' out
}

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
		'any(.[]; .level == $level and (.what | test($what)))' out
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
	found ok "clock of slurmctld.s host agrees" &&
	found ok "clock of slurmdbd.s host agrees" &&
	found ok "clock of the database.s host agrees" &&
	found ok "is built for the installed Slurm"
'

test_expect_success 'nodes that answer, one that is down' '
	check 0 && found ok "2 of 2 nodes answer, with slurmd of slurmctld" &&
	scontrol update nodename=n2 state=down reason="no power" &&
	check 0 && found warning "node .n2. is down or does not answer slurmctld: no power" &&
	scontrol update nodename=n2 state=resume
'

test_expect_success 'devices in slurm.conf that slurmctld does not know' '
	sed -i "/^NodeName=n2/s/mlu290:2/mlu290:4/" "$etc/slurm.conf" &&
	check 0 && found warning "node .n2. has Gres=mlu:mlu290:4 in slurm.conf, but slurmctld does not" &&
	cp slurm.conf.good "$etc/slurm.conf"
'

# slurmctld wants four devices of a slurmd that has read of two.
test_expect_success 'a node that is drained for its devices' '
	sed -i "/^NodeName=n2/s/mlu290:2/mlu290:4/" "$etc/slurm.conf" &&
	"$CLUSTER" restart slurmctld &&
	wait_for 30 eval "sinfo -h -n n2 -o %E | grep -q gres/mlu" &&
	check 0 &&
	found warning "node .n2. takes no job for its devices: gres/mlu" &&
	cp slurm.conf.good "$etc/slurm.conf" &&
	"$CLUSTER" restart slurmctld &&
	wait_for 30 scontrol update nodename=n2 state=resume &&
	wait_for 30 eval "check 0 && found ok \"2 of 2 nodes answer\""
'

test_expect_success 'every node is asked what it has, by srun' '
	ask 0 --nodes --rsh="srun -Q -N1 -n1 -p any -A nlp --immediate=20 -w" &&
	# this cluster keeps nobody from devices
	jq -e "all(.[]; .level == \"ok\" or
		(.what | contains(\"nothing keeps a job from opening\")))" out &&
	of "n[1-2]" warning "ConstrainDevices is not set" &&
	of "n[1-2]" ok "gres_mlu.so is built for the installed Slurm" &&
	of "n[1-2]" ok "device files that gres.conf names are there" &&
	of "n[1-2]" ok "clock agrees" && of "n[1-2]" ok "munged is there"
'

test_expect_success 'and by ssh, each finding with its node' '
	ask 0 --nodes && of "n[1-2]" ok "every folder of PluginDir is there" &&
	in_node n2 mount -t tmpfs none "$TIDE_CLUSTER_DIR/plugins" &&
	in_node n2 mv /dev/cambricon_dev1 /dev/away &&
	LATE=n1 ask 1 --nodes &&
	of n2 error "gres_mlu.so is in no folder of PluginDir" &&
	of n2 error "File=/dev/cambricon_dev1: No such file" &&
	of n1 ok "gres_mlu.so is built for" && of n2 ok "clock agrees" &&
	of n1 warning "its clock is 4[123] seconds behind that of this host" &&
	"$tidectl" check --nodes=n2 >text || : &&
	grep "^error    n2: $etc/gres.conf:4: File=/dev/cambricon_dev1: No" text &&
	in_node n2 umount "$TIDE_CLUSTER_DIR/plugins" &&
	in_node n2 mv /dev/away /dev/cambricon_dev1 && ask 0 --nodes
'

test_expect_success 'a host that cannot be asked is an error of its own' '
	ask 1 --nodes=n1,n9 &&
	of n9 error "the host could not be asked: .*No such file" &&
	of n1 ok "clock agrees" &&
	ask 1 --nodes=n1 --rsh="true" && of n1 error "gave no answer|status 0" &&
	ask 1 --nodes=n1 --rsh="/nowhere/rsh -x" && of n1 error "/nowhere/rsh: No such"
'

test_expect_success 'where slurmctld would run, its plugins are looked for' '
	me=$(hostname -s) &&
	"$tidectl" check --here --json >out &&
	jq -e ".host == \"$me\" and (.plugin_dir | length) > 1 and (.time | type) == \"number\"" out &&
	jq .findings out >findings && mv findings out &&
	found ok "job_submit_tide.so is built for" &&
	mv "$etc/tide.conf" away && test_must_fail "$tidectl" check --here >text &&
	mv away "$etc/tide.conf" && grep "there is no tide.conf here" text
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
