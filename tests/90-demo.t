#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demonstration of the README, as a user runs it: it ends well, with
# numbers that agree with each other, and leaves nothing behind.
#
# One release: the tests of its parts run on all.
home=$HOME # sharness changes it, and the cache of the build is there
test_description='the demonstration of the README'
. "$(dirname "$0")/lib/sharness.sh"

[ "$(id -u)" = 0 ] || { skip_all='the demonstration needs root'; test_done; }
command -v slurmctld >/dev/null || { skip_all='Slurm is not installed'; test_done; }
skip_unless 'the demonstration is one of this machine'"'"'s own Slurm' \
	test -z "${TIDE_SLURM_PREFIX:-}"

value() { tail -n 1 out | tr ' ' '\n' | sed -n "s/^$1=//p"; }
micro() { awk -v v="$1" 'BEGIN { printf "%.0f", v * 1000000 }'; }

test_expect_success 'an unknown option is a usage error' '
	test_expect_code 2 "$TIDE_TOP/contrib/demo.sh" --nonsense 2>err &&
	grep "unknown option" err
'

test_expect_success 'the demonstration ends well' '
	{ HOME=$home "$TIDE_TOP/contrib/demo.sh" >out 2>&1 || { cat out; false; }; } &&
	tail -n 1 out | grep -E "^demo: ok requeued=1 resumed_at_step=[0-9]+ spent=[0-9]+\.[0-9]{6} earned=[0-9]+\.[0-9]{6} audit=ok$"
'

test_expect_success 'it resumed where it had saved' '
	saved=$(sed -n "s/.*saved at step \([0-9]*\) and requeued.*/\1/p" out) &&
	test "$saved" -gt 0 &&
	test "$(value resumed_at_step)" = "$saved"
'

test_expect_success 'the owner earned what was spent less the fee of 5 percent' '
	spent=$(micro "$(value spent)") && earned=$(micro "$(value earned)") &&
	test "$spent" -gt 0 &&
	fee=$((spent - earned)) &&
	test $((fee * 20 - spent)) -le 40 &&
	test $((fee * 20 - spent)) -ge -40
'

test_expect_success 'it left no process behind' '
	! pgrep -af "$TIDE_TOP/build/demo/c/" 
'

test_done
