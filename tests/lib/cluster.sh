# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# System tests on a throwaway cluster: starts tests/cluster, stops it when the
# test ends however it ends, shows the logs when the test failed, and asks
# Slurm about jobs. Source this in place of sharness.sh.

# shellcheck source=tests/lib/sharness.sh
. "$(dirname "${BASH_SOURCE[0]}")/sharness.sh"
# shellcheck source=tests/lib/release.sh
. "$TIDE_TOP/tests/lib/release.sh"

CLUSTER=$TIDE_TOP/tests/cluster

# need_cluster [OPTION...]: ends the test as skipped where no cluster with
# these options can run.
need_cluster() {
	local lacks

	lacks=$("$CLUSTER" check "$@" 2>&1) && return
	skip_all="no cluster can run here: ${lacks#cluster: cannot run here: }"
	test_done
}

# cluster_start OPTION...: a cluster that the rest of the test talks to. Its
# folder is $TIDE_CLUSTER_DIR. A second start leaves the first one running.
cluster_start() {
	local dir

	dir=$("$CLUSTER" start --bind "$SHARNESS_TRASH_DIRECTORY" \
		--build "$builddir" "$@" 2>>"$SHARNESS_TRASH_DIRECTORY/start") || {
		sed 's/^/# /' "$SHARNESS_TRASH_DIRECTORY/start"
		error "the cluster did not start"
	}
	at_exit cluster_end "$dir"
	cluster_use "$dir"
}

# cluster_use DIR: the test talks to that cluster from now on.
cluster_use() {
	eval "$("$CLUSTER" env --dir "$1")"
}

# etc NAME: a file of its configuration.
etc() {
	printf '%s\n' "$TIDE_CLUSTER_DIR/etc/$1"
}

cluster_stop() {
	"$CLUSTER" stop --dir "$TIDE_CLUSTER_DIR"
}

# Called at exit.
cluster_end() {
	[ -e "$1/cluster" ] || return 0
	[ "$TIDE_FAILED" = 0 ] || "$CLUSTER" logs --dir "$1" 2>&1 | sed 's/^/# /'
	"$CLUSTER" stop --dir "$1"
}

now() {
	date +%s
}

# wait_until EPOCH
wait_until() {
	while [ "$(now)" -lt "$1" ]; do
		sleep 0.1
	done
}

# srun ARGUMENT...: not for ever, when there is nothing left to run on. Killed, so
# that it is no failure that a step expects.
srun() {
	timeout -s KILL 120 srun "$@"
}

# submit OPTION... SCRIPT [ARG...]: sbatch, prints the job id.
submit() {
	local id

	id=$(sbatch --parsable "$@") && printf '%s\n' "${id%%;*}"
}

# batch NAME OPTION...: a batch job of the script on stdin, which writes to
# NAME.out; prints the id. What srun has to say, as that it waits for nodes that
# a step is just leaving, goes to NAME.err.
batch() {
	local name=$1

	shift
	cat >"$name.sh"
	submit -o "$name.out" -e "$name.err" "$@" "$name.sh"
}

# submit_wrap COMMAND OPTION...: a batch job of one line, prints the id.
submit_wrap() {
	local command=$1

	shift
	submit "$@" --wrap "$command"
}

# job_field ID FIELD: a field of `scontrol show job`.
job_field() {
	scontrol -o show job "$1" 2>/dev/null | tr ' ' '\n' |
		sed -n "s/^$2=//p" | head -n 1
}

# job_epoch ID FIELD: a time of `scontrol show job` as seconds.
job_epoch() {
	date -d "$(job_field "$1" "$2")" +%s 2>/dev/null
}

job_state() {
	job_field "$1" JobState
}

# job_is ID STATE[|STATE...]
job_is() {
	[[ $(job_state "$1") =~ ^($2)$ ]]
}

# wait_job_state ID STATE[|STATE...] SECONDS
wait_job_state() {
	wait_for "$3" job_is "$1" "$2" && return
	scontrol show job "$1" >&2
	return 1
}

# wait_job_end ID SECONDS: until it has left the nodes, in whatever state.
wait_job_end() {
	wait_job_state "$1" \
		'COMPLETED|FAILED|CANCELLED|TIMEOUT|PREEMPTED|NODE_FAIL|OUT_OF_MEMORY' \
		"$2"
}

# sacct_field ID FORMAT: one line per run of the job, newest last; accounting
# follows the job by some seconds, so poll it.
sacct_field() {
	sacct -n -X -D -P -j "$1" -o "$2"
}

# sacct_shows ID FORMAT PATTERN: the runs, joined by blanks, match.
sacct_shows() {
	[[ $(sacct_field "$1" "$2" | paste -sd' ') =~ $3 ]]
}

# ctld_qos NAME: what slurmctld knows of a QOS. Newer ones take up what they are
# told by slurmdbd in a thread of their own, a moment after it was answered: poll.
ctld_qos() {
	scontrol -o show assoc_mgr flags=qos qos="$1"
}

ctld_has_qos() {
	ctld_qos "$1" | grep -qF "QOS=$1("
}

# qos_limit NAME: of billing, in minutes; nothing if there is none.
qos_limit() {
	ctld_qos "$1" | sed -n 's/.*GrpTRESMins=[^ ]*billing=\([0-9]*\)(.*/\1/p'
}

# qos_used NAME: billing-minutes.
qos_used() {
	ctld_qos "$1" |
		sed -n 's/.*GrpTRESMins=[^ ]*billing=[0-9N]*(\([0-9]*\)).*/\1/p'
}

qos_limit_is() {
	[ "$(qos_limit "$1")" = "$2" ]
}

ctld_log() {
	cat "$TIDE_CLUSTER_DIR/log/slurmctld.log"
}

# ctld_says TEXT: slurmctld's log has it.
ctld_says() {
	grep -qF -- "$1" "$TIDE_CLUSTER_DIR/log/slurmctld.log"
}

# said TEXT: how often slurmctld's log has it.
said() {
	grep -cF -- "$1" "$TIDE_CLUSTER_DIR/log/slurmctld.log" || :
}

said_more() {
	[ "$(said "$1")" -gt "$2" ]
}

nodes_respond() {
	local states

	states=$(sinfo -h -N -o %T) && [ -n "$states" ] &&
		! grep -q -e '\*' -e unknown -e down <<<"$states"
}

# reconfigure FILE: as tide.conf. Slurm answers before the layer, which reads in
# a thread of its own, has read it; and where a new slurmctld was started (from
# 23.11 on) that waits for its nodes.
reconfigure() {
	local n

	cp "$1" "$TIDE_CLUSTER_DIR/etc/tide.conf" &&
		n=$(said "tide: tide.conf was read") && scontrol reconfigure &&
		wait_for 20 said_more "tide: tide.conf was read" "$n" &&
		wait_for 20 nodes_respond
}

# wait_state_saved ID: until slurmctld has written down that job ID is as it is
# now. It does so up to five seconds after a change; killed before, it starts
# again from what was before.
wait_state_saved() {
	local state=$TIDE_CLUSTER_DIR/state/job_state

	touch "$SHARNESS_TRASH_DIRECTORY/now"
	scontrol update jobid="$1" comment=saved || return 1
	wait_for 20 test "$state" -nt "$SHARNESS_TRASH_DIRECTORY/now"
}
