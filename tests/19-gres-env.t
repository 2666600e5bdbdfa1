#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What jobs, steps, tasks, prolog and epilog are told of their devices, with and
# without devices constrained by cgroup (v1 controller), and who can open which.
# Device files are synthetic: opening one that the cgroup allows says ENXIO,
# since no driver is behind it, one that it denies EPERM.

test_description='what jobs are told of their devices'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'gres/npu is not built' \
	test -e "$builddir/plugins/gres/npu/.libs/gres_npu.so"
# srun of 22.05 knows no --tres-per-task, and binds tasks to GPUs only.
! slurm_since 24.11 || test_set_prereq TRES_PER_TASK

# told NAME [WORD...]: the words, then VISIBLE/JOB/STEP of that GRES, and with
# MAY_OPEN the files of it that can be opened.
cat >told <<'SCRIPT'
#!/bin/bash
declare -A visible=([mlu]=MLU_VISIBLE_DEVICES [npu]=ASCEND_RT_VISIBLE_DEVICES
	[dcu]=HIP_VISIBLE_DEVICES)
name=$1 shown=${visible[$1]}
job=SLURM_JOB_${name^^}S step=SLURM_STEP_${name^^}S
shift
line="$* ${!shown-unset}/${!job-unset}/${!step-unset}"
for file in $MAY_OPEN; do
	case $(LC_ALL=C head -c 1 "$file" 2>&1) in
	*"No such device or address"*) line+=" ${file##*/}" ;;
	*"Operation not permitted"*) ;;
	*) line+=" ${file##*/}?" ;;
	esac
done
echo ${line}
SCRIPT
chmod +x told
TOLD="$PWD/told"

# says FILE LINE...: the file has these lines, in any order.
says() {
	local file=$1

	shift
	printf '%s\n' "$@" | LC_ALL=C sort >want
	LC_ALL=C sort "$file" >got
	test_cmp want got
}

# is_told WANT GOT
is_told() {
	test "$1" = "$2" || {
		echo "wanted '$1', got '$2'"
		return 1
	}
}

# hold NAME OPTION...: a job that keeps its devices until it is cancelled; sets
# HELD.
hold() {
	local name=$1

	shift
	HELD=$(batch "$name" "$@" <<-SCRIPT
		#!/bin/bash
		echo started
		sleep 120
	SCRIPT
	) && wait_for 20 test -s "$name.out"
}

release() {
	scancel "$HELD" && wait_job_end "$HELD" 30
}

# in_node NODE COMMAND...: in its mount namespace.
in_node() {
	local pid rest

	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-$1.pid" &&
		shift && nsenter --target "$pid" --mount "$@"
}

# What prolog and epilog see, in $PREP.
PREP=$PWD/prep
mkdir "$PREP"
cat >prep.sh <<SCRIPT
#!/bin/bash
env | grep -E "_VISIBLE_DEVICES=|SLURM_JOB_(MLU|NPU|DCU)S=" | LC_ALL=C sort |
	paste -sd' ' >$PREP/\$SLURM_JOB_ID.\$SLURMD_NODENAME.\$1.new
mv $PREP/\$SLURM_JOB_ID.\$SLURMD_NODENAME.\$1.new \
	$PREP/\$SLURM_JOB_ID.\$SLURMD_NODENAME.\$1
SCRIPT
for part in prolog epilog; do
	# slurmd gives no arguments
	sed "s/\\\$1/$part/g" prep.sh >$part.sh
done
chmod +x prolog.sh epilog.sh

cat >both.sh <<SCRIPT
#!/bin/bash
$PWD/epilog.sh
exec bash $TIDE_TOP/contrib/examples/epilog.devices
SCRIPT
chmod +x both.sh

# prep_was ID NODE TEXT: prolog and epilog both saw that.
prep_was() {
	wait_for 20 test -e "$PREP/$1.$2.epilog" &&
		is_told "$3" "$(cat "$PREP/$1.$2.prolog")" &&
		is_told "$3" "$(cat "$PREP/$1.$2.epilog")"
}

