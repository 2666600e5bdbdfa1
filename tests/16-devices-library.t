#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl devices with vendors' libraries, by stand-ins that are built with the
# unit tests; they and the machines are synthetic.
#
# One release: no Slurm is asked.
# shellcheck disable=SC2034,SC2016,SC2154

test_description='tidectl devices asks vendors libraries'
. "$(dirname "$0")/lib/sharness.sh"
. "$TIDE_TOP/tests/lib/tree.sh"

tidectl=$builddir/cmd/tidectl/tidectl
fakes=$builddir/common/vendor/test/.libs
skip_unless 'the stand-ins are not built: make check builds them' \
	test -e "$fakes/fake_cndev.so"
unset SLURM_CONF FAKE
for name in mlu370 npu310p dcu; do
	make_tree "$TIDE_TOP/tests/data/devices/$name.tree" "$name"
done
# Short names, that messages can be compared by.
ln -s "$fakes/fake_cndev.so" "$fakes/fake_dcmi.so" "$fakes/fake_rsmi.so" .
cat >devices.conf <<EOF
Family=mlu Library=libnone.so,$PWD/fake_cndev.so
Family=npu Library=$PWD/fake_dcmi.so
Family=dcu Library=$PWD/fake_rsmi.so
EOF

# status N COMMAND...: the command ends with exit status N.
status() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	sed -i "s|$PWD/||g" out err
	[ "$got" = "$want" ] || {
		echo "status $got, wanted $want: $*"
		cat out err
		return 1
	}
}

# devices TREE OPTION...
devices() {
	"$tidectl" devices --root "$1" --table devices.conf --library "${@:2}"
}

test_expect_success 'the table has columns for what the library tells' '
	status 0 devices npu310p &&
	cat >want <<-EOF &&
	GRES  TYPE        PCI           NUMA  CORES  MEMORY  POWER  BUSY  HEALTH  FILES
	npu   ascend310p  0000:01:00.0  0     0-3    21527M  73W    0%    ok      /dev/davinci0
	npu   ascend310p  0000:02:00.0  0     0-3    21527M  73W    20%   ok      /dev/davinci1
	npu   ascend310p  0000:82:00.0  1     4-7    21527M  73W    40%   ok      /dev/davinci2
	npu   ascend310p  0000:82:00.0  1     4-7    21527M  73W    60%   ok      /dev/davinci3
	EOF
	test_cmp want out
'

test_expect_success 'where library and kernel differ, it is said' '
	status 0 devices dcu &&
	echo "tidectl: fake_rsmi.so: 0000:a6:00.0 is near NUMA node 0, it says, the kernel says 1: the kernel is believed" >want &&
	test_cmp want err &&
	FAKE=less status 0 devices mlu370 &&
	echo "tidectl: fake_cndev.so: it does not tell of 0000:3e:00.0, which is a mlu370-x8 among the PCI devices" >want &&
	test_cmp want err
'

test_expect_success 'variables of runtimes hide nothing from a library' '
	cat devices.conf - >listed.conf <<-EOF &&
	Family=mlu Visible=MLU_VISIBLE_DEVICES,FAKE
	EOF
	FAKE=less status 0 "$tidectl" devices --root mlu370 --table listed.conf \
		--library &&
	test ! -s err
'

test_expect_success '--gres-conf --library has its cores and links' '
	status 0 devices mlu370 --gres-conf &&
	grep -q "MultipleFiles=/dev/cambricon_dev0,.* Cores=4-7 Links=-1,4,2,4\$" out &&
	status 0 devices npu310p --gres-conf &&
	cat >want <<-EOF &&
	# NodeName=... Gres=npu:ascend310p:4
	Name=npu Type=ascend310p File=/dev/davinci0 Cores=0-3 Links=-1,0,0,0
	Name=npu Type=ascend310p File=/dev/davinci1 Cores=0-3 Links=0,-1,0,0
	Name=npu Type=ascend310p File=/dev/davinci2 Cores=4-7 Links=0,0,-1,2
	Name=npu Type=ascend310p File=/dev/davinci3 Cores=4-7 Links=0,0,2,-1
	EOF
	test_cmp want out
