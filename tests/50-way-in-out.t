#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# docs/install.md as a script: TideFlow is added to a Slurm in production one
# step after the other, and taken out again in the other order. Jobs run and
# wait all the time; after each step none is lost, no node is drained, and
# accounting has all that it had. In the end everything is as it was.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by steps
test_description='the way in and the way out, with jobs running'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/site.sh
. "$TIDE_TOP/tests/lib/site.sh"
need_cluster
skip_unless 'the plugins are not built' \
	test -e "$builddir/plugins/acct/credits/.libs/accounting_storage_credits.so"
export TZ=UTC

# The devices are in the machines, but Slurm does not know of them yet.
cluster_start --plugins none --nodes 3 --gres mlu:mlu290:2 \
	--account vision,nlp,centre,mint --user root,daemon \
	--set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP GraceTime=20' \
	--partition 'PartitionName=nlp Nodes=n[1-2] AllowAccounts=nlp PriorityTier=10 MaxTime=INFINITE State=UP'
stock=$(sed -n 's/^PluginDir=[^:]*://p' "$(etc slurm.conf)")
ours=$TIDE_CLUSTER_DIR/plugins

# check: its findings are in out; true when none is an error.
check() {
	tidectl check --json >out
}

# finds LEVEL TEXT
finds() {
	jq -e --arg level "$1" --arg what "$2" \
		'any(.[]; .level == $level and (.what | test($what)))' out
}

# fix_of TEXT: how to mend what is found so.
fix_of() {
	jq -r --arg what "$1" \
		'[.[] | select(.what | test($what))][0].fix' out
}

# One step over all of it. (A step that is to begin or end while slurmctld is
# away can be lost by Slurm 22.05, with TideFlow or without, and the next then
# waits for what it had.)
cat >long.sh <<END
#!/bin/sh
exec srun sh -c ': >$PWD/at.\$SLURM_JOB_ID; until [ -e $PWD/end ]; do sleep 1; done'
END

# keep_running ID: and its step is there, which a slurmd that is killed before
# cannot start.
keep_running() {
	keep "$1" RUNNING && wait_for 30 test -e "at.$1"
}

# works OPTION...: a job of these options comes and goes.
works() {
	local id

	id=$(submit_wrap "srun true" -t 1 -n1 -o /dev/null "$@") &&
		wait_job_end "$id" 60 && job_is "$id" COMPLETED &&
		wait_for 30 sacct_shows "$id" State '^COMPLETED$'
}

n2_is_closed() {
	local id rc=0

	id=$(submit_wrap true -p pool -A vision -w n2 -t 1 -o /dev/null) ||
		return 1
	wait_for 20 waits_for_window "$id" || rc=1
	scancel "$id"
	return $rc
}

qos_as_before() {
	sacctmgr -n -P show qos format=name,flags,grptresmins >qos.now &&
		test_cmp qos.before qos.now
}

# From 25.05 on Slurm keeps a QOS as long as jobs have it; where slurmdbd is
# without us by then, an administrator removes it.
remove_kept_qos() {
	sacctmgr -i remove qos tide_vision
}

waits_for_window() {
	[[ $(squeue -h -j "$1" -o %r) == "next window"* ]]
}

# An error is that nothing is enforced.
ran_before_found() {
	check
	finds warning "user .nobody. is locked out: no association, and [12] jobs? in the last 30 days"
}

test_expect_success 'a Slurm in production, without TideFlow' '
	sed -i "s/ Gres=[^ ]*//" "$(etc slurm.conf)" &&
	rm -f "$(etc gres.conf)" && rmdir "$ours" &&
	set_key slurm.conf GresTypes && set_key slurm.conf AccountingStorageTRES &&
	set_key slurm.conf PluginDir "$stock" &&
	set_key slurmdbd.conf PluginDir "$stock" &&
	restart slurmdbd && restart slurmctld && restart_slurmds &&
	cp "$(etc slurm.conf)" slurm.conf.before &&
	cp "$(etc slurmdbd.conf)" slurmdbd.conf.before &&
	sacctmgr -n -P show qos format=name,flags,grptresmins >qos.before &&
	sacctmgr -n -P show assoc format=cluster,account,user,qos,defaultqos,grptresmins >assoc.before &&
	works -p pool -A vision && works -p nlp -A nlp
