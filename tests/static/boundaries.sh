#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rules of the tree that the compiler cannot see: who may include Slurm,
# where its version may be asked, functions nobody may call, and the first
# line of every file.
cd "$(dirname "$0")/../.." || exit 1
bad=0

complain()
{
	bad=1
	printf '%s\n' "$2" | sed "s|^|$1: |"
}

# forbid TEXT REGEX FILE...: no line of the files may match.
forbid()
{
	local text=$1 regex=$2 found
	shift 2
	[ $# -gt 0 ] || return 0
	found=$(grep -nE "$regex" "$@" /dev/null)
	[ -z "$found" ] || complain "$text" "$found"
}

# A tarball has no index: then every file counts.
list()
{
	git ls-files -- "$@" 2>/dev/null || find . -name "${1##*/}"
}

mapfile -t sources < <(list '*.c' '*.h')
mapfile -t outside < <(printf '%s\n' "${sources[@]}" |
	grep -vE '^(plugins|compat)/')
mapfile -t outside_compat < <(printf '%s\n' "${sources[@]}" |
	grep -v '^compat/')
mapfile -t common < <(printf '%s\n' "${sources[@]}" |
	grep -E '^common/' | grep -v '/test/')
mapfile -t model < <(printf '%s\n' "${sources[@]}" |
	grep -E '^launcher/model')

forbid "Slurm's headers belong to plugins/ and compat/" \
	'^#[[:space:]]*include[[:space:]]*[<"](slurm/|src/)' "${outside[@]}"
forbid "SLURM_VERSION_NUMBER belongs to compat/" \
	'SLURM_VERSION_NUMBER' "${outside_compat[@]}"
forbid "this function is banned" \
	'\b(strcpy|strcat|sprintf|vsprintf|strtok|gets|localtime|gmtime|ctime|asctime|atoi|atol|atof|strncpy)[[:space:]]*\(' \
	"${sources[@]}"
forbid "common/ takes now as an argument" \
	'\b(time|gettimeofday|clock_gettime)[[:space:]]*\(' "${common[@]}"
forbid "common/ neither logs nor exits" \
	'\b(printf|perror|exit|abort|assert|syslog)[[:space:]]*\(' "${common[@]}"
forbid "model code calls no BLAS, MPI or HDF5" \
	'\b(cblas_|MPI_|H5[A-Z])' "${model[@]}"
# apart FILE...: the sources of launcher/ but these and the tests.
apart()
{
	printf '%s\n' "${sources[@]}" | grep -E '^launcher/' |
		grep -vE '/test/' | grep -vxF "$(printf '%s\n' "$@")"
}
mapfile -t no_mpi < <(apart launcher/comm/mpi.c)
mapfile -t no_hdf5 < <(apart launcher/checkpoint/layout.c)
mapfile -t no_blas < <(apart launcher/tensor/cpu.c)
forbid "MPI is called by launcher/comm/mpi.c" '\bMPI_[A-Z]' "${no_mpi[@]}"
forbid "HDF5 is called by launcher/checkpoint/layout.c" '\bH5[A-Z]' \
	"${no_hdf5[@]}"
forbid "BLAS is called by launcher/tensor/cpu.c" \
	'\b(cblas|openblas)_' "${no_blas[@]}"

while read -r f; do
	[ -f "$f" ] || continue
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
		complain "no SPDX line" "$f"
done < <(list '*.c' '*.h' '*.sh' '*.t' 'tests/cluster' '.ci/run')

exit $bad
