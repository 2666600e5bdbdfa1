# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Processes of a throwaway cluster: started in sessions of their own, known by
# pid and start time, ended only if they are still what was started. Knows
# nothing of Slurm. Used by tests/cluster; needs DIR, SYSTEM_PATH and say().

# Prints the start time of process $1, in clock ticks since boot; fails if it
# is not there or is a zombie.
proc_start_time() {
	local stat

	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	# shellcheck disable=SC2086 # split into fields, the first is the state
	set -- ${stat##*) }
	[ "$1" != Z ] && [ "$1" != X ] && printf '%s\n' "${20}"
}

# Prints the pid of daemon $1 if it runs: the pid on file, with the same start
# time, so that a reused number is never taken for ours.
daemon_pid() {
	local pid start

	read -r pid start 2>/dev/null <"$DIR/run/$1.pid" || return 1
	[ "$(proc_start_time "$pid")" = "$start" ] && printf '%s\n' "$pid"
}

# poll SECONDS CMD...: runs CMD until it succeeds or the time is over.
poll() {
	local limit=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$limit" ] || return 1
		sleep 0.05
	done
}

# launch NAME CMD...: starts CMD in the background, in its own session and
# with a clean environment; its output goes to log/NAME.out. The marker in the
# environment lets sweep() find what an interrupted start did not write down.
launch() {
	local name=$1 me

	shift
	rm -f "$DIR/run/$name.pid"
	(
		trap - INT TERM HUP EXIT
		cd / || exit 1
		close_fds
		me=$BASHPID
		echo "$me $(proc_start_time "$me")" >"$DIR/run/$name.pid"
		exec env -i PATH="$SYSTEM_PATH" LANG=C.UTF-8 \
			HOME="$DIR" ${TZ:+"TZ=$TZ"} \
			SLURM_CONF="$DIR/etc/slurm.conf" \
			TIDE_CLUSTER_MEMBER="$DIR" \
			setsid "$@" </dev/null >>"$DIR/log/$name.out" 2>&1
	) &
	disown
	poll 5 test -s "$DIR/run/$name.pid"
}

# Closes what we inherited, else a reader of our output would wait for the
# daemons.
close_fds() {
	local fd

	for fd in "/proc/$BASHPID/fd/"*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || [ "$fd" = "${KEEP_FD:-}" ] ||
			eval "exec $fd>&-"
	done
}

# end_daemon NAME SIGNAL SECONDS: ends NAME by SIGNAL, then by SIGKILL.
end_daemon() {
	local pid

	pid=$(daemon_pid "$1") || return 0
	kill "-$2" "$pid" 2>/dev/null
	poll "$3" daemon_gone "$1" && return
	say "$1 did not end within $3 s, killing it"
	kill -KILL "$pid" 2>/dev/null
	poll 10 daemon_gone "$1"
}

daemon_gone() {
	! daemon_pid "$1" >/dev/null
}

# Prints the pids whose environment has our marker.
members() {
	grep -lszxF "TIDE_CLUSTER_MEMBER=$DIR" /proc/[0-9]*/environ |
		tr -dc '0-9\n'
}

# Kills what is left of the cluster; true when nothing is.
sweep() {
	local pid left=0

	for pid in $(members); do
		kill -KILL "$pid" 2>/dev/null
		left=1
	done
	return $left
}
