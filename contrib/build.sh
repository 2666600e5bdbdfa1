#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Make a Debian machine ready and build TideFlow: packages (their services are
# not started), the source of the installed Slurm (configured, for its private
# headers), configure, make.  Does nothing that is done already.
set -euo pipefail

usage()
{
	cat <<'USAGE'
usage: contrib/build.sh [--builddir DIR] [--sanitize] [--[no-]werror]
                        [--deps-only] [--slurm-source DIR --slurm-prefix DIR]

Installs what is missing (as root), fetches and configures the source of the
installed Slurm below ~/.cache/tideflow, and builds in DIR (default: build).

  --builddir DIR  build there
  --sanitize      with AddressSanitizer and UBSan (default folder: build-asan)
  --werror        warnings are errors; --no-werror: they are not. Without
                  either as DIR was configured before
  --deps-only     packages, the Slurm source and the configure script only
  --slurm-prefix DIR, --slurm-source DIR
                  for the Slurm installed in that prefix, of which the other is
                  the configured source, whether tested before or not
USAGE
}

top=$(cd "$(dirname "$0")/.." && pwd)
bad_usage() { echo "build.sh: $1" >&2; usage >&2; exit 2; }

builddir=
sanitize=no
deps_only=no
slurm_source=
slurm_prefix=
werror=
confargs=()
while [ $# -gt 0 ]; do
	case $1 in
	--builddir | --slurm-source | --slurm-prefix)
		[ $# -gt 1 ] || bad_usage "$1 needs a folder"
		case $1 in
		--builddir) builddir=$2 ;;
		--slurm-source) slurm_source=$2 ;;
		--slurm-prefix) slurm_prefix=$2 ;;
		esac
		shift
		;;
	--sanitize) sanitize=yes; confargs+=(--enable-sanitizers) ;;
	--werror) werror=--enable-werror ;;
	--no-werror) werror=--disable-werror ;;
	--deps-only) deps_only=yes ;;
	-h | --help) usage; exit 0 ;;
	*) bad_usage "unknown option '$1'" ;;
	esac
	shift
done
if [ -z "$builddir" ]; then
	builddir=$top/build
	[ $sanitize = no ] || builddir=$top/build-asan
fi

# configured_with DIR: the options that it was, if it was.
configured_with()
{
	[ ! -x "$1/config.status" ] || "$1/config.status" --config |
		tr -d "'" | tr ' ' '\n' | grep '^--' | paste -sd' '
}

if [ -z "$werror" ] &&
   [[ " $(configured_with "$builddir") " == *' --enable-werror '* ]]; then
	werror=--enable-werror
fi
[ -z "$werror" ] || confargs+=("$werror")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tideflow
# make and the compiler's options take a path apart at its blanks.
case $cache in
*[[:space:]]*)
	echo "build.sh: cannot build with a blank in the path of the cache, '$cache': set XDG_CACHE_HOME to a folder without one" >&2
	exit 1
	;;
esac
mkdir -p "$cache"

