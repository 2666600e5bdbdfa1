#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: deb.sh TARBALL FOLDER
#
# Builds Debian packages from a tarball of `make dist`, into FOLDER, without
# network. TIDEFLOW_CONFIGURE says for which Slurm, as `make deb` does.
# DEB_BUILD_OPTIONS (nocheck, parallel=N) are dpkg-buildpackage's.
set -euo pipefail

die() { echo "deb.sh: $*" >&2; exit 1; }

[ $# = 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
tarball=$(realpath "$1")
for program in dpkg-buildpackage dh; do
	command -v $program >/dev/null ||
		die "there is no $program: install build-essential and debhelper"
done
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf "$tarball"
name=$(basename "$tarball" .tar.gz)
cd "$work/$name"
cp -r contrib/packaging/debian debian
dpkg-buildpackage --build=binary --no-sign >"$out/build.log" 2>&1 || {
	tail -n 40 "$out/build.log" >&2
	die "the packages could not be built: see $out/build.log"
}
rm -f "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
mv ../*.deb ../*.changes ../*.buildinfo "$out/"
ls "$out"/*.deb
