#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The whole story on a private cluster: a training job waits for a window on
# lent accelerators, trains, is warned before the close, saves, is requeued,
# goes on in the next window where it was, ends, and is paid for.  Every daemon
# is real; the accelerators are device nodes made by mknod (synthetic), the
# arithmetic is done by the CPU.
set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
keep=no
opens_in=${TIDE_DEMO_OPENS_IN:-45}	# seconds from now to the first window
first_for=${TIDE_DEMO_FIRST_FOR:-80}	# its length
gap=${TIDE_DEMO_GAP:-15}		# from its close to the second opening
warn=20					# --signal, seconds before the close

usage()
{
	cat <<'USAGE'
usage: contrib/demo.sh [--keep]

Installs and builds what is missing, starts a private Slurm cluster of three
nodes on loopback, two of them lent, and runs one training job across the close
of a window.  Takes under six minutes once packages and build are there.  Needs
root; touches no Slurm that runs on this machine.

  --keep  leave the cluster up and say how to use and stop it

The last line is `demo: ok ...` with what was measured, or
`demo: FAILED at WHAT` with exit status 1.
USAGE
}

while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=yes ;;
	-h | --help) usage; exit 0 ;;
	*) echo "demo.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
	esac
	shift
done

dir=
job=
tail_pid=
at=start
started=$(date +%s)

say() { printf '\033[1m[%4ds] %s\033[0m\n' $(($(date +%s) - started)) "$*"; }
show() { printf '        $ %s\n' "$*"; "$@" 2>&1 | sed 's/^/        /'; }

# shellcheck disable=SC2317 # called by the trap
leave()
{
	local status=$?
	# A second Ctrl-C must not leave half a cluster.
	trap - EXIT
	trap '' HUP INT TERM
	[ -z "$tail_pid" ] || kill "$tail_pid" 2>/dev/null
	if [ $status != 0 ] && [ -n "$dir" ]; then
		[ -z "$job" ] || tail -n 20 "$work/train-$job.out" 2>/dev/null
		"$top/tests/cluster" logs --dir "$dir" 2>&1 | tail -n 60
	fi
	if [ -n "$dir" ] && [ $keep = yes ]; then
		echo "the cluster is up in $dir:"
		echo "  eval \"\$(tests/cluster env --dir $dir)\"   # then squeue, sacct, tidectl ..."
		echo "  tests/cluster stop --dir $dir"
	elif [ -n "$dir" ]; then
		"$top/tests/cluster" stop --dir "$dir" >/dev/null 2>&1
	fi
	[ $status = 0 ] || echo "demo: FAILED at $at"
	exit $status
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail() { echo "demo.sh: $*" >&2; exit 1; }

# until_true SECONDS COMMAND...: poll twice a second.
until_true()
{
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $limit ] || return 1
		sleep 0.5
	done
}

job_state() { squeue -h -j "$job" -t all -o %T 2>/dev/null; }
job_is() { [ "$(job_state)" = "$1" ]; }
# Not by squeue --states: a job that is just sent a signal matches none.
job_ended() { job_state | grep -qE '^(COMPLETED|FAILED|CANCELLED|TIMEOUT|PREEMPTED|NODE_FAIL|OUT_OF_MEMORY|BOOT_FAIL|DEADLINE)$'; }
reason() { squeue -h -j "$job" -o %R; }
has_reason() { reason | grep -q 'next window'; }
log_says() { grep -qE "$1" "$work/train-$job.out" 2>/dev/null; }
last_step() { tail -n 1 "$work/train.jsonl" | jq -r .step; }

at=root
[ "$(id -u)" = 0 ] || fail "root is needed: for packages, device nodes and the nodes' namespaces"
at=build
say "packages and build"
"$top/contrib/build.sh" || fail "the build failed"
PATH=$top/build/cmd/tidectl:$top/build/launcher:$PATH

at=text
work=$top/build/demo
exec {lock}>"$top/build/demo.lock"
flock -n "$lock" || fail "another demo.sh runs in this checkout"
rm -rf "$work"
mkdir -p "$work"
bible -l9999 'gen1:1-rev22:21' >"$work/bible.txt" 2>/dev/null
[ "$(wc -c <"$work/bible.txt")" -gt 4000000 ] || fail "could not write out the King James Bible"

at=calibration
sed "s|file: text|file: $work/bible.txt|" "$top/contrib/examples/train.yaml" \
	>"$work/train.yaml"
# As many steps as take well over the first window, however busy the machine is
# just now: the quickest step is the one that nothing disturbed.
mkdir "$work/try"
sed 's/steps: 300/steps: 12/' "$work/train.yaml" >"$work/try/train.yaml"
(cd "$work/try" && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	mpirun --oversubscribe --bind-to none -n 4 tiderun train train.yaml) \
	>"$work/try/out" 2>&1 || { cat "$work/try/out"; fail "tiderun does not run here"; }
seconds=$(jq -s '.[2:] | map(.seconds) | min' "$work/try/train.jsonl")
steps=$(jq -n "150 / $seconds | ceil | if . < 60 then 60 else . end")
sed -i "s/steps: 300/steps: $steps/" "$work/train.yaml"
say "a step of the example model takes $seconds s here: the job will train $steps steps"

