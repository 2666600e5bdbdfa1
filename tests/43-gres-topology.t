#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where devices are, and which are linked: what discovery fills in makes Slurm
# choose cores and devices that are near each other. Eight synthetic MLUs on two
# sockets (as slurm.conf says it of two cores of this machine), two to a card, of
# which the devices are not neighbours by number; and four synthetic DCUs, of
# which XGMI links two and two, by what a synthetic KFD says.

test_description='cores and links of devices that were filled in'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
need_cluster
skip_unless 'gres/mlu is not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"
skip_unless 'there is no /sys/bus/pci/devices or /proc/driver here' \
	ls -d /sys/bus/pci/devices /proc/driver
[ "$(cat /sys/devices/system/cpu/online)" = 0-$(($(nproc) - 1)) ] &&
	[ "$(nproc)" -ge 2 ] || {
	skip_all='two processors, 0 and 1, are wanted'
	test_done
}
# the step's, which may not be the job's
told='echo $SLURM_STEP_MLUS'
told_dcus='echo $SLURM_STEP_DCUS'
# before, Slurm binds tasks to devices of gres/gpu alone
slurm_since 23.11 && test_set_prereq TRES_BIND

log() { cat "$TIDE_CLUSTER_DIR/log/slurmd-n1.log"; }
log_says() { log | grep -q "$1"; }

# in_node COMMAND...: in the mount namespace of the node.
in_node() {
	local pid rest

	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-n1.pid" &&
		nsenter --target "$pid" --mount "$@"
}

# make_mlu NUMBER CARD CPUS: a device below machine/.
make_mlu() {
	local pci=0000:$((10 + $1)):00.0
	local sys=machine/pci/$pci proc=machine/driver/cambricon/mlus/$pci

	mkdir -p "$sys" "$proc"
	echo 0xcabc >"$sys/vendor"
	echo 0x0370 >"$sys/device"
	echo 0x120000 >"$sys/class"
	echo "$3" >"$sys/local_cpulist"
	echo -1 >"$sys/numa_node"
	printf '%s: %s\n' 'Device name' MLU370-X8 \
		'Device inode path' "/dev/cambricon_dev$1" \
		'Board Serial Number' "SN/$2" >"$proc/information"
}

# make_dcu NUMBER BUS: a device below machine/, near no socket.
make_dcu() {
	local sys=machine/pci/0000:$2:00.0

	mkdir -p "$sys/drm/card$(($1 + 1))" "$sys/drm/renderD$(($1 + 128))"
	echo 0x1d94 >"$sys/vendor"
	echo 0x6210 >"$sys/device"
	echo 0x038000 >"$sys/class"
	echo 0-1 >"$sys/local_cpulist"
	echo -1 >"$sys/numa_node"
}

# make_kfd NODE BUS PEER: node of KFD, below machine/class, which is linked to
# processor 0 by PCI and to the peer by XGMI.
make_kfd() {
	local nodes=machine/class/kfd/kfd/topology/nodes link=0 to
	local type node weight width

	mkdir -p "$nodes/$1"
	printf '%s\n' 'cpu_cores_count 0' 'simd_count 480' 'domain 0' \
		"location_id $((0x$2 << 8))" >"$nodes/$1/properties"
	for to in "2 0 20 32000" "11 $3 15 50000"; do
		read -r type node weight width <<<"$to"
		mkdir -p "$nodes/$1/io_links/$link"
		printf '%s\n' "type $type" "node_from $1" "node_to $node" \
			"weight $weight" "max_bandwidth $width" \
			>"$nodes/$1/io_links/$link/properties"
		link=$((link + 1))
	done
}

# node SOCKETS CORES LINE...: what slurm.conf says of its processors, and a
# gres.conf; slurmctld takes up new cores and links only when it starts.
node() {
	sed -i "s/Sockets=[0-9]* CoresPerSocket=[0-9]*/Sockets=$1 CoresPerSocket=$2/" \
		"$(etc slurm.conf)" &&
		printf '%s\n' "${@:3}" >"$(etc gres.conf)" &&
		: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log" &&
		"$CLUSTER" restart slurmd n1 &&
		wait_for 20 log_says "slurmd started on" &&
		"$CLUSTER" restart slurmctld
}