'

test_expect_success 'its jobs run and wait' '
	r1=$(submit -p pool -A vision -w n3 -n1 -t 600 -o r1.out long.sh) &&
	r2=$(submit -p nlp -A nlp -w n1 -n1 -t 600 -o r2.out long.sh) &&
	keep_running $r1 && keep_running $r2 &&
	p1=$(submit_wrap true -p pool -A vision -N3 --exclusive -t 5 -o /dev/null) &&
	p2=$(submit_wrap true -p pool -A vision -t 5 -o /dev/null --dependency=afterok:$r1) &&
	p3=$(submit_wrap true -p nlp -A nlp -t 5 -o /dev/null -H --array=0-1) &&
	keep $p1 PENDING && keep $p2 PENDING && keep $p3 PENDING &&
	note_accounting && nothing_lost
'

# ---- in ----

test_expect_success 'in 1: the folder of plugins, on every host' '
	mkdir "$ours" &&
	set_key slurm.conf PluginDir "$ours:$stock" &&
	restart slurmctld && nothing_lost && works -p pool -A vision
'

test_expect_success 'in 2: devices; slurmctld while the slurmd are away' '
	install_plugin gres_mlu &&
	set_key slurm.conf GresTypes mlu &&
	set_key slurm.conf AccountingStorageTRES gres/mlu,gres/mlu:mlu290 &&
	sed -i "/^NodeName=/s/\$/ Gres=mlu:mlu290:2/" "$(etc slurm.conf)" &&
	for n in n1 n2 n3; do
		echo "NodeName=$n Name=mlu Type=mlu290 File=/dev/cambricon_dev[0-1]" || return 1
	done >"$(etc gres.conf)" &&
	restart_around_slurmds && nothing_lost &&
	works -p pool -A vision --gres=mlu:mlu290:1 &&
	works -p nlp -A nlp --gres=mlu:mlu290:2
'

test_expect_success 'in 3: the layer, Mode=observe: says and does nothing' '
	cat >tide.conf <<-END &&
	PoolPartition=pool
	PoolAccount=centre IssueAccount=mint
	Device=mlu:mlu290 Rate=200
	OwnerAccount=nlp Nodes=n[1-2]
	WindowName=always Nodes=n1 Days=Mon-Sun
	WindowName=one Nodes=n2 From=2037-01-01T00:00 Until=2037-02-01T00:00
	END
	{ cat tide.conf; echo Mode=observe; } >"$(etc tide.conf)" &&
	install_plugin select_cons_tres &&
	restart slurmctld && nothing_lost &&
	works -p pool -A vision -w n2 &&
	wait_for 20 grep "tide: observe: job .* would wait for a window" \
		"$TIDE_CLUSTER_DIR/log/slurmctld.log"
'

test_expect_success 'in 4: Mode=enforce, by reconfigure: n2 is closed' '
	reconfigure tide.conf && n2_is_closed &&
	nothing_lost && works -p pool -A vision -w n1 &&
	works -p nlp -A nlp -w n2
'

test_expect_success 'in 5: the guard' '
	install_plugin job_submit_tide &&
	set_key slurm.conf JobSubmitPlugins tide &&
	restart slurmctld && nothing_lost &&
	works -p pool -A vision -w n1 && works -p nlp -A nlp
'

