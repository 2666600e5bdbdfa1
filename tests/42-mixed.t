#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One cluster with accelerators of every kind, lent in windows and paid by type:
# MLUs of two types, Ascend chips whole and in parts, DCUs, gres/accel, GPUs, and
# cards that are counted only. Device files are synthetic.
# shellcheck disable=SC2086

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='mixed nodes: types as TRES, prices, windows, requests'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
skip_unless 'gres/npu is not built' \
	test -e "$builddir/plugins/gres/npu/.libs/gres_npu.so"

tidectl=$builddir/cmd/tidectl/tidectl

# tide_conf WINDOW: nlp lends n1 and n2, cv n3 to n5, nobody n6.
tide_conf() {
	cat <<-CONF
	PoolPartition=pool
	PoolAccount=centre
	IssueAccount=mint
	Fee=10
	Reference=gpu:a100
	Device=gpu:a100       TFLOPS=312
	Device=gpu:t4         TFLOPS=65
	Device=mlu:mlu290     Rate=200
	Device=mlu:mlu370-x8  Rate=100
	Device=npu:ascend310p Rate=40
	Device=npu:vir04      Of=npu:ascend310p Share=1/2
	Device=dcu:k100_ai    Rate=60
	Device=accel:s60      Rate=30.7
	Device=accel:u250     Rate=10
	OwnerAccount=nlp Nodes=n[1-2]
	OwnerAccount=cv  Nodes=n[3-5]
	WindowName=w Nodes=n[1-5] $1
	CONF
}

ALWAYS="Days=Mon-Sun"
NEVER="From=2099-01-01T00:00 Until=2099-02-01T00:00 TimeZone=UTC"
tide_conf "$ALWAYS" >tide.conf
weights=GRES/gpu:t4=20833.333333,GRES/mlu:mlu290=200000
weights+=,GRES/mlu:mlu370-x8=100000,GRES/npu:ascend310p=40000
weights+=,GRES/npu:vir04=20000,GRES/dcu:k100_ai=60000,GRES/accel:s60=30700,GRES/accel:u250=10000
cluster_start --nodes 6 --cpus 8 --tide-conf tide.conf --counted u250 \
	--gres mlu:mlu290:2,mlu:mlu370-x8:2@n1 \
	--gres npu:ascend310p:2,npu:vir04:3@n2 \
	--gres dcu:k100_ai:2@n3 --gres accel:s60:2@n4 --gres gpu:t4:4@n5 \
	--gres mlu:mlu290:1,gpu:t4:1,accel:u250:2@n6 \
	--account vision,nlp,cv,centre,mint --user root \
	--set AccountingStorageEnforce=associations,limits,qos,safe \
	--set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE \
	--set SlurmctldParameters=preempt_send_user_signal \
	--partition "PartitionName=pool Nodes=n[1-6] Default=YES GraceTime=20 MaxTime=INFINITE State=UP TRESBillingWeights=$weights" \
	--partition "PartitionName=nlp Nodes=n[1-2] AllowAccounts=nlp PriorityTier=9 MaxTime=INFINITE State=UP" \
	--partition "PartitionName=cv Nodes=n[3-5] AllowAccounts=cv PriorityTier=9 MaxTime=INFINITE State=UP"

# A file in every node's view; what a job was given, unset shown as "-".
cat >told <<'SCRIPT'
#!/bin/bash
for v in MLU_VISIBLE_DEVICES ASCEND_RT_VISIBLE_DEVICES SLURM_JOB_NPUS \
	HIP_VISIBLE_DEVICES TOPS_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES; do
	echo "$v=${!v--}"
done
exec sleep "${1:-2}"
SCRIPT
chmod +x told

# run NAME OPTION...: a job of vision in the pool; its id is in ID[NAME].
declare -A ID=()
run() {
	local name=$1

	shift
	ID[$name]=$(submit -A vision -p pool -t 5 -o "$name.out" "$@" \
		"$PWD/told") || return 1
}

# told NAME LINE...: the job was told all of these.
told() {
	local name=$1 line

	shift
	for line; do
		grep -qxF "$line" "$name.out" || {
			echo "$name: no $line"
			cat "$name.out"
			return 1
		}
	done
}

