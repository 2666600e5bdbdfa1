#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The throwaway cluster itself: it comes up, is used, and goes away without a
# trace, also two at once, on Ctrl-C, SIGTERM, and when a start fails.

# shellcheck disable=SC2034 # read by sharness
test_description='the throwaway cluster'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster

# Everything of a cluster in folder $1 that could be left on this machine.
traces() {
	[ ! -e "$1" ] || echo "folder $1"
	grep -F " $1" /proc/self/mountinfo
	grep -lszF "$1" /proc/[0-9]*/environ /proc/[0-9]*/cmdline
	grep -lsxF "$1" /run/lock/tideflow-ports-*
	find /dev/shm -mindepth 1 -name '*.n[0-9]*'
	find /sys/fs/cgroup -maxdepth 2 -name "tide-*-${1##*/}" 2>/dev/null
}

no_traces() {
	local found

	found=$(traces "$1")
	[ -z "$found" ] || {
		echo "$found"
		return 1
	}
}

# interrupted SIGNAL: `run` in a session of its own gets the signal while its
# command runs; sets $dir, $command (its pid) and $rc.
interrupted() {
	local pid

	rm -f where
	# A background command of a script ignores SIGINT.
	env --default-signal=INT setsid "$CLUSTER" run --nodes 2 --no-accounting -- bash -c \
		'echo "$TIDE_CLUSTER_DIR $$" >where.new; mv where.new where; sbatch -N2 -o /dev/null --wrap "srun sleep 600"; exec sleep 600' \
		2>>interrupted.err &
	pid=$!
	wait_for 60 test -s where || return 1
	read -r dir command <where
	SLURM_CONF=$dir/etc/slurm.conf wait_job_state 1 RUNNING 30 || return 1
	wait_for 30 test -e "$dir/log/slurmd-n2.log" || return 1
	SLURM_CONF=$dir/etc/slurm.conf wait_for 30 has_step || return 1
	kill "-$1" "$pid"
	wait "$pid"
	rc=$?
}

has_step() {
	squeue -h -s -j 1 | grep -q '^ *1\.0 '
}

cluster_start --nodes 3 --gres mlu:mlu290:2 --account nlp,vision
first=$TIDE_CLUSTER_DIR

test_expect_success 'all nodes are up and say what they have' '
	sinfo -h -N -o "%N %T %G" >nodes &&
	test $(grep -c "idle mlu:mlu290:2" nodes) = 3
'

test_expect_success 'each node has its own hostname, /tmp and device files' '
	srun -N3 --gres=mlu:2 bash -c \
		"hostname; touch /tmp/here; ls /tmp/here; ls /dev/cambricon_dev*" \
		>seen &&
	sort -u seen >got &&
	printf "%s\n" /dev/cambricon_dev0 /dev/cambricon_dev1 /tmp/here \
		n1 n2 n3 >want &&
	test_cmp want got &&
	! test -e /tmp/here &&
	! test -e /dev/cambricon_dev0
'

test_expect_success 'a wrong option is named' '
	test_expect_code 2 "$CLUSTER" start --nonsense 2>err &&
	grep "unknown option .--nonsense" err &&
	test_expect_code 2 "$CLUSTER" start --nodes 2>err &&
	grep "nodes. needs a value" err
'