test_expect_success 'in 6: credits in slurmdbd' '
	install_plugin accounting_storage_credits &&
	set_key slurmdbd.conf PluginDir "$ours:$stock" &&
	set_key slurmdbd.conf StorageType accounting_storage/credits &&
	restart slurmdbd && nothing_lost && note_accounting &&
	works -p pool -A vision --gres=mlu:mlu290:1 &&
	before=$(submit_wrap true -p pool -A vision -w n1 --gres=mlu:mlu290:1 -H -t 5 -o /dev/null) &&
	tidectl credits enroll vision &&
	tidectl credits grant vision 1000 --note=start &&
	first=$(submit_wrap "sleep 2" -p pool -A vision -t 1 -o /dev/null --gres=mlu:mlu290:1) &&
	wait_job_state $first COMPLETED 30 &&
	wait_for 30 sacct_shows $first SystemComment "credits=.*to=" &&
	wait_for 30 eval "test \"\$(tidectl credits balance vision --json | jq -r .[0].spent)\" != 0.000000" &&
	nothing_lost
'

# A user of a lab that never needed sacctmgr: nothing asked for an account.
test_expect_success 'in 7: who would be locked out is said first' '
	odd=$(setpriv --reuid=nobody --regid=nogroup --clear-groups \
		sbatch --parsable -p pool -D /tmp -o /dev/null -t 5 -H --wrap true) &&
	test_must_fail tidectl check --json >out &&
	finds warning "user .nobody. is locked out" &&
	set_key slurm.conf AccountingStorageEnforce associations,limits,qos,safe &&
	sed -i "/^PartitionName=pool/s/\$/ TRESBillingWeights=GRES\\/mlu:mlu290=200000/" \
		"$(etc slurm.conf)" &&
	test_must_fail tidectl check --json >out &&
	finds error "user .nobody. is locked out: no association, and 1 job .$odd." &&
	test "$(fix_of "user .nobody. is locked out")" = \
		"sacctmgr add user nobody account=ACCOUNT" &&
	scancel $odd && wait_job_end $odd 20 &&
	set_key slurm.conf AccountingStorageEnforce
'

# What ran a moment ago counts, as nobody has a job now; so do limits that
# somebody set and nothing enforced.
test_expect_success 'in 7: who ran without an association, what will bind' '
	odd=$(setpriv --reuid=nobody --regid=nogroup --clear-groups \
		sbatch --parsable -p pool -D /tmp -o /dev/null -t 5 -w n1 --wrap true) &&
	wait_job_state $odd COMPLETED 30 &&
	wait_for 20 sacct_shows $odd State COMPLETED &&
	sacctmgr -i modify qos normal set maxjobsperuser=100 &&
	sacctmgr -i modify account nlp set grptres=gres/mlu=64 &&
	wait_for 20 ran_before_found &&
	finds warning "whoever runs under QOS .normal. is limited: MaxJobsPerUser=100" &&
	finds warning "account .nlp. is limited: GrpTRES=gres/mlu=64" &&
	sacctmgr -i modify qos normal set maxjobsperuser=-1 &&
	sacctmgr -i modify account nlp set grptres=gres/mlu=-1 &&
	set_key slurm.conf AccountingStorageEnforce associations,limits,qos,safe &&
	check && finds warning "user .nobody. is locked out" &&
	! finds warning "is limited"
'

test_expect_success 'in 7: and limits that Slurm enforces' '
	restart slurmctld && nothing_lost && check &&
	works -p pool -A vision --gres=mlu:mlu290:1 && works -p nlp -A nlp &&
	paid=$(submit -p pool -A vision -w n1 -n1 --gres=mlu:mlu290:1 -t 60 -o paid.out long.sh) &&
	keep_running $paid &&
	test "$(job_field $paid QOS)" = tide_vision
'

test_expect_success 'a pool job from before is named, and moved' '
	finds warning "job $before" && fix_of "job $before" >move &&
	sh -e ./move && test "$(job_field $before QOS)" = tide_vision &&
	scontrol release $before && wait_job_state $before COMPLETED 30 &&
	check && ! finds warning "job $before"
