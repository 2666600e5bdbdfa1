#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The example configuration is one site that fits together: tidectl check finds
# nothing wrong with it, and Slurm reads its lines.

test_description='the example configuration fits together'
# shellcheck source=tests/lib/sharness.sh
. "$(dirname "$0")/lib/sharness.sh"
TIDECTL=$builddir/cmd/tidectl/tidectl
skip_unless 'tidectl is not built' test -x "$TIDECTL"
skip_unless 'the plugins are not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"

examples=$TIDE_TOP/contrib/examples

# part NAME LINE...: NAME out of NAME.part, with our folder of plugins and, if
# Slurm is not this system's, its own.
part() {
	local name=$1 stock=/usr/lib/x86_64-linux-gnu/slurm-wlm own

	shift
	own=${TIDE_SLURM_PREFIX:+$TIDE_SLURM_PREFIX/lib/slurm}
	{
		printf '%s\n' "$@"
		sed "s|/usr/local/lib/tideflow/plugins|$PWD/plugins|
			s|$stock|${own:-$stock}|" \
			"$examples/$name.part"
	} >"site/$name"
}

test_expect_success 'a site is made of the examples' '
	mkdir site plugins &&
	cp "$builddir"/plugins/*/*/.libs/*.so plugins/ &&
	cp "$examples"/tide.conf "$examples"/gres.conf \
		"$examples"/cgroup.conf site/ &&
	part slurm.conf ClusterName=example \
		"SlurmctldHost=localhost(127.0.0.1)" SlurmctldPort=1 &&
	part slurmdbd.conf DbdHost=ctl StorageHost=localhost &&
	chmod 600 site/slurmdbd.conf
'

test_expect_success 'tidectl check finds nothing wrong' '
	"$TIDECTL" check --conf-dir "$PWD/site" >check &&
	grep -q " ok, 0 warnings, 0 errors" check
'

command -v sinfo >/dev/null && test_set_prereq SLURM
test_expect_success SLURM 'Slurm reads the lines of slurm.conf' '
	SLURM_CONF=$PWD/site/slurm.conf test_must_fail timeout 30 sinfo 2>err &&
	grep -q "Unable to contact slurm controller" err &&
	! grep -iE "pars|fatal" err &&
	echo "Nonsense=1" >>site/slurm.conf &&
	SLURM_CONF=$PWD/site/slurm.conf test_must_fail timeout 30 sinfo 2>err &&
	grep -q "unrecognized key: Nonsense" err
'

test_done
