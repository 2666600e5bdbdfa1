#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A layer for the very version of Slurm that runs, but built from a source in
# which a job's record is longer, as happens between two builds of one version:
# it must not touch such records, and slurmctld must not run with it.

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='records that are not those the layer was built for'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

source=$(sed -n 's|^#include "\(.*\)/config.h"$|\1|p' \
	"$builddir/compat/slurm/config.h")
header=$(cd "$source" && grep -l '^struct job_record {' \
	src/common/job_record.h src/slurmctld/slurmctld.h 2>/dev/null)

# other_layer FILE: the layer, with two words more in a job's record.
other_layer() {
	local libs=$builddir/common glib

	read -ra glib < <(pkg-config --libs glib-2.0)
	mkdir -p "overlay/${header%/*}" &&
		sed "s/^struct job_record {/&\n\tuint64_t another[2];/" \
			"$source/$header" >"overlay/$header" &&
		gcc -fPIC -std=gnu11 -c -o ctld.o -I"$TIDE_TOP" -I"$builddir" \
			-iquote "$builddir/compat/slurm" -isystem overlay \
			-isystem "$source" -isystem "$source/slurm" \
			"$TIDE_TOP/compat/ctld.c" &&
		gcc -shared -o "$1" "$builddir"/plugins/select/tide/.libs/*.o \
			ctld.o "$builddir/compat/.libs/libtide_ctld.a" \
			"$builddir/compat/.libs/libtide_loaded.a" \
			"$libs/window/.libs/libtide_window.a" \
			"$libs/calendar/.libs/libtide_calendar.a" \
			"$libs/conf/.libs/libtide_conf.a" \
			"$libs/util/.libs/libtide_util.a" \
			"${glib[@]}" \
			"-Wl,--version-script=$TIDE_TOP/plugins/select/tide/select_tide.map"
}

# put FILE: it is the layer now.
put() {
	cp --remove-destination "$1" \
		"$TIDE_CLUSTER_DIR/plugins/select_cons_tres.so"
}

refused() {
	grep -E "fatal: .*tide: this is another Slurm .* than the one TideFlow was built for: its record of a job has [0-9]+ bytes, not [0-9]+; install the build of TideFlow for this Slurm" "$1"
}

refused_later() {
	refused "$TIDE_CLUSTER_DIR/log/slurmctld.log"
}

windows $(($(now) - 600)) $(($(now) + 3600)) >tide.conf
windows_cluster --no-accounting \
	--partition 'PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP'

test_expect_success 'such a layer can be built' '
	test -n "$header" && other_layer other.so
'

test_expect_success 'with a job in the saved state slurmctld does not start' '
	job=$(submit_wrap "exec sleep 600" -t 10 -w n1 -o /dev/null) &&
	wait_job_state "$job" RUNNING 20 && wait_state_saved "$job" &&
	"$CLUSTER" kill9 slurmctld &&
	put other.so &&
	! timeout 60 slurmctld -D >out 2>&1 &&
	refused out
'

test_expect_success 'with the right one it does, and the job goes on' '
	put "$builddir/plugins/select/tide/.libs/select_cons_tres.so" &&
	"$CLUSTER" restart --as-is slurmctld &&
	job_is "$job" RUNNING &&
	scancel "$job" && wait_job_end "$job" 20
'

test_expect_success 'without a job it ends at the first one' '
	"$CLUSTER" kill9 slurmctld &&
	rm -f "$TIDE_CLUSTER_DIR"/state/job_state* "$TIDE_CLUSTER_DIR"/log/slurmctld.log &&
	put other.so &&
	"$CLUSTER" restart --as-is slurmctld &&
	{ sbatch -t 10 -w n1 -o /dev/null --wrap true; true; } &&
	wait_for 20 refused_later
'

test_done
