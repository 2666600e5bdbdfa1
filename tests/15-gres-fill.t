#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Devices without File= in gres.conf: slurmd fills them in with what tidectl
# devices finds. The PCI functions are synthetic, bound over those of the node,
# and so are the device files.

test_description='records of gres.conf are filled in by discovery'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/tree.sh
. "$TIDE_TOP/tests/lib/tree.sh"
need_cluster
skip_unless 'gres/npu is not built' \
	test -e "$builddir/plugins/gres/npu/.libs/gres_npu.so"
skip_unless 'there is no /sys/bus/pci/devices here' test -d /sys/bus/pci/devices

# slurmctld and slurmd start a new process at each reconfigure
slurm_since 23.11 && test_set_prereq NEW_PROCESS
told='echo $ASCEND_RT_VISIBLE_DEVICES/$SLURM_STEP_NPUS'
log() { cat "$TIDE_CLUSTER_DIR/log/slurmd-n1.log"; }

log_says() { log | grep -q "$1"; }

# is_up WORD: the node is in a state with that word.
is_up() { scontrol show node n1 | grep -q "State=[A-Z+_]*$1"; }

# in_node COMMAND...: in the mount namespace of the node.
in_node() {
	local pid rest

	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-n1.pid" &&
		nsenter --target "$pid" --mount "$@"
}

# gres_conf LINE...: a new gres.conf, and slurmd with it.
gres_conf() {
	printf '%s\n' "$@" >"$TIDE_CLUSTER_DIR/etc/gres.conf"
	: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log"
	"$CLUSTER" restart slurmd n1 && wait_for 20 log_says "slurmd started on"
}

# again: slurmd, whose node stays drained.
again() {
	: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log"
	TIDE_CLUSTER_TIMEOUT=1 "$CLUSTER" restart slurmd n1 >/dev/null 2>&1 || :
	wait_for 30 log_says "slurmd started on"
}

# valid: slurmd has registered with what slurm.conf says; a slurmctld that was
# started anew does not know yet.
valid() { ! scontrol show node n1 | grep -q "INVALID_REG\|UNKNOWN"; }

cat >epilog.sh <<SCRIPT
#!/bin/bash
echo "\$SLURM_JOB_NPUS" >"$PWD/epilog.\$SLURM_JOB_ID"
SCRIPT
chmod +x epilog.sh
cluster_start --nodes 1 --cpus "$(nproc)" --gres npu:ascend310p:4 \
	--set Epilog="$PWD/epilog.sh" --no-accounting
make_tree "$TIDE_TOP/tests/data/devices/npu310p.tree" machine
rm -f machine/sys/bus/pci/devices/*/local_cpulist \
	machine/sys/bus/pci/devices/*/numa_node
in_node mount --bind "$PWD/machine/sys/bus/pci/devices" /sys/bus/pci/devices

test_expect_success 'a line with the name alone is filled in' '
	gres_conf "NodeName=n1 Name=npu" &&
	! log | grep "error: gres/npu" &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3 &&
	test "$(timeout 30 srun --gres=npu:ascend310p:1 bash -c "$told")" = 0/0
'

test_expect_success 'in whatever letters gres.conf has the name' '
	gres_conf "NodeName=n1 Name=NPU Type=Ascend310P" &&
	! log | grep "error: gres/npu" &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3 &&
	gres_conf "NodeName=n1 Name=Npu Type=ascend310p File=/dev/davinci[0-3]" &&
	! log | grep "gres/npu:" &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

test_expect_success 'so is slurm.conf alone' '
	gres_conf "" &&
	test "$(timeout 30 srun --gres=npu:2 bash -c "$told")" = 0,1/0,1
'

test_expect_success 'slurmd -G, which only prints, writes nothing down' '
	places=$TIDE_CLUSTER_DIR/spool/n1/tide-gres-npu &&
	test -s "$places" && mv "$places" places &&
	in_node "$(command -v slurmd)" -G -N n1 >printed 2>&1 &&
	grep "Type=ascend310p" printed && test ! -e "$places" &&
	mv places "$places"
'

test_expect_success 'devices are looked for once, and not by each job' '
	program=$TIDE_CLUSTER_DIR/plugins/tide-devices &&
	mv "$program" "$program.real" &&
	printf "#!/bin/sh\necho look >>%s/looks\nexec %s.real \"\$@\"\n" \
		"$PWD" "$program" >"$program" && chmod +x "$program" &&
	: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log" &&
	"$CLUSTER" restart --as-is slurmd n1 &&
	wait_for 20 log_says "slurmd started on" &&
	looks=$(wc -l <looks) && test "$looks" -ge 1 &&
	test "$(timeout 30 srun --gres=npu:2 bash -c "$told")" = 0,1/0,1 &&
	timeout 30 srun --gres=npu:1 true &&
	test "$(wc -l <looks)" = "$looks" && mv "$program.real" "$program"