cluster_start --nodes 3 --cpus 8 --no-accounting \
	--set Prolog="$PWD/prolog.sh" --set Epilog="$PWD/epilog.sh" \
	--gres mlu:mlu290:3,mlu:mlu370:1,npu:ascend910b:4@n1 \
	--gres dcu:k100_ai:4,mlu:mlu290:2@n2 \
	--gres npu:vir04:2,mlu:mlu370-part:2,mlu:mlu370:1@n3

# One device is somebody else's, so that numbers do not begin at 0.
test_expect_success 'device 0 of each kind is taken' '
	hold first -w n1 --gres=mlu:mlu290:1,npu:1 &&
	first=$HELD &&
	hold second -w n2 --gres=dcu:1 &&
	second=$HELD
'

for kind in mlu:n1 npu:n1 dcu:n2; do
	name=${kind%:*} node=${kind#*:}

	test_expect_success "$name: job, step, subset and steps side by side" '
		rm -f a b &&
		id=$(batch $name -w $node --gres=$name:3 -n 2 <<-SCRIPT
			#!/bin/bash
			$TOLD $name batch
			srun $TOLD $name step
			srun -n1 --gres=$name:1 $TOLD $name subset
			srun -n1 --exact --gres=$name:1 bash -c \
				"touch a; until test -e b; do sleep 0.1; done; $TOLD $name left" &
			until test -e a; do sleep 0.1; done
			srun -n1 --exact --gres=$name:2 bash -c "touch b; $TOLD $name right"
			wait
			SCRIPT
		) &&
		wait_job_end $id 60 &&
		says $name.out "batch 1,2,3/1,2,3/unset" \
			"step 1,2,3/unset/1,2,3" "step 1,2,3/unset/1,2,3" \
			"subset 1/unset/1" "left 1/unset/1" "right 2,3/unset/2,3"
	'

	test_expect_success TRES_PER_TASK "$name: devices per task" '
		id=$(batch task-$name -w $node -n 3 --tres-per-task=gres/$name:1 <<-SCRIPT
			#!/bin/bash
			srun $TOLD $name task
			srun --gres-flags=allow-task-sharing $TOLD $name shared
			srun -n1 --tres-per-task=gres/$name:2 $TOLD $name two
			SCRIPT
		) &&
		wait_job_end $id 60 &&
		says task-$name.out "task 1/unset/1" "task 2/unset/2" "task 3/unset/3" \
			"shared 1/unset/1" "shared 2/unset/2" "shared 3/unset/3" \
			"two 1,2/unset/1,2"
	'

	test_expect_success "$name: none is an empty list, whatever was exported" '
		export MLU_VISIBLE_DEVICES=0 ASCEND_RT_VISIBLE_DEVICES=0 &&
		export HIP_VISIBLE_DEVICES=0 ROCR_VISIBLE_DEVICES=0 &&
		export SLURM_JOB_${name^^}S=0 SLURM_STEP_${name^^}S=0 &&
		id=$(batch none-$name -w $node <<-SCRIPT
			#!/bin/bash
			$TOLD $name batch
			srun $TOLD $name step
			SCRIPT
		) &&
		srun -w $node $TOLD $name direct >direct &&
		srun -w $node --gres=$name:1 $TOLD $name one >one &&
		wait_job_end $id 30 &&
		unset MLU_VISIBLE_DEVICES ASCEND_RT_VISIBLE_DEVICES &&
		unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES &&
		unset SLURM_JOB_${name^^}S SLURM_STEP_${name^^}S &&
		says none-$name.out "batch /unset/unset" "step /unset/unset" &&
		says direct "direct /unset/unset" &&
		says one "one 1/unset/1"
	'
done

test_expect_success 'a DCU is filtered at one level: ROCR is taken away' '
	is_told "1 unset" "$(ROCR_VISIBLE_DEVICES=0 HIP_VISIBLE_DEVICES=0 \
		srun -w n2 --gres=dcu:1 bash -c \
		"echo \$HIP_VISIBLE_DEVICES \${ROCR_VISIBLE_DEVICES-unset}")" &&
	is_told " unset" "$(ROCR_VISIBLE_DEVICES=0 HIP_VISIBLE_DEVICES=0 \
		srun -w n2 bash -c \
		"echo \"\$HIP_VISIBLE_DEVICES \${ROCR_VISIBLE_DEVICES-unset}\"")"