# What must not outlive us, also when we are interrupted.
leftovers=()
# shellcheck disable=SC2317 # called by the trap
clean_up() { [ ${#leftovers[@]} = 0 ] || rm -rf "${leftovers[@]}"; }
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

say() { echo "build: $*"; }
die() { echo "build.sh: $*" >&2; exit 1; }

# Those for every Debian, and those marked for this one.
wanted_packages()
{
	local suite
	# shellcheck source=/dev/null
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	sed 's/#.*//' "$top/contrib/packages.txt" |
		awk -v s="@$suite" 'NF == 1 || $2 == s { print $1 }'
}

missing_packages()
{
	local p
	for p in $(wanted_packages); do
		dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null |
			grep -qx installed || echo "$p"
	done
}

# A policy-rc.d that answers 101 keeps apt from starting the services of what
# it installs; one that is there already is left alone.
install_packages()
{
	local policy=/usr/sbin/policy-rc.d rc=0

	[ "$(id -u)" = 0 ] ||
		die "cannot install packages ($*): root is needed"
	say "installing $# packages"
	if [ ! -e $policy ]; then
		leftovers+=("$policy")
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	{
		apt-get -qq update &&
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
			--no-install-recommends "$@"
	} >"$cache/apt.log" 2>&1 </dev/null || rc=$?
	clean_up
	leftovers=()
	[ $rc = 0 ] || { tail -n 20 "$cache/apt.log" >&2; die "could not install packages: see $cache/apt.log"; }
}

# The apt sources of this machine with source packages turned on, in a folder
# of our own: nothing in /etc changes.
apt_sources()
{
	local dir=$1 f
	mkdir -p "$dir/sources" "$dir/lists/partial"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || sed -n 's/^deb \(.*debian.*\)/deb \1\ndeb-src \1/p' \
			"$f" >"$dir/sources/$(basename "$f")"
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -f "$f" ] && grep -qi 'debian' "$f" || continue
		sed 's/^Types:.*/Types: deb deb-src/' "$f" \
			>"$dir/sources/$(basename "$f")"
	done
}

# apt_from SOURCES LISTS COMMAND...: apt-get with these folders for /etc's.
apt_from()
{
	local sources=$1 lists=$2
	shift 2
	apt-get -qq -o Dir::Etc::sourcelist=/dev/null \
		-o Dir::Etc::sourceparts="$sources" \
		-o Dir::State::lists="$lists" \
		-o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root "$@"
}

# Fetch the source package into this folder.  A mirror may have its parts in
# several archives, of which apt asks the first only; then each is asked alone.
# Apt verifies what comes.
fetch_source()
{
	local full=$1 apt=$PWD/apt line
	apt_sources "$apt"
	apt_from "$apt/sources" "$apt/lists" update
	apt_from "$apt/sources" "$apt/lists" source --download-only \
		"slurm-wlm=$full" && return
	mkdir -p "$apt/one"
	grep -h '^deb-src ' "$apt"/sources/*.list | while read -r line; do
		echo "$line" >"$apt/one/one.list"
		apt_from "$apt/one" "$apt/lists" source --download-only \
			"slurm-wlm=$full" || :
	done
	ls slurm-wlm_"${full%%-*}".orig.tar.*
}

# Unpack it in src/.  Without its .dsc this is done by hand; what Debian
# patched (security, too) is taken where it came.
unpack_source()
{
	local patch rest
	if [ -n "$(ls slurm-wlm_*.dsc)" ]; then
		dpkg-source --no-check -x slurm-wlm_*.dsc src
		return
	fi
	mkdir src
	tar -x -C src --strip-components=1 -f slurm-wlm_*.orig.tar.* || return
	if [ -z "$(ls slurm-wlm_*.debian.tar.*)" ]; then
		echo "the patches of Debian did not come"
		return
	fi
	tar -x -C src -f slurm-wlm_*.debian.tar.* || return
	while read -r patch rest; do
		case $patch in '' | '#'*) continue ;; esac
		patch -d src -p1 -s --no-backup-if-mismatch \
			<"src/debian/patches/$patch" || return
	done <src/debian/patches/series
}

slurm_package_version()
{
	dpkg-query -W -f '${source:Version}' slurmctld 2>/dev/null ||
		dpkg-query -W -f '${source:Version}' slurm-wlm-basic-plugins
}

# Fetch and configure the source that matches the installed Slurm, once.  The
# result has config.h and slurm/slurm_version.h; nothing of it is compiled.
fetch_slurm()
{
	local full=$1 version=${1%%-*} dir=$cache/slurm-${1%%-*} work
	[ "$(cat "$dir/.tideflow-ready" 2>/dev/null)" != "$full" ] ||
		[ ! -s "$dir/config.h" ] || [ ! -s "$dir/slurm/slurm.h" ] ||
		[ ! -s "$dir/slurm/slurm_version.h" ] || return 0
	say "fetching the source of Slurm $full"
	work=$(mktemp -d "$cache/slurm.XXXXXX")
	leftovers+=("$work")
	(
		cd "$work"
		fetch_source "$full" && unpack_source
	) >"$cache/slurm-source.log" 2>&1 ||
		die "could not fetch the source of Slurm $full: see $cache/slurm-source.log"
	say "configuring the source of Slurm $version (about a minute)"
	(
		cd "$work/src"
		./configure --sysconfdir=/etc/slurm --with-munge \
			--without-rpath --disable-debug \
			--enable-multiple-slurmd --with-pmix \
			--libdir="/usr/lib/$(gcc -print-multiarch)/slurm-wlm"
	) >"$cache/slurm-configure.log" 2>&1 ||
		die "could not configure the source of Slurm: see $cache/slurm-configure.log"
	echo "$full" >"$work/src/.tideflow-ready"
	rm -rf "$dir"
	mv "$work/src" "$dir"
	rm -rf "$work"
}

# Two builds at once share the cache: one makes it, the other waits.
exec 9>"$cache/lock"
flock 9
if command -v dpkg-query >/dev/null; then
	mapfile -t missing < <(missing_packages)
	[ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
	if [ -z "$slurm_source" ]; then
		full=$(slurm_package_version)
		fetch_slurm "$full"
		slurm_source=$cache/slurm-${full%%-*}
	fi
fi
flock -u 9
[ -z "$slurm_source" ] || confargs+=(--with-slurm-source="$slurm_source")
[ -z "$slurm_prefix" ] ||
	confargs+=(--with-slurm="$slurm_prefix" --enable-untested-slurm)

# So do two builds of one checkout: they share configure.  With a Makefile.am
# newer than that, make would call the automake of the Debian that made it.
exec 8<"$top"
flock 8
outdated=configure
[ ! -x "$top/configure" ] ||
	outdated=$(find "$top" -path "$top/build*" -prune -o \
		\( -name '*.am' -o -name '*.ac' -o -path "$top/m4/x_*" \) \
		-newer "$top/configure" -print -quit)
if [ -n "$outdated" ]; then
	say "autoreconf"
	# Half done it must not look done.
	leftovers=("$top/configure")
	(cd "$top" && autoreconf -i -f) >"$cache/autoreconf.log" 2>&1 || {
		cat "$cache/autoreconf.log" >&2
		die "autoreconf failed"
	}
	leftovers=()
	touch "$top/configure"
fi
[ $deps_only = no ] || exit 0
flock -u 8
mkdir -p "$builddir"
cd "$builddir"
exec 8<.
flock 8
if [ ! -f config.status ] || [ "$top/configure" -nt config.status ] ||
   [ "$(configured_with .)" != "${confargs[*]}" ]; then
	say "configure ${confargs[*]}"
	# It must not look configured when that failed.
	rm -f config.status
	"$top/configure" "${confargs[@]}" >configure.out 2>&1 || {
		tail -n 20 configure.out >&2
		die "configure failed: see $builddir/config.log"
	}
fi
say "make"
make -s -j"$(nproc)" >make.out 2>&1 || {
	grep -E -B2 -A8 'error|Error' make.out | tail -n 60 >&2
	die "make failed: see $builddir/make.out"
}
say "done in $builddir"