# costs NAME NUM DEN OWNER A B: every second of it costs NUM/DEN credits an
# hour, of which OWNER and the centre have A and B parts. All of it to the last
# micro-credit.
costs() {
	local name=$1 num=$2 den=$3 owner=$4 a=$5 b=$6 id=${ID[$1]}
	local seconds want first second got

	seconds=$(seconds_of "$id") &&
		want=$(((2 * seconds * 1000000 * num + 3600 * den) /
			(2 * 3600 * den))) &&
		first=$((want * a / (a + b))) &&
		second=$((want * b / (a + b))) || return 1
	# one is left at most, and is of whom it cost more
	if [ $((first + second)) -lt $want ]; then
		if [ $((want * a % (a + b))) -ge $((want * b % (a + b))) ]; then
			first=$((first + 1))
		else
			second=$((second + 1))
		fi
	fi
	got="$(credits_of "$id") $(earned "$owner" "$id") $(earned centre "$id")"
	[ "$seconds" -gt 0 ] && [ "$got" = "$want $first $second" ] || {
		echo "$name: $seconds s: wanted $want $first $second, got $got"
		return 1
	}
}

# earned ACCOUNT ID
earned() {
	micro "$(tidectl credits statement "$1" --json |
		jq -r "[.[] | select(.job == $2)][0].amount // \"0\"")"
}

test_expect_success 'sinfo and scontrol show every type, also as TRES' '
	sinfo -h -N -p pool -o "%N %G" | sed "s/([^)]*)//g" >got &&
	cat >want <<-EOF &&
	n1 mlu:mlu290:2,mlu:mlu370-x8:2
	n2 npu:ascend310p:2,npu:vir04:3
	n3 dcu:k100_ai:2
	n4 accel:s60:2
	n5 gpu:t4:4
	n6 accel:u250:2,gpu:t4:1,mlu:mlu290:1
	EOF
	test_cmp want got &&
	scontrol -o show node n2 | grep -o "CfgTRES=[^ ]*" >cfg &&
	grep "gres/npu=5,gres/npu:ascend310p=2,gres/npu:vir04=3" cfg &&
	scontrol -o show node n1 |
		grep "gres/mlu=4,gres/mlu:mlu290=2,gres/mlu:mlu370-x8=2"
'

test_expect_success 'jobs of every kind run at the same time' '
	enroll vision 10000 &&
	run mlu290 --gres=mlu:mlu290:2 -w n1 &&
	run mlu370 --gres=mlu:mlu370-x8:1 &&
	run whole --gres=npu:ascend310p:2 &&
	run part --gres=npu:vir04:1 &&
	run dcu --gres=dcu:2 &&
	run accel --gres=accel:s60:1 &&
	run gpu --gres=gpu:t4:3 -w n5 &&
	run counted --gres=accel:u250:2 &&
	run two --gres=mlu:mlu290:1,gpu:t4:1 &&
	wait_for 30 test -s two.out &&
	scontrol -o show job ${ID[two]} >job &&
	grep -E " (Alloc)?TRES=[^ ]*gres/gpu=1,gres/gpu:t4=1,gres/mlu=1,gres/mlu:mlu290=1" job &&
	squeue -h -j ${ID[two]} -o "%b %N" | grep "mlu:mlu290:1,.*gpu:t4:1 n6" &&
	scontrol -o show node n6 | grep "AllocTRES=[^ ]*gres/mlu:mlu290=1" &&
	for name in "${!ID[@]}"; do
		wait_job_state ${ID[$name]} COMPLETED 30 || return 1
	done
'

test_expect_success 'each was told its own devices, by number' '
	told mlu290 MLU_VISIBLE_DEVICES=0,1 ASCEND_RT_VISIBLE_DEVICES=- &&
	told mlu370 MLU_VISIBLE_DEVICES=2 &&
	told whole ASCEND_RT_VISIBLE_DEVICES=0,1 SLURM_JOB_NPUS=0,1 &&
	told part ASCEND_RT_VISIBLE_DEVICES=0 SLURM_JOB_NPUS=100 &&
	told dcu HIP_VISIBLE_DEVICES=0,1 &&
	told accel TOPS_VISIBLE_DEVICES=0 &&
	told gpu CUDA_VISIBLE_DEVICES=0,1,2 &&
	told counted TOPS_VISIBLE_DEVICES=- CUDA_VISIBLE_DEVICES=- &&
	told two MLU_VISIBLE_DEVICES=0
'

test_expect_success 'sacct has types in what was asked for and given' '
	wait_for 30 sacct_shows ${ID[part]} ReqTRES "gres/npu:vir04=1" &&
	sacct_shows ${ID[part]} AllocTRES "gres/npu:vir04=1,gres/npu=1" &&
	sacct_shows ${ID[mlu370]} AllocTRES "gres/mlu:mlu370-x8=1,gres/mlu=1" &&
	sacct_shows ${ID[dcu]} ReqTRES "gres/dcu:k100_ai=2,gres/dcu=2" &&
	sacct_shows ${ID[two]} AllocTRES "gres/gpu:t4=1.*gres/mlu:mlu290=1"
'