# rings: lines for two rings of four, as tidectl devices --library writes them:
# 4 for neighbours and 2 for the one behind.
rings() {
	local i j links

	for i in 0 1 2 3 4 5 6 7; do
		links=
		for j in 0 1 2 3 4 5 6 7; do
			case $((i == j ? 0 : (i - j + 8) % 8)) in
			0) links+=,-1 ;;
			2 | 6) links+=,4 ;;
			4) links+=,2 ;;
			*) links+=,0 ;;
			esac
		done
		echo "NodeName=n1 Name=mlu Type=mlu370-x8" \
			"File=/dev/cambricon_dev$i Links=${links#,}"
	done
}

# slurmd_with VARIABLE...: slurmd with these in its environment, and a slurmctld
# that takes its cores up; $slurmd is its process.
slurmd_with() {
	local pid rest

	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-n1.pid" || return 1
	if [ -n "${slurmd:-}" ]; then
		{ kill -9 "$slurmd" && wait "$slurmd"; } 2>/dev/null || :
	else
		"$CLUSTER" kill9 slurmd n1
	fi && : >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log" || return 1
	env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" \
		TIDE_CLUSTER_MEMBER="$TIDE_CLUSTER_DIR" "$@" \
		nsenter --target "$pid" --mount --uts slurmd -D -N n1 \
		>slurmd.out 2>&1 &
	slurmd=$!
	wait_for 20 log_says "slurmd started on" &&
		"$CLUSTER" restart slurmctld
}

# machine SOCKETS CORES LINE SYNTHETIC: slurmd on a synthetic machine of four
# processors, which slurm.conf describes like that, with that line of slurmd's
# parameters: nothing overrides what slurmd finds.
machine() {
	sed -i -e "s/CPUs=[0-9]* Sockets=[0-9]* CoresPerSocket=[0-9]*/CPUs=4 Sockets=$1 CoresPerSocket=$2/" \
		-e "s/^#\?SlurmdParameters=.*/$3/" \
		"$(etc slurm.conf)" && echo >"$(etc gres.conf)" &&
		slurmd_with HWLOC_SYNTHETIC="$4" &&
		wait_for 20 log_says "CPUs=4 Boards=1 Sockets=$1 Cores=$2" &&
		! log | grep "differs from hardware"
}

# near NAME MLUS CORES OPTION...: a job that is to stay near has these; prints
# its id.
near() {
	local id

	id=$(hold "$1" --gres-flags=enforce-binding "${@:4}") || return 1
	[ "$(cat "$1.mlus") $(cores_of "$id")" = "$2 $3" ] || {
		echo "$1 has MLUs $(cat "$1.mlus"), cores $(cores_of "$id")" >&2
		return 1
	}
	printf '%s\n' "$id"
}

# node_gres: as slurmctld has it from slurmd.
node_gres() {
	scontrol show node n1 | sed -n 's/^ *Gres=//p'
}

gres_is() { [[ ,$(node_gres), == *",$1,"* ]]; }

# cores_of ID: of a running job.
cores_of() {
	scontrol -d show job "$1" | sed -n 's/.*CPU_IDs=\([^ ]*\).*/\1/p'
}

# hold NAME OPTION...: a job that stays; prints the id when it runs. It writes
# its devices to NAME.mlus.
hold() {
	local id name=$1

	shift
	rm -f "$name.mlus"
	# shellcheck disable=SC2016 # for the job
	id=$(submit_wrap 'echo $SLURM_JOB_MLUS >'"$PWD/$name.mlus; exec sleep 100" \
		-o /dev/null "$@") && wait_job_state "$id" RUNNING 30 &&
		wait_for 10 test -s "$name.mlus" && printf '%s\n' "$id"
}

