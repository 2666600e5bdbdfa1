#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gres/mlu on a real cluster: which device files and which variables a job, its
# steps and its tasks get. Device files are synthetic: opening one that the
# cgroup allows says ENXIO, since no driver is behind it.

test_description='gres/mlu hands out devices'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'gres/mlu is not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"

# What a process was told: VISIBLE/JOB/STEP, unset shown as "unset".
cat >told <<'SCRIPT'
#!/bin/bash
echo "${1:+$1 }${MLU_VISIBLE_DEVICES-unset}/${SLURM_JOB_MLUS-unset}/${SLURM_STEP_MLUS-unset}"
SCRIPT
chmod +x told
TOLD="$PWD/told"

# is_told WANT GOT
is_told() {
	test "$1" = "$2" || {
		echo "wanted '$1', got '$2'"
		return 1
	}
}

cluster_start --nodes 2 --cpus 8 --gres mlu:mlu290:4@n1 --gres mlu:mlu290:2@n2

test_expect_success 'slurmd loaded the plugin and nodes show their devices' '
	test -e "$TIDE_CLUSTER_DIR/plugins/gres_mlu.so" &&
	! grep -i "gres/mlu, just track" "$TIDE_CLUSTER_DIR"/log/*.log &&
	test "$(sinfo -h -N -o "%N %G" | paste -sd,)" = \
		"n1 mlu:mlu290:4,n2 mlu:mlu290:2"
'

test_expect_success 'a batch job of two is told two, with physical ids' '
	id=$(batch two -w n1 --gres=mlu:2 <<-SCRIPT
		#!/bin/bash
		$TOLD batch
		srun $TOLD step
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	is_told "batch 0,1/0,1/unset,step 0,1/unset/0,1" \
		"$(paste -sd, two.out)"
'

test_expect_success 'two jobs on a node get different devices' '
	one=$(batch one -w n1 --gres=mlu:1 <<-SCRIPT
		#!/bin/bash
		$TOLD
		sleep 60
		SCRIPT
	) &&
	wait_for 20 test -s one.out &&
	is_told "1,2/unset/1,2" "$(srun -w n1 --gres=mlu:mlu290:2 $TOLD)" &&
	is_told "0/0/unset" "$(cat one.out)" &&
	scancel $one &&
	wait_job_end $one 30
'

test_expect_success 'a step takes a subset, parallel steps different ones' '
	id=$(batch steps -w n1 --gres=mlu:3 -n 3 <<-SCRIPT
		#!/bin/bash
		srun -n1 --gres=mlu:1 $TOLD subset
		srun -n1 --exact --gres=mlu:1 bash -c "touch a; until test -e b; do sleep 0.1; done; $TOLD" &
		until test -e a; do sleep 0.1; done
		srun -n1 --exact --gres=mlu:2 bash -c "touch b; $TOLD"
		wait
		SCRIPT
	) &&
	wait_job_end $id 60 &&
	sort steps.out >got &&
	printf "%s\n" "0/unset/0" "1,2/unset/1,2" "subset 0/unset/0" >want &&
	test_cmp want got
'

test_expect_success 'every task of a step is told what its step has' '
	srun -N2 -n4 --gres=mlu:2 $TOLD >tasks &&
	test $(grep -cx "0,1/unset/0,1" tasks) = 4
'

test_expect_success 'each node of a job is told its own devices' '
	one=$(batch hold -w n1 --gres=mlu:1 <<-SCRIPT
		#!/bin/bash
		echo started
		sleep 60
		SCRIPT
	) &&
	wait_for 20 test -s hold.out &&
	srun -N2 -n2 --gres=mlu:2 bash -c "$TOLD \$SLURMD_NODENAME" | sort >got &&
	printf "%s\n" "n1 1,2/unset/1,2" "n2 0,1/unset/0,1" >want &&
	test_cmp want got &&
	scancel $one &&
	wait_job_end $one 30
'

test_expect_success 'a job without the GRES sees an empty list, not none' '
	id=$(batch none -w n1 <<-SCRIPT
		#!/bin/bash
		$TOLD batch
		srun $TOLD step
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	is_told "batch /unset/unset,step /unset/unset" "$(paste -sd, none.out)"
'

test_expect_success 'what the caller has set does not leak in' '
	is_told "/unset/unset" "$(MLU_VISIBLE_DEVICES=0,1 SLURM_JOB_MLUS=7 \
		SLURM_STEP_MLUS=7 srun -w n1 $TOLD)"
'

test_expect_success 'a step with --gres=none sees an empty list' '
	id=$(batch nogres -w n1 --gres=mlu:1 <<-SCRIPT
		#!/bin/bash
		srun --gres=none $TOLD
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	is_told "/unset/unset" "$(cat nogres.out)"
'

test_expect_success 'the device files are those of gres.conf' '
	srun -w n1 --gres=mlu:2 bash -c \
		"for i in \${SLURM_STEP_MLUS//,/ }; do stat -c %F /dev/cambricon_dev\$i; done" \
		>files &&
	test $(grep -cx "character special file" files) = 2
'

test_expect_success 'more than a node has is refused' '
	test_must_fail srun -w n2 --gres=mlu:3 true 2>err &&
	grep -q "Requested node configuration is not available" err
'

test_expect_success 'slurmd and slurmctld killed by -9: devices stay taken' '
	one=$(batch kept -w n1 --gres=mlu:2 <<-SCRIPT
		#!/bin/bash
		echo started
		sleep 120
		SCRIPT
	) &&
	wait_for 20 test -s kept.out &&
	wait_state_saved $one &&
	"$CLUSTER" kill9 slurmctld &&
	"$CLUSTER" kill9 slurmd n1 &&
	"$CLUSTER" restart slurmctld &&
	"$CLUSTER" restart slurmd n1 &&
	is_told "2,3/unset/2,3" "$(srun -w n1 --gres=mlu:2 $TOLD)" &&
	scancel $one
'

cluster_stop
test_done