'

test_expect_success 'parts have the profiles that the library tells' '
	make_tree "$TIDE_TOP/tests/data/devices/mlu370.tree" cut &&
	mkdir cut/dev/cambricon-caps &&
	for part in dev2_mi1 dev3_mi1 dev3_mi2; do
		>cut/dev/cambricon-caps/cap_$part || return 1
	done &&
	cat devices.conf - >cut.conf <<-EOF &&
	Part=quarter Name=mim-2m.8gb Family=mlu Of=mlu370-x8 Share=1/4
	EOF
	FAKE=parts status 0 "$tidectl" devices --root cut --table cut.conf \
		--library --gres-conf &&
	cp out lines &&
	cat >want <<-EOF &&
	# NodeName=... Gres=mlu:mlu370-x8:2,mlu:mlu370-x8-smlu-12.000m.78.784gb:1,mlu:quarter:1,mlu:mlu370-x8-mim-4m.16gb:1
	# part: Device=mlu:mlu370-x8-smlu-12.000m.78.784gb Of=mlu:mlu370-x8 Share=?
	# part: Device=mlu:quarter Of=mlu:mlu370-x8 Share=1/4
	# part: Device=mlu:mlu370-x8-mim-4m.16gb Of=mlu:mlu370-x8 Share=?
	EOF
	grep "^#" out >comments &&
	test_cmp want comments &&
	grep -q "^Name=mlu Type=quarter MultipleFiles=/dev/cambricon-caps/cap_dev3_mi1,/dev/cambricon_dev3 " out &&
	FAKE=parts status 0 "$tidectl" devices --root cut --table cut.conf \
		--library --json &&
	jq -e "[.[] | [.type, .share, .uuid[-2:], .memory]] == [
		[\"mlu370-x8\", \"1\", \"00\", 24576],
		[\"mlu370-x8\", \"1\", \"01\", 24576],
		[\"mlu370-x8-smlu-12.000m.78.784gb\", null, \"20\", null],
		[\"quarter\", \"1/4\", \"30\", null],
		[\"mlu370-x8-mim-4m.16gb\", null, \"31\", null]]" out
'

test_expect_success 'such lines are no difference to who asks no library' '
	sed "s/quarter/mlu370-x8-mim-2m.8gb/" lines >gres.conf &&
	status 0 devices cut --no-library --compare gres.conf &&
	test ! -s err &&
	FAKE=parts status 0 devices cut --compare gres.conf &&
	sed -i s/mim-4m.16gb/mim-2m.8gb/ gres.conf &&
	FAKE=parts status 1 devices cut --compare gres.conf &&
	grep -q "says Type=mlu370-x8-mim-2m.8gb of .*mi2, found is mlu370-x8-mim-4m.16gb" out
'

test_expect_success '--health counts them by profile, or by number alone' '
	gres=mlu:mlu370-x8:2,mlu:mlu370-x8-mim-2m.8gb:2,mlu:mlu370-x8-smlu-12.000m.78.784gb:1 &&
	FAKE=parts status 1 devices cut --health --expect $gres &&
	grep -q "^fault: mlu: slurm.conf has mlu:mlu370-x8-mim-2m.8gb:2, found are 1" out &&
	status 0 devices cut --health --expect $gres
'

test_expect_success '--json has its keys' '
	status 0 devices mlu370 --json &&
	jq -e ".[2] | .pci == \"0000:3d:00.0\" and
		.uuid == \"MLU-00000000-0000-0000-0000-000000000002\" and
		.memory == 24576 and .memory_used == 102 and .power == 52 and
		.utilization == 20 and .temperature == 42 and
		.health == \"ok\" and .fault == null and
		.link_ports == [0, 1, -1, 1]" out &&
	test ! -s err
'

test_expect_success 'a recorded machine is not asked about, nor is gres.conf kept waiting' '
	FAKE=hang status 0 timeout 5 "$tidectl" devices --root mlu370 \
		--table devices.conf --json &&
	jq -e "all(.memory == null and .health == \"unknown\" and
		.link_ports == null)" out &&
	FAKE=hang status 0 timeout 5 "$tidectl" devices --root mlu370 \
		--table devices.conf --gres-conf
'

test_expect_success 'a library that crashes: what it told is kept' '
	FAKE=crash status 0 devices mlu370 --json &&
	jq -e "[.[].memory] == [24576, 24576, null, null] and
		[.[].health] == [\"ok\", \"ok\", \"unknown\", \"unknown\"]" out &&
	echo "tidectl: fake_cndev.so: it crashed (Aborted) when it was asked about 0000:3d:00.0" >want &&
	test_cmp want err
'

test_expect_success 'a library that hangs is given up' '
	FAKE=hang status 0 timeout 30 "$tidectl" devices --root mlu370 \
		--table devices.conf --library --json &&
	jq -e "length == 4 and .[1].health == \"ok\"" out &&
	echo "tidectl: fake_cndev.so: it gave no answer in 10 s when it was asked about 0000:3d:00.0" >want &&
	test_cmp want err &&
	! pgrep -f "library cndev libnone.so,$PWD/fake_cndev.so"
'

test_expect_success 'of another version, without a driver, or no library at all' '
	FAKE=version status 0 devices mlu370 &&
	echo "tidectl: fake_cndev.so: it speaks neither version 6 nor 5 of its interface" >want &&
	test_cmp want err &&
	FAKE=refuse status 0 devices mlu370 &&
	echo "tidectl: fake_cndev.so: it says: No Driver (1)" >want &&
	test_cmp want err &&
	echo "Family=mlu Library=/etc/passwd,$PWD/fake_cndev.so" >text.conf &&
	status 0 "$tidectl" devices --root mlu370 --table text.conf --library &&
	grep -q "^tidectl: /etc/passwd: it cannot be loaded: " err &&
	echo "Family=mlu Library=libnone.so" >none.conf &&
	status 0 "$tidectl" devices --root mlu370 --table none.conf --library &&
	test ! -s err &&
	echo "Family=mlu Library=a/b Api=any" >bad.conf &&
	status 1 "$tidectl" devices --root mlu370 --table bad.conf &&
	cat >want <<-EOF &&
	tidectl: bad.conf:1: Library=a/b: names of libraries or absolute paths are wanted
	tidectl: bad.conf:1: Api=any: cndev, dcmi, nvml or rsmi is wanted
	EOF
	test_cmp want err
'

test_expect_success 'what a library prints is no answer' '
	FAKE=noise status 0 devices mlu370 --json &&
	jq -e "all(.health == \"ok\")" out
'

test_expect_success 'one that prints without end has an end' '
	FAKE=flood "$tidectl" library cndev "$PWD/fake_cndev.so" >out 2>flood &&
	jq -es ".[-1] == {done: true}" out &&
	test "$(stat -c %s flood)" = $((64 << 20)) &&
	rm flood
'

test_expect_success '--health: all is well' '
	status 0 devices mlu370 --health --expect mlu:mlu370-x8:4 &&
	cat >want <<-EOF &&
	ok: mlu 0000:9d:00.0 (/dev/cambricon_dev0)
	ok: mlu 0000:9e:00.0 (/dev/cambricon_dev1)
	ok: mlu 0000:3d:00.0 (/dev/cambricon_dev2)
	ok: mlu 0000:3e:00.0 (/dev/cambricon_dev3)
	EOF
	test_cmp want out
'

test_expect_success '--health: faults are first, by device, with status 1' '
	FAKE=fault status 1 devices npu310p --health --expect npu:5 &&
	cat >want <<-EOF &&
	fault: npu 0000:82:00.0 (/dev/davinci2): critical alarm, error 0x80E18005
	fault: npu: slurm.conf has npu:5, found are 4
	warning: npu 0000:02:00.0 (/dev/davinci1): minor alarm, error 0x80E18005
	ok: npu 0000:01:00.0 (/dev/davinci0)
	ok: npu 0000:82:00.0 (/dev/davinci3)
	EOF
	test_cmp want out &&
	FAKE=fault status 1 devices npu310p --health --json &&
	jq -e ".ok == false and .findings[0] == {gres: \"npu\",
		type: \"ascend310p\", pci: \"0000:82:00.0\",
		file: \"/dev/davinci2\", health: \"fault\",
		what: \"critical alarm, error 0x80E18005\"} and
		.findings[2].what == null" out
'

test_expect_success '--health: a device that is known to be out' '
	FAKE=fault status 0 devices mlu370 --health --except 0000:3d:00.0 \
		--expect mlu:3 &&
	test "$(wc -l <out)" = 3 &&
	FAKE=fault status 1 devices mlu370 --health --except 0000:3d:00.0 \
		--expect mlu:4 &&
	grep -q "^fault: mlu: slurm.conf has mlu:4, found are 3" out
'

test_expect_success '--health: a hang is a fault, a crash is not' '
	FAKE=hang status 1 devices mlu370 --health &&
	head -n 1 out >first &&
	echo "fault: mlu 0000:3d:00.0 (/dev/cambricon_dev2): fake_cndev.so: it gave no answer in 10 s when it was asked about 0000:3d:00.0" >want &&
	test_cmp want first &&
	FAKE=crash status 0 devices mlu370 --health &&
	grep -q "^warning: mlu 0000:3d:00.0 .*: it crashed" out &&
	FAKE=refuse status 1 devices mlu370 --health &&
	grep -q "^fault: mlu: fake_cndev.so: it says: No Driver" out &&
	status 0 "$tidectl" devices --root mlu370 --health &&
	test "$(grep -c "^not known: mlu .*: no library was asked" out)" = 4
'

test_expect_success '--health: a missing device file' '
	rm mlu370/dev/cambricon_dev2 &&
	status 1 devices mlu370 --health &&
	grep -q "^fault: mlu 0000:3d:00.0 (/dev/cambricon_dev2): its device file is not there" out
'

test_expect_success 'tidectl library is one library, a line an object' '
	status 0 "$tidectl" library dcmi "libnone.so,$PWD/fake_dcmi.so" &&
	jq -es ".[0] == {library: \"fake_dcmi.so\", version: null} and
		.[1].version == \"24.1.0\" and .[-1] == {done: true}" out &&
	status 1 "$tidectl" library dcmi libnone.so &&
	jq -e ". == {failed: \"absent\", text: \"there is no libnone.so\"}" out &&
	status 1 "$tidectl" library dcmi libnone.so,/a/libnone.so &&
	jq -e ".text == \"there is none of libnone.so, /a/libnone.so\"" out &&
	test "$(cat err)" = "tidectl: there is none of libnone.so, /a/libnone.so" &&
	test_expect_code 1 "$tidectl" library dcmi "$PWD/fake_dcmi.so" \
		>/dev/full 2>err && grep -q "cannot write the answer" err &&
	mkfifo pipe.so &&
	status 1 timeout 10 "$tidectl" library dcmi "$PWD/pipe.so" &&
	jq -e ". == {failed: \"unfit\", text: \"it cannot be loaded: could not read pipe.so: it is not a plain file\"}" out &&
	status 2 "$tidectl" library dcmi &&
	status 2 "$tidectl" library dcmi "" &&
	status 2 "$tidectl" library any libnone.so &&
	status 2 "$tidectl" devices --health --gres-conf &&
	status 2 "$tidectl" devices --except 0000:01:00.0 &&
	status 0 "$tidectl" devices --root npu310p --health \
		--except 02:00.0,0000:01:00.0 &&
	grep -q "except .02:00.0. is no PCI address such as 0000:3d:00.0" err &&
	test "$(wc -l <err)" = 1 &&
	test "$(wc -l <out)" = 3
'

test_done
