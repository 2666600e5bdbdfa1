#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: rpm.sh rpm|srpm TARBALL FOLDER
#
# Builds RPM packages from a tarball of `make dist`, into FOLDER, without
# network. TIDEFLOW_CONFIGURE says for which Slurm, as `make rpm` does;
# SLURM_EVR (VERSION-RELEASE) which package of Slurm that is, where rpm itself
# does not know. On a machine whose packages are Debian's, what a build needs
# is not in rpm's hands: then it is taken as given.
set -euo pipefail

die() { echo "rpm.sh: $*" >&2; exit 1; }

[ $# = 3 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
command -v rpmbuild >/dev/null || die "there is no rpmbuild: install rpm"
tarball=$(realpath "$2")
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
case $1 in
srpm) how=-ts ;;
rpm) how=-tb ;;
*) die "unknown kind '$1'" ;;
esac
args=(--define "_topdir $work")
args+=(--define "slurm_configure ${TIDEFLOW_CONFIGURE:-}")
rpm -q slurm >/dev/null 2>&1 || {
	args+=(--nodeps)
	[ "$1" = srpm ] || [ -n "${SLURM_EVR:-}" ] ||
		die "rpm knows no package slurm here: say which the plugins are for, SLURM_EVR=VERSION-RELEASE"
	[ -z "${SLURM_EVR:-}" ] || args+=(--define "slurm_evr $SLURM_EVR")
}
rpmbuild $how "${args[@]}" "$tarball" >"$out/rpmbuild.log" 2>&1 || {
	tail -n 40 "$out/rpmbuild.log" >&2
	die "the packages could not be built: see $out/rpmbuild.log"
}
find "$work/RPMS" "$work/SRPMS" -name '*.rpm' -exec mv {} "$out/" \;
ls "$out"/*.rpm
