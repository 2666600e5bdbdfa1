#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plugins that were built for another Slurm than the one that loads them, as
# after an upgrade of Slurm alone: slurmctld and slurmdbd do not start and say
# what to do, what they say works, and no job is lost. Then the same with the
# plugins of a build for another Slurm, where there is one beside this one.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='plugins of another Slurm: who refuses, and in what words'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster

# offset FILE: where in the file its plugin_version is.
offset() {
	local address type off from rest size

	address=$((16#$(nm -D "$1" | awk '$3 == "plugin_version" {print $1}')))
	readelf -lW "$1" | grep ' LOAD ' |
		while read -r type off from rest size rest; do
			[ $((address >= from && address < from + size)) = 0 ] ||
				echo $((address - from + off))
		done
}

# number FILE: plugin_version as a number.
number() {
	od -An -t u4 -j "$(offset "$1")" -N 4 "$1" | tr -d ' '
}

# words NUMBER: as people write it.
words() {
	printf '%d.%02d.%d\n' $(($1 >> 16)) $(($1 >> 8 & 255)) $(($1 & 255))
}

# renumber FILE NUMBER: it now says that it was built for that one. A new file:
# a daemon may have the old one open.
renumber() {
	local n=$2

	cp "$1" renumbered &&
		printf '%b' "$(printf '\\x%02x' $((n & 255)) $((n >> 8 & 255)) \
			$((n >> 16 & 255)) 0)" |
		dd of=renumbered bs=1 seek="$(offset "$1")" conv=notrunc \
			status=none &&
		mv renumbered "$1"
}

plugins() {
	printf '%s\n' "$TIDE_CLUSTER_DIR/plugins/$1"
}

# restore [FILE...]: the plugins and the configuration as they were.
restore() {
	cp --remove-destination right/*.so "$(plugins "")" &&
		cp right/*.conf "$(etc "")"
}

# refuses DAEMON...: in the foreground it ends by itself, not with success; what
# it says is in `refused`.
refuses() {
	timeout 60 "$@" -D >refused 2>&1
	case $? in
	0 | 124) cat refused; return 1 ;;
	esac
}

says() {
	grep -qF -- "$1" refused || {
		echo "not said: $1"
		cat refused
		return 1
	}
}

# says_built FILE NUMBER DAEMON
says_built() {
	says "$(plugins "$1") was built for Slurm $(words "$2") and this is $3 of Slurm $(words "$here"): it is not used" &&
		says "install the build of TideFlow for Slurm $(words "$here")"
}

credits_cluster
here=$(number "$(plugins job_submit_tide.so)")
patch=$((here ^ 1))
release=$((here - 256 * 3))
mkdir right && cp "$(plugins "")"*.so "$(etc slurm.conf)" \
	"$(etc slurmdbd.conf)" right || error "no plugins"
enroll vision 1000 >/dev/null || error "could not enroll"
job=$(pool_job 600 -w n1 --gres=mlu:mlu290:1)

test_expect_success 'the number in the file is that of the running Slurm' '
	version=$(slurmctld -V) &&
	test "${version##* }" = "$(words "$here")" &&
	wait_job_state "$job" RUNNING 20 && wait_state_saved "$job"
'

test_expect_success 'Slurm upgraded alone: slurmctld says which plugins, and what to do' '
	"$CLUSTER" kill9 slurmctld &&
	for so in select_cons_tres job_submit_tide; do
		renumber "$(plugins $so.so)" $release || return 1
	done &&
	refuses slurmctld &&
	says_built select_cons_tres.so $release slurmctld &&
	says_built job_submit_tide.so $release slurmctld &&
	says "taken out of PluginDir and tide out of JobSubmitPlugins" &&
	says "fatal: "
'

test_expect_success 'a patch release apart is another Slurm, too' '
	restore &&
	for so in select_cons_tres job_submit_tide; do
		renumber "$(plugins $so.so)" $patch || return 1
	done &&
	refuses slurmctld &&
	says_built job_submit_tide.so $patch slurmctld
'

test_expect_success 'the layer alone is of another Slurm' '
	restore &&
	renumber "$(plugins select_cons_tres.so)" $release &&
	refuses slurmctld &&
	says_built select_cons_tres.so $release slurmctld &&
	says "slurmctld must not run like this" &&
	test "$(grep -c "it is not used" refused)" = 1
'

test_expect_success 'job_submit/tide alone is' '
	restore &&
	renumber "$(plugins job_submit_tide.so)" $release &&
	refuses slurmctld &&
	says_built job_submit_tide.so $release slurmctld &&
	! grep "select_cons_tres.so was built" refused
'

test_expect_success 'job_submit/tide is not there: the layer says so' '
	restore &&
	rm "$(plugins job_submit_tide.so)" &&
	refuses slurmctld &&
	says "JobSubmitPlugins=tide wants $(plugins job_submit_tide.so): No such file or directory"
'

# Where nobody asked for the guard, the words are all there is. Clients of some
# releases open the file too.
test_expect_success 'a layer of another Slurm that nothing guards says it at each start' '
	restore &&
	renumber "$(plugins select_cons_tres.so)" $release &&
	sed -i "/^JobSubmitPlugins=/d" "$(etc slurm.conf)" &&
	"$CLUSTER" restart --as-is slurmctld &&
	cp "$TIDE_CLUSTER_DIR/log/slurmctld.log" refused &&
	says_built select_cons_tres.so $release slurmctld &&
	says "without it every lent node is open to the pool at any time" &&
	job_is "$job" RUNNING &&
	squeue >/dev/null 2>said && sinfo >/dev/null 2>>said &&
	! grep "tide:" said
'

test_expect_success 'the way out that is named works, and the job goes on' '
	restore &&
	for so in select_cons_tres job_submit_tide; do
		renumber "$(plugins $so.so)" $release || return 1
	done &&
	sed -i "/^JobSubmitPlugins=/d; s|^PluginDir=[^:]*:|PluginDir=|" \
		"$(etc slurm.conf)" &&
	"$CLUSTER" restart --as-is slurmctld &&
	job_is "$job" RUNNING
'

test_expect_success 'and so does the right build' '
	restore &&
	"$CLUSTER" restart --as-is slurmctld &&
	job_is "$job" RUNNING
'

test_expect_success 'slurmdbd: the credits plugin says it, and what to do' '
	"$CLUSTER" kill9 slurmdbd &&
	renumber "$(plugins accounting_storage_credits.so)" $release &&
	refuses slurmdbd &&
	says_built accounting_storage_credits.so $release slurmdbd &&
	says "unless slurmdbd.conf has StorageType=accounting_storage/mysql" &&
	says "fatal: "
'

# slurmdbd that sees another file in the place of Slurm's own, however it is
# looked for.
cat >on_another <<'END'
#!/bin/sh
mount --bind "$PWD/mysql.so" "$MYSQL" && exec slurmdbd "$@"
END

test_expect_success 'slurmdbd: Slurm'"'"'s own plugin under it is of another' '
	restore &&
	MYSQL=$(realpath "$(ldd right/accounting_storage_credits.so |
		sed -n "s/.*accounting_storage_mysql.so => \(.*\) (.*/\1/p")") &&
	export MYSQL && cp "$MYSQL" mysql.so && renumber mysql.so $release &&
	refuses unshare -m --propagation private sh on_another &&
	says "accounting_storage_mysql.so is of Slurm $(words $release), TideFlow was built for $(words "$here")" &&
	renumber "$(plugins accounting_storage_credits.so)" $release
'

test_expect_success 'without it slurmdbd runs, and the run is charged later' '
	sed -i "s|^StorageType=.*|StorageType=accounting_storage/mysql|" \
		"$(etc slurmdbd.conf)" &&
	"$CLUSTER" restart --as-is slurmdbd &&
	scancel "$job" && wait_job_end "$job" 20 &&
	wait_for 30 sacct_shows "$job" State "^CANCELLED" &&
	charged "$job" 0 &&
	restore &&
	"$CLUSTER" restart --as-is slurmdbd &&
	wait_for 60 charged "$job" 1 && costs_right "$job" 1 && audit_ok
'

slurmd_says_built() {
	cp "$TIDE_CLUSTER_DIR/log/slurmd-n1.log" refused &&
		says_built gres_mlu.so $release slurmd
}

test_expect_success 'slurmd goes on without its devices, and says so' '
	renumber "$(plugins gres_mlu.so)" $release &&
	"$CLUSTER" restart --as-is slurmd n1 &&
	wait_for 20 slurmd_says_built &&
	restore && "$CLUSTER" restart --as-is slurmd n1
'

# A build for another Slurm, to be put before the daemons of this one.
other=
for dir in "$TIDE_TOP"/build*/; do
	so=$dir/plugins/job_submit/tide/.libs/job_submit_tide.so
	[ -e "$so" ] && [ "$(number "$so")" != "$here" ] || continue
	other=${dir%/}
done
[ -z "$other" ] || test_set_prereq OTHER_BUILD

# of_other NAME: its plugin.
of_other() {
	cp --remove-destination "$other"/plugins/*/*/.libs/"$1" "$(plugins "")"
}

# says_other FILE DAEMON: our words; or, where it was built with a newer C library,
# the words of the loader, which end the daemon too.
says_other() {
	local there

	there=$(number "$(plugins "$1")")
	says_built "$1" "$there" "$2" ||
		grep -E "dlopen\(.*$1.*GLIBC_" refused
}

test_expect_success OTHER_BUILD 'a real build for another Slurm: slurmctld' '
	note "other build: $other" &&
	"$CLUSTER" kill9 slurmctld &&
	of_other select_cons_tres.so && of_other job_submit_tide.so &&
	refuses slurmctld &&
	says_other job_submit_tide.so slurmctld &&
	of_other select_cons_tres.so && cp right/job_submit_tide.so \
		"$(plugins "")" &&
	refuses slurmctld &&
	says "slurmctld must not run like this" &&
	restore && "$CLUSTER" restart --as-is slurmctld
'

test_expect_success OTHER_BUILD 'a real build for another Slurm: slurmdbd' '
	"$CLUSTER" kill9 slurmdbd &&
	of_other accounting_storage_credits.so &&
	refuses slurmdbd &&
	says_other accounting_storage_credits.so slurmdbd &&
	restore && "$CLUSTER" restart --as-is slurmdbd && audit_ok
'

test_done
