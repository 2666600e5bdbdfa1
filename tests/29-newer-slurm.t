#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What only newer releases have, beside TideFlow: the metrics of slurmctld
# (25.11), a run that gives back memory (26.05), a job that asks for an
# expedited requeue (25.11), which a close is not, and a script that tells the
# password of the database (25.11).

# shellcheck disable=SC2034,SC2154 # read by sharness; set by the libraries
test_description='metrics, memory given back, expedited requeue, password by script'
# shellcheck source=tests/lib/cluster.sh
. "$(dirname "$0")/lib/cluster.sh"
# shellcheck source=tests/lib/credits.sh
. "$TIDE_TOP/tests/lib/credits.sh"
need_cluster
skip_unless 'this Slurm is older than 25.11' slurm_since 25.11
slurm_since 26.05 && test_set_prereq MEMORY
credits_cluster --without job_submit \
	--set MetricsType=metrics/openmetrics \
	--set SelectTypeParameters=CR_Core_Memory \
	--set SlurmctldParameters=enable_expedited_requeue \
	--set PrologFlags=Contain
enroll vision 1000 >/dev/null || error "could not enroll"

# metrics PATH: what slurmctld answers there.
metrics() {
	local fd

	exec {fd}<>"/dev/tcp/127.0.0.1/$TIDE_PORT" &&
		printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' \
			"$1" >&"$fd" &&
		timeout 5 cat <&"$fd"
	exec {fd}>&-
}

# gauge NAME VALUE: of partition pool, there.
gauge() {
	metrics /metrics/partitions >metrics.out
	tr -d '\r' <metrics.out |
		grep -qxF "$1{partition=\"pool\"} $2"
}

test_expect_success 'the metrics of slurmctld count the jobs of the pool' '
	run=$(pool_job 600 -w n1 --gres=mlu:mlu290:1 --mem=100) &&
	wait_job_state $run RUNNING 20 &&
	wait_for 20 gauge slurm_partition_jobs_running 1 &&
	scancel $run && wait_job_end $run 20 &&
	wait_for 20 gauge slurm_partition_jobs_running 0
'

test_expect_success MEMORY 'a run that gives back memory is charged for all its time' '
	run=$(pool_job 6 -w n1 --gres=mlu:mlu290:1 --mem=1000) &&
	wait_job_state $run RUNNING 20 && ran_for $run 2 &&
	scontrol update jobid=$run MinMemoryNode=500 &&
	wait_job_state $run COMPLETED 30 &&
	wait_for 40 charged $run 2 && costs_right $run 1 && audit_ok
'

test_expect_success 'a close does not expedite a job that asks for it on failure' '
	run=$(pool_job 600 -w n1 --gres=mlu:mlu290:1 --mem=100 --requeue=expedite) &&
	wait_job_state $run RUNNING 20 &&
	sed "s/^WindowName=.*/WindowName=over Nodes=n[1-2] From=2024-01-01T00:00 Until=2024-01-02T00:00/" "$tide_conf" >over &&
	reconfigure over && wait_job_state $run PENDING 40 &&
	! job_field $run Reason | grep -qi expedit &&
	test "$(job_field $run Restarts)" = 1 &&
	! scontrol -o show job $run | grep -qi "EXPEDITING" &&
	scancel $run
'

# write_script LINES: the script in the place of StoragePass=slurm.
write_script() {
	printf '#!/bin/sh\n%s\n' "$1" >token.new && chmod 755 token.new &&
		mv token.new token
}

refused_by_script() {
	! tidectl credits balance vision >said 2>&1 &&
		grep "StoragePassScript=$PWD/token failed" said
}

test_expect_success 'the password of the database comes from a script' '
	write_script "env | grep ^SLURM_STORAGE_ >>$PWD/asked; echo TOKEN=slurm" &&
	sed -i "s|^StoragePass=.*|StoragePassScript=$PWD/token|" \
		"$TIDE_CLUSTER_DIR/etc/slurmdbd.conf" &&
	"$CLUSTER" restart --as-is slurmdbd &&
	run=$(pool_job 2 -w n3 --gres=mlu:mlu290:1 --mem=100) &&
	wait_job_state $run COMPLETED 30 &&
	wait_for 40 charged $run 1 && costs_right $run 1 && audit_ok &&
	grep SLURM_STORAGE_HOSTNAME=127.0.0.1 asked &&
	grep SLURM_STORAGE_USER=slurm asked
'

test_expect_success 'a script that fails is named, and asked again' '
	"$CLUSTER" restart --as-is slurmdbd &&
	write_script "exit 3" && refused_by_script &&
	write_script "echo TOKEN=slurm" &&
	wait_for 20 tidectl credits balance vision && audit_ok
'

test_done