'

test_expect_success '--gres-flags change cores, not numbers' '
	for flag in enforce-binding disable-binding; do
		is_told "1,2/unset/1,2" "$(srun -w n1 --gres-flags=$flag \
			--gres=npu:2 $TOLD npu)" || return 1
	done
'

# het ARGUMENT...: srun of several components. Its tasks end, and that of 22.05
# was seen not to.
het() {
	timeout -k 5 30 srun "$@" || case $? in 124 | 137) ;; *) false ;; esac
}

test_expect_success 'a heterogeneous job: each component its own' '
	id=$(batch het -w n1 --gres=npu:2 : -w n2 --gres=dcu:1,mlu:2 <<-SCRIPT
		#!/bin/bash
		$TOLD npu batch
		srun --het-group=0 $TOLD npu zero
		srun --het-group=1 $TOLD dcu one
		srun --het-group=1 $TOLD mlu one-mlu
		timeout -k 5 30 srun --het-group=0,1 bash -c "$TOLD npu both; $TOLD dcu both"
		SCRIPT
	) &&
	wait_job_end $id 60 &&
	says het.out "batch 1,2/1,2/unset" "zero 1,2/unset/1,2" \
		"one 1/unset/1" "one-mlu 0,1/unset/0,1" \
		"both 1,2/unset/1,2" "both unset/unset/unset" \
		"both 1/unset/1" "both 1,2/unset/unset"
'

test_expect_success 'so has srun of several components' '
	het -w n1 --gres=mlu:mlu290:2 $TOLD mlu left : \
		-w n2 --gres=mlu:1 -n 2 $TOLD mlu right >hets &&
	says hets "left 1,2/unset/1,2" "right 0/unset/0" "right 0/unset/0"
'

