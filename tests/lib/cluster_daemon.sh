# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Daemons of a throwaway cluster: what each is started with, when it is ready,
# in which order all come up and go down. Readiness is polled with a limit; a
# daemon that died ends the wait at once.

TIMEOUT=${TIDE_CLUSTER_TIMEOUT:-60}

# bring_up: makes the folder and starts everything, or takes all down again.
bring_up() {
	local began=$EPOCHREALTIME pending='' signal

	check_host
	# A signal from here on waits until there is a folder to remove.
	for signal in INT TERM HUP; do
		# shellcheck disable=SC2064 # of this turn of the loop
		trap "pending=$signal" "$signal"
	done
	make_folder
	trap 'on_exit' EXIT
	trap 'on_signal INT 130' INT
	trap 'on_signal TERM 143' TERM
	trap 'on_signal HUP 129' HUP
	[ -z "$pending" ] || kill "-$pending" $$
	start_all || {
		show_logs
		die "could not start: $FAILED"
	}
	[ "$CMD" != start ] || trap - EXIT INT TERM HUP
	say "$NODES nodes in $DIR, ready in $(elapsed "$began") s"
}

# elapsed BEGAN: seconds since then, two decimals.
elapsed() {
	local us=$((${EPOCHREALTIME/./} - ${1/./}))

	printf '%d.%02d\n' $((us / 1000000)) $((us / 10000 % 100))
}

on_exit() {
	local rc=$?

	trap '' INT TERM HUP
	trap - EXIT
	take_down
	exit $rc
}

on_signal() {
	trap '' INT TERM HUP
	say "SIG$1, stopping"
	[ -z "${CMD_PID:-}" ] || end_command
	exit "$2"
}

# Ends the command of `run`, which a signal to us alone did not reach.
end_command() {
	kill -TERM "$CMD_PID" 2>/dev/null || return 0
	poll 5 command_gone || kill -KILL "$CMD_PID" 2>/dev/null
}

command_gone() {
	! proc_start_time "$CMD_PID" >/dev/null
}