now=$(date +%s)
stamp() { TZ=UTC date -d "@$1" +%Y-%m-%dT%H:%M:%S; }
open1=$((now + opens_in)) close1=$((now + opens_in + first_for))
open2=$((close1 + gap)) close2=$((close1 + gap + 1800))
cat >"$work/tide.conf" <<CONF
PoolPartition=pool
PoolAccount=centre
IssueAccount=mint
Fee=5
Device=mlu:mlu290 Rate=200
OwnerAccount=nlp   Nodes=n[1-2]
WindowName=evening Nodes=n[1-2] From=$(stamp $open1) Until=$(stamp $close1) TimeZone=UTC
WindowName=night   Nodes=n[1-2] From=$(stamp $open2) Until=$(stamp $close2) TimeZone=UTC
CONF
say "tide.conf: nlp lends n1 and n2 from $(stamp $open1) to $(stamp $close1), and again from $(stamp $open2) (UTC)"
show tidectl windows --conf "$work/tide.conf" --at "@$now"

at=cluster
say "starting a private cluster: munged, mariadbd, slurmdbd, slurmctld, 3 slurmd with 2 synthetic MLUs each"
pool='PartitionName=pool Nodes=ALL Default=YES State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=20 TRESBillingWeights=gres/mlu:mlu290=200000'
own='PartitionName=nlp Nodes=n[1-2] State=UP PriorityTier=10 AllowAccounts=nlp'
dir=$("$top/tests/cluster" start --nodes 3 --cpus 2 \
	--gres mlu:mlu290:2 --tide-conf "$work/tide.conf" \
	--account vision,nlp,centre,mint --user root \
	--partition "$pool" --partition "$own" \
	--set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE \
	--set SlurmctldParameters=preempt_send_user_signal \
	--set AccountingStorageEnforce=associations,limits,qos,safe \
	2>"$work/start.log") || { cat "$work/start.log"; fail "the cluster did not start"; }
eval "$("$top/tests/cluster" env --dir "$dir")"
show sinfo -N -o '%N %P %T %G'
at=check
show tidectl check --conf-dir "$(dirname "$SLURM_CONF")" ||
	fail "tidectl check found a fault"

at=credits
say "vision is enrolled and given 100 credits"
show tidectl credits enroll vision || fail "could not enroll"
show tidectl credits grant vision 100 --note="a start" || fail "could not grant"

at=submit
cat >"$work/job.sh" <<'JOB'
#!/bin/bash
#SBATCH --partition=pool --account=vision --gres=mlu:2
#SBATCH --nodes=2 --ntasks-per-node=2
#SBATCH --time=10 --time-min=1
#SBATCH --requeue --open-mode=append
srun --mpi=pmix tiderun train train.yaml
JOB
say "an ordinary batch script"
sed 's/^/        | /' "$work/job.sh"
job=$(cd "$work" && sbatch --parsable --signal=USR1@$warn \
	--output=train-%j.out job.sh) || fail "the job was refused"

at=waiting
until_true 60 has_reason || fail "job $job shows '$(reason)', not its next window"
say "job $job waits, and squeue says for what"
show squeue -j "$job" -o '%i %P %a %T %S %R'
show squeue --start -j "$job" -o '%i %S %R'

at=opening
until_true $((opens_in + 30)) job_is RUNNING || fail "job $job did not start"
ran_at=$(date +%s)
say "the window is open: job $job runs, $((ran_at - open1)) s after the opening"
[ "$ran_at" -ge "$open1" ] || fail "job $job started before the window"

at=training
until_true 60 log_says 'step' || fail "no training step"
show squeue -j "$job" -o '%i %T %N %l %e'
tail -n +1 -f "$work/train-$job.out" > >(sed -u 's/^/        | /') &
tail_pid=$!
at=warning
warned_or_ended() { log_says 'warned' || job_ended; }
until_true $((first_for + 20)) warned_or_ended || fail "the job was not warned before the close"
log_says 'warned' || fail "the job ended before its window did"
warned_at=$(date +%s)
say "warned $((close1 - warned_at)) s before the close"
at=requeue
until_true 40 job_is PENDING || fail "job $job was not requeued"
saved=$(last_step)
say "saved at step $saved and requeued $((close1 - $(date +%s))) s before the close: the nodes are the owner's"

at=resume
until_true $((gap + 150)) job_is RUNNING || fail "job $job did not start again"
say "the next window is open: job $job runs again"
until_true 90 log_says 'resumed at step' || fail "the job did not resume"
at=end
until_true 400 job_ended || fail "job $job did not end"
kill "$tail_pid" 2>/dev/null
tail_pid=
recorded() { [ "$(sacct -nX -P -j "$job" -o State)" = COMPLETED ]; }
until_true 60 recorded || fail "job $job ended $(job_state), sacct says $(sacct -nX -P -j "$job" -o State)"
resumed=$(sed -n 's/.*resumed at step \([0-9]*\).*/\1/p' "$work/train-$job.out" | tail -n 1)
requeued=$(grep -c 'resumed at step' "$work/train-$job.out")
say "done, at step $(last_step)"
[ "$resumed" = "$saved" ] || fail "resumed at step $resumed, saved at $saved"

at=accounting
charged() { [ "$(sacct -nDX -P -j "$job" -o SystemComment | grep -c credits=)" -ge 2 ]; }
until_true 60 charged || fail "the runs were not charged"
say "every run, with its credits, in plain sacct"
show sacct -X -D -j "$job" -o JobID,Account,State,Start,End,AllocTRES%60,SystemComment%50
say "what vision spent, what nlp earned"
show tidectl credits statement vision
show tidectl credits statement nlp
show tidectl credits balance
at=audit
show tidectl credits audit || fail "the audit found a fault"
spent=$(tidectl credits balance vision --json | jq -r '.[0].spent')
earned=$(tidectl credits balance nlp --json | jq -r '.[0].earned')
echo "demo: ok requeued=$requeued resumed_at_step=$resumed spent=$spent earned=$earned audit=ok"
