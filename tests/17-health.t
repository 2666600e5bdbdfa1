#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tide-health as HealthCheckProgram: a node is drained for a fault of a device,
# undrained when that is gone, and left alone when somebody else drained it.
# The PCI functions, device files and the library are synthetic.

test_description='a node with a broken device is drained'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/tree.sh
. "$TIDE_TOP/tests/lib/tree.sh"
need_cluster
library=$builddir/common/vendor/test/.libs/fake_dcmi.so
skip_unless 'the stand-ins are not built: make check builds them' \
	test -e "$library"
skip_unless 'there is no /sys/bus/pci/devices here' test -d /sys/bus/pci/devices

# in_node COMMAND...: in the mount namespace of the node.
in_node() {
	local pid rest

	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-n1.pid" &&
		nsenter --target "$pid" --mount "$@"
}

shown() { scontrol -o show node n1; }
drained() { shown | grep -q "State=[A-Z+*]*DRAIN"; }
not_drained() { ! drained; }
reason_is() { shown | grep -qF " Reason=$1 ["; }
gave_no_answer() {
	shown | grep -q "Reason=tide-health: npu 0000:82:00.0 .*: it gave no answer in 10 s when it was asked about 0000:82:00.0 "
}
looks() { wc -l <looks; }
looked() { [ "$(looks)" -ge "$1" ]; }

# becomes MODE: of the library, and one look at it since then has ended, as the
# next one has begun.
becomes() {
	echo "$1" >mode && wait_for 60 looked $(($(looks) + 2))
}

fault='tide-health: npu 0000:82:00.0 (/dev/davinci2): critical alarm, error 0x80E18005'

# slurmd hands on no environment. Without a mode nothing is looked at.
: >looks
cat >tidectl <<EOF
#!/bin/bash
[ -e '$PWD/mode' ] || exit 2
echo look >>'$PWD/looks'
FAKE=\$(cat '$PWD/mode') exec '$builddir/cmd/tidectl/tidectl' "\$@"
EOF
cat >health <<EOF
#!/bin/bash
[ -e '$PWD/mode' ] || exit 0
SLURM_CONF=\$(cat '$PWD/conf')
TIDECTL='$PWD/tidectl'
TIDE_HEALTH_LOCK='$PWD/lock'
TIDE_HEALTH_SEEN='$PWD/seen'
PATH=$PATH
export SLURM_CONF TIDECTL TIDE_HEALTH_LOCK TIDE_HEALTH_SEEN PATH
'$builddir/cmd/health/tide-health' >>'$PWD/said' 2>&1
EOF
chmod +x tidectl health
cluster_start --nodes 1 --cpus "$(nproc)" --gres npu:ascend310p:4 \
	--no-accounting --set HealthCheckInterval=1 \
	--set HealthCheckProgram="$PWD/health"
etc slurm.conf >conf
echo "Family=npu Library=$library" >"$(etc devices.conf)"
make_tree "$TIDE_TOP/tests/data/devices/npu310p.tree" machine
rm -f machine/sys/bus/pci/devices/*/local_cpulist \
	machine/sys/bus/pci/devices/*/numa_node
in_node mount --bind "$PWD/machine/sys/bus/pci/devices" /sys/bus/pci/devices

test_expect_success 'a node that is well is left alone' '
	"$builddir/cmd/health/tide-health" --version | grep "^tide-health [0-9]" &&
	becomes "" && not_drained && ! shown | grep -q " Reason=" &&
	! grep tide-health: said
'

test_expect_success 'a fault drains it, with device and fault as the reason' '
	becomes fault && drained && reason_is "$fault" &&
	id=$(submit_wrap "true" --gres=npu:1) &&
	job_is "$id" PENDING
'

test_expect_success 'it is undrained when all is well again' '
	becomes "" && not_drained && wait_job_state "$id" COMPLETED 30 &&
	! shown | grep -q "Reason=tide-health"
'

# What people write may look like what Slurm writes.
by_hand='by hand [3], until State=IDLE Gres=npu:5 Reason=tide-health: npu'

test_expect_success 'a drain by somebody else is left alone, fault or not' '
	scontrol update nodename=n1 state=drain reason="$by_hand" &&
	becomes fault && drained && reason_is "$by_hand" &&
	becomes "" && drained && reason_is "$by_hand" &&
	scontrol update nodename=n1 state=resume && wait_for 20 not_drained
'

test_expect_success 'so is one that takes over' '
	becomes fault && reason_is "$fault" &&
	scontrol update nodename=n1 reason="out for repair" &&
	becomes "" && drained && reason_is "out for repair" &&
	scontrol update nodename=n1 state=resume && wait_for 20 not_drained
'

test_expect_success 'a run goes on, and what is left of the reason is not ours' '
	id=$(submit_wrap "sleep 600" --gres=npu:1) &&
	wait_job_state "$id" RUNNING 30 &&
	becomes fault && drained && job_is "$id" RUNNING &&
	becomes "" && not_drained && job_is "$id" RUNNING &&
	! shown | grep -q "Reason=tide-health" &&
	scancel "$id" && wait_job_end "$id" 30
'

test_expect_success 'a library that hangs is a fault that passes' '
	echo hang >mode && wait_for 60 gave_no_answer && drained &&
	# the one under way still hangs, and the next ones do not join it
	echo >mode && flock lock true && wait_for 30 not_drained
'

