#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gres/npu, gres/dcu and gres/accel beside gres/mlu and Slurm's own gres/gpu on a
# mixed cluster: which devices and variables jobs, steps and tasks get. Device
# files are synthetic.

test_description='devices of several families on a mixed cluster'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'gres/npu is not built' \
	test -e "$builddir/plugins/gres/npu/.libs/gres_npu.so"

# told VARIABLE GRES: what a process was told, VISIBLE/JOB/STEP.
cat >told <<'SCRIPT'
#!/bin/bash
job=SLURM_JOB_${2}S step=SLURM_STEP_${2}S
echo "${3:+$3 }${!1-unset}/${!job-unset}/${!step-unset}"
SCRIPT
chmod +x told
NPU="$PWD/told ASCEND_RT_VISIBLE_DEVICES NPU"
DCU="$PWD/told HIP_VISIBLE_DEVICES DCU"
ACCEL="$PWD/told TOPS_VISIBLE_DEVICES ACCEL"
MLU="$PWD/told MLU_VISIBLE_DEVICES MLU"

# is_told WANT GOT
is_told() {
	test "$1" = "$2" || {
		echo "wanted '$1', got '$2'"
		return 1
	}
}

cluster_start --nodes 3 --cpus 8 --gres npu:ascend910b:4,mlu:mlu290:1@n1 \
	--gres dcu:k100_ai:4@n2 --gres accel:s60:2,gpu:t4:1@n3

test_expect_success 'nodes show their devices, and slurmd found every plugin' '
	test "$(sinfo -h -N -o "%N %G" | paste -sd,)" = \
		"n1 mlu:mlu290:1,npu:ascend910b:4,n2 dcu:k100_ai:4,n3 accel:s60:2,gpu:t4:1" &&
	! grep -iE "gres/(npu|dcu|accel|mlu), just track" \
		"$TIDE_CLUSTER_DIR"/log/*.log &&
	! grep "error: .*devices.conf:[0-9]" "$TIDE_CLUSTER_DIR"/log/*.log
'

test_expect_success 'an NPU job: batch, step, a part, and sorted numbers' '
	id=$(batch npu -w n1 --gres=npu:3 -n 2 <<-SCRIPT
		#!/bin/bash
		$NPU batch
		srun $NPU step
		srun -n1 --gres=npu:1 $NPU part
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	is_told "batch 0,1,2/0,1,2/unset,step 0,1,2/unset/0,1,2,step 0,1,2/unset/0,1,2,part 0/unset/0" \
		"$(paste -sd, npu.out)"
'

test_expect_success 'a second job gets the other NPUs' '
	one=$(batch hold -w n1 --gres=npu:3 <<-SCRIPT
		#!/bin/bash
		echo started
		sleep 60
		SCRIPT
	) &&
	wait_for 20 test -s hold.out &&
	is_told "3/unset/3" "$(srun -w n1 --gres=npu:ascend910b:1 $NPU)" &&
	test_must_fail srun -w n1 --gres=npu:2 --immediate=1 true &&
	scancel $one &&
	wait_job_end $one 30
'

test_expect_success 'each GRES of a node has its own variable' '
	is_told "0/unset/0" "$(srun -w n1 --gres=npu:2,mlu:1 $MLU)" &&
	is_told "0,1/unset/0,1" "$(srun -w n1 --gres=npu:2,mlu:1 $NPU)" &&
	is_told "/unset/unset" "$(srun -w n1 --gres=npu:2 $MLU)"
'

test_expect_success 'DCUs are counted by place, by one variable only' '
	one=$(batch dcu -w n2 --gres=dcu:2 <<-SCRIPT
		#!/bin/bash
		$DCU batch
		sleep 60
		SCRIPT
	) &&
	wait_for 20 test -s dcu.out &&
	is_told "batch 0,1/0,1/unset" "$(cat dcu.out)" &&
	is_told "2,3/unset/2,3 unset" "$(ROCR_VISIBLE_DEVICES=0 srun -w n2 \
		--gres=dcu:2 bash -c "echo \$($DCU) \${ROCR_VISIBLE_DEVICES-unset}")" &&
	scancel $one &&
	wait_job_end $one 30
'

test_expect_success 'both files of a DCU are there' '
	srun -w n2 --gres=dcu:1 stat -c %F /dev/dri/card1 /dev/dri/renderD128 >files &&
	test $(grep -cx "character special file" files) = 2
'

test_expect_success 'gres/accel tells the runtime of the type' '
	is_told "0,1/unset/0,1" "$(srun -w n3 --gres=accel:s60:2 $ACCEL)" &&
	is_told "/unset/unset" "$(srun -w n3 $ACCEL)"
'

test_expect_success 'a job without devices: empty where the node has them, else untouched' '
	is_told "/unset/unset" "$(srun -w n1 $NPU)" &&
	is_told "unset/unset/unset" "$(srun -w n2 $NPU)" &&
	is_told "mine" "$(HIP_VISIBLE_DEVICES=mine srun -w n3 \
		bash -c "echo \$HIP_VISIBLE_DEVICES")"
'

test_expect_success 'types are tracked as TRES' '
	id=$(batch tres -w n1 --gres=npu:ascend910b:2 <<-SCRIPT
		#!/bin/bash
		true
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	wait_for 20 sh -c "sacct -X -n -P -j $id -o AllocTRES |
		grep -q gres/npu:ascend910b=2"
'

test_expect_success 'a site adds a family in devices.conf; a bad line is said' '
	cat >"$TIDE_CLUSTER_DIR/etc/devices.conf" <<-EOF &&
	Family=enflame Visible=OTHER_DEVICES
	Family=enflame Colour=red
	EOF
	"$CLUSTER" restart slurmd n3 &&
	is_told "0/unset/0" "$(srun -w n3 --gres=accel:s60:1 \
		"$PWD/told" OTHER_DEVICES ACCEL)" &&
	grep "devices.conf:2: Colour=red: unknown key: ignoring this line" \
		"$TIDE_CLUSTER_DIR"/log/slurmd-n3.log
'

cluster_stop
test_done