test_expect_success 'its environment is taken over, also without quotes' '
	env -u SLURM_CONF -u TIDE_CLUSTER_DIR SBATCH_ACCOUNT=none bash -c "
		eval \$(\"$CLUSTER\" env --dir \"$first\")
		echo \"\$SLURM_CONF \${SBATCH_ACCOUNT-unset}\"" >got &&
	echo "$first/etc/slurm.conf unset" >want &&
	test_cmp want got
'

test_expect_success 'accounts are there' '
	sacctmgr -n -P show assoc format=account,user >assoc &&
	grep -qx "vision|root" assoc &&
	grep -qx "nlp|root" assoc
'

test_expect_success 'a batch job runs and sacct shows it with its GRES' '
	id=$(submit_wrap "srun hostname" -A nlp -N2 --gres=mlu:1 -o out.%j) &&
	wait_job_end "$id" 30 &&
	job_is "$id" COMPLETED &&
	test $(sort out.$id | paste -sd,) = n1,n2 &&
	wait_for 30 sacct_shows "$id" "State,Account,AllocTRES" \
		"^COMPLETED\|nlp\|.*gres/mlu:mlu290=2,gres/mlu=2"
'

[ ! -x "$builddir/tests/lib/mpi_hello" ] || test_set_prereq MPI
test_expect_success MPI 'an MPI program runs over two nodes by PMIx' '
	srun --mpi=pmix -w n1,n2 -n4 "$builddir/tests/lib/mpi_hello" >hello &&
	cat hello &&
	test $(grep -c "of 4 on n[12] sum 6" hello) = 4 &&
	grep -q "on n1" hello &&
	grep -q "on n2" hello
'

test_expect_success 'a second cluster lives beside it' '
	second=$("$CLUSTER" start --nodes 2 --no-accounting) &&
	at_exit "[ ! -d $second ] || \"$CLUSTER\" stop --dir $second" &&
	test "$("$CLUSTER" status --json --dir "$first" | jq .port)" != \
		"$("$CLUSTER" status --json --dir "$second" | jq .port)" &&
	SLURM_CONF=$second/etc/slurm.conf srun -N2 hostname >two &&
	SLURM_CONF=$first/etc/slurm.conf srun -N3 hostname >three &&
	test $(wc -l <two) = 2 &&
	test $(wc -l <three) = 3 &&
	"$CLUSTER" stop --dir "$second" &&
	no_traces "$second"
'

test_expect_success 'stopping the second did not hurt the first' '
	"$CLUSTER" status --json --dir "$first" >status &&
	test "$(jq "[.daemons[] | select(.pid == null)] | length" status)" = 0 &&
	srun -N3 true
'

test_expect_success 'slurmctld killed by -9 comes back with its job' '
	id=$(submit_wrap "sleep 300") &&
	wait_job_state "$id" RUNNING 20 &&
	wait_state_saved "$id" &&
	"$CLUSTER" kill9 slurmctld &&
	test_must_fail scontrol ping &&
	"$CLUSTER" restart slurmctld &&
	wait_job_state "$id" RUNNING 30 &&
	scancel "$id"
'

test_expect_success 'so do the database, slurmdbd and a slurmd' '
	"$CLUSTER" kill9 mariadbd &&
	"$CLUSTER" restart mariadbd &&
	"$CLUSTER" kill9 slurmdbd &&
	"$CLUSTER" restart slurmdbd &&
	"$CLUSTER" kill9 slurmd n2 &&
	"$CLUSTER" restart slurmd n2 &&
	wait_for 20 srun -w n2 true &&
	wait_for 20 sacctmgr -n show cluster
'

test_expect_success 'stop leaves nothing behind, steps neither' '
	id=$(submit_wrap "srun sleep 600" -N3 --ntasks=3) &&
	wait_job_state "$id" RUNNING 20 &&
	"$CLUSTER" stop --dir "$first" &&
	no_traces "$first"
'

test_expect_success 'Ctrl-C ends run and leaves nothing behind' '
	interrupted INT &&
	test "$rc" = 130 &&
	no_traces "$dir"
'

# early: `start` gets SIGINT as soon as its folder is there.
early() {
	local pid

	dir=$(mktemp -u /tmp/tide.XXXXXX)
	env --default-signal=INT setsid "$CLUSTER" start --no-accounting \
		--dir "$dir" >>early.out 2>&1 &
	pid=$!
	while [ ! -e "$dir" ] && kill -0 "$pid"; do :; done
	kill -INT -- "-$pid"
	rc=0
	wait "$pid" || rc=$?
}

test_expect_success 'so does Ctrl-C at the very beginning of a start' '
	for i in 1 2 3 4 5 6; do
		early && test "$rc" = 130 && no_traces "$dir" &&
			test ! -e "$dir" || return 1
	done
'

test_expect_success 'SIGTERM ends run and leaves nothing behind' '
	interrupted TERM &&
	test "$rc" = 143 &&
	no_traces "$dir"
'

test_expect_success 'options reach the configuration' '
	echo "PartitionName=nlp Nodes=n1 PriorityTier=10" >part &&
	echo "PoolPartition=pool" >tide.conf &&
	"$CLUSTER" run --nodes 2 --no-accounting --plugins none \
		--set KillWait=17 --set PreemptType=preempt/partition_prio \
		--set PreemptMode=REQUEUE --conf-append part \
		--tide-conf tide.conf --partition \
		"PartitionName=pool Nodes=n[1-2] Default=YES MaxTime=90" \
		--gres mlu:mlu290:1,mlu:mlu370:2@n2 --gres gpu:t4:1 -- bash -c "
			scontrol show config
			scontrol -o show partition
			sinfo -h -N -o \"%N %P %G\"
			cat \$TIDE_CLUSTER_DIR/etc/*.conf" >conf &&
	grep -q "^KillWait *= 17 " conf &&
	grep -q "^PreemptType *= preempt/partition_prio" conf &&
	grep -q "PartitionName=pool.* MaxTime=01:30:00" conf &&
	grep -qx "n1 nlp gpu:t4:1" conf &&
	grep -qx "n2 pool\* mlu:mlu290:1,mlu:mlu370:2" conf &&
	grep -qx "PoolPartition=pool" conf &&
	grep -qx "NodeName=n2 Name=mlu Type=mlu370 File=/dev/cambricon_dev2" conf
'

test_expect_success 'run passes on the exit status of its command' '
	test_expect_code 7 "$CLUSTER" run --nodes 1 --no-accounting -- \
		bash -c "echo \$TIDE_CLUSTER_DIR >ran; exit 7" &&
	no_traces "$(cat ran)"
'

test_expect_success 'a Slurm of this machine and its settings are not met' '
	SLURM_CONF=/nonexistent SLURM_JOB_ID=77 SBATCH_PARTITION=nosuch \
		SLURM_CLUSTERS=other "$CLUSTER" run --nodes 1 --no-accounting -- \
		srun bash -c "echo \$SLURM_CLUSTER_NAME \$SLURM_JOB_ID" >met &&
	test "$(cat met)" = "tide 1"
'

test_expect_success 'shell opens one inside' '
	echo "sinfo -h -o %D; exit" >commands &&
	"$CLUSTER" shell --nodes 2 --no-accounting <commands >shell 2>&1 &&
	grep -qx 2 shell
'

test_expect_success 'nodes see a folder under /tmp that has the cluster in it' '
	outer=$(mktemp -d /tmp/tide.XXXXXX) &&
	chmod 755 "$outer" &&
	echo seen >"$outer/file" &&
	"$CLUSTER" run --nodes 1 --no-accounting --bind "$outer" \
		--dir "$outer/in/c" -- srun cat "$outer/file" >got &&
	test "$(cat got)" = seen &&
	rm -r "$outer"
'

test_expect_success 'stop cleans up after a harness killed by -9' '
	interrupted KILL &&
	kill "$command" &&
	"$CLUSTER" stop --dir "$dir" &&
	no_traces "$dir"
'

test_expect_success 'a failed start shows the log and leaves nothing behind' '
	mkdir -p /tmp/tide.bad.$$ &&
	test_must_fail "$CLUSTER" start --dir /tmp/tide.bad.$$ --nodes 1 \
		--no-accounting --set SchedulerType=sched/nosuch 2>err &&
	grep -q "could not start: slurmctld ended" err &&
	grep -q "sched/nosuch" err &&
	no_traces /tmp/tide.bad.$$
'

test_expect_success 'a signal during the start leaves nothing behind' '
	mkdir -p /tmp/tide.sig.$$ &&
	{ "$CLUSTER" start --dir /tmp/tide.sig.$$ 2>err & } &&
	wait_for 20 test -e /tmp/tide.sig.$$/run/mariadbd.pid &&
	kill -TERM $! &&
	test_expect_code 143 wait $! &&
	no_traces /tmp/tide.sig.$$
'

test_expect_success 'bad use is told from a failure' '
	test_expect_code 2 "$CLUSTER" start --nodes many &&
	test_expect_code 2 "$CLUSTER" start --gres mlu &&
	test_expect_code 2 "$CLUSTER" nosuch &&
	test_expect_code 1 "$CLUSTER" status --dir /nonexistent &&
	test_expect_code 1 "$CLUSTER" start --dir "$PWD/$(printf %060d 0)"
'

test_done