'

# ---- out ----

test_expect_success 'out 7: prices out, then every limit we made' '
	waits=$(submit_wrap true -p pool -A vision -w n1 --gres=mlu:mlu290:2 -t 5 -o /dev/null) &&
	wait_for 20 sacct_shows $waits State PENDING &&
	sed /^Device=/d "$(etc tide.conf)" >no-device &&
	reconfigure no-device &&
	wait_for 60 sbatch --test-only -p pool -A vision -t 1 --wrap true &&
	nothing_lost &&
	test_must_fail tidectl credits detach --all 2>err &&
	grep "in use by job $paid" err && nothing_lost &&
	tidectl credits detach --all --force >out &&
	grep "job $waits .*: moved to QOS normal" out && nothing_lost &&
	{ slurm_since 25.05 || qos_as_before; } &&
	sacctmgr -n -P show assoc format=cluster,account,user,qos,defaultqos,grptresmins >assoc.now &&
	test_cmp assoc.before assoc.now
'

test_expect_success 'out 7: and the settings' '
	set_key slurm.conf AccountingStorageEnforce &&
	sed -i "s/ TRESBillingWeights=[^ ]*//" "$(etc slurm.conf)" &&
	restart slurmctld && nothing_lost &&
	keep $waits PENDING && works -p pool -A vision -w n1
'

test_expect_success 'out 6: slurmdbd as it was' '
	cp slurmdbd.conf.before "$(etc slurmdbd.conf)" &&
	restart slurmdbd && nothing_lost && works -p pool -A vision -w n1
'

test_expect_success 'out 5: without the guard' '
	set_key slurm.conf JobSubmitPlugins &&
	restart slurmctld && nothing_lost && works -p nlp -A nlp
'

test_expect_success 'out 4: Mode=observe, by reconfigure: n2 is open' '
	{ cat "$(etc tide.conf)"; echo Mode=observe; } >observe &&
	reconfigure observe &&
	works -p pool -A vision -w n2 && nothing_lost
'

test_expect_success 'out 3: without the layer' '
	rm "$ours/select_cons_tres.so" &&
	restart slurmctld && nothing_lost && works -p pool -A vision -w n2
'

test_expect_success 'out 2: jobs that have devices end first' '
	touch end && for id in $r1 $r2 $paid; do
		wait_job_state $id COMPLETED 60 || return 1
	done &&
	{ ! slurm_since 25.05 || wait_for 30 remove_kept_qos; } &&
	qos_as_before &&
	scancel $waits && scontrol release $p3 &&
	for id in $p1 $p2 $p3; do
		wait_job_state $id COMPLETED 60 || return 1
	done && KEPT=() &&
	rm end && r1=$(submit -p pool -A vision -w n3 -n1 -t 600 -o r1.out long.sh) &&
	keep_running $r1
'

test_expect_success 'out 2: without devices' '
	grep -v -e ^GresTypes= -e ^AccountingStorageTRES= "$(etc slurm.conf)" |
		sed "s/ Gres=[^ ]*//" >slurm.conf.new &&
	cp slurm.conf.new "$(etc slurm.conf)" && rm "$(etc gres.conf)" &&
	restart_around_slurmds && nothing_lost &&
	works -p pool -A vision && works -p nlp -A nlp
'

test_expect_success 'out 1: and nothing of TideFlow is left' '
	set_key slurm.conf PluginDir "$stock" && rm "$(etc tide.conf)" &&
	rm -r "$ours" &&
	restart slurmctld && restart_slurmds && nothing_lost &&
	works -p pool -A vision && works -p nlp -A nlp &&
	sort slurm.conf.before >want && sort "$(etc slurm.conf)" >got &&
	test_cmp want got && test_cmp slurmdbd.conf.before "$(etc slurmdbd.conf)" &&
	touch end && wait_job_state $r1 COMPLETED 60
'

test_done
