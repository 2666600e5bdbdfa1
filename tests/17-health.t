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
[ -e "$library" ] || {
	skip_all='the stand-ins are not built: make check builds them'
	test_done
}
[ -d /sys/bus/pci/devices ] || {
	skip_all='there is no /sys/bus/pci/devices here'
	test_done
}

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
runs() { wc -l <runs; }
ran() { [ "$(runs)" -ge "$1" ]; }

# becomes MODE: of the library, and it was looked at since then, twice, as one
# look may have been under way.
becomes() {
	echo "$1" >mode && wait_for 60 ran $(($(runs) + 2))
}

fault='tide-health: npu 0000:82:00.0 (/dev/davinci2): critical alarm, error 0x80E18005'

# slurmd hands on no environment. Without a mode nothing is looked at.
: >runs
cat >health <<EOF
#!/bin/bash
[ -e '$PWD/mode' ] || exit 0
FAKE=\$(cat '$PWD/mode')
SLURM_CONF=\$(cat '$PWD/conf')
TIDECTL='$builddir/cmd/tidectl/tidectl'
TIDE_HEALTH_LOCK='$PWD/lock'
PATH=$PATH
export FAKE SLURM_CONF TIDECTL TIDE_HEALTH_LOCK PATH
'$builddir/cmd/health/tide-health' >>'$PWD/said' 2>&1
status=\$?
echo run >>'$PWD/runs'
exit \$status
EOF
chmod +x health
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

test_expect_success 'a drain by somebody else is left alone, fault or not' '
	scontrol update nodename=n1 state=drain reason="by hand" &&
	becomes fault && drained && reason_is "by hand" &&
	becomes "" && drained && reason_is "by hand" &&
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
	echo "n1 0000:01:00.0 sent back" >"$(etc tide-health.except)" &&
	becomes "" && drained &&
	reason_is "tide-health: npu: slurm.conf has npu:ascend310p:4, PCI lists 3" &&
	rm "$(etc tide-health.except)" &&
	in_node mv /dev/davinci1 /dev/lost &&
	becomes "" && drained &&
	shown | grep -q "Reason=tide-health: npu 0000:02:00.0 (/dev/davinci1): its device file is not there" &&
	in_node mv /dev/lost /dev/davinci1 &&
	becomes "" && not_drained
'

cluster_stop
test_done