test_expect_success 'a device that is known to be out, and one that is missing' '
	printf "n1 0000:01:00.0\r\nn1 0000:02:00.0 sent back" \
		>"$(etc tide-health.except)" &&
	becomes "" && drained &&
	reason_is "tide-health: npu: slurm.conf has npu:ascend310p:4, found are 2" &&
	rm "$(etc tide-health.except)" && mkfifo "$(etc tide-health.except)" &&
	in_node mv /dev/davinci1 /dev/lost &&
	becomes "" && drained &&
	shown | grep -q "Reason=tide-health: npu 0000:02:00.0 (/dev/davinci1): its device file is not there" &&
	in_node mv /dev/lost /dev/davinci1 &&
	becomes "" && not_drained && rm "$(etc tide-health.except)"
'

# again: slurmd is started anew. A node that is drained is not waited for.
again() {
	: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log"
	TIDE_CLUSTER_TIMEOUT=1 "$CLUSTER" restart slurmd n1 >/dev/null 2>&1 || :
	wait_for 30 grep -q "slurmd started on" "$TIDE_CLUSTER_DIR/log/slurmd-n1.log"
}
invalid() { shown | grep -q INVALID_REG; }
valid() { ! invalid; }
short='gres/npu count reported lower than configured (3 < 4)'
lost='npu 0000:82:00.0 (/dev/davinci2): its device file is not there, or is another.s'
reason_has() { shown | grep -q "Reason=.*$1"; }
# by_hand: a look where slurmctld asks for none.
by_hand() { in_node env SLURMD_NODENAME=n1 "$PWD/health"; }

test_expect_success 'what is found again is undrained when slurmd starts' '
	echo >"$(etc gres.conf)" && again && wait_for 30 not_drained
'

test_expect_success 'slurmd that starts without a device: the reason is ours in the end' '
	in_node mv /dev/davinci2 /dev/lost && again &&
	wait_for 30 invalid && wait_for 40 reason_has "tide-health: $lost"
'

test_expect_success 'and it is undrained when slurmd has it again' '
	in_node mv /dev/lost /dev/davinci2 && again && wait_for 30 not_drained &&
	timeout 30 srun --gres=npu:4 true
'

test_expect_success 'what Slurm drained is completed, and not undrained' '
	rm mode && flock lock true && in_node mv /dev/davinci2 /dev/lost && again &&
	wait_for 30 reason_is "$short" && echo >mode && by_hand &&
	wait_for 30 reason_has "(3 < 4): $lost" &&
	in_node mv /dev/lost /dev/davinci2 && again && wait_for 30 valid &&
	becomes "" && drained && reason_has "(3 < 4)" &&
	scontrol update nodename=n1 state=resume && wait_for 20 not_drained
'

test_expect_success 'a device that PCI lists no more is named' '
	becomes "" && grep -q "^npu 0000:02:00.0" seen &&
	in_node umount /sys/bus/pci/devices &&
	mv machine/sys/bus/pci/devices/0000:02:00.0 out &&
	in_node mount --bind "$PWD/machine/sys/bus/pci/devices" /sys/bus/pci/devices &&
	wait_for 60 reason_is "tide-health: npu: slurm.conf has npu:ascend310p:4, found are 3, gone is 0000:02:00.0" &&
	mv out machine/sys/bus/pci/devices/0000:02:00.0 &&
	wait_for 30 not_drained
'

# The look before may be under way, and end.
look_killed() {
	local pid

	test_must_fail flock -n lock true 2>/dev/null &&
		pid=$(pgrep -f "$builddir/cmd/health/tide-health$" | head -n 1) &&
		kill -KILL "$pid" 2>/dev/null
}

test_expect_success 'a look that is killed leaves nothing behind' '
	echo hang >mode && wait_for 30 look_killed &&
	echo >mode && wait_for 30 flock -n lock true &&
	becomes "" && not_drained
'

test_expect_success 'by hand, while a look is under way, it does not say well' '
	rm mode && { flock 9 &&
		test_must_fail in_node env SLURMD_NODENAME=n1 \
			TIDE_HEALTH_LOCK="$PWD/lock" \
			"$builddir/cmd/health/tide-health" --dry-run 2>err; } 9>lock &&
	grep "another look is under way" err && echo >mode
'

test_expect_success 'an answer of scontrol without end is none' '
	mkdir bin && printf "#!/bin/sh\nexec head -c 10M /dev/urandom\n" >bin/scontrol &&
	chmod +x bin/scontrol &&
	test_must_fail timeout 20 env PATH="$PWD/bin:$PATH" SLURMD_NODENAME=n1 \
		TIDE_HEALTH_LOCK="$PWD/other" TIDE_HEALTH_SEEN="$PWD/unseen" \
		"$builddir/cmd/health/tide-health" --dry-run 2>err &&
	grep "cannot ask about node n1" err
'

test_expect_success 'without slurmctld nothing changes, and slurmd is not kept' '
	rm mode && flock lock true && "$CLUSTER" kill9 slurmctld && echo fault >mode &&
	start=$(now) && test_must_fail by_hand && [ $(($(now) - start)) -lt 30 ] &&
	tail -n 3 said | grep "tide-health: cannot ask about node n1" &&
	echo >mode && "$CLUSTER" restart slurmctld && wait_for 30 not_drained &&
	! reason_has tide-health
'

cluster_stop
test_done