# Prints why this host cannot run a cluster; nothing when it can.
host_lacks() {
	local prog missing=()

	[ "$(id -u)" = 0 ] || { echo "not root"; return; }
	for prog in munged mariadbd mariadb-install-db slurmdbd slurmctld \
		slurmd sinfo unshare nsenter jq flock; do
		command -v "$prog" >/dev/null || missing+=("$prog")
	done
	[ ${#missing[@]} -eq 0 ] || { echo "no ${missing[*]}"; return; }
	unshare --mount --uts true 2>/dev/null ||
		echo "mount and UTS namespaces are not allowed"
}

check_host() {
	local lacks dirs

	lacks=$(host_lacks)
	[ -n "$lacks" ] || [ -z "$CGROUP" ] || lacks=$(cgroup_lacks)
	[ -z "$lacks" ] || die "cannot run here: $lacks"
	dirs=(/usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm)
	[ -z "$PREFIX" ] || dirs=("$PREFIX"/lib*/slurm)
	for STOCK in "${dirs[@]}"; do
		[ ! -e "$STOCK/select_cons_tres.so" ] || return 0
	done
	die "cannot find Slurm's plugins"
}

# Is $1 absent or an empty folder? No command that a signal could end.
empty_folder() {
	local found

	shopt -s nullglob dotglob
	found=("$1"/*)
	shopt -u nullglob dotglob
	[ ${#found[@]} = 0 ]
}

# make_folder: the cluster's own folder; its length is limited by the longest
# path of a unix socket under it. What a Ctrl-C must not end half-way is done
# by the shell itself or in another session.
make_folder() {
	local sub back=$PWD

	if [ -z "$DIR" ]; then
		DIR=$(setsid mktemp -d /tmp/tide.XXXXXX) ||
			die "cannot make a folder"
	else
		empty_folder "$DIR" || die "'$DIR' is not empty"
		setsid mkdir -p -- "$DIR" || die "cannot make '$DIR'"
		cd -P -- "$DIR" && DIR=$PWD && cd "$back" ||
			die "cannot enter '$DIR'"
	fi
	[ ${#DIR} -le 64 ] || {
		rmdir "$DIR"
		die "'$DIR' is too long for unix sockets, at most 64 characters"
	}
	chmod 755 "$DIR"
	for sub in etc run log state nodes plugins; do
		mkdir -p "$DIR/$sub"
	done
}

# choose_ports: a block of 256 ports below the ephemeral ones. The lock on the
# block is held by the keeper as long as the cluster lives, so clusters side by
# side cannot race; a port in use by others moves us on.
choose_ports() {
	local i n first=$((RANDOM % 40)) lock

	for ((i = 0; i < 40; i++)); do
		n=$(((first + i) % 40))
		PORT=$((21000 + n * 256))
		lock=/run/lock/tideflow-ports-$PORT
		exec {KEEP_FD}>>"$lock" || return 1
		if flock -n "$KEEP_FD" && ports_free; then
			echo "$DIR" >"$lock"
			launch keeper sleep infinity
			exec {KEEP_FD}>&-
			KEEP_FD=
			return 0
		fi
		exec {KEEP_FD}>&-
	done
	return 1
}

ports_free() {
	! ss -Htln | awk '{sub(/.*:/, "", $4); print $4}' |
		awk -v p="$PORT" '$1 >= p && $1 < p + 256 {f = 1} END {exit !f}'
}

# Writes what later commands must know to DIR/cluster.
save_cluster() {
	declare -p PORT NODES BUILD PLUGINS WITHOUT TIDE_CONF ACCOUNTING KEEP \
		STOCK BINDS GRES COUNTED CGROUP NODE_LIST PREFIX |
		sed 's/^declare /declare -g /' >"$DIR/cluster"
}

# Each step names itself in FAILED; what can start together does.
start_all() {
	local i

	FAILED="no free block of ports"
	choose_ports || return 1
	NODE_LIST=$([ "$NODES" = 1 ] && echo n1 || echo "n[1-$NODES]")
	default_binds
	save_cluster
	FAILED="configuration"
	collect_plugins || return 1
	write_all_conf || return 1
	start_munged
	FAILED="mariadb-install-db"
	[ -z "$ACCOUNTING" ] || start_mariadbd || return 1
	for ((i = 1; i <= NODES; i++)); do
		start_node "n$i"
	done
	await munged munged_ready || return 1
	if [ -n "$ACCOUNTING" ]; then
		await mariadbd mariadbd_ready || return 1
		make_database || return 1
		start_slurmdbd
		await slurmdbd slurmdbd_ready || return 1
		make_accounts || return 1
	fi
	start_slurmctld
	await slurmctld slurmctld_ready || return 1
	for ((i = 1; i <= NODES; i++)); do
		await "node-n$i" node_ready "n$i" || return 1
		start_slurmd "n$i" || return 1
	done
	await_nodes
}

# The build tree, the checkout and the prefix stay visible also under /tmp.
default_binds() {
	local dir

	for dir in "$TOP" "$BUILD" "$PREFIX"; do
		case $dir in
		/tmp/*) [ ! -d "$dir" ] || BINDS+=("$dir") ;;
		esac
	done
}

write_all_conf() {
	[ -z "$TIDE_CONF" ] || cp "$TIDE_CONF" "$DIR/etc/tide.conf" || return 1
	: >"$DIR/etc/plugstack.conf"
	write_hosts
	write_slurm_conf && write_gres_conf && write_cgroup_conf || return 1
	[ -z "$ACCOUNTING" ] || write_slurmdbd_conf
}

# await NAME CMD...: until CMD succeeds; not longer than NAME lives.
await() {
	local name=$1

	shift
	FAILED="$name did not get ready in $TIMEOUT s"
	poll "$TIMEOUT" ready_or_dead "$name" "$@" || return 1
	daemon_pid "$name" >/dev/null && return 0
	FAILED="$name ended"
	return 1
}

ready_or_dead() {
	local name=$1

	shift
	daemon_gone "$name" || "$@" >/dev/null 2>&1
}

start_munged() {
	(umask 077 && head -c 128 /dev/urandom >"$DIR/etc/munge.key")
	launch munged munged --foreground --num-threads=2 \
		--key-file="$DIR/etc/munge.key" \
		--socket="$DIR/run/munge.socket" \
		--pid-file="$DIR/run/munged.own.pid" \
		--log-file="$DIR/log/munged.own.log" \
		--seed-file="$DIR/run/munged.seed"
}

munged_ready() {
	[ -S "$DIR/run/munge.socket" ] &&
		munge -n -S "$DIR/run/munge.socket" >/dev/null 2>&1
}

# An empty data folder is made once per MariaDB version and then copied.
make_database_folder() {
	local home cache version

	home=$(getent passwd "$(id -u)" | cut -d: -f6)
	version=$(mariadbd --version | sed -n 's/.*Ver \([^ ]*\).*/\1/p')
	cache=$home/.cache/tideflow/mariadb-$version
	[ ! -d "$cache" ] || {
		cp -a "$cache" "$DIR/db"
		return
	}
	mariadb-install-db --no-defaults --datadir="$DIR/db" --user=root \
		--auth-root-authentication-method=normal --skip-test-db \
		--innodb-log-file-size=8M --innodb-flush-method=nosync \
		>"$DIR/log/mariadb-install-db.log" 2>&1 || return 1
	DB_CACHE=$cache.$$
	mkdir -p "$home/.cache/tideflow" && cp -a "$DIR/db" "$cache.$$" &&
		mv -T "$cache.$$" "$cache" 2>/dev/null
	rm -rf "$cache.$$"
}

# nosync leaves out waiting for the disk, which a kill -9 does not notice;
# the log is still written at every commit. What is loose, not every MariaDB
# has; slurmdbd wants no snapshot isolation.
start_mariadbd() {
	[ -d "$DIR/db" ] || make_database_folder || return 1
	launch mariadbd mariadbd --no-defaults --user=root \
		--datadir="$DIR/db" --socket="$DIR/run/mariadb.socket" \
		--pid-file="$DIR/run/mariadbd.own.pid" --tmpdir="$DIR/run" \
		--bind-address=127.0.0.1 --port=$((PORT + 2)) \
		--skip-name-resolve --performance-schema=OFF \
		--innodb-buffer-pool-size=32M --innodb-log-file-size=8M \
		--innodb-flush-method=nosync \
		--innodb-flush-log-at-trx-commit=1 --key-buffer-size=1M \
		--aria-pagecache-buffer-size=1M --max-connections=60 \
		--innodb-lock-wait-timeout=900 --skip-log-bin \
		--loose-sync-frm=OFF --loose-innodb-snapshot-isolation=OFF
}

sql() {
	mariadb --no-defaults --socket="$DIR/run/mariadb.socket" -uroot "$@"
}

mariadbd_ready() {
	[ -S "$DIR/run/mariadb.socket" ] && sql -e 'select 1'
}

make_database() {
	FAILED="creating the database"
	sql -e "create database if not exists slurm_acct_db;
		create user if not exists slurm@'127.0.0.1'
			identified by 'slurm';
		grant all on slurm_acct_db.* to slurm@'127.0.0.1'"
}

start_slurmdbd() {
	launch slurmdbd slurmdbd -D
}

slurmdbd_ready() {
	with_slurm sacctmgr -n show cluster
}

# with_slurm CMD...: runs CMD as a client of this cluster and no other.
with_slurm() {
	env -i PATH="$SYSTEM_PATH" LANG=C.UTF-8 HOME="$DIR" \
		SLURM_CONF="$DIR/etc/slurm.conf" "$@"
}

make_accounts() {
	FAILED="creating accounts"
	with_slurm sacctmgr -i add cluster tide >"$DIR/log/sacctmgr.log" 2>&1 ||
		return 1
	# The keys of job rows begin with it: not small by chance.
	! slurm_since 24.11 || sql slurm_acct_db -e \
		"update cluster_table set id=4094 where name='tide'" || return 1
	[ -n "$ACCOUNTS" ] || return 0
	with_slurm sacctmgr -i add account "$ACCOUNTS" \
		>>"$DIR/log/sacctmgr.log" 2>&1 &&
		with_slurm sacctmgr -i add user "$USERS" \
			account="$ACCOUNTS" >>"$DIR/log/sacctmgr.log" 2>&1
}

# Slurm 25.05 and later write down the use of associations every five minutes
# and, killed before that, do not start without -i.
start_slurmctld() {
	local ignore=

	[ ! -e "$DIR/state/clustername" ] || [ -e "$DIR/state/assoc_usage" ] ||
		ignore=-i
	# shellcheck disable=SC2086 # nothing or one word
	launch slurmctld slurmctld -D $ignore
}

slurmctld_ready() {
	with_slurm scontrol ping | grep -q ' UP$' || return 1
}

start_slurmd() {
	local NODE_COMMAND

	FAILED="node $1 is gone"
	node_command "$1" || return 1
	launch "slurmd-$1" "${NODE_COMMAND[@]}" slurmd -D -N "$1"
}

# Prints the nodes that are not up yet; a star is "not responding".
nodes_down() {
	with_slurm sinfo -h -N -o '%N %T' "$@" |
		awk '$2 !~ /^(idle|mixed|allocated|completing|planned)$/'
}

await_nodes() {
	local i

	FAILED="nodes did not register in $TIMEOUT s"
	poll "$TIMEOUT" nodes_up_or_dead || return 1
	for ((i = 1; i <= NODES; i++)); do
		FAILED="slurmd-n$i ended"
		daemon_pid "slurmd-n$i" >/dev/null || return 1
	done
}

nodes_up_or_dead() {
	local i out

	for ((i = 1; i <= NODES; i++)); do
		daemon_gone "slurmd-n$i" && return 0
	done
	out=$(nodes_down) && [ -z "$out" ]
}

# A slurmctld that was started anew starts no job on a node before that has
# answered. Only nodes whose slurmd runs are waited for.
live_nodes_answer() {
	local i names='' out

	for ((i = 1; i <= NODES; i++)); do
		daemon_gone "slurmd-n$i" || names+=,n$i
	done
	[ -n "$names" ] || return 0
	out=$(with_slurm sinfo -h -N -o '%T' -n "${names#,}") &&
		! grep -q -e '\*' -e unknown -e down <<<"$out"
}

# restart_daemon NAME: starts it and waits until it serves. A node that an
# administrator took down does not come, so that is no failure.
restart_daemon() {
	case $1 in
	munged) start_munged; await munged munged_ready ;;
	mariadbd) start_mariadbd && await mariadbd mariadbd_ready ;;
	slurmdbd) start_slurmdbd; await slurmdbd slurmdbd_ready ;;
	slurmctld)
		start_slurmctld
		await slurmctld slurmctld_ready || return 1
		poll 20 live_nodes_answer ||
			say "going on without nodes that do not answer"
		;;
	slurmd-*)
		start_slurmd "${1#slurmd-}" &&
			await "$1" node_is_up "${1#slurmd-}"
		;;
	esac
}

