#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: check-symbols.sh PLUGIN.so INTERFACE SLURM_SOURCE [FALLBACK.so]
#
# Slurm's loader asks a plugin for every name in the interface's own table and
# ends the daemon when one is missing.  Read that table out of the source of
# the Slurm we build for and look for each name in PLUGIN.so; a plugin layered
# by ELF dependency may leave names to FALLBACK.so.
set -euo pipefail

plugin=$1 interface=$2 source=$3 fallback=${4:-}
case $interface in
select) names=(interfaces/select.c common/select.c) ;;
gres) names=(interfaces/gres.c common/gres.c) ;;
job_submit) names=(interfaces/job_submit.c slurmctld/job_submit.c) ;;
accounting_storage)
	names=(interfaces/accounting_storage.c
		common/slurm_accounting_storage.c) ;;
*) echo "check-symbols.sh: unknown interface '$interface'" >&2; exit 2 ;;
esac

table=
for name in "${names[@]}"; do
	[ -z "$table" ] && [ -f "$source/src/$name" ] || continue
	table=$source/src/$name
done
[ -n "$table" ] || {
	echo "check-symbols.sh: no ${names[0]} in $source" >&2
	exit 1
}

wanted=$(sed -n '/syms\[\] *= *{/,/};/s/.*"\([a-z_0-9]*\)".*/\1/p' "$table")
count=$(echo "$wanted" | grep -c .) || true
[ "$count" -ge 2 ] || {
	echo "check-symbols.sh: no table of symbols in $table" >&2
	exit 1
}
have=$(nm -D --defined-only "$plugin" ${fallback:+"$fallback"} |
	awk 'NF == 3 { print $3 }')
missing=$(printf '%s\nplugin_name\nplugin_type\nplugin_version\n' "$wanted" |
	sort -u | comm -23 - <(echo "$have" | sort -u))
[ -z "$missing" ] || {
	echo "check-symbols.sh: $plugin lacks what $table asks for:" >&2
	echo "$missing" | sed 's/^/	/' >&2
	exit 1
}
echo "$(basename "$plugin"): all $count symbols of $interface are there"
