# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A production Slurm that changes under its jobs: editing its files, restarting
# its daemons, and whether anything got lost by it. Source after cluster.sh.

# set_key FILE KEY VALUE; no VALUE takes the line out.
set_key() {
	sed -i "/^$2=/d" "$(etc "$1")" || return 1
	[ $# -lt 3 ] || printf '%s=%s\n' "$2" "$3" >>"$(etc "$1")"
}

# restart DAEMON...: on the plugins that are installed.
restart() {
	"$CLUSTER" restart --as-is "$@"
}

restart_slurmds() {
	local node

	for node in $(sinfo -h -N -o %N | sort -u); do
		restart slurmd "$node" || return 1
	done
}

# restart_around_slurmds: slurmctld, while no slurmd is there to report what it
# does not expect.
restart_around_slurmds() {
	local node nodes

	nodes=$(sinfo -h -N -o %N | sort -u) || return 1
	for node in $nodes; do
		"$CLUSTER" kill9 slurmd "$node" || return 1
	done
	restart slurmctld && restart_slurmds
}

# install_plugin NAME: of the build, into TideFlow's folder; with what it runs.
install_plugin() {
	local part

	# shellcheck disable=SC2154 # set by sharness.sh
	cp "$builddir"/plugins/*/*/.libs/"$1".so "$TIDE_CLUSTER_DIR/plugins/" ||
		return 1
	[[ $1 == gres_* ]] || return 0
	for part in tidectl tide-devices; do
		[ ! -x "$builddir/cmd/tidectl/$part" ] ||
			cp "$builddir/cmd/tidectl/$part" \
				"$TIDE_CLUSTER_DIR/plugins/" || return 1
	done
}

# keep ID STATE: the job has to stay in that state from now on.
KEPT=()
keep() {
	wait_job_state "$1" "$2" 30 || return 1
	KEPT+=("$1 $2 $(job_field "$1" StartTime) $(job_field "$1" SubmitTime)")
}

kept_as_it_was() {
	local id state start submit

	read -r id state start submit <<<"$1"
	job_is "$id" "$state" && [ "$(job_field "$id" SubmitTime)" = "$submit" ] &&
		{ [ "$state" = PENDING ] ||
			[ "$(job_field "$id" StartTime)" = "$start" ]; }
}

# accounting: what sacct has of all jobs that ended, in a form that no later
# setting changes.
accounting() {
	sacct -n -X -D -P -a -S 2000-01-01 -E now \
		-o JobID,Account,User,Partition,State,Submit,Start,End,ExitCode |
		grep -Ev '\|(RUNNING|PENDING|REQUEUED)\|' | sort -u
}

# note_accounting: what must be there from now on.
note_accounting() {
	accounting >"$SHARNESS_TRASH_DIRECTORY/accounting"
}

# nothing_lost: kept jobs are as they were, every node serves, and accounting
# still has all that it had.
nothing_lost() {
	local job file=$SHARNESS_TRASH_DIRECTORY/accounting gone

	for job in "${KEPT[@]}"; do
		wait_for 20 kept_as_it_was "$job" || {
			scontrol show job "${job%% *}" >&2
			return 1
		}
	done
	wait_for 20 nodes_serve || return 1
	gone=$(accounting | comm -13 - "$file")
	[ -z "$gone" ] || {
		printf 'accounting has lost or changed: %s\n' "$gone" >&2
		return 1
	}
}

nodes_serve() {
	local bad

	# A "-" is a plan of backfill's.
	bad=$(sinfo -h -N -o '%N %T %E' |
		grep -vE ' (idle|mixed|allocated|completing|planned)-? ')
	[ -z "$bad" ] || {
		[ "$bad" = "${LAST_BAD:-}" ] || printf '%s\n' "$bad" >&2
		LAST_BAD=$bad
		return 1
	}
}
