# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Options of a throwaway cluster and the configuration files made of them:
# slurm.conf, slurmdbd.conf, gres.conf, cgroup.conf and the folder of plugins.
# Starts nothing. The defaults favour tests that need not wait.

STOCK=

default_options() {
	DIR='' BUILD='' NODES=3 CPUS=4 MEMORY=4000 TIDE_CONF='' CGROUP=''
	PLUGINS='' WITHOUT='' ACCOUNTS='' USERS=root ACCOUNTING=1 KEEP=''
	PREFIX=${TIDE_SLURM_PREFIX:-}
	COUNTED=''
	GRES=() PARTITIONS=() SET=() APPEND=() DBD_SET=() BINDS=() REST=()
}

# Sets the variables above from the command line; what is left goes to REST.
parse_options() {
	default_options
	while [ $# -gt 0 ]; do
		case $1 in
		--) shift; REST=("$@"); break ;;
		--keep) KEEP=1 ;;
		--cgroup) CGROUP=1 ;;
		--no-accounting) ACCOUNTING='' ;;
		--*)
			[ $# -gt 1 ] || {
				(parse_valued "$1" '') || exit
				bad_usage "'$1' needs a value"
			}
			parse_valued "$1" "$2"
			shift
			;;
		*) REST=("$@"); break ;;
		esac
		shift
	done
	check_options
}

parse_valued() {
	case $1 in
	--dir) DIR=$2 ;;
	--build) BUILD=$2 ;;
	--slurm-prefix) PREFIX=$2 ;;
	--nodes) NODES=$2 ;;
	--cpus) CPUS=$2 ;;
	--memory) MEMORY=$2 ;;
	--gres) GRES+=("$2") ;;
	--counted) COUNTED=$2 ;;
	--partition) PARTITIONS+=("$2") ;;
	--set) SET+=("$2") ;;
	--conf-append) APPEND+=("$2") ;;
	--slurmdbd-set) DBD_SET+=("$2") ;;
	--tide-conf) TIDE_CONF=$2 ;;
	--plugins) PLUGINS=$2 ;;
	--without) WITHOUT=$2 ;;
	--account) ACCOUNTS=$2 ;;
	--user) USERS=$2 ;;
	--bind) BINDS+=("$2") ;;
	*) bad_usage "unknown option '$1'" ;;
	esac
}

check_options() {
	local spec file

	[[ $NODES =~ ^[1-9][0-9]{0,2}$ && $NODES -le 200 ]] ||
		bad_usage "--nodes '$NODES': 1 to 200"
	[[ $CPUS =~ ^[1-9][0-9]*$ ]] || bad_usage "--cpus '$CPUS': a number"
	[[ $MEMORY =~ ^[1-9][0-9]*$ ]] || bad_usage "--memory '$MEMORY': MB"
	for spec in "${GRES[@]}"; do
		[[ $spec =~ ^([a-z_]+:[A-Za-z0-9_-]+:[0-9]+,?)+(@n[0-9]+)?$ ]] ||
			bad_usage "--gres '$spec': NAME:TYPE:COUNT[@NODE]"
	done
	for spec in "${SET[@]}" "${DBD_SET[@]}"; do
		[[ $spec == *=* ]] || bad_usage "'$spec': KEY=VALUE"
	done
	for file in ${TIDE_CONF:+"$TIDE_CONF"} "${APPEND[@]}"; do
		[ -r "$file" ] || die "cannot read '$file'"
	done
	if [ -z "$BUILD" ]; then
		BUILD=${builddir:-$TOP/build}
	fi
	[ ! -d "$BUILD" ] || BUILD=$(cd "$BUILD" && pwd -P)
	[ -z "$PREFIX" ] || {
		[ -x "$PREFIX/sbin/slurmctld" ] ||
			die "there is no Slurm in '$PREFIX'"
		PREFIX=$(cd "$PREFIX" && pwd -P)
	}
	use_prefix
}

# Sets SYSTEM_PATH, where daemons and clients are looked for, and PATH.
use_prefix() {
	SYSTEM_PATH=${PREFIX:+$PREFIX/sbin:$PREFIX/bin:}/usr/sbin:/usr/bin:/sbin:/bin
	[ -z "$PREFIX" ] || PATH=$PREFIX/sbin:$PREFIX/bin:$PATH
}

# Prints NAME:TYPE:COUNT lines of node $1: the options for it alone, else the
# options for all.
node_gres() {
	local spec own='' all=''

	for spec in "${GRES[@]}"; do
		case $spec in
		*"@$1") own+=,${spec%@*} ;;
		*@*) ;;
		*) all+=,$spec ;;
		esac
	done
	tr , '\n' <<<"${own:-$all}" | grep .
}

is_counted() {
	[[ ,$COUNTED, == *",$1,"* ]]
}

# Prints NAME TYPE FILE of every device of node $1 that has a file; files are
# numbered for each kind of file from 0.
node_devices() {
	local name type count kind i
	local -A next=()

	while IFS=: read -r name type count; do
		! is_counted "$type" || continue
		kind=$name
		[[ $name:$type != npu:vir* ]] || kind=vnpu
		for ((i = 0; i < count; i++)); do
			echo "$name $type $(device_file "$kind" "${next[$kind]:-0}")"
			next[$kind]=$((${next[$kind]:-0} + 1))
		done
	done < <(node_gres "$1")
}