'

test_expect_success 'a line by hand wins' '
	gres_conf "NodeName=n1 Name=npu Type=ascend310p File=/dev/davinci[0-3]" &&
	! log | grep "error: gres/npu" &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

test_expect_success 'and how it differs is said, with the remedy' '
	in_node mknod /dev/davinci99 c 1 3 &&
	gres_conf "NodeName=n1 Name=npu Type=ascend310p File=/dev/davinci[0-2],/dev/davinci99" &&
	log | grep "gres/npu: gres.conf names /dev/davinci99, but no device was found that has it; remedy: take it out" &&
	log | grep "gres/npu: /dev/davinci3, ascend310p at 0000:82:00.0, is in no line of gres.conf.*; remedy: Name=npu Type=ascend310p File=/dev/davinci3"
'

test_expect_success 'a file by hand that is no device ends no slurmd' '
	in_node touch /dev/davinci98 &&
	{ TIDE_CLUSTER_TIMEOUT=5 gres_conf "NodeName=n1 Name=npu Type=ascend310p File=/dev/davinci98,/dev/davinci[0-1,3]" ||
		wait_for 30 log_says "slurmd started on"; } &&
	wait_for 30 is_up DRAIN &&
	log | grep "./dev/davinci98. in gres.conf is not a character device" &&
	scontrol show node n1 | grep "(3 < 4)" &&
	echo >"$(etc gres.conf)" && again && wait_for 30 valid &&
	scontrol update nodename=n1 state=resume && wait_for 30 is_up IDLE
'

test_expect_success 'a device without its file drains the node, and the log says which' '
	in_node mv /dev/davinci2 /dev/lost &&
	# the node may be drained before it is seen to be up
	{ TIDE_CLUSTER_TIMEOUT=5 gres_conf "" ||
		wait_for 30 log_says "slurmd started on"; } &&
	wait_for 30 is_up DRAIN &&
	scontrol show node n1 | grep "gres/npu count reported lower than configured (3 < 4)" &&
	log | grep "gres/npu: .*there is no device file ./dev/davinci2. of 0000:82:00.0" &&
	! grep "Invalid GRES Links" "$TIDE_CLUSTER_DIR/log/slurmctld.log" &&
	log | grep "slurm.conf has 4 of type .ascend310p. on this node, found are 3"
'

# runbook N: the Nth list of commands of its entry, for this cluster.
runbook() {
	awk -v n="$1" '/^## / { in_entry = /An accelerator is lost/ }
		/^```/ { on = in_entry && /^```sh/ && ++list == n; next }
		on' "$TIDE_TOP/docs/runbook.md" |
		sed -e "s|/etc/slurm/|$TIDE_CLUSTER_DIR/etc/|" \
			-e 's/0000:3d:00.0/0000:82:00.0/' -e 's/lab03/n1/g' \
			-e 's/mlu:mlu370-x8:8/npu:ascend310p:4/' \
			-e 's/mlu:mlu370-x8:7/npu:ascend310p:3/'
}

# What the commands of the runbook are here.
ssh() { "${@:2}"; }
systemctl() {
	case $2 in
	slurmd) again ;;
	slurmctld) "$CLUSTER" restart slurmctld >/dev/null ;;
	esac
}

# follow N [WITHOUT]: the runbook, to the letter, but the lines with that word.
follow() {
	local line

	runbook "$1" | grep -v "${2:-^$}" >commands
	[ "$(wc -l <commands)" -ge 4 ] || return 1
	while read -r line; do
		[[ $line != *RESUME ]] || wait_for 30 valid || return 1
		eval "$line" </dev/null || {
			echo "this line of the runbook fails: $line"
			return 1
		}
	done <commands
	wait_for 30 is_up IDLE && ! is_up DRAIN
}

test_expect_success 'Slurm takes nobody out of that drain, but the runbook' '
	test_must_fail scontrol update nodename=n1 state=resume &&
	follow 1 &&
	test "$(timeout 30 srun --gres=npu:3 bash -c "$told")" = 0,1,3/0,1,3
'

# it would take the place of another, which a run has
test_expect_success 'one that is back and not counted is given to nobody' '
	id=$(submit_wrap "sleep 600" -n 1 --gres=npu:3) &&
	wait_job_state "$id" RUNNING 30 &&
	in_node mv /dev/lost /dev/davinci2 && again && wait_for 30 is_up DRAIN &&
	log | grep "gres/npu: more of type .ascend310p. are there than slurm.conf has" &&
	job_is "$id" RUNNING && scancel "$id" && wait_job_end "$id" 30
'

test_expect_success 'and back when the device is repaired' '
	follow 2 &&
	test ! -s "$(etc tide-health.except)" &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

