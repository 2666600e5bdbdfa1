#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: check-symbols.sh PLUGIN.so INTERFACE SLURM_SOURCE [FALLBACK]
#
# Slurm's loader asks a plugin for every name in the interface's own table and
# ends the daemon when one is missing.  Read that table out of the source of
# the Slurm we build for and look for each name in PLUGIN.so; a plugin layered
# by ELF dependency may leave names to FALLBACK, a plugin of Slurm's or, where
# that is not installed, the folder of its source.
set -euo pipefail

plugin=$1 interface=$2 source=$3 fallback=${4:-}
wanted=$("$(dirname "$0")/operations.sh" "$interface" "$source" |
	sed -n 's/^.*OP(\([a-z_0-9]*\)).*/\1/p')
count=$(echo "$wanted" | wc -l)
[ "$interface" != select ] || wanted="$wanted plugin_id"

# defined FILE...: what plugins show to others.
defined() { nm -D --defined-only "$@" | awk 'NF == 3 { print $3 }'; }

have=$(defined "$plugin")
if [ -d "$fallback" ]; then
	have+=$'\n'$(sed -n 's/^extern .*[ *]\([a-z_0-9]*\)(.*/\1/p' \
		"$fallback"/*.c)
elif [ -n "$fallback" ]; then
	have+=$'\n'$(defined "$fallback")
fi
missing=$(printf '%s\n' $wanted plugin_name plugin_type plugin_version |
	sort -u | comm -23 - <(echo "$have" | sort -u))
[ -z "$missing" ] || {
	echo "check-symbols.sh: $plugin lacks what Slurm $interface asks for:" >&2
	echo "$missing" | sed 's/^/	/' >&2
	exit 1
}
echo "$(basename "$plugin"): all $count symbols of $interface are there"
