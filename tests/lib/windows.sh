# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of windows: a cluster of three nodes, n1 and n2 lent by an owner
# in one-time windows some seconds ahead, n3 nobody's.

# shellcheck source=tests/lib/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

# stamp EPOCH: as tide.conf's From= and Until= want it, in UTC.
stamp() {
	date -u -d "@$1" +%FT%T
}

# local_stamp EPOCH: as Slurm's commands show it here.
local_stamp() {
	date -d "@$1" +%FT%T
}

# windows FROM UNTIL [FROM UNTIL ...]: a tide.conf with n[1-2] open in these
# stretches, named w1, w2 ...
windows() {
	local n=0

	echo "PoolPartition=pool"
	echo "OwnerAccount=lab Nodes=n[1-2]"
	while [ $# -ge 2 ]; do
		n=$((n + 1))
		echo "WindowName=w$n Nodes=n[1-2] From=$(stamp "$1")" \
			"Until=$(stamp "$2") TimeZone=UTC"
		shift 2
	done
}

# windows_are FROM UNTIL [FROM UNTIL ...]: so in the running cluster, from now
# on. How long a cluster takes to start no test knows.
windows_are() {
	windows "$@" >present.conf && reconfigure present.conf
}

# windows_cluster OPTION...: with the tide.conf that is here.
windows_cluster() {
	cluster_start --tide-conf tide.conf --without credits,gres "$@"
}

# job_reason ID: what squeue shows.
job_reason() {
	squeue -h -j "$1" -o %r
}

reason_is() {
	[ "$(job_reason "$1")" = "$2" ]
}

epoch_is() {
	[ "$(job_epoch "$1" "$2")" = "$3" ]
}

# ends_past ID CLOSE: its limit is set to just past that close: the minutes to
# it rounded up, and one more.
ends_past() {
	local end

	end=$(job_epoch "$1" EndTime) && [ "$end" -ge $(($2 + 60)) ] &&
		[ "$end" -lt $(($2 + 120)) ]
}

limit_is() {
	[ "$(job_field "$1" TimeLimit)" = "$2" ]
}

# limit_within ID LOW HIGH: minutes, below a day.
limit_within() {
	local h m rest

	IFS=: read -r h m rest <<<"$(job_field "$1" TimeLimit)"
	[ -n "$m" ] && [ $((10#$h * 60 + 10#$m)) -ge "$2" ] &&
		[ $((10#$h * 60 + 10#$m)) -le "$3" ]
}