test_expect_success 'prolog and epilog see physical numbers, of every type' '
	id=$(batch prep -w n1 --gres=mlu:mlu290:1,mlu:mlu370:1,npu:2 <<-SCRIPT
		#!/bin/bash
		true
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	prep_was $id n1 \
		"ASCEND_RT_VISIBLE_DEVICES=1,2 MLU_VISIBLE_DEVICES=1,3 SLURM_JOB_MLUS=1,3 SLURM_JOB_NPUS=1,2"
'

test_expect_success 'each node its own, and nothing without devices' '
	id=$(batch prep2 -N2 -n2 -w n1,n2 --gres=mlu:mlu290:1 <<-SCRIPT
		#!/bin/bash
		srun true
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	prep_was $id n1 "MLU_VISIBLE_DEVICES=1 SLURM_JOB_MLUS=1" &&
	prep_was $id n2 "MLU_VISIBLE_DEVICES=0 SLURM_JOB_MLUS=0" &&
	id=$(submit_wrap true -o /dev/null -w n2) &&
	wait_job_end $id 30 &&
	prep_was $id n2 ""
'

test_expect_success 'a job of a heterogeneous one sees its own' '
	het -w n1 --gres=mlu:mlu370:1 true : -w n2 --gres=dcu:2 \
		bash -c "echo \$SLURM_JOB_ID" >id &&
	# the first component has that number
	prep_was $(($(cat id) + 1)) n2 "HIP_VISIBLE_DEVICES=1,2 SLURM_JOB_DCUS=1,2"
'

# Containers, where the site wants that.
box() {
	srun "$@" bash -c \
		'echo "$ASCEND_VISIBLE_DEVICES ${ASCEND_RUNTIME_OPTIONS-unset} ${CAMBRICON_VISIBLE_DEVICES-unset}"'
}

test_expect_success 'container runtimes are told nothing by default' '
	is_told "mine mine mine" "$(ASCEND_VISIBLE_DEVICES=mine \
		ASCEND_RUNTIME_OPTIONS=mine CAMBRICON_VISIBLE_DEVICES=mine \
		box -w n1 --gres=npu:1,mlu:1)"
'

test_expect_success 'SetContainer=yes: numbers of the node, in place of others' '
	echo "Family=npu SetContainer=yes" >"$(etc devices.conf)" &&
	in_node n3 mknod /dev/vdavinci116 c 120 116 &&
	in_node n3 mknod /dev/vdavinci117 c 120 117 &&
	in_node n3 mkdir -p /dev/cambricon-caps &&
	in_node n3 mknod /dev/cambricon-caps/cap_dev0_mi1 c 121 1 &&
	in_node n3 mknod /dev/cambricon-caps/cap_dev0_mi2 c 121 2 &&
	sed -i "/^NodeName=n3 /d" "$(etc gres.conf)" &&
	for i in 1 2; do
		echo "NodeName=n3 Name=mlu Type=mlu370-part MultipleFiles=/dev/cambricon-caps/cap_dev0_mi$i,/dev/cambricon_dev0"
	done >>"$(etc gres.conf)" &&
	cat >>"$(etc gres.conf)" <<-CONF &&
		NodeName=n3 Name=mlu Type=mlu370 File=/dev/cambricon_dev1
		NodeName=n3 Name=npu Type=vir04 File=/dev/vdavinci[116-117]
	CONF
	"$CLUSTER" restart slurmd n1 &&
	"$CLUSTER" restart slurmd n3 &&
	export ASCEND_VISIBLE_DEVICES=0 ASCEND_RUNTIME_OPTIONS=VIRTUAL &&
	is_told "1,2 unset unset" "$(box -w n1 --gres=npu:2)" &&
	is_told " unset unset" "$(box -w n1)" &&
	is_told "116,117 VIRTUAL unset" "$(box -w n3 --gres=npu:2)" &&
	is_told "0,1/unset/116,117" "$(srun -w n3 --gres=npu:2 $TOLD npu)" &&
	unset ASCEND_VISIBLE_DEVICES ASCEND_RUNTIME_OPTIONS
'

# Parts of MLUs, by their files; card 0 is cut.
part() { echo "/dev/cambricon_dev0,/dev/cambricon_ipcm0,/dev/cambricon-caps/cap_dev0_mi$1"; }

export mlu_box='echo "$1${CAMBRICON_VISIBLE_DEVICES-unset} ${VIRTUAL_DEVICES-unset}"'

mlus() { srun -w n3 "$@" bash -c "$mlu_box" ""; }

test_expect_success 'SetContainer=yes: parts of MLUs by their files' '
	echo "Family=mlu SetContainer=yes" >>"$(etc devices.conf)" &&
	"$CLUSTER" restart slurmd n3 &&
	export CAMBRICON_VISIBLE_DEVICES=0 VIRTUAL_DEVICES=mine &&
	is_told " unset" "$(mlus)" &&
	is_told "1 unset" "$(mlus --gres=mlu:mlu370:1)" &&
	is_told "1 $(part 1)" "$(mlus --gres=mlu:mlu370:1,mlu:mlu370-part:1)" &&
	id=$(batch parts -w n3 -n 2 --gres=mlu:mlu370-part:2 <<-SCRIPT
		#!/bin/bash
		bash -c "\$mlu_box" "" "job "
		srun -n1 bash -c "\$mlu_box" "" "step "
		srun -n1 --gres=mlu:mlu370-part:1 bash -c "\$mlu_box" "" "subset "
		SCRIPT
	) &&
	wait_job_end $id 30 &&
	says parts.out "job unset $(part 1);$(part 2)" \
		"step unset $(part 1);$(part 2)" "subset unset $(part 1)"
'

test_expect_success TRES_PER_TASK 'and to each task its own' '
	mlus -n 2 --tres-per-task=gres/mlu:mlu370-part=1 \
		--gres-flags=allow-task-sharing >tasks &&
	says tasks "unset $(part 1)" "unset $(part 2)"
'
unset CAMBRICON_VISIBLE_DEVICES VIRTUAL_DEVICES

cluster_stop
rm -f "$PREP"/*

# From here on devices are constrained.
test_done_if_no_cgroup() {
	local lacks

	lacks=$("$CLUSTER" check --cgroup 2>&1) && return
	test_expect_success MISSING "devices constrained by cgroup: $lacks" true
	test_done
}
test_done_if_no_cgroup

cluster_start --cgroup --nodes 2 --cpus 8 --no-accounting \
	--set Prolog="$PWD/prolog.sh" --set Epilog="$PWD/both.sh" \
	--set PrologFlags=Contain \
	--gres mlu:mlu290:4,npu:ascend910b:4,dcu:k100_ai:4@n1 \
	--gres npu:ascend310p:4@n2

# Files of a kind, and those that all its devices share.
declare -A files=(
	[mlu]="/dev/cambricon_dev0 /dev/cambricon_dev1 /dev/cambricon_dev2 /dev/cambricon_dev3 /dev/cambricon_ctl"
	[npu]="/dev/davinci0 /dev/davinci1 /dev/davinci2 /dev/davinci3 /dev/davinci_manager"
	[dcu]="/dev/dri/card1 /dev/dri/renderD128 /dev/dri/card2 /dev/dri/renderD129 /dev/dri/card3 /dev/dri/renderD130 /dev/dri/card4 /dev/dri/renderD131 /dev/kfd")
declare -A shared=([mlu]=cambricon_ctl [npu]=davinci_manager [dcu]=kfd)

# opens NAME INDEX...: what told prints for these devices.
opens() {
	local i name=$1 list

	shift
	for i; do
		case $name in
		mlu) list+=" cambricon_dev$i" ;;
		npu) list+=" davinci$i" ;;
		dcu) list+=" card$((i + 1)) renderD$((i + 128))" ;;
		esac
	done
	echo "${list# }${list:+ }${shared[$name]}"
}

test_expect_success 'device 0 of each kind is taken, and there are control files' '
	i=200 &&
	for file in cambricon_ctl davinci_manager kfd; do
		in_node n1 mknod -m 666 /dev/$file c 120 $((i++)) &&
		in_node n2 mknod -m 666 /dev/$file c 120 $((i++)) || return 1
	done &&
	hold first -w n1 --gres=mlu:1,npu:1,dcu:1 &&
	hold second -w n2 --gres=npu:1
'

for name in mlu npu dcu; do
	export MAY_OPEN=${files[$name]}

	test_expect_success "$name: counted from 0, and no others can be opened" '
		rm -f a b &&
		id=$(batch c-$name -w n1 --gres=$name:3 -n 2 <<-SCRIPT
			#!/bin/bash
			$TOLD $name batch
			srun -n1 $TOLD $name step
			srun -n1 --gres=$name:1 $TOLD $name subset
			srun -n1 --gres=none $TOLD $name nothing
			srun -n1 --exact --gres=$name:1 bash -c \
				"touch a; until test -e b; do sleep 0.1; done; $TOLD $name left" &
			until test -e a; do sleep 0.1; done
			srun -n1 --exact --gres=$name:2 bash -c "touch b; $TOLD $name right"
			wait
			SCRIPT
		) &&
		wait_job_end $id 60 &&
		says c-$name.out "batch 0,1,2/1,2,3/unset $(opens $name 1 2 3)" \
			"step 0,1,2/unset/1,2,3 $(opens $name 1 2 3)" \
			"subset 0/unset/1 $(opens $name 1)" \
			"nothing /unset/unset $(opens $name)" \
			"left 0/unset/1 $(opens $name 1)" \
			"right 0,1/unset/2,3 $(opens $name 2 3)"
	'

	test_expect_success TRES_PER_TASK "$name: a task alone with its device" '
		id=$(batch t-$name -w n1 -n 2 --tres-per-task=gres/$name:1 <<-SCRIPT
			#!/bin/bash
			srun $TOLD $name task
			SCRIPT
		) &&
		wait_job_end $id 60 &&
		says t-$name.out "task 0/unset/1,2 $(opens $name 1)" \
			"task 0/unset/1,2 $(opens $name 2)"
	'

	test_expect_success TRES_PER_TASK "$name: tasks that can open those of each other" '
		id=$(batch s-$name -w n1 -n 2 --tres-per-task=gres/$name:1 <<-SCRIPT
			#!/bin/bash
			srun --gres-flags=allow-task-sharing $TOLD $name task
			SCRIPT
		) &&
		wait_job_end $id 60 &&
		says s-$name.out "task 0/unset/1 $(opens $name 1 2)" \
			"task 1/unset/2 $(opens $name 1 2)"
	'

	test_expect_success "$name: a job without opens none" '
		id=$(batch n-$name -w n1 <<-SCRIPT
			#!/bin/bash
			$TOLD $name batch
			srun $TOLD $name step
			SCRIPT
		) &&
		wait_job_end $id 30 &&
		says n-$name.out "batch /unset/unset $(opens $name)" \
			"step /unset/unset $(opens $name)"
	'
done

export MAY_OPEN=${files[npu]}
test_expect_success '310P keep their numbers where others are hidden' '
	srun -w n2 --gres=npu:2 $TOLD npu step >kept &&
	says kept "step 1,2/unset/1,2 $(opens npu 1 2)"
'

test_expect_success 'prolog and epilog see the numbers of the node' '
	srun -w n1 --gres=mlu:2,npu:1,dcu:1 bash -c "echo \$SLURM_JOB_ID" >id &&
	prep_was $(cat id) n1 \
		"ASCEND_RT_VISIBLE_DEVICES=1 HIP_VISIBLE_DEVICES=1 MLU_VISIBLE_DEVICES=1,2 SLURM_JOB_DCUS=1 SLURM_JOB_MLUS=1,2 SLURM_JOB_NPUS=1"
'

# holder NAME COMMAND...: a process on n1, outside of any job, that holds a
# device file; its number is in NAME.
holder() {
	local name=$1

	shift
	in_node n1 bash -c 'echo $$ >"$1"
		exec 9</dev/davinci99
		shift
		exec "$@"' holder "$PWD/$name" "$@" &
	wait_for 20 test -s "$name"
}

alive() {
	kill -0 "$(cat "$1")"
}

ended() {
	! alive "$1" 2>/dev/null
}

# holding NAME: a job that does so.
holding() {
	HELD=$(submit_wrap "exec 9</dev/davinci99; exec sleep $2" \
		--uid=nobody -D / -o /dev/null -w n1) &&
		wait_for 20 pgrep -xf "sleep $2" >"$1"
}

nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups"
test_expect_success 'the example epilog ends what holds devices, and no more' '
	in_node n1 mknod -m 666 /dev/davinci99 c 1 3 &&
	holder stray $nobody sleep 600 &&
	holder system sleep 600 &&
	in_node n1 bash -c "echo \$\$ >$PWD/idle; exec $nobody sleep 600" &
	wait_for 20 test -s stray -a -s system -a -s idle &&
	holding a $((100000 + $$)) && a=$HELD &&
	holding b $((200000 + $$)) && b=$HELD &&
	in_node n1 env SLURM_JOB_ID=$a SLURM_JOB_UID=$(id -u nobody) \
		SLURMD_NODENAME=n1 \
		bash "$TIDE_TOP/contrib/examples/epilog.devices" &&
	ended a &&
	wait_job_end $a 30 &&
	alive b && alive stray &&
	scancel $b &&
	wait_job_end $b 30 &&
	wait_for 20 ended stray &&
	alive system && alive idle
'
for name in stray system idle; do
	kill "$(cat $name)" 2>/dev/null
done

cluster_stop
test_done
