#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the credits plugin costs slurmdbd: completions of jobs per second, sent
# as slurmctld does, with accounting_storage/credits and,
# in turn on the same database, with Slurm's own accounting_storage/mysql. All
# jobs are of an enrolled account, so every completion is also a charge.
set -euo pipefail

# shellcheck source=tests/lib/bench.sh
. "$(dirname "$0")/../lib/bench.sh"
bench_cluster
rounds=${TIDE_BENCH_ROUNDS:-5} # of each
count=${TIDE_BENCH_COUNT:-2000} # completions in a round
make -s -C "$builddir/plugins/acct/credits" test/bench_dbd >&2
cat >"$work/tide.conf" <<'CONF'
PoolPartition=pool
PoolAccount=centre
IssueAccount=mint
Device=mlu:mlu290 Rate=100
OwnerAccount=nlp Nodes=n1
WindowName=always Nodes=n1 Days=Mon-Sun
CONF
dir=$("$cluster" start --build "$builddir" --nodes 1 --gres mlu:mlu290:2 \
	--tide-conf "$work/tide.conf" --without select,job_submit \
	--account vision,nlp,centre,mint --user root)
eval "$("$cluster" env --dir "$dir")"

sql() {
	mariadb --socket="$TIDE_DB_SOCKET" -N -B slurm_acct_db -e "$1"
}

# until_sql WANT STATEMENT
until_sql() {
	local limit=$((SECONDS + 60))

	until [ "$(sql "$2")" = "$1" ]; do
		[ $SECONDS -lt $limit ] || {
			echo "credits.sh: the ledger did not catch up" >&2
			exit 1
		}
		sleep 0.2
	done
}

# round NAME: slurmdbd of that kind, one round; adds the seconds to $work/NAME.
id=100000
round() {
	sed -i "s|^StorageType=.*|StorageType=accounting_storage/$1|" \
		"$dir/etc/slurmdbd.conf"
	"$cluster" restart --dir "$dir" slurmdbd 2>/dev/null
	[ "$1" = mysql ] || until_sql 0 "select count(*) from tide_job_table j where time_end>0 and not exists (select 1 from tide_run r where r.id_job=j.id_job)"
	timeout 60 "$builddir/plugins/acct/credits/test/bench_dbd" $id "$count" \
		"$assoc" "$qos" vision "$tres" >>"$work/$1"
	id=$((id + count))
}

tidectl credits enroll vision >/dev/null
tidectl credits grant vision 100000 --note=bench >/dev/null
# The runs begin a second before they are told, and only those that begin after
# the enrolment are charged.
enrolled=$(sql "select enrolled from tide_account where account='vision'")
until [ "$(date +%s)" -gt $((enrolled + 1)) ]; do sleep 0.1; done
assoc=$(sql "select id_assoc from tide_assoc_table where acct='vision' and user='root'")
qos=$(sql "select id from qos_table where name='tide_vision'")
tres=1=1,4=1,5=100000,$(sql "select group_concat(concat(id, '=1')) from tres_table where type='gres'")

round mysql
round credits
rm "$work/mysql" "$work/credits" # the first of each warms the caches
for ((i = 0; i < rounds; i++)); do
	round mysql
	round credits
done
SECONDS=0
until_sql $(((rounds + 1) * 2 * count)) "select count(*) from tide_run where charge is not null"
lag=$SECONDS
tidectl credits audit >"$work/audit" || { cat "$work/audit" >&2; exit 1; }
# The quickest round of each kind: other work on the machine only ever slows.
paste "$work/mysql" "$work/credits" | awk -v n="$count" -v lag="$lag" '
	NR == 1 || $1 < without { without = $1 }
	NR == 1 || $2 < with { with = $2 }
	END {
		ratio = without / with
		printf "# %d rounds of %d completions each, the quickest: %.0f a second without, %.0f with; the last was charged %d s after, audit ok\n", \
			NR, n, n / without, n / with, lag
		printf "bench: credits_completions %.3f x target >= 0.95 %s\n", ratio, \
			ratio >= 0.95 ? "ok" : "MISSED"
	}'