rm -rf machine
for i in 0 1 2 3; do
	make_mlu "$i" "$((i % 2))" 0
	make_mlu "$((i + 4))" "$((2 + i % 2))" 1
done
dcus=(33 36 a3 a6)
for i in 0 1 2 3; do
	make_dcu "$i" "${dcus[i]}"
	# in an order of its own: 5 4 3 2
	make_kfd $((5 - i)) "${dcus[i]}" $((5 - (i + 2) % 4))
done
mkdir machine/class/kfd/kfd/topology/nodes/0
printf '%s\n' 'cpu_cores_count 2' 'simd_count 0' 'location_id 0' \
	>machine/class/kfd/kfd/topology/nodes/0/properties
cluster_start --nodes 1 --cpus 2 --gres mlu:mlu370-x8:8,dcu:k100_ai:4 \
	--no-accounting --set TaskPlugin=task/affinity
in_node mount --bind "$PWD/machine/pci" /sys/bus/pci/devices
in_node mount --bind "$PWD/machine/driver" /proc/driver

test_expect_success 'devices have the cores of their socket, whatever that is' '
	node 2 1 "" &&
	! log | grep "error: " &&
	wait_for 20 gres_is "mlu:mlu370-x8:8(S:0-1)"
'

test_expect_success 'a job gets two of a card, and not the first two' '
	test "$(timeout 30 srun --gres=mlu:2 bash -c "$told")" = 0,2
'

test_expect_success 'the first two of which nobody knows links' '
	test "$(timeout 30 srun --gres=dcu:2 bash -c "$told_dcus")" = 0,1
'

test_expect_success 'cores are near devices, and devices near cores' '
	a=$(hold a --gres=mlu:4 --gres-flags=enforce-binding) &&
	b=$(hold b --gres=mlu:1 --gres-flags=enforce-binding) &&
	test "$(cat a.mlus) $(cores_of "$a")" = "0,1,2,3 0" &&
	test "$(cat b.mlus) $(cores_of "$b")" = "4 1"
'

test_expect_success 'a job is not given cores that are far, when it must not' '
	c=$(submit_wrap true -o /dev/null --gres=mlu:4 \
		--gres-flags=enforce-binding) &&
	scancel "$b" && wait_job_end "$b" 20 &&
	wait_job_end "$c" 30 && job_is "$c" COMPLETED &&
	scancel "$a" && wait_job_end "$a" 20
'

test_expect_success TRES_BIND 'a task has the devices that are near its cores' '
	timeout 30 srun --exclusive -n2 -l --cpu-bind=cores --gres=mlu:8 \
		--tres-bind=gres/mlu:closest \
		bash -c "$told" >out &&
	test "$(sort out)" = "0: 0,1,2,3
1: 4,5,6,7"
'

# mounted over all classes, as few machines have that one
test_expect_success 'XGMI links, of KFD, choose devices' '
	in_node mount --bind "$PWD/machine/class" /sys/class &&
	node 2 1 "" && ! log | grep "error: " &&
	test "$(timeout 30 srun --gres=dcu:2 bash -c "$told_dcus")" = 0,2 &&
	a=$(submit_wrap "exec sleep 100" -o /dev/null --gres=dcu:1) &&
	wait_job_state "$a" RUNNING 30 &&
	test "$(timeout 30 srun --gres=dcu:2 bash -c "$told_dcus")" = 1,3 &&
	scancel "$a" && wait_job_end "$a" 20
'

test_expect_success 'with one socket Slurm wants all of it, which is said' '
	node 1 2 "" &&
	log | grep "gres/mlu: Cores=0-1 of .* are whole sockets, as Slurm takes no less: near it are 0" &&
	wait_for 20 gres_is "mlu:mlu370-x8:8(S:0)" &&
	test "$(timeout 30 srun --gres=mlu:2 bash -c "$told")" = 0,2
'

test_expect_success 'a job gets two, four and eight of one ring' '
	rings >lines && mapfile -t lines <lines &&
	node 1 2 "${lines[@]}" &&
	test "$(timeout 30 srun --gres=mlu:2 bash -c "$told")" = 0,2 &&
	test "$(timeout 30 srun --gres=mlu:4 bash -c "$told")" = 0,2,4,6 &&
	test "$(timeout 30 srun --gres=mlu:8 bash -c "$told")" = 0,1,2,3,4,5,6,7
