# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the tests of credits share: a cluster with two owners, a fee and a node
# that nobody lends, and what a run ought to cost. Source after cluster.sh.

RATE=200 # credits an hour of an mlu290

# nlp lends n1, cv n2, nobody n3; windows are always open.
write_tide_conf() {
	cat >"$1" <<-CONF
	PoolPartition=pool
	PoolAccount=centre
	IssueAccount=mint
	Fee=10
	Reference=gpu:a100
	Device=gpu:a100   TFLOPS=312
	Device=mlu:mlu290 Rate=$RATE
	OwnerAccount=nlp Nodes=n1
	OwnerAccount=cv  Nodes=n2
	WindowName=always Nodes=n[1-2] Days=Mon-Sun
	CONF
}

# credits_cluster OPTION...: the pool over three nodes of two devices each, a
# partition of the owner nlp; only the credits plugin unless said otherwise.
credits_cluster() {
	local mlu=GRES/mlu:mlu290=$((RATE * 1000))

	[ -e tide.conf ] || write_tide_conf tide.conf
	cluster_start --nodes 3 --gres mlu:mlu290:2 --tide-conf tide.conf \
		--account vision,nlp,cv,centre,mint --user root \
		--set AccountingStorageEnforce=associations,limits,qos,safe \
		--partition "PartitionName=pool Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP TRESBillingWeights=$mlu" \
		--partition "PartitionName=lab Nodes=n1 AllowAccounts=nlp MaxTime=INFINITE State=UP" \
		"$@"
	tide_conf=$TIDE_CLUSTER_DIR/etc/tide.conf
}

# enroll ACCOUNT [CREDITS]: it pays, has so many, and slurmctld knows that.
enroll() {
	tidectl credits enroll "$1" &&
		wait_for 20 ctld_has_qos "tide_$1" || return 1
	[ $# -lt 2 ] || grant "$1" "$2" start
}

# grant ACCOUNT CREDITS NOTE: and slurmctld has the limit.
grant() {
	tidectl credits grant "$1" "$2" --note="$3" &&
		wait_for 20 qos_limit_is "tide_$1" "$(dbd_limit "$1")"
}

# dbd_limit ACCOUNT: of its QOS in slurmdbd, in billing-minutes.
dbd_limit() {
	sacctmgr -n -P show qos where name="tide_$1" format=grptresmins |
		sed -n 's/^billing=//p'
}

# pool_job SECONDS OPTION...: a job of vision that does nothing for so long.
pool_job() {
	local seconds=$1

	shift
	submit -A vision --qos=tide_vision -p pool -t 5 -o /dev/null "$@" \
		--wrap "sleep $seconds"
}

# cost DEVICES SECONDS: in micro-credits, rounded half up.
cost() {
	echo $((($1 * $2 * RATE * 5000 + 9) / 18))
}

# micro AMOUNT: a decimal string in micro-credits.
micro() {
	local text=${1/./}

	case $text in
	-*) echo "-$((10#${text#-}))" ;;
	*) echo "$((10#$text))" ;;
	esac
}

# seconds_of ID: how long each run took, one line a run.
seconds_of() {
	sacct -n -X -D -P -j "$1" -o ElapsedRaw
}

# ran_for ID SECONDS: wait until the present run is so old.
ran_for() {
	local start

	start=$(job_epoch "$1" StartTime) && wait_until $((start + $2))
}

# charged ID RUNS: so many runs of the job show their credits.
charged() {
	[ "$(sacct_field "$1" SystemComment | grep -c credits=)" = "$2" ]
}

# credits_of ID: micro-credits of each run, one line a run.
credits_of() {
	local text

	sacct_field "$1" SystemComment | sed -n 's/.*credits=\([-0-9.]*\).*/\1/p' |
		while read -r text; do micro "$text"; done
}

# balance_of ACCOUNT KEY: balance, granted, earned or spent in micro-credits.
balance_of() {
	micro "$(tidectl credits balance "$1" --json | jq -r ".[0].$2")"
}

# costs_right ID DEVICES: every run of the job costs what its time is worth.
costs_right() {
	local seconds wanted

	wanted=$(seconds_of "$1" | while read -r seconds; do
		cost "$2" "$seconds"
	done)
	[ "$(credits_of "$1")" = "$wanted" ] || {
		echo "job $1: charged $(credits_of "$1"), wanted $wanted" >&2
		return 1
	}
}

# sql STATEMENT: as the database's own root, behind the ledger's back.
sql() {
	mariadb --socket="$TIDE_DB_SOCKET" -N -B slurm_acct_db -e "$1"
}

dbd_log() {
	grep -q "$1" "$TIDE_CLUSTER_DIR/log/slurmdbd.log"
}

dbd_said() {
	grep -cF -- "$1" "$TIDE_CLUSTER_DIR/log/slurmdbd.log" || :
}

dbd_said_more() {
	[ "$(dbd_said "$1")" -gt "$2" ]
}

audit_ok() {
	tidectl credits audit >audit.out 2>&1 || {
		cat audit.out >&2
		return 1
	}
}
