# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Which Slurm the cluster is made of. Asks nothing but the daemon's file.

# slurm_since RELEASE: the Slurm here is that one, as in 23.11, or newer.
slurm_since() {
	printf '%s\n' "$1" "$(PATH=$PATH:/usr/sbin slurmctld -V |
		sed 's/^[^ ]* //')" | sort -C -V
}
