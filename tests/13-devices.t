#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl devices on recorded machines; those of tests/data/devices are
# synthetic.
#
# One release: no Slurm is asked.
# shellcheck disable=SC2034,SC2016,SC2154

test_description='tidectl devices on recorded machines'
. "$(dirname "$0")/lib/sharness.sh"
. "$TIDE_TOP/tests/lib/tree.sh"

tidectl=$builddir/cmd/tidectl/tidectl
data=$TIDE_TOP/tests/data/devices
real=$TIDE_TOP/../shared/data/topologies
unset SLURM_CONF
for tree in "$data"/*.tree; do
	name=${tree##*/}
	make_tree "$tree" "${name%.tree}"
done

# q TEXT: in single quotes, which a test's text cannot hold.
q() { printf "'%s'" "$1"; }

test_expect_success 'the table says what is where' '
	status 0 "$tidectl" devices --root npu310p &&
	cat >want <<-EOF &&
	GRES  TYPE        PCI           NUMA  CORES  FILES
	npu   ascend310p  0000:01:00.0  -     -      /dev/davinci0
	npu   ascend310p  0000:02:00.0  0     0-3    /dev/davinci1
	npu   ascend310p  0000:82:00.0  1     4-7    /dev/davinci2
	npu   ascend310p  0000:82:00.0  1     4-7    /dev/davinci3
	EOF
	test_cmp want out && test ! -s err
'

test_expect_success '--json is an array, one object a device' '
	status 0 "$tidectl" devices --root mlu370 --json &&
	jq -e "length == 4 and all(.gres == \"mlu\" and .type == \"mlu370-x8\")
		and .[2] == {gres: \"mlu\", type: \"mlu370-x8\", family: \"mlu\",
			pci: \"0000:3d:00.0\",
			files: [\"/dev/cambricon_dev2\", \"/dev/cambricon_ipcm2\"],
			cores: \"0-3\", local_cores: \"0-3\", cpus: \"0-3,8-11\",
			numa: 0, links: [0, 0, -1, 2], number: 2,
			guessed: false, missing: false,
			board: \"SN/512216010001\", vendor_id: \"cabc\",
			device_id: \"0370\", class: \"1200\",
			part: null, whole: null, share: \"1\",
			uuid: null, memory: null, memory_used: null,
			power: null, utilization: null, temperature: null,
			health: \"unknown\", fault: null,
			link_ports: null}" out
'

test_expect_success '--gres-conf is what gres.conf takes' '
	status 0 "$tidectl" devices --root npu910c --gres-conf &&
	cat >want <<-EOF &&
	# NodeName=... Gres=npu:ascend910c:16
	Name=npu Type=ascend910c File=/dev/davinci[0-15]
	EOF
	test_cmp want out &&
	rm dcu/dev/dri/renderD129 &&
	status 0 "$tidectl" devices --root dcu --gres-conf --gres dcu &&
	grep -q "Gres=dcu:k100_ai:2,dcu:bw150:1" out &&
	grep -q "^#missing: .*renderD129" out &&
	test "$(grep -c "^Name=dcu" out)" = 3 &&
	grep -q "there is no device file ./dev/dri/renderD129. of 0000:36:00.0" err
'

# A recording with what is to come of it beside it, NAME.want, is a step.
for want in "$data"/*.want; do
	name=${want##*/} name=${name%.want} xml=()
	[ ! -e "$data/$name.xml" ] || xml=(--xml "$data/$name.xml")
	test_expect_success "the recording $name" '
		status 0 "$tidectl" devices --root "$name" "${xml[@]}" \
			--gres-conf && test_cmp "$want" out
	'
done

test_expect_success 'Gres= of a node with several kinds is one' '
	status 0 "$tidectl" devices --xml "$data/decoys.xml" --gres-conf &&
	test "$(grep "Gres=" out)" = \
		"# NodeName=... Gres=dcu:bw150:1,gpu:h100:1,npu:ascend910b:2"
'

test_expect_success 'lines of a gres.conf that nodes share' '
	status 0 "$tidectl" devices --root npu910c --gres-conf \
		--node "lab[01-05]" &&
	cat >want <<-EOF &&
	# NodeName=lab[01-05] Gres=npu:ascend910c:16
	NodeName=lab[01-05] Name=npu Type=ascend910c File=/dev/davinci[0-15]
	EOF
	test_cmp want out &&
	status 0 "$tidectl" devices --root npu910c --compare out --node lab03 &&
	status 2 "$tidectl" devices --gres-conf --node "a b" &&
	grep "the name of a node" err
'

