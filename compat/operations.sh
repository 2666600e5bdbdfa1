#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: operations.sh INTERFACE SLURM_SOURCE >HEADER
#
# Slurm has no header for the operations that its loader looks up in a plugin:
# their names and types are a private table of the interface's own source.  Cut
# that table out of the source that we build for and make the missing header
# of it, so that a function of ours with another signature does not compile,
# and the compiler names it.  The header belongs to the build, never to the
# repository.  It has one line for each operation,
#	int select_p_job_begin(job_record_t *job_ptr);
# and TIDE_OPERATIONS(OP), which is OP(select_p_job_begin) and so on.
set -euo pipefail

die() { echo "operations.sh: $*" >&2; exit 1; }

interface=${1:?operations.sh: no INTERFACE}
source=${2:?operations.sh: no SLURM_SOURCE}
# Up to 22.05 an interface was in the folder of who used it.
case $interface in
select) files=(interfaces/select.c common/select.c) ;;
gres) files=(interfaces/gres.c common/gres.c) ;;
job_submit) files=(interfaces/job_submit.c slurmctld/job_submit.c) ;;
accounting_storage)
	files=(interfaces/accounting_storage.c
		common/slurm_accounting_storage.c) ;;
*) die "unknown interface '$interface'" ;;
esac
file=
for f in "${files[@]}"; do
	[ -z "$file" ] && [ -f "$source/src/$f" ] || continue
	file=$source/src/$f
done
[ -n "$file" ] || die "no src/${files[0]} in $source"

# The symbols, in the order of the functions.
names=$(sed -n '/syms\[\] *= *{/,/};/s/.*"\([a-z_0-9]*\)".*/\1/p' "$file" |
	grep -vx plugin_id | tr '\n' ' ') || true

# ops FILE: the body of the table of functions in FILE, if it is there.
ops()
{
	awk '/^typedef struct/ { text = ""; inside = 1; next }
		/^} slurm_[a-z_]*ops_t;/ { printf "%s", text; exit }
		/^}/ { inside = 0 }
		inside { text = text $0 "\n" }' "$1"
}

# Up to 23.11 the table of select was in its header.
table=$(ops "$file")
[ -n "$table" ] || [ ! -f "${file%.c}.h" ] || table=$(ops "${file%.c}.h")

echo "/* Made by compat/operations.sh from ${file#"$source"/}. */"
tr '\n\t' '  ' <<<"$table" | awk -v names="$names" -v file="$file" '
	{
		gsub(/\/\*([^*]|\*[^\/])*\*\//, "")
		wanted = split(names, name)
		functions = split($0, text, ";")
		for (i = 1; i <= functions; i++) {
			if (text[i] ~ /\( ?\*plugin_id ?\)/ || text[i] ~ /^ *$/)
				continue
			gsub(/ +/, " ", text[i])
			if (sub(/\( ?\*[a-z_0-9]+ ?\)/, " " name[++n], text[i]))
				print text[i] ";"
		}
	}
	END {
		if (n >= 2 && n == wanted)
			exit 0
		print "operations.sh: " n + 0 " functions and " wanted \
			" symbols in the tables of " file >"/dev/stderr"
		exit 1
	}'
printf '#define TIDE_OPERATIONS(OP)'
printf ' \\\n\tOP(%s)' $names
echo