test_expect_success 'parts with their whole, and nodes of two owners' '
	run both --gres=npu:ascend310p:1,npu:vir04:2 &&
	run across -N2 -w n5,n6 --gres=gpu:t4:1 &&
	for name in "${!ID[@]}"; do
		wait_for 60 charged ${ID[$name]} 1 || return 1
	done
'

test_expect_success 'each type has its price, and who lends earns it less the fee' '
	costs mlu290 400 1 nlp 9 1 &&
	costs mlu370 100 1 nlp 9 1 &&
	costs whole 80 1 nlp 9 1 &&
	costs part 20 1 nlp 9 1 &&
	costs both 80 1 nlp 9 1 &&
	costs dcu 120 1 cv 9 1 &&
	costs accel 307 10 cv 9 1 &&
	costs gpu 125 2 cv 9 1 &&
	costs across 125 3 cv 9 11 &&
	costs counted 20 1 nlp 0 1 &&
	costs two 1325 6 nlp 0 1 &&
	sacct_shows ${ID[part]} SystemComment "rate=20/h to=nlp,centre$" &&
	audit_ok
'

test_expect_success 'Slurm counts for the limit what was charged' '
	off=$(($(qos_used tide_vision) - $(balance_of vision spent) * 6 / 100)) &&
	test ${off#-} -le 40
'

# chosen WANT SAYS WISH...: of vision, for so long; options are in out.
chosen() {
	local want=$1 says=$2

	shift 2
	"$tidectl" request --account vision "$@" >out 2>err &&
		[ "$(cat out)" = "--account=vision $want" ] &&
		grep -- "$says" err || {
		cat out err
		return 1
	}
}

# refused SAYS WISH...
refused() {
	local says=$1

	shift
	test_must_fail "$tidectl" request --account vision "$@" >out 2>err &&
		test_must_be_empty out && grep -- "$says" err || {
		cat out err
		return 1
	}
}

test_expect_success 'a request is for the cheapest that will do, and runs' '
	chosen "--time=5 --gres=dcu:k100_ai:1" \
		"dcu:k100_ai: starts now; 60 credits an hour for 1; 1 other type would do" \
		1 --memory 30 --time 5 &&
	opts=$(cat out) &&
	id=$(submit $opts -o asked.out "$PWD/told" 0) &&
	wait_job_state $id COMPLETED 30 && grep HIP_VISIBLE_DEVICES=0 asked.out &&
	test "$(salloc $opts srun sh -c "echo \$HIP_VISIBLE_DEVICES" 2>err)" = 0
'

test_expect_success 'parts, types that nobody knows, several nodes' '
	chosen "--gres=npu:vir04:1" "20 credits" 1 --memory 12 --gres npu &&
	chosen "--gres=npu:ascend310p:2" "80 credits" 2 --memory 20 --gres npu &&
	chosen "--gres=accel:u250:2" "20 credits" 2 --gres accel &&
	chosen "--nodes=2 --gres=gpu:t4:1" "41.6[0-9]* credits" 1 --nodes 2 --gres gpu &&
	chosen "--partition=pool --time-min=1 --gres=gpu:t4:4" "starts now" \
		4 --partition pool --time-min 1
'

test_expect_success 'what will not do is said, with the best that there is' '
	refused "nothing in partition .pool. will do: the fastest is dcu:k100_ai with 196 TFLOPS" \
		1 --tflops 200 &&
	refused "the largest is dcu:k100_ai with 64 GB" 1 --memory 65 &&
	refused "accel:u250 is of unknown memory" 1 --memory 8 --gres accel &&
	refused "gpu:t4 is on too few nodes" 1 --nodes 3 --gres gpu &&
	refused "mlu:mlu370-x8 has too few on one node" 3 --gres mlu
'

test_expect_success 'an account that may not is refused once, and not by type' '
	sacctmgr -i modify user root set defaultaccount=cv >/dev/null &&
	test_must_fail "$tidectl" request 1 >out 2>err &&
	test "$(grep -c "account .cv. is not enrolled" err)" = 1 &&
	grep -- "--account NAME is wanted" err &&
	grep "mlu:mlu290 is not taken by Slurm: Invalid account" err &&
	test_must_fail "$tidectl" request 1 --account nlp >out 2>err &&
	test "$(grep -c "account .nlp. is not enrolled" err)" = 1 &&
	! grep -- "--account NAME is wanted" err
'

# said_once: no type is to be had, and what Slurm says to each stands there once.
said_once() {
	! "$tidectl" request 1 --account vision >out 2>err &&
		[ "$(grep -c AssocMaxSubmitJobLimit err)" = 1 ] &&
		[ "$(grep -c "is not taken by Slurm: Job violates" err)" = 8 ]
}

test_expect_success 'what Slurm says to every type is said once' '
	sacctmgr -i modify user root where account=vision \
		set maxsubmit=0 >/dev/null &&
	{ wait_for 20 said_once || { cat err && false; }; } &&
	sacctmgr -i modify user root where account=vision \
		set maxsubmit=-1 >/dev/null &&
	wait_for 20 "$tidectl" request 1 --account vision
'

# told_why SAYS OPTION...: the job is refused, in words.
told_why() {
	local says=$1

	shift
	test_must_fail submit -A vision -t 5 "$@" --wrap true 2>err &&
		grep -- "$says" err || {
		cat err
		return 1
	}
}

test_expect_success 'a type or number that no node has is refused in words' '
	told_why "no node of partition .pool. has mlu:mlu291: there are mlu:mlu290, mlu:mlu370-x8" \
		-p pool --gres=mlu:mlu291:1 &&
	told_why "no node of partition .pool. has npu:vir04:9: a node has 3 at most" \
		-p pool --gres=npu:vir04:9 &&
	told_why "no node of partition .nlp. has gpu: there are mlu:mlu290" \
		-A nlp -p nlp --gres=gpu:1
'

test_expect_success 'who has no association reads what Slurm says' '
	test_must_fail setpriv --reuid=nobody --regid=nogroup --clear-groups \
		"$tidectl" request 1 --gres dcu >out 2>err &&
	test_must_be_empty out &&
	grep "dcu:k100_ai is not taken by Slurm: Invalid account" err
'

# The cluster goes by UTC in tide.conf.
at() {
	date -u -d "@$1" +%FT%T
}

window() {
	tide_conf "From=$(at "$1") Until=$(at "$2") TimeZone=UTC" >now.conf &&
		reconfigure now.conf
}

test_expect_success 'a closed node waits for its window, an open one is taken' '
	opens=$(($(now) + 3600)) && window $opens $((opens + 7200)) &&
	chosen "--time=5 --gres=mlu:mlu290:1" "starts now; 200 credits" \
		1 --gres mlu --time 5 &&
	chosen "--time=5 --gres=mlu:mlu370-x8:2" \
		"starts $(date -d @$opens +%FT%T); 200 credits" \
		2 --gres mlu --time 5 &&
	"$tidectl" request 1 --account vision --json >out &&
	jq -e ".[] | select(.type == \"vir04\") | .fits and .options != null and
		.start == \"$(at $opens)Z\"" out &&
	"$tidectl" request 1 --account vision --list >out &&
	grep "^npu:vir04 .* $(date -d @$opens +%FT%T)\$" out &&
	grep "^gpu:t4 .* now\$" out
'

test_expect_success 'a window that closes too soon is none' '
	window $(($(now) - 600)) $(($(now) + 240)) &&
	chosen "--time=10 --gres=mlu:mlu290:1" "starts now" \
		1 --gres mlu --time 10 &&
	chosen "--time=10 --time-min=1 --gres=mlu:mlu370-x8:1" "starts now" \
		1 --gres mlu --time 10 --time-min 1
'

# lent STATE: every job of the lent nodes is in that state.
lent() {
	local name

	for name in "${!LENT[@]}"; do
		job_is "${LENT[$name]}" "$1" || return 1
	done
}
declare -A LENT=()

test_expect_success 'windows hold for every kind' '
	opens=$(($(now) + 7200)) && window $opens $((opens + 7200)) &&
	for gres in mlu:mlu370-x8:1 npu:ascend310p:1 npu:vir04:1 dcu:k100_ai:1 \
			accel:s60:1 gpu:t4:4; do
		LENT[$gres]=$(submit_wrap "exec sleep 600" -A vision -p pool \
			-t 10 --time-min=1 --requeue -o /dev/null \
			--gres=$gres) || return 1
	done &&
	for gres in "${!LENT[@]}"; do
		wait_for 30 eval "squeue -h -j ${LENT[$gres]} -o %r |
			grep -q \"^next window w \"" || {
			squeue -o "%i %b %r %T %N"
			return 1
		}
	done &&
	reconfigure tide.conf && wait_for 40 lent RUNNING &&
	window $opens $((opens + 7200)) && wait_for 60 lent PENDING &&
	for gres in "${!LENT[@]}"; do
		wait_for 20 sacct_shows ${LENT[$gres]} State "(REQUEUED|PREEMPTED|PENDING)" &&
		scancel ${LENT[$gres]} || return 1
	done
'

test_expect_success 'without slurmctld nothing is chosen' '
	"$CLUSTER" kill9 slurmctld &&
	refused "cannot ask slurmctld" 1
'

cluster_stop
test_done
