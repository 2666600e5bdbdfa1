#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Windows at a close: the warning, the requeue, the end of what may not be
# requeued, and the next window. Two windows, as two nights.

# shellcheck disable=SC2034 # read by sharness
test_description='windows: warning, close, requeue, the next window'
# shellcheck source=tests/lib/windows.sh
. "$(dirname "$0")/lib/windows.sh"
need_cluster

windows $(($(now) + 3600)) $(($(now) + 7200)) >tide.conf
windows_cluster
out=$SHARNESS_TRASH_DIRECTORY

# A step that says when it was warned, and goes on or exits with 0.
cat >step <<'STEP'
#!/bin/bash
trap 'echo "warned $(date +%s)" >>"$1"; [ "$2" != exit ] || exit 0' USR1
while :; do sleep 0.2; done
STEP
chmod +x step

queued() {
	[ -n "$(squeue -h -n "$1" -o %i)" ]
}

test_expect_success 'jobs of all kinds are accepted' '
	opens=$(($(now) + 8)) &&
	closes=$((opens + 80)) &&
	reopens=$((closes + 40)) &&
	windows_are $opens $closes $reopens $((reopens + 300)) &&
	pool="-t 30 --time-min=1 --open-mode=append" &&
	warned=$(submit_wrap "srun $out/step $out/warned on" $pool -w n1 -n1 --signal=USR1@20 -o "$out/a") &&
	exits=$(submit_wrap "srun $out/step $out/exits exit" $pool -w n1 -n1 --signal=USR1@20 -o "$out/b") &&
	silent=$(submit_wrap "exec $out/step $out/silent on" $pool -w n2 -n1 -o "$out/c") &&
	single=$(submit_wrap "exec sleep 600" $pool -w n2 -n1 --no-requeue -o "$out/d") &&
	short=$(submit_wrap "sleep 3" -t 1 -w n2 -n1 -o "$out/e") &&
	{
		salloc -Q -J inter -t 30 --time-min=1 -w n1 -n1 --no-shell \
			2>salloc.err &
	} &&
	wait_for 20 queued inter &&
	inter=$(squeue -h -n inter -o %i) &&
	test -n "$inter"
'

test_expect_success 'all start in the window' '
	wait_until $opens &&
	for id in $warned $exits $silent $single $inter; do
		wait_job_state $id RUNNING 20 || return 1
	done
'

test_expect_success 'their limits end past the close' '
	for id in $warned $exits $silent $single $inter; do
		wait_for 20 ends_past $id $closes || return 1
	done &&
	wait_for 20 sacct_shows $warned Timelimit \
		"^$(job_field $warned TimeLimit)\$"
'

test_expect_success 'what ends well before the close is COMPLETED' '
	wait_job_end "$short" 20 &&
	job_is "$short" COMPLETED
'

test_expect_success 'the warning comes by --signal, brought forward, once' '
	wait_until $((closes - 18)) &&
	wait_for 12 test -s "$out/warned" &&
	at=$(sed -n "s/^warned //p" "$out/warned") &&
	test "$at" -ge $((closes - 21)) &&
	test "$at" -le $((closes - 10))
'

test_expect_success 'who exits with 0 when warned is COMPLETED' '
	wait_job_end "$exits" 10 &&
	job_is "$exits" COMPLETED
'

test_expect_success 'nothing ends before the close' '
	wait_until $((closes - 3)) &&
	for id in $warned $silent $single $inter; do
		job_is $id RUNNING || return 1
	done
'

test_expect_success 'at the close batch jobs are requeued' '
	wait_until $closes &&
	wait_job_state "$warned" PENDING 20 &&
	wait_job_state "$silent" PENDING 20
'

test_expect_success 'others are ended as PREEMPTED' '
	wait_job_state "$single" PREEMPTED 20 &&
	wait_job_state "$inter" PREEMPTED 20
'

test_expect_success 'the --time of the user is back' '
	limit_is "$warned" 00:30:00 &&
	limit_is "$silent" 00:30:00
'

test_expect_success 'requeued jobs wait for the next window, and say so' '
	wait_for 30 reason_is "$warned" \
		"next window w2 $(local_stamp $reopens | sed s/:00\$//)"
'

test_expect_success 'without --signal there was no warning, and only one with' '
	! test -e "$out/silent" &&
	test $(wc -l <"$out/warned") = 1
'

test_expect_success 'sacct tells the runs apart' '
	wait_for 20 sacct_shows "$warned" State "^PREEMPTED" &&
	wait_for 20 sacct_shows "$single" State "^PREEMPTED\$" &&
	wait_for 20 sacct_shows "$exits" State "^COMPLETED\$" &&
	end=$(sacct_field "$warned" End | head -n 1) &&
	late=$(($(date -d "$end" +%s) - closes)) &&
	test $late -ge 0 && test $late -le 5
'

test_expect_success 'and run again when it opens' '
	wait_until $reopens &&
	wait_job_state "$warned" RUNNING 20 &&
	wait_job_state "$silent" RUNNING 20 &&
	test "$(job_field "$warned" Restarts)" = 1 &&
	wait_for 20 ends_past "$warned" $((reopens + 300))
'

test_expect_success 'a requeue by hand gives the --time back, too' '
	scontrol requeue "$warned" &&
	wait_job_state "$warned" PENDING 20 &&
	limit_is "$warned" 00:30:00 &&
	scancel "$warned" "$silent"
'

test_done
