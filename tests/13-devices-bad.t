#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tidectl devices on machines and files that are broken: what is good is listed,
# what is not is said with its name, nothing hangs or crashes. All synthetic.
#
# One release: no Slurm is asked.
# shellcheck disable=SC2034,SC2016,SC2086,SC2154

test_description='tidectl devices and bad input'
. "$(dirname "$0")/lib/sharness.sh"
. "$TIDE_TOP/tests/lib/tree.sh"

tidectl=$builddir/cmd/tidectl/tidectl
data=$TIDE_TOP/tests/data/devices
unset SLURM_CONF

# status N COMMAND...: the command ends with exit status N, within 40 seconds.
status() {
	local want=$1 got=0
	shift
	timeout 40 "$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got, wanted $want: $*"
		head -c 2000 out err
		return 1
	}
}

# spoil KIND PATH: something else in its place. What the kernel's own files may
# be instead is in common/device/test/test_spoiled.c.
spoil() {
	rm -rf "$2" && mkdir -p "${2%/*}" || return
	case $1 in
	gone) ;;
	pipe) mkfifo "$2" ;;
	folder) mkdir "$2" ;;
	loop) ln -s "${2##*/}" "$2" ;;
	empty) : >"$2" ;;
	zero) printf 'a\0b\n' >"$2" ;;
	huge) truncate -s 100M "$2" ;;
	esac
}

pci=sys/bus/pci/devices
test_expect_success 'what hwloc would crash with is tried before' '
	make_tree "$data/npu310p.tree" crash &&
	spoil folder crash/sys/devices/system/node &&
	status 0 "$tidectl" devices --root crash --json &&
	jq -e "length == 4" out &&
	echo "tidectl: crash: the processors are not looked at: hwloc crashes with it" >want &&
	# a release of it may not
	{ test ! -s err || test_cmp want err; }
'

test_expect_success 'no list of PCI functions at all' '
	make_tree "$data/npu310p.tree" none &&
	spoil gone none/$pci &&
	status 0 "$tidectl" devices --root none --json &&
	test "$(jq -c . out)" = "[]" &&
	for kind in loop pipe empty; do
		spoil $kind none/$pci &&
		status 1 "$tidectl" devices --root none &&
		grep -q "cannot read folder .$pci.: " err || return 1
	done
'

[ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || test_set_prereq ROOT

test_expect_success ROOT 'what only root may read' '
	make_tree "$data/npu310p.tree" closed && chmod 755 . &&
	cp "$tidectl" . &&
	nobody() { status "$1" setpriv --reuid 65534 --clear-groups ./tidectl devices --root closed --json; }
	chmod 0 closed/$pci/0000:01:00.0/vendor closed/$pci/0000:02:00.0 &&
	nobody 0 && jq -e "length == 2" out &&
	grep -q "0000:01:00.0/vendor.: Permission denied" err &&
	grep -q "0000:02:00.0/vendor.: Permission denied" err &&
	chmod 0 closed/$pci && nobody 1 &&
	grep -q "cannot read folder .$pci.: Permission denied" err &&
	chmod 0 closed && nobody 1 &&
	grep -q "cannot open folder .closed.: Permission denied" err &&
	chmod -R u+rwx closed
'

test_expect_success 'XML: bombs, files of the system, other releases' '
	cat >bomb.xml <<-EOF &&
	<?xml version="1.0"?>
	<!DOCTYPE topology [ <!ENTITY a "$(head -c 5000 /dev/zero | tr "\0" a)">
	$(last=a; for name in b c d e f g h i; do
		printf "<!ENTITY $name \"" && printf "&$last;%.0s" 1 2 3 4 5 6 7 8 9 10 &&
		echo "\">" && last=$name
	done) ]>
	<topology version="2.0"><object type="Machine" cpuset="&i;"/></topology>
	EOF
	status 1 "$tidectl" devices --xml bomb.xml &&
	grep -q "cannot use .bomb.xml.: it is no whole topology" err &&
	sed "s|<!DOCTYPE.*|<!DOCTYPE topology [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>|; s|value=\"exp\"|value=\"\&x;\"|" \
		"$data/mlu370.xml" >read.xml &&
	status 1 "$tidectl" devices --xml read.xml && ! grep root: out err &&
	sed "s|version=\"2.0\"|version=\"3.0\"|" "$data/mlu370.xml" >new.xml &&
	status 1 "$tidectl" devices --xml new.xml &&
	grep -q "cannot use .new.xml.: it was written by hwloc 3, here is 2\.[0-9]*: " err
'

test_expect_success 'XML: no end, no file, no content, too much' '
	sed "s|<support name=\"discovery.pu\"/>|<distances2 type=\"PCIDev\" nbobjs=\"4000000000\" kind=\"5\" indexing=\"os\"><indexes length=\"4\">0 1 </indexes><u64values length=\"12\">10 20 20 10 </u64values></distances2>&|" \
		"$data/mlu370.xml" >long.xml &&
	status 1 "$tidectl" devices --xml long.xml &&
	grep -q "cannot use .long.xml.: " err &&
	mkfifo pipe.xml && : >empty.xml &&
	truncate -s 100M huge.xml &&
	for file in pipe.xml empty.xml huge.xml . /dev/zero nowhere.xml; do
		status 1 "$tidectl" devices --xml $file &&
		grep -qF "$file" err && test ! -s out || return 1
	done &&
	status 0 env HWLOC_XMLFILE=pipe.xml timeout 5 "$tidectl" devices &&
	grep -q "HWLOC_XMLFILE.*pipe.xml.*not a plain file" err
'

test_expect_success 'XML: more devices than any node has' '
	{
		sed "/gp_index=\"38\"/,\$d" "$data/mlu370.xml" &&
		for i in $(seq 0 1023); do
			printf "<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"0000:%02x:%02x.%x\" pci_type=\"1200 [cabc:0290] [0000:0000] ff\" pci_link_speed=\"0.0\"/>\n" \
				$((1000 + i)) $((128 + i / 64)) $((i / 8 % 8)) $((i % 8))
		done &&
		sed -n "/gp_index=\"38\"/,\$p" "$data/mlu370.xml"
	} >many.xml &&
	status 0 timeout 20 "$tidectl" devices --xml many.xml --json &&
	jq -e "length == 1028 and all(.links == null) and .[1027].number == 1027" out
'

test_expect_success 'without the plugins of hwloc' '
	for file in mlu370 decoys mi300a-tpx; do
		status 0 "$tidectl" devices --xml "$data/$file.xml" --json &&
		cp out want &&
		status 0 env HWLOC_PLUGINS_PATH=/nowhere "$tidectl" devices \
			--xml "$data/$file.xml" --json &&
		test_cmp want out || return 1
	done &&
	status 0 env HWLOC_PLUGINS_PATH=/nowhere "$tidectl" devices --json
'

test_expect_success 'a table that is no file of lines, by its name' '
	mkdir -p etc && make_tree "$data/npu310p.tree" good &&
	for kind in pipe folder loop zero huge; do
		spoil $kind etc/devices.conf &&
		status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices --root good &&
		grep -q /dev/davinci3 out &&
		grep -q "^tidectl: etc/devices.conf: cannot be read: " err &&
		status 1 "$tidectl" devices --table etc/devices.conf --root good &&
		test ! -s out &&
		grep -q "^tidectl: etc/devices.conf: cannot be read: " err || return 1
	done &&
	rm -rf etc/devices.conf && ln -s nowhere etc/devices.conf &&
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices --root good &&
	grep -q "^tidectl: etc/devices.conf: cannot be read: No such file" err &&
	rm etc/devices.conf && : >etc/devices.conf &&
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices --root good &&
	echo "Include devices.conf" >etc/devices.conf &&
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices --root good &&
	grep -q "etc/devices.conf:1: Include .*it includes itself" err &&
	grep -q /dev/davinci3 out &&
	head -c 1000000 /dev/zero | tr "\0" "\\\\" >etc/devices.conf &&
	status 0 env SLURM_CONF=etc/slurm.conf "$tidectl" devices --root good &&
	test -s err && test "$(wc -c <err)" -lt 1000
'

test_expect_success 'a gres.conf that is no file of lines, by its name' '
	for kind in pipe folder loop zero huge; do
		spoil $kind ./hand.conf &&
		status 1 "$tidectl" devices --root good --compare ./hand.conf &&
		test ! -s out && grep -q "hand.conf.*: " err || return 1
	done
'

test_expect_success 'an answer that cannot be written' '
	for option in "" --json --gres-conf --health --help "--compare /dev/null"; do
		rc=0 &&
		{ timeout 20 "$tidectl" devices --root good $option >/dev/full 2>err || rc=$?; } &&
		test $rc = 1 && test -s err || return 1
	done &&
	rc=0 && { "$tidectl" devices --xml many.xml --json >/dev/full 2>err || rc=$?; } &&
	test $rc = 1 && grep "No space left on device" err
'

test_expect_success 'device files of another kind' '
	make_tree "$data/npu310p.tree" kind &&
	spoil folder kind/dev/davinci1 && spoil pipe kind/dev/davinci2 &&
	spoil loop kind/dev/davinci3 &&
	status 0 "$tidectl" devices --root kind --json &&
	jq -e "[.[].missing] == [false, true, true, true]" out &&
	grep -q "/dev/davinci1. is not a character device" err &&
	grep -q "/dev/davinci2. is not a character device" err &&
	grep -q "there is no device file ./dev/davinci3. of 0000:82:00.0" err
'

test_expect_success 'no command waits for a pipe in the place of a file' '
	mkdir piped && cp "$TIDE_TOP/contrib/examples/tide.conf" piped &&
	mkfifo piped/slurm.conf piped/gres.conf &&
	for args in "check --conf-dir piped" "check --here --conf-dir piped" \
		"library cndev $PWD/piped/gres.conf" "devices --root piped/gres.conf"; do
		status 1 timeout 10 "$tidectl" $args &&
		cat out err | grep -E "piped/(slurm|gres).conf.*: (could not|cannot) (be )?read|Not a directory" || return 1
	done &&
	status 1 timeout 10 env SLURM_CONF="$PWD/piped/slurm.conf" \
		"$tidectl" request 1 && grep piped/slurm.conf err
'

test_done