test_expect_success NEW_PROCESS 'nothing is restarted where a reconfigure does it' '
	in_node mv /dev/davinci2 /dev/lost && again && wait_for 30 is_up DRAIN &&
	follow 1 restart &&
	test "$(timeout 30 srun --gres=npu:3 bash -c "$told")" = 0,1,3/0,1,3 &&
	in_node mv /dev/lost /dev/davinci2 &&
	follow 2 restart &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

test_expect_success 'a run finishes on a node that has lost a device' '
	first=$(submit_wrap "sleep 600" -n 1 --gres=npu:1) &&
	wait_job_state "$first" RUNNING 30 &&
	id=$(submit_wrap "until [ -e go ]; do sleep 0.2; done" -n 1 --gres=npu:1) &&
	wait_job_state "$id" RUNNING 30 &&
	in_node mv /dev/davinci0 /dev/lost && again && wait_for 30 is_up DRAIN &&
	job_is "$id" RUNNING && touch go && wait_job_state "$id" COMPLETED 30
'

# an epilog that resets its device would reset that of another
test_expect_success 'and its epilog is told the device that it had' '
	wait_for 30 test -s "epilog.$id" && test "$(cat "epilog.$id")" = 1 &&
	scancel "$first" && wait_job_end "$first" 30 &&
	wait_for 30 test -e "epilog.$first" && test -z "$(cat "epilog.$first")"
'

test_expect_success 'a device that is back leaves the drain, which is to be lifted' '
	in_node mv /dev/lost /dev/davinci0 && again && wait_for 30 valid &&
	is_up DRAIN &&
	scontrol update nodename=n1 state=resume && wait_for 30 is_up IDLE &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

# The kernel does not list it any more; its file has stayed.
test_expect_success 'so it is told on a node that has lost one altogether' '
	rm -f go &&
	first=$(submit_wrap "sleep 600" -n 1 --gres=npu:1) &&
	wait_job_state "$first" RUNNING 30 &&
	id=$(submit_wrap "until [ -e go ]; do sleep 0.2; done" -n 1 --gres=npu:1) &&
	wait_job_state "$id" RUNNING 30 &&
	mv machine/sys/bus/pci/devices/0000:01:00.0 gone && again &&
	wait_for 30 is_up DRAIN &&
	scontrol show node n1 | grep "(3 < 4)" &&
	log | grep "gres/npu: /dev/davinci0 is gone, which was there before" &&
	job_is "$id" RUNNING && touch go && wait_job_state "$id" COMPLETED 30 &&
	wait_for 30 test -s "epilog.$id" && test "$(cat "epilog.$id")" = 1 &&
	scancel "$first" && wait_job_end "$first" 30 &&
	wait_for 30 test -e "epilog.$first" && test -z "$(cat "epilog.$first")"
'

test_expect_success 'and all is as before when that is back' '
	mv gone machine/sys/bus/pci/devices/0000:01:00.0 && again &&
	wait_for 30 valid && is_up DRAIN &&
	scontrol update nodename=n1 state=resume && wait_for 30 is_up IDLE &&
	test "$(timeout 30 srun --gres=npu:4 bash -c "$told")" = 0,1,2,3/0,1,2,3
'

# answers COMMAND WHAT: slurmd says that of a program that does that.
answers() {
	printf "#!/bin/sh\n%s\n" "$1" >"$TIDE_CLUSTER_DIR/plugins/tide-devices" &&
		: >"$TIDE_CLUSTER_DIR/log/slurmd-n1.log" &&
		{ TIDE_CLUSTER_TIMEOUT=1 "$CLUSTER" restart --as-is slurmd n1 >/dev/null 2>&1 || :; } &&
		wait_for 30 log_says "slurmd started on" &&
		log | grep -a "cannot look for gres/npu: .*tide-devices $2"
}

test_expect_success 'a program that is broken is said to be, and drains the node' '
	echo >"$(etc gres.conf)" &&
	answers "kill -9 \$\$" "was killed by signal 9" &&
	answers "exit 3" "failed: it does not say why" &&
	answers "yes" "printed without end" &&
	answers "cat /dev/zero" "printed what is no text" &&
	wait_for 30 is_up DRAIN && ! valid
'

test_expect_success 'so is one that must not be run' '
	chmod -x "$TIDE_CLUSTER_DIR/plugins/tide-devices" &&
	test_must_fail answers true "" &&
	log | grep "cannot run $TIDE_CLUSTER_DIR/plugins/tide-devices: Permission denied" &&
	chmod +x "$TIDE_CLUSTER_DIR/plugins/tide-devices"
'