node_is_up() {
	[ -z "$(nodes_down -n "$1")" ]
}

# take_down: ends all, in the order that lets each finish, then looks for what
# may be left and removes the folder.
take_down() {
	local i name rm=$DIR

	trap '' INT TERM HUP
	end_slurm
	for ((i = 1; i <= NODES; i++)); do
		poll 10 empty_node "n$i"
		end_daemon "node-n$i" KILL 5
	done
	end_daemon slurmdbd TERM 10
	# Its files go away with the folder, so it need not flush.
	end_daemon mariadbd "$([ -n "$KEEP" ] && echo TERM || echo KILL)" 20
	end_daemon munged TERM 5
	end_daemon keeper KILL 5
	poll 10 sweep || say "processes of '$DIR' are left: $(members | xargs)"
	poll 5 remove_cgroups || say "cgroups $(cgroup_name) are left"
	rm -f "/run/lock/tideflow-ports-${PORT:-none}"
	[ -z "${DB_CACHE:-}" ] || rm -rf "$DB_CACHE"
	[ -n "$KEEP" ] || rm -rf --one-file-system "$rm"
	trap - EXIT INT TERM HUP
}

# Ends slurmctld and the slurmd together: each takes its time.
end_slurm() {
	local name pid names=(slurmctld)

	for ((i = 1; i <= NODES; i++)); do
		names+=("slurmd-n$i")
	done
	for name in "${names[@]}"; do
		pid=$(daemon_pid "$name") && kill -TERM "$pid" 2>/dev/null
	done
	for name in "${names[@]}"; do
		end_daemon "$name" TERM 10
	done
}