# Prints the device file of device $2 of a kind $1; several with commas.
device_file() {
	case $1 in
	vnpu) printf '/dev/vdavinci%d\n' $(($2 + 100)) ;;
	mlu) printf '/dev/cambricon_dev%d\n' "$2" ;;
	npu) printf '/dev/davinci%d\n' "$2" ;;
	dcu) printf '/dev/dri/card%d,/dev/dri/renderD%d\n' $(($2 + 1)) \
		$(($2 + 128)) ;;
	accel) printf '/dev/gcu%d\n' "$2" ;;
	gpu) printf '/dev/nvidia%d\n' "$2" ;;
	*) printf '/dev/%s%d\n' "$1" "$2" ;;
	esac
}

# Prints the names of all GRES in use, comma separated.
gres_names() {
	local i

	for ((i = 1; i <= NODES; i++)); do
		node_gres "n$i" | cut -d: -f1
	done | sort -u | paste -sd,
}

# Prints the TRES of all GRES, comma separated: gres/mlu,gres/mlu:mlu290.
gres_tres() {
	local i

	for ((i = 1; i <= NODES; i++)); do
		node_gres "n$i" | awk -F: '{print "gres/" $1;
			print "gres/" $1 ":" $2}'
	done | sort -u | paste -sd,
}

# Copies the plugins into a folder that comes first in PluginDir. Copies, so
# that a build beside a running cluster cannot hurt it.
collect_plugins() {
	local list=$PLUGINS so part

	rm -rf "$DIR/plugins.new"
	mkdir -p "$DIR/plugins.new" "$DIR/plugins"
	if [ -z "$list" ]; then
		list=auto
		[ -n "$TIDE_CONF" ] ||
			WITHOUT=select,credits,job_submit,$WITHOUT
	fi
	case $list in
	none) list= ;;
	auto) list=$(printf '%s,' "$BUILD"/plugins/*/*/.libs) ;;
	esac
	for so in $(plugin_files "$list"); do
		cp "$so" "$DIR/plugins.new/"
	done
	# what the gres plugins run, where they look first
	for part in tidectl tide-devices; do
		! compgen -G "$DIR/plugins.new/gres_*.so" >/dev/null ||
			[ ! -x "$BUILD/cmd/tidectl/$part" ] ||
			cp "$BUILD/cmd/tidectl/$part" "$DIR/plugins/$part"
	done
	for part in "$DIR"/plugins/*.so; do
		[ -e "$DIR/plugins.new/${part##*/}" ] || rm -f "$part"
	done
	for part in "$DIR"/plugins.new/*.so; do
		[ ! -e "$part" ] || mv -f "$part" "$DIR/plugins/"
	done
	rmdir "$DIR/plugins.new"
}

# Prints the plugins in the folders $1, but those of the parts left out.
plugin_files() {
	local dir so

	for dir in ${1//,/ }; do
		for so in "$dir"/*.so; do
			[ -e "$so" ] && ! left_out "$so" && printf '%s\n' "$so"
		done
	done
}

left_out() {
	local part

	for part in ${WITHOUT//,/ }; do
		case "$part:${1##*/}" in
		select:select_* | credits:accounting_storage_* | \
			job_submit:job_submit_* | gres:gres_*) return 0 ;;
		esac
	done
	return 1
}

has_plugin() {
	[ -e "$DIR/plugins/$1.so" ]
}