test_expect_success 'a program that hangs does not stop slurmd' '
	printf "#!/bin/sh\nexec sleep 1000\n" >"$TIDE_CLUSTER_DIR/plugins/tide-devices" &&
	echo >"$TIDE_CLUSTER_DIR/etc/gres.conf" &&
	# which may not wait for that long
	{ "$CLUSTER" restart --as-is slurmd n1 || :; } &&
	wait_for 40 log_says "tide-devices gave no answer in 15 s" &&
	wait_for 20 log_says "slurmd started on" &&
	# nor get jobs that would get no device
	wait_for 30 grep -q "gres/npu: Count changed on node n1 ([34] != 0)" \
		"$TIDE_CLUSTER_DIR/log/slurmctld.log" &&
	is_up DRAIN &&
	# nor stay behind
	read -r pid rest <"$TIDE_CLUSTER_DIR/run/slurmd-n1.pid" &&
	test "$(cat "/proc/$pid/comm")" = slurmd &&
	test -z "$(ps -o stat= --ppid "$pid" | grep Z)"
'

cluster_stop
cluster_start --nodes 1 --cpus "$(nproc)" --no-accounting \
	--gres npu:ascend310p:3,npu:ascend310p-part:2,mlu:mlu290:1
by_hand="NodeName=n1 Name=mlu Type=mlu290 File=/dev/cambricon_dev0"
in_node mount --bind "$PWD/machine/sys/bus/pci/devices" /sys/bus/pci/devices
in_node mknod /dev/vdavinci116 c 120 116
in_node mknod /dev/vdavinci117 c 120 117

test_expect_success 'parts are had by their own type, and counted from 0' '
	gres_conf "$by_hand" &&
	! log | grep "error: gres/npu" &&
	test "$(timeout 30 srun --gres=npu:ascend310p-part:2 bash -c "$told")" = \
		0,1/116,117 &&
	test "$(timeout 30 srun --gres=npu:ascend310p:3 bash -c "$told")" = \
		0,2,3/0,2,3
'

test_expect_success 'more than slurm.conf counts: none is used, and it is said' '
	in_node mknod /dev/vdavinci118 c 120 118 &&
	{ TIDE_CLUSTER_TIMEOUT=5 gres_conf "$by_hand" ||
		wait_for 30 log_says "slurmd started on"; } &&
	log | grep "gres/npu: more of type .ascend310p-part. are there than slurm.conf has on this node, and which of them jobs have is not known: none is used" &&
	log | grep "gres/npu: found are ascend310p-part:1 more than slurm.conf has" &&
	wait_for 30 is_up DRAIN &&
	in_node rm /dev/vdavinci118 && again && wait_for 30 valid &&
	scontrol update nodename=n1 state=resume && wait_for 30 is_up IDLE
'

# davinci10 is davinci0, 11 is the MLU and 12 is davinci2
test_expect_success 'a device is had once, under whatever paths' '
	in_node bash -c "mknod /dev/davinci10 c \$(stat -c \"0x%t 0x%T\" /dev/davinci0)" &&
	in_node ln -s cambricon_dev0 /dev/davinci11 &&
	in_node ln /dev/davinci2 /dev/davinci12 &&
	printf "%s\n" "NodeName=n1 Name=npu Type=ascend310p File=/dev/davinci0,/dev/davinci10,/dev/davinci2" \
		"NodeName=n1 Name=npu Type=ascend310p-part File=/dev/davinci11,/dev/davinci12" \
		"$by_hand" >"$(etc gres.conf)" && again &&
	log | grep "./dev/davinci10. in gres.conf is the same device as ./dev/davinci0.: not used a second time" &&
	log | grep "./dev/davinci12. in gres.conf is the same device as ./dev/davinci2.: not used a second time" &&
	log | grep "./dev/cambricon_dev0. of gres/mlu is the same device as ./dev/davinci11. of gres/npu: not used here" &&
	wait_for 30 is_up DRAIN &&
	scontrol show node n1 | grep "gres/.* count reported lower than configured" >reason &&
	grep "gres/mlu .*(0 < 1)\|gres/npu .*(3 < 5)" reason
'

test_expect_success 'which tidectl check says before' '
	read -r pid rest <"$TIDE_CLUSTER_DIR/run/node-n1.pid" &&
	test_must_fail nsenter --target "$pid" --mount --uts \
		tidectl check --here --json >check &&
	jq -r ".. | .what? // empty" check >said &&
	grep -qx "File=/dev/davinci10 is the same device as /dev/davinci0 of line 1: two jobs would get it" said &&
	grep -qx "File=/dev/davinci12 is the same device as /dev/davinci2 of line 1: two jobs would get it" said &&
	grep -qx "File=/dev/cambricon_dev0 is the same device as /dev/davinci11 of line 2: two jobs would get it" said &&
	test "$(grep -c "two jobs" said)" = 3
'

cluster_stop
test_done
