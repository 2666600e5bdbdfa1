#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# configure: what it refuses, and what it builds on a machine without Slurm.
# The source trees here are synthetic: the two headers that configure reads.
#
# One release: configure is asked about synthetic sources.
# Busy: configure runs many times, and common/ is built.
top=$(cd "$(dirname "$0")/.." && pwd)
test_description='configure agrees with the installed Slurm or says why not'
. "$top/tests/lib/sharness.sh"

conf=$top/configure
installed=$(PATH=$PATH:/usr/sbin slurmctld -V 2>/dev/null | sed 's/^[^ ]* //')
[ -x "$conf" ] || { skip_all='no configure: run contrib/build.sh'; test_done; }
[ -n "$installed" ] && test_set_prereq SLURM

# source_tree DIR VERSION
source_tree()
{
	mkdir -p "$1/src/common" "$1/slurm" &&
		: >"$1/src/common/slurm_xlator.h" &&
		echo "#define SLURM_VERSION_STRING \"$2\"" >"$1/config.h" &&
		: >"$1/slurm/slurm_version.h"
}

# refused TEXT ARG...: configure ends badly and says TEXT.
refused()
{
	local text=$1
	shift
	rm -rf obj && mkdir obj &&
		(cd obj && test_must_fail "$conf" -q "$@" >../out 2>&1) &&
		grep -F -e "$text" out || { cat out; return 1; }
}

test_expect_success SLURM 'a source of another version is refused' '
	source_tree other 99.05.1 &&
	refused "the installed Slurm is $installed but the source in $PWD/other is 99.05.1" \
		"--with-slurm-source=$PWD/other"
'

test_expect_success SLURM 'a source that was not configured is refused' '
	source_tree bare $installed && rm bare/config.h &&
	refused "has no config.h: run ./configure there first" \
		"--with-slurm-source=$PWD/bare"
'

test_expect_success SLURM 'a folder that is no Slurm source is refused' '
	mkdir -p empty &&
	refused "is not a Slurm source tree" "--with-slurm-source=$PWD/empty"
'

test_expect_success SLURM 'a source with a blank in its path is refused' '
	source_tree "a blank" $installed &&
	refused "has a blank in its path" "--with-slurm-source=$PWD/a blank"
'

test_expect_success SLURM 'a running slurmctld of another version is refused' '
	source_tree same $installed &&
	mkdir -p bin &&
	printf "#!/bin/sh\necho \"SLURM_VERSION = 99.05.1\"\n" >bin/scontrol &&
	chmod 755 bin/scontrol &&
	PATH=$PWD/bin:$PATH refused "the running slurmctld is 99.05.1" \
		"--with-slurm-source=$PWD/same"
'

test_expect_success SLURM 'a wrong plugin folder is refused' '
	refused "there is no select_cons_tres.so in" \
		"--with-slurm-source=$PWD/same" "--with-slurm-plugindir=$PWD/empty"
'

test_expect_success SLURM 'plugins are asked for without a source: refused' '
	refused "--with-slurm-source=DIR is needed" --with-slurm
'

# installed DIR VERSION: what configure looks at of a Slurm in a prefix.
installed_in()
{
	mkdir -p "$1/sbin" "$1/lib/slurm" "$1/include" &&
		printf '#!/bin/sh\necho "slurm %s"\n' "$2" >"$1/sbin/slurmctld" &&
		chmod 755 "$1/sbin/slurmctld" &&
		: >"$1/lib/slurm/select_cons_tres.so"
}

test_expect_success 'a Slurm in a prefix is that one, not the one in PATH' '
	installed_in "$PWD/opt" 99.05.1 && source_tree other 99.05.2 &&
	refused "the installed Slurm is 99.05.1 but the source in $PWD/other is 99.05.2" \
		"--with-slurm=$PWD/opt" "--with-slurm-source=$PWD/other"
'

test_expect_success 'a prefix without Slurm, or that is no path, is refused' '
	refused "cannot build for Slurm: no, Slurm is not installed in $PWD/empty" \
		"--with-slurm=$PWD/empty" "--with-slurm-source=$PWD/other" &&
	refused "--with-slurm=opt is not an absolute path" --with-slurm=opt
'

test_expect_success 'a release that was never tested is refused' '
	source_tree other 99.05.1 &&
	refused "Slurm 99.05.1 was never tested with TideFlow" \
		"--with-slurm=$PWD/opt" "--with-slurm-source=$PWD/other"
'

test_expect_success 'unless told to go on' '
	rm -rf obj && mkdir obj &&
	(cd obj && "$conf" "--with-slurm=$PWD/../opt" \
		"--with-slurm-source=$PWD/../other" --enable-untested-slurm \
		>../out 2>&1) &&
	grep "yes, for Slurm 99.05.1" out &&
	grep "^#define TIDE_SLURM_PLUGINDIR \".*/opt/lib/slurm\"" obj/config.h
'

test_expect_success 'compiled only: the source alone says the version' '
	rm -rf obj && mkdir obj &&
	(cd obj && "$conf" --enable-compile-only \
		"--with-slurm-source=$PWD/../other" >../out 2>&1) &&
	grep "compiled only, for Slurm 99.05.1" out &&
	test_must_fail make -C obj install "DESTDIR=$PWD/to" >out 2>&1 &&
	grep "configured with --enable-compile-only: there is nothing to install" out &&
	test ! -e to
'

test_expect_success 'and wants a source, and no Slurm' '
	refused "--enable-compile-only needs --with-slurm-source=DIR" \
		--enable-compile-only &&
	refused "it goes with neither --with-slurm=PREFIX" \
		--enable-compile-only "--with-slurm=$PWD/opt" \
		"--with-slurm-source=$PWD/other"
'

test_expect_success 'without Slurm it says loudly what is off' '
	rm -rf obj && mkdir obj &&
	(cd obj && "$conf" --without-slurm >../out 2>&1) &&
	grep "WARNING: the Slurm plugins are NOT built" out
'

test_expect_success 'without Slurm common/ builds and passes its tests' '
	make -s -C obj/common check >out 2>&1 || { tail -n 30 out; false; }
'

# A folder that is configured and built, as far as build.sh looks.
built_folder()
{
	mkdir -p "$1" && printf 'all:\n' >"$1/Makefile" &&
		printf '#!/bin/sh\necho "%s"\n' "$2 'CC=gcc -g'" \
			>"$1/config.status" &&
		chmod 755 "$1/config.status"
}

test_expect_success 'build.sh refuses a cache with a blank in its path' '
	test_must_fail env XDG_CACHE_HOME="$PWD/a blank" \
		"$top/contrib/build.sh" >out 2>&1 &&
	grep "cannot build with a blank in the path of the cache" out &&
	test ! -e "a blank/tideflow"
'

# sharness has moved HOME: the cache is where the build tree had it.
args=$("$builddir/config.status" --config)
args=${args%% \'*}
cache=${args##*--with-slurm-source=} cache=${cache%/tideflow/*}
[ ! -d "$cache/tideflow" ] || test_set_prereq CACHE

test_expect_success CACHE 'build.sh keeps the --werror of a folder' '
	args="--enable-werror ${args#--*able-werror }" &&
	built_folder kept "$args" &&
	XDG_CACHE_HOME=$cache "$top/contrib/build.sh" \
		--builddir "$PWD/kept" >out 2>&1 &&
	grep "done in $PWD/kept" out && ! grep "build: configure" out
'

test_done