test_expect_success 'where none is found, what the table does not know is named' '
	mkdir -p new/sys/bus/pci/devices/0000:a1:00.0 &&
	(cd new/sys/bus/pci/devices/0000:a1:00.0 && echo 0x10ee >vendor &&
		echo 0x5004 >device && echo 0x120000 >class) &&
	status 0 "$tidectl" devices --root new &&
	echo "no accelerator was found" >want && test_cmp want out &&
	grep "0000:a1:00.0 may be an accelerator, but no Model= of the table has Id=10ee:5004 (class 1200): see devices.conf" err &&
	status 0 "$tidectl" devices --root new --gres-conf && test ! -s out &&
	grep "0000:a1:00.0 may be" err && grep "no accelerator was found" err &&
	printf "Family=fpga Gres=accel File=/dev/fpga%%n\nModel=u250 Family=fpga Id=10ee:5004\n" >new.conf &&
	status 0 "$tidectl" devices --root new --table new.conf &&
	grep "^accel  u250" out && ! grep "may be" err
'

test_expect_success 'parts of a device are types of their own, with a price' '
	make_tree "$data/npu310p.tree" cut && mkdir cut/etc &&
	echo "1:116:npu-smi set -t create-vnpu -i 1 -c 0 -f vir04 -v 116" \
		>cut/etc/vnpu.cfg &&
	: >cut/dev/vdavinci116 &&
	status 0 "$tidectl" devices --root cut --json &&
	jq -e ".[1] | .type == \"vir04\" and .whole == \"ascend310p\" and
		.share == \"1/2\" and .part == 116 and .number == 1 and
		.files == [\"/dev/vdavinci116\"]" out &&
	status 0 "$tidectl" devices --root cut --gres-conf &&
	grep -q "^# part: Device=npu:vir04 Of=npu:ascend310p Share=1/2" \
		out &&
	echo "Part=half Name=vir04 Family=npu Of=ascend310p Share=0.5" >parts &&
	status 0 "$tidectl" devices --root cut --table parts --gres-conf &&
	grep -q "^Name=npu Type=half File=/dev/vdavinci116" out
'

test_expect_success '--compare says how a gres.conf differs, and the remedy' '
	make_tree "$data/npu310p.tree" hand &&
	echo "NodeName=n[1-2] Name=npu Type=ascend310p File=/dev/davinci[0-3]" \
		>gres.conf &&
	status 0 "$tidectl" devices --root hand --compare gres.conf --node n1 &&
	echo "NodeName=n3 Name=npu Type=910b File=/dev/davinci[0-2]" \
		>>gres.conf &&
	status 1 "$tidectl" devices --root hand --compare gres.conf --node n3 &&
	cat >want <<-EOF &&
	gres.conf:2: gres.conf says Type=910b of /dev/davinci0, found is ascend310p at 0000:01:00.0
	  fix: Type=ascend310p here, and in Gres of slurm.conf, or File= of devices of that type
	gres.conf: /dev/davinci3, ascend310p at 0000:82:00.0, is in no line of gres.conf: no job gets it, and every job can open it
	  fix: Name=npu Type=ascend310p File=/dev/davinci3, and one more in Gres of slurm.conf
	EOF
	test_cmp want out && test ! -s err
'

test_expect_success 'with --gres-conf, what no line names is printed' '
	printf "Name=npu File=/dev/davinci0 Cores=7\nName=npu\n" >part &&
	status 0 "$tidectl" devices --root hand --gres npu --gres-conf \
		--compare - <part &&
	grep -v "^#" out >got &&
	cat >want <<-EOF &&
	Name=npu Type=ascend310p File=/dev/davinci1 Cores=0-3
	Name=npu Type=ascend310p File=/dev/davinci[2-3] Cores=4-7
	EOF
	test_cmp want got && test ! -s err &&
	cat part | "$tidectl" devices --root hand --gres npu --gres-conf \
		--compare - >got && cmp out got &&
	status 1 "$tidectl" devices --root hand --compare nowhere &&
	grep "cannot read .nowhere." err &&
	status 1 "$tidectl" devices --root hand --compare . &&
	status 2 "$tidectl" devices --node n1
'

test_expect_success 'a processor topology in XML, with and without a root' '
	status 0 "$tidectl" devices --xml "$data/mlu370.xml" --json &&
	jq -e "[.[].cores] == [\"0-3\", \"0-3\", \"4-7\", \"4-7\"] and
		all(.guessed)" out &&
	rm -r mlu370/sys/devices/system &&
	status 0 "$tidectl" devices --root mlu370 --xml "$data/mlu370.xml" \
		--json &&
	jq -e "[.[].cores] == [\"4-7\", \"4-7\", \"0-3\", \"0-3\"] and
		all(.guessed | not)" out &&
	sed "/\"renderD128\"/d; /\"card1\"/d" "$data/decoys.xml" >bare.xml &&
	status 0 "$tidectl" devices --xml bare.xml --gres dcu --json &&
	jq -e ".[0].guessed and .[0].files ==
		[\"/dev/dri/card0\", \"/dev/dri/renderD128\"]" out
'

# What each topology has, as found FILE makes it: devices, of so many PCI
# functions, with so many different device files; types; cores; NUMA nodes; links
# of the first one.
found() {
	status 0 "$tidectl" devices --xml "$1" --json &&
		test ! -s err &&
		jq -e 'all(has("gres") and has("type") and has("pci") and
			has("files") and has("cores") and has("links"))' out &&
		jq -r '([.[].pci] | unique) as $pci | ([.[].files] | unique) as $files |
			"\(length)/\($pci | length)/\($files | length) \([.[] |
			"\(.gres):\(.type)"] | unique | join(",")) cores \([.[] | .cores // "-"] |
			unique | join(" ")) numa \([.[].numa] | unique | join(",")) links \(
			(.[0].links // []) | map(tostring) | join(","))"' out |
			sed "s/ *$//" >got
}

# topology FILE LINE: as a step of its own.
topology() {
	local name=${1##*/}

	want=$2 file=$1
	test_expect_success "the topology ${name%.xml}" '
		found "$file" && echo "$want" >want && test_cmp want got
	'
}

topology "$data/decoys.xml" "4/4/4 dcu:bw150,gpu:h100,npu:ascend910b cores - 0-1 2-3 numa -1,0,1 links"
topology "$data/mi300a-tpx.xml" "6/2/6 gpu:mi300a cores 0-1 2-3 numa 0,1 links -1,2,2,0,0,0"
topology "$data/mlu370.xml" "4/4/4 mlu:mlu370 cores 0-3 4-7 numa 0,1 links"
topology "$data/uneven.xml" "4/4/4 mlu:mlu590 cores 0-1 numa 0 links -1,1,0,0"

# Real machines, from flux-core, flux-sched, mpibind and hwloc.  The AMD card of
# chimera is one that the table does not know.
missing=
while read -r name want; do
	if [ -r "$real/$name.xml" ]; then
		topology "$real/$name.xml" "$want"
	else
		missing+=" $name"
	fi
done <<EOF
nvidiaDGX2 16/16/16 gpu:v100 cores 0-1 2-3 numa 0,1 links -1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
eas-tioga 8/8/8 gpu:mi250x cores 0-63 numa 0,1,2,3 links -1,1,1,1,1,1,1,1
g4dnmetal 8/8/8 gpu:t4 cores 0-23 24-47 numa 0,1 links
tuo.SPX 4/4/4 gpu:mi300a cores 0-23 24-47 48-71 72-95 numa 0,1,2,3 links -1,1,1,1
tuo.TPX 12/4/12 gpu:mi300a cores 0-23 24-47 48-71 72-95 numa 0,1,2,3 links -1,1,1,1,1,1,1,1,1,1,1,1
tuo.CPX 24/4/24 gpu:mi300a cores 0-23 24-47 48-71 72-95 numa 0,1,2,3 links -1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
corona 8/8/8 gpu:mi50 cores 0-23 24-47 numa 0,1 links
ipa20 4/4/4 gpu:h100 cores 0-55 56-111 numa 1,3,5,7 links
sierra 4/4/4 gpu:v100 cores 0-21 22-43 numa 0,8 links
chimera 1/1/1 gpu:nvidia cores 0-31 numa 0 links
rsmi_corona240 8/8/8 gpu:mi50 cores 0-23 24-47 numa 0,1 links
coral-lassen 4/4/4 gpu:v100 cores 0-19 20-39 numa 0,8 links -1,1,0,0
cts1-pascal 2/2/2 gpu:p100 cores 0-17 numa 0 links -1,1
epyc-corona 4/4/4 gpu:mi50 cores 0-23 24-47 numa 1,2,5,7 links
epyc-corona-p2 8/8/8 gpu:mi50 cores 0-23 24-47 numa 0,1 links
EOF
# HERE is never set: the step only says what is not here.
[ -z "$missing" ] ||
	test_expect_success HERE "real topologies, not here:$missing" 'false'

test_expect_success 'a site adds a family and a type by a file' '
	mkdir -p etc &&
	cat >etc/devices.conf <<-EOF &&
	Family=nic Gres=nic File=/dev/infiniband/uverbs%n
	Model=cx6 Family=nic Id=15b3:101b
	Model=board Family=mlu Id=cabc:0370
	EOF
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices \
		--root mlu370 --json &&
	jq -e "[.[] | select(.gres == \"nic\")] == [.[4]] and
		.[4].type == \"cx6\"" out
'

test_expect_success 'a bad table names file, line, key and value' '
	printf "Family=x Gres=y File=dev/x\nModel=8 Family=mlu Id=cabc\n" >bad &&
	status 1 "$tidectl" devices --table bad --root mlu370 &&
	test ! -s out &&
	mkdir bad.d && cp bad bad.d/devices.conf &&
	cat >want <<-EOF &&
	tidectl: bad:1: File=dev/x: absolute paths are wanted that end in a number: %n, %c, %r or digits
	tidectl: bad:2: Model=8: a type is wanted: letters, digits, $(q -), $(q _) and $(q .), and not a count such as 8 or 310p
	EOF
	test_cmp want err &&
	status 0 env SLURM_CONF=bad.d/slurm.conf "$tidectl" devices \
		--root mlu370 --json &&
	jq -e "length == 4" out &&
	sed -i "s|bad.d/devices.conf|bad|" err &&
	test_cmp want err
'

test_expect_success 'a broken machine: what is good is listed, the rest said' '
	status 0 timeout 20 "$tidectl" devices --root broken --json &&
	jq -e "length == 3" out &&
	test "$(wc -l <err)" = 10 &&
	rm broken/sys/bus/pci/devices/0000:01:00.0/vendor &&
	mkfifo broken/sys/bus/pci/devices/0000:01:00.0/vendor &&
	status 0 timeout 10 "$tidectl" devices --root broken --json &&
	grep -q "0000:01:00.0/vendor.: it is not a plain file" err &&
	grep -q "0000:01:00.0/vendor. is neither a file nor a folder" err &&
	rm broken/sys/bus/pci/devices/0000:01:00.0/vendor
'

record() { bash "$TIDE_TOP/contrib/examples/record-machine" "$@"; }

test_expect_success 'a machine recorded as documented is the same machine' '
	for name in mlu370 npu910b npu910c dcu; do
		status 0 "$tidectl" devices --root "$name" --json &&
		mv out want && record "$name" >"$name.again" &&
		record --unpack "$name.rec" <"$name.again" &&
		status 0 "$tidectl" devices --root "$name.rec" --json &&
		test_cmp want out &&
		# as tar writes files of sysfs: a page long
		find "$name.rec/sys" -type f -exec truncate -s 4096 {} + &&
		status 0 "$tidectl" devices --root "$name.rec" --json &&
		test_cmp want out || return 1
	done &&
	record >here && grep "^sys/devices/system/cpu/online [0-9]" here
'

test_expect_success 'a recording that leads out of its folder is refused' '
	for line in "../x there" "/x there" "dev/../../x there" "x there"; do
		echo "$line" >bad.tree &&
		test_must_fail record --unpack bad.dir <bad.tree 2>err &&
		grep "is no path of a recording" err &&
		rmdir bad.dir || return 1
	done &&
	mkdir outside &&
	printf "dev/a -> %s\ndev/a/b -> x\n" "$PWD/outside" >bad.tree &&
	test_must_fail record --unpack bad.dir <bad.tree 2>err &&
	grep "is behind a link" err && test -z "$(ls outside)" &&
	test_must_fail record --unpack outside <bad.tree
'

test_expect_success 'links do not lead out of a recorded machine' '
	ln -sf "$PWD/secret" broken/sys/bus/pci/devices/0000:02:00.0/vendor &&
	echo 0xcabc >secret &&
	status 0 timeout 20 "$tidectl" devices --root broken --json &&
	grep -q "cannot read .*0000:02:00.0/vendor" err
'

test_expect_success 'what cannot be looked at is a failure, in words' '
	status 1 "$tidectl" devices --root nowhere &&
	grep -q "cannot open folder .nowhere." err &&
	status 1 "$tidectl" devices --xml nowhere.xml &&
	grep -q "nowhere.xml" err &&
	head -c 3000 "$data/mlu370.xml" >cut.xml &&
	status 1 "$tidectl" devices --xml cut.xml &&
	grep -q "cut.xml.*no whole topology" err &&
	status 1 "$tidectl" devices --table nowhere.conf &&
	grep -q "nowhere.conf: cannot be read: No such file" err &&
	status 2 "$tidectl" devices --json --gres-conf &&
	status 2 "$tidectl" devices stray
'

test_expect_success 'variables of runtimes hide nothing' '
	status 0 env MLU_VISIBLE_DEVICES= CUDA_VISIBLE_DEVICES= "$tidectl" \
		devices --xml "$data/mlu370.xml" --json &&
	jq -e "length == 4" out
'

test_expect_success 'this machine can be looked at' '
	status 0 "$tidectl" devices --json && jq -e "type == \"array\"" out
'

test_done