# The ends of all logs. A daemon's own log is in NAME.log; NAME.out is what it
# wrote to its output, worth a look where there is no log, or a last word.
show_logs() {
	local log lines

	for log in "$DIR"/log/*; do
		[ -s "$log" ] || continue
		lines=${TIDE_LOG_LINES:-40}
		[ ! -s "${log%.out}.log" ] || [ "$log" = "${log%.out}.log" ] ||
			lines=3
		printf '==> %s <==\n' "${log##*/}"
		tail -n "$lines" "$log"
	done >&2
}

# For eval, also of one line, when its caller forgot to quote it. All nodes have
# the interfaces of this host; asked of the kernel, as Open MPI 5 does, there is
# no way from an address to itself.
print_env() {
	local of_a_job

	of_a_job=$(env | sed -n \
		's/^\(SLURM_[A-Z_]*\|SBATCH_[A-Z_]*\|SALLOC_[A-Z_]*\)=.*/\1/p' |
		xargs)
	[ -z "$of_a_job" ] || printf 'unset %s;\n' "$of_a_job"
	printf 'export %s=%q;\n' \
		TIDE_CLUSTER_DIR "$DIR" \
		SLURM_CONF "$DIR/etc/slurm.conf" \
		TIDE_PORT "$PORT" \
		TIDE_DB_SOCKET "$DIR/run/mariadb.socket" \
		TIDE_SLURM_PREFIX "$PREFIX" \
		PATH "$BUILD/cmd/tidectl:$BUILD/launcher:$PATH" \
		OMPI_ALLOW_RUN_AS_ROOT 1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1 \
		OMPI_MCA_reachable weighted
}

daemon_names() {
	local file

	for file in "$DIR"/run/*.pid; do
		file=${file##*/}
		case $file in
		*.own.pid | *.slurm.pid | keeper.pid) ;;
		*) printf '%s\n' "${file%.pid}" ;;
		esac
	done
}

status_text() {
	local name pid

	echo "cluster in $DIR, ports from $PORT, device files are synthetic"
	for name in $(daemon_names); do
		pid=$(daemon_pid "$name") || pid=-
		printf '%-14s %s\n' "$name" "$pid"
	done
	with_slurm timeout 10 sinfo -N -o '%8N %10T %G' 2>&1
}

status_json() {
	local name pid

	for name in $(daemon_names); do
		pid=$(daemon_pid "$name") || pid=null
		printf '{"name":"%s","pid":%s}\n' "$name" "$pid"
	done | jq -s --arg dir "$DIR" --argjson port "$PORT" \
		--argjson nodes "$NODES" \
		'{dir: $dir, port: $port, nodes: $nodes, daemons: .}'
}
