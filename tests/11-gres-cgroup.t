#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gres/mlu with devices constrained by cgroup (v1 controller): who can open
# which device file, and lists that count from 0. Device files are synthetic,
# no driver is behind them: opening one that is allowed says ENXIO, one that is
# denied EPERM.

test_description='gres/mlu with devices constrained by cgroup'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster --cgroup
skip_unless 'gres/mlu is not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"

# VISIBLE/JOB/STEP, then the devices that can be opened.
cat >told <<'SCRIPT'
#!/bin/bash
may=
for i in 0 1 2 3; do
	case $(LC_ALL=C head -c 1 /dev/cambricon_dev$i 2>&1) in
	*"No such device or address"*) may+=" $i" ;;
	*"Operation not permitted"*) ;;
	*) may+=" $i?" ;;
	esac
done
echo "$* ${MLU_VISIBLE_DEVICES-unset}/${SLURM_JOB_MLUS-unset}/${SLURM_STEP_MLUS-unset} may open$may"
SCRIPT
chmod +x told
TOLD="$PWD/told"

# said FILE LINE...: the file has these lines, in any order.
said() {
	local file=$1

	shift
	printf '%s\n' "$@" | sort >want
	sort "$file" >got
	test_cmp want got
}

cluster_start --cgroup --nodes 1 --cpus 8 --gres mlu:mlu290:4 --no-accounting

test_expect_success 'job, step and task open their devices only, from 0' '
	id=$(batch two --gres=mlu:2 <<-SCRIPT
		#!/bin/bash
		$TOLD batch
		srun $TOLD step
		srun --gres=mlu:1 $TOLD subset
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	said two.out "batch 0,1/0,1/unset may open 0 1" \
		"step 0,1/unset/0,1 may open 0 1" \
		"subset 0/unset/0 may open 0"
'

test_expect_success 'a second job on the node counts from 0, physical ids differ' '
	one=$(batch one --gres=mlu:1 <<-SCRIPT
		#!/bin/bash
		$TOLD first
		sleep 60
		SCRIPT
	) &&
	wait_for 20 test -s one.out &&
	id=$(batch other --gres=mlu:2 -n 2 <<-SCRIPT
		#!/bin/bash
		$TOLD batch
		srun -n2 $TOLD step
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	said one.out "first 0/0/unset may open 0" &&
	said other.out "batch 0,1/1,2/unset may open 1 2" \
		"step 0,1/unset/1,2 may open 1 2" \
		"step 0,1/unset/1,2 may open 1 2" &&
	scancel $one &&
	wait_job_end $one 30
'

test_expect_success 'parallel steps cannot open the devices of each other' '
	id=$(batch steps --gres=mlu:3 -n 2 <<-SCRIPT
		#!/bin/bash
		srun -n1 --exact --gres=mlu:1 bash -c "touch a; until test -e b; do sleep 0.1; done; $TOLD one" &
		until test -e a; do sleep 0.1; done
		srun -n1 --exact --gres=mlu:2 bash -c "touch b; $TOLD two"
		wait
		SCRIPT
	) &&
	wait_job_end $id 60 &&
	said steps.out "one 0/unset/0 may open 0" \
		"two 0,1/unset/1,2 may open 1 2"
'

test_expect_success 'a job without the GRES opens none and sees an empty list' '
	id=$(batch none <<-SCRIPT
		#!/bin/bash
		$TOLD batch
		srun $TOLD step
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	said none.out "batch /unset/unset may open" "step /unset/unset may open"
'

test_expect_success 'stop removes the cgroups' '
	find /sys/fs/cgroup -name "tide-*-${TIDE_CLUSTER_DIR##*/}" >before &&
	test -s before &&
	cluster_stop &&
	! find /sys/fs/cgroup -name "tide-*-${TIDE_CLUSTER_DIR##*/}" | grep .
'

test_done