'

test_expect_success 'cores by hand that are far are said, with the near ones' '
	node 2 1 "NodeName=n1 Name=mlu Type=mlu370-x8 File=/dev/cambricon_dev[0-3] Cores=1" \
		"NodeName=n1 Name=mlu Type=mlu370-x8 File=/dev/cambricon_dev[4-7] Cores=1" &&
	log | grep "gres.conf says Cores=1 of /dev/cambricon_dev0, found near it are 0: .*; remedy: Cores=0" &&
	test "$(log | grep -c "gres.conf says Cores")" = 1
'

test_expect_success 'where the machine does not say, HWLOC_PCI_LOCALITY does' '
	for list in machine/pci/*/local_cpulist; do
		echo 0-1 >"$list"
	done &&
	node 2 1 "" &&
	wait_for 20 gres_is "mlu:mlu370-x8:8" &&
	slurmd_with HWLOC_PCI_LOCALITY="0000:10-13 0x1;0000:14-17 0x2" &&
	wait_for 20 gres_is "mlu:mlu370-x8:8(S:0-1)"
'

# Two NUMA nodes, or caches, in one package; Linux often numbers processors so.
nodes='pack:1 numa:2 core:2 pu:1(indexes=0,2,1,3)'
caches='pack:1 [numa] l3:2 core:2 pu:1(indexes=0,2,1,3)'
for i in 0 1 2 3; do
	echo 0,2 >"machine/pci/0000:$((10 + i)):00.0/local_cpulist"
	echo 1,3 >"machine/pci/0000:$((14 + i)):00.0/local_cpulist"
done

test_expect_success 'two NUMA nodes of a package are one socket, by default' '
	machine 1 4 "#SlurmdParameters=" "$nodes" &&
	log | grep "gres/mlu: Cores=0-3 of /dev/cambricon_dev0 are whole sockets, as Slurm takes no less: near it are 0-1" &&
	log | grep "gres/mlu: Cores=0-3 of /dev/cambricon_dev4 are whole sockets, as Slurm takes no less: near it are 2-3" &&
	wait_for 20 gres_is "mlu:mlu370-x8:8(S:0)"
'

for as in numa_node l3cache; do
	topology=$nodes
	[ $as = numa_node ] || topology=$caches

	test_expect_success "${as}_as_socket: cores are those of slurmd" '
		machine 2 2 "SlurmdParameters=${as}_as_socket" "$topology" &&
		! log | grep "error: " && ! log | grep "whole sockets" &&
		wait_for 20 gres_is "mlu:mlu370-x8:8(S:0-1)" &&
		a=$(near a 0,1,2,3 0-1 -n 2 --gres=mlu:4) &&
		b=$(near b 4,5,6,7 2-3 -n 2 --gres=mlu:4) &&
		scancel "$a" "$b" && wait_job_end "$a" 20 && wait_job_end "$b" 20
	'

	test_expect_success "${as}_as_socket: tidectl counts like slurmd" '
		in_node env HWLOC_SYNTHETIC="$topology" \
			tidectl devices --gres-conf --gres mlu >lines &&
		test "$(grep -c "cambricon_dev[0-3] Cores=0-1 " lines)" = 4 &&
		test "$(grep -c "cambricon_dev[4-7] Cores=2-3 " lines)" = 4
	'

	test_expect_success TRES_BIND "${as}_as_socket: a task has the near devices" '
		timeout 30 srun --exclusive -n2 -c2 -l --cpu-bind=cores --gres=mlu:8 \
			--tres-bind=gres/mlu:closest bash -c "$told" >out &&
		test "$(sort out)" = "0: 0,1,2,3
1: 4,5,6,7"
	'
done
[ -z "${slurmd:-}" ] || kill "$slurmd"

cluster_stop
test_done
