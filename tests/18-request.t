#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl request on a mixed cluster: what it prints is what Slurm takes. Device
# files are synthetic.
# shellcheck disable=SC2086

test_description='any accelerator that will do'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'gres/npu is not built' \
	test -e "$builddir/plugins/gres/npu/.libs/gres_npu.so"

tidectl=$builddir/cmd/tidectl/tidectl

# is_chosen WANT WISH...
is_chosen() {
	local want=$1
	shift
	"$tidectl" request "$@" >out 2>err && [ "$(cat out)" = "$want" ] || {
		cat out err
		return 1
	}
}

cluster_start --nodes 2 --cpus 8 --gres npu:ascend910c:2,mlu:mlu290:4@n1 \
	--gres dcu:k100_ai:4@n2

test_expect_success 'memory and speed choose a type, and the job gets it' '
	is_chosen --gres=dcu:k100_ai:1 1 --memory 33 --gres dcu &&
	is_chosen --gres=npu:ascend910c:2 2 --memory 64 --tflops 300 &&
	test "$(timeout 30 srun $(cat out) \
		bash -c "echo \$SLURM_STEP_NPUS")" = 0,1 &&
	is_chosen "--nodes=1 --gres=mlu:mlu290:4" 4 --nodes 1 --gres mlu
'

test_expect_success 'what is in use is not chosen while something else will do' '
	id=$(timeout 60 sbatch --parsable --gres=npu:ascend910c:2 \
		--wrap "sleep 60") && wait_job_state $id RUNNING 30 &&
	is_chosen --gres=dcu:k100_ai:2 2 --memory 64 &&
	is_chosen --gres=npu:ascend910c:2 2 --tflops 300 &&
	grep "npu:ascend910c: starts 20.*; no price; no other type would do" err &&
	scancel $id
'

test_expect_success 'what nobody has is refused, each type with its reason' '
	! "$tidectl" request 2 --memory 65 >out 2>err && test ! -s out &&
	grep "tidectl: npu:ascend910c has less memory" err &&
	! "$tidectl" request 1 --tflops 1 --gres mlu >out 2>err &&
	grep "tidectl: mlu:mlu290 is of unknown speed" err &&
	! "$tidectl" request 1 --gres tpu >out 2>err &&
	grep "there is no gres/tpu in partition" err &&
	! "$tidectl" request 1 --partition nowhere 2>err &&
	grep "there is no partition .nowhere." err
'

test_expect_success 'an account is one word of what is printed' '
	is_chosen "--account=a.b-c_d --gres=dcu:k100_ai:1" 1 --gres dcu \
		--account a.b-c_d &&
	for name in "" "root --wrap=id" "a;b" "a*" "\$x" "a
b"; do
		test_expect_code 2 "$tidectl" request 1 --account "$name" \
			>out 2>err && test ! -s out &&
			grep "the name of an account is wanted" err || return 1
	done
'

test_expect_success 'times are those of sbatch, and Slurm takes them' '
	for time in UNLIMITED infinite 0 0:00 -1; do
		is_chosen "--time=$time --gres=dcu:k100_ai:1" 1 --gres dcu \
			--time $time &&
			id=$(timeout 60 sbatch --parsable $(cat out) --hold \
				--wrap true) &&
			test "$(squeue -h -j $id -o %l)" = UNLIMITED &&
			scancel $id || return 1
	done &&
	while read -r time limit; do
		is_chosen "--time=$time --time-min=1 --gres=dcu:k100_ai:1" 1 \
			--gres dcu --time $time --time-min 1 &&
			id=$(timeout 60 sbatch --parsable $(cat out) --hold \
				--wrap true) &&
			test "$(squeue -h -j $id -o %l)" = $limit &&
			scancel $id || return 1
	done <<-EOF &&
	90 1:30:00
	90:30 1:31:00
	1:30:00 1:30:00
	2-12 2-12:00:00
	2-12:30 2-12:30:00
	2-12:30:01 2-12:31:00
	EOF
	for time in "" 5m NONE 1:2:3:4 1: 24856-0; do
		test_expect_code 2 "$tidectl" request 1 --time "$time" \
			>out 2>err && test ! -s out &&
			grep -E -e "--time .$time.: (a time limit is wanted|must be less)" err || return 1
	done
'

test_expect_success '--list and --json have every type' '
	"$tidectl" request 3 --list >out && test "$(wc -l <out)" = 4 &&
	grep "^npu:ascend910c .*has too few on one node" out &&
	"$tidectl" request 3 --json >out &&
	jq -e "length == 3 and (map(select(.fits)) | length) == 2 and
		.[0].options == \"--gres=dcu:k100_ai:3\" and
		.[0].nodes_free == 1 and .[2].options == null" out
'

cluster_stop
test_done