# print_keys SETTING...: KEY=VALUE lines from stdin, with the settings in the
# place of lines of the same key, or added.
print_keys() {
	local line pair key
	local -A over=()

	for pair; do
		over[${pair%%=*}]=${pair#*=}
	done
	while IFS= read -r line; do
		key=${line%%=*}
		if [ -n "${over[$key]+x}" ]; then
			line=$key=${over[$key]}
			unset "over[$key]"
		fi
		printf '%s\n' "$line"
	done
	for key in "${!over[@]}"; do
		printf '%s=%s\n' "$key" "${over[$key]}"
	done
}

write_slurm_conf() {
	local names tres

	names=$(gres_names)
	tres=$(gres_tres)
	{
		print_slurm_keys "$names" "$tres" | print_keys "${SET[@]}"
		print_nodes
		if [ ${#PARTITIONS[@]} -gt 0 ]; then
			printf '%s\n' "${PARTITIONS[@]}"
		else
			echo "PartitionName=pool Nodes=$NODE_LIST Default=YES" \
				"MaxTime=INFINITE State=UP"
		fi
		[ ${#APPEND[@]} -eq 0 ] || cat "${APPEND[@]}"
	} >"$DIR/etc/slurm.conf"
}

# print_slurm_keys GRES TRES: what every cluster has. cred_expire is how long
# a requeued job waits, less one second; 5 is the least.
print_slurm_keys() {
	cat <<-CONF
	ClusterName=tide
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmctldPort=$PORT
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$DIR/run/munge.socket,cred_expire=5
	CredType=cred/munge
	CommunicationParameters=NoCtldInAddrAny
	PlugStackConfig=$DIR/etc/plugstack.conf
	PluginDir=$DIR/plugins:$STOCK
	StateSaveLocation=$DIR/state
	SlurmdSpoolDir=$DIR/spool/%n
	SlurmctldPidFile=$DIR/run/slurmctld.slurm.pid
	SlurmdPidFile=$DIR/nodes/%n/slurmd.pid
	SlurmctldLogFile=$DIR/log/slurmctld.log
	SlurmdLogFile=$DIR/log/slurmd-%n.log
	SlurmctldDebug=verbose
	SlurmdDebug=verbose
	SlurmdParameters=config_overrides
	ProctrackType=$([ -n "$CGROUP" ] && echo proctrack/cgroup ||
		echo proctrack/linuxproc)
	TaskPlugin=$([ -n "$CGROUP" ] && echo task/cgroup || echo task/none)
	MpiDefault=pmix
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SchedulerType=sched/backfill
	SchedulerParameters=bf_interval=2,bf_resolution=1,batch_sched_delay=0,sched_interval=2
	PriorityType=priority/multifactor
	PriorityCalcPeriod=1
	JobAcctGatherType=jobacct_gather/none
	JobRequeue=1
	KillWait=5
	ReturnToService=2
	SlurmctldTimeout=120
	SlurmdTimeout=300
	InactiveLimit=0
	MailProg=/bin/true
	CONF
	[ -z "$1" ] || echo "GresTypes=$1"
	! has_plugin job_submit_tide || echo "JobSubmitPlugins=tide"
	[ -n "$ACCOUNTING" ] || return 0
	cat <<-CONF
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=127.0.0.1
	AccountingStoragePort=$((PORT + 1))
	AccountingStoragePass=$DIR/run/munge.socket
	CONF
	[ -z "$2" ] || echo "AccountingStorageTRES=$2"
}

print_nodes() {
	local i gres

	for ((i = 1; i <= NODES; i++)); do
		gres=$(node_gres "n$i" | paste -sd,)
		echo "NodeName=n$i NodeAddr=127.0.0.1 Port=$((PORT + 9 + i))" \
			"CPUs=$CPUS Sockets=1 CoresPerSocket=$CPUS" \
			"ThreadsPerCore=1 RealMemory=$MEMORY State=UNKNOWN" \
			"${gres:+Gres=$gres}"
	done
}

# /etc/hosts of the nodes: this host's, and all nodes on loopback.
write_hosts() {
	local i

	{
		cat /etc/hosts 2>/dev/null
		for ((i = 1; i <= NODES; i++)); do
			echo "127.0.0.1 n$i"
		done
	} >"$DIR/etc/hosts"
}

# One gres.conf for all nodes; the device files are in each node's own /dev.
write_gres_conf() {
	local i name type file count

	for ((i = 1; i <= NODES; i++)); do
		while read -r name type file; do
			case $file in
			*,*) file=MultipleFiles=$file ;;
			*) file=File=$file ;;
			esac
			echo "NodeName=n$i Name=$name Type=$type $file"
		done < <(node_devices "n$i")
		while IFS=: read -r name type count; do
			! is_counted "$type" ||
				echo "NodeName=n$i Name=$name Type=$type Count=$count Flags=CountOnly"
		done < <(node_gres "n$i")
	done >"$DIR/etc/gres.conf"
}

# Without --cgroup there need not be one: newer slurmd must be told. Those of
# 23.02 and 23.11 always load a plugin, but ask nothing of it.
write_cgroup_conf() {
	if [ -n "$CGROUP" ]; then
		echo "CgroupPlugin=cgroup/v1"
		echo "CgroupMountpoint=/sys/fs/cgroup"
		slurm_since 23.11 || echo "CgroupAutomount=no"
		echo "ConstrainDevices=yes"
	elif slurm_since 24.05; then
		echo "CgroupPlugin=disabled"
	elif slurm_since 23.02; then
		echo "IgnoreSystemd=yes"
	fi >"$DIR/etc/cgroup.conf"
}

write_slurmdbd_conf() {
	local storage=accounting_storage/mysql

	! has_plugin accounting_storage_credits ||
		storage=accounting_storage/credits
	print_keys "${DBD_SET[@]}" >"$DIR/etc/slurmdbd.conf" <<-CONF
	AuthType=auth/munge
	AuthInfo=socket=$DIR/run/munge.socket
	DbdHost=$(hostname -s)
	DbdAddr=127.0.0.1
	DbdPort=$((PORT + 1))
	SlurmUser=root
	DebugLevel=verbose
	LogFile=$DIR/log/slurmdbd.log
	PidFile=$DIR/run/slurmdbd.slurm.pid
	PluginDir=$DIR/plugins:$STOCK
	StorageType=$storage
	StorageHost=127.0.0.1
	StoragePort=$((PORT + 2))
	StorageLoc=slurm_acct_db
	StorageUser=slurm
	StoragePass=slurm
	CONF
	chmod 600 "$DIR/etc/slurmdbd.conf"
}
