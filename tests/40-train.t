#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tiderun train under mpirun: equal on any number of ranks, resumes to the same
# bits, survives what goes wrong with checkpoints, and obeys signals. Slurm is
# not here: scontrol is a stand-in that records how it was called; the real one
# is met in the tests of the whole cluster.
#
# One release: no Slurm is asked.
# Busy: it trains for minutes.
# shellcheck disable=SC2034 # read by sharness
test_description='tiderun train: ranks, resume, faults, signals'
# shellcheck source=tests/lib/sharness.sh
. "$(dirname "$0")/lib/sharness.sh"

tiderun=${builddir:?}/launcher/tiderun
skip_unless 'tiderun is not built' test -x "$tiderun"
skip_unless 'mpirun is not installed' command -v mpirun
skip_unless 'jq is not installed' command -v jq

unset "${!SLURM_@}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export SLURM_CPUS_PER_TASK=1
top=$TIDE_TOP

# write_config NAME [SED]: settings in NAME.yaml, folder NAME, changed by SED
write_config() {
	local name=$1

	sed -e "${2-}" >"$name.yaml" <<YAML
model:
  layers: 2
  width: 64
  heads: 4
  context: 64
data:
  file: text
training:
  batch_size: 2
  gradient_accumulation: 1
  learning_rate: 3e-3
  steps: 24
scheduling:
  warmup_steps: 4
checkpoint:
  directory: $name
  every: 5m
log:
  file: $name.jsonl
YAML
}

# $JOB, if set, is the job: for tiderun alone, since mpirun would ask Slurm for
# the nodes of the job.
# ranks N NAME: train with NAME.yaml; output in NAME.out
ranks() {
	mpirun --oversubscribe -np "$1" env ${JOB:+SLURM_JOB_ID=$JOB} \
		"$tiderun" train "$2.yaml" >"$2.out" 2>&1
}

# begin N NAME: the same in the background, pid in $pid
begin() {
	mpirun --oversubscribe -np "$1" env ${JOB:+SLURM_JOB_ID=$JOB} \
		"$tiderun" train "$2.yaml" >"$2.out" 2>&1 &
	pid=$!
	at_exit "kill $pid 2>/dev/null"
}

# at_step NAME N: has the log reached step N?
at_step() {
	[ -s "$1.jsonl" ] && [ "$(tail -n 1 "$1.jsonl" | jq .step)" -ge "$2" ]
}

# signal SIG: to every rank begun last, as srun does (mpirun passes on some
# signals and takes others for itself)
signal() {
	pgrep -P "$pid" -x tiderun | xargs kill "-$1"
}

# ends_with CODE: waits for what was begun last
ends_with() {
	local rc=0

	wait "$pid" || rc=$?
	[ $rc = "$1" ] || { echo "exit status $rc, wanted $1"; return 1; }
}

newest() {
	find "$1" -name 'step-*.h5' | sort | tail -n 1
}

same_losses() {
	jq .loss "$1.jsonl" >a && jq .loss "$2.jsonl" >b && cmp a b
}

# a text with some structure that needs no package
cat "$top"/launcher/*/*.[ch] >text

test_expect_success 'help, version and usage' '
	"$tiderun" --help | grep "tiderun train" &&
	"$tiderun" train --help | grep "checkpoint.every" &&
	"$tiderun" --version | grep "^tiderun [0-9]" &&
	test_expect_code 2 "$tiderun" &&
	test_expect_code 2 "$tiderun" fly &&
	test_expect_code 2 "$tiderun" exec -- true 2>exec.out && grep "not supported yet" exec.out &&
	test_expect_code 2 "$tiderun" train &&
	test_expect_code 2 "$tiderun" train --ranks=0 x.yaml &&
	test_expect_code 2 "$tiderun" train --fly x.yaml 2>fly.out && grep "^tiderun: .*--fly" fly.out &&
	test_expect_code 1 "$tiderun" train none.yaml
'

test_expect_success 'every key is in the man page, and the example is good' '
	"$tiderun" train --help | sed -n "s/^  \([a-z]*\.[a-z0-9_]*\) .*/\1/p" >keys &&
	test "$(wc -l <keys)" -gt 20 &&
	while read -r key; do grep -F "$key" "$top/man/tiderun.1" || return 1; done <keys &&
	"$tiderun" train --check "$top/contrib/examples/train.yaml"
'

test_expect_success 'a bad file is named with line, key and value, once' '
	write_config bad "s/warmup_steps: 4/warmup_steps: many/" &&
	test_expect_code 1 ranks 2 bad &&
	grep "bad.yaml:14: scheduling.warmup_steps: .many. is not a whole number" bad.out &&
	test "$(grep -c "bad.yaml:14" bad.out)" = 1
'

test_expect_success '--check says what would be done, and does nothing' '
	write_config plan &&
	"$tiderun" train --check --ranks=4 --json plan.yaml >plan.json &&
	test "$(jq -c "[.global_batch,.tokens_per_step,.step,.steps,.checkpoint]" plan.json)" = "[8,512,0,24,null]" &&
	"$tiderun" train --check plan.yaml | grep "would start" &&
	test ! -e plan
'

test_expect_success '1, 2 and 4 ranks: same losses, same checkpoint' '
	write_config one "s/accumulation: 1/accumulation: 4/" &&
	write_config two "s/accumulation: 1/accumulation: 2/" &&
	write_config four &&
	ranks 1 one && ranks 2 two && ranks 4 four &&
	same_losses one two && same_losses one four &&
	cmp "$(newest one)" "$(newest two)" &&
	cmp "$(newest one)" "$(newest four)" &&
	grep "starting at step 0" one.out &&
	test "$(jq -c .step one.jsonl | tail -n 1)" = 24
'

test_expect_success '3 ranks against 1: the same losses to 1e-5' '
	write_config triple && write_config single "s/accumulation: 1/accumulation: 3/" &&
	ranks 3 triple && ranks 1 single &&
	jq .loss triple.jsonl | paste -d" " - <(jq .loss single.jsonl) |
		awk "{ d = \$1 - \$2; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
			END { print n, worst; exit !(n == 24 && worst < 1e-5) }"
'

test_expect_success 'tools of HDF5 read a checkpoint' '
	h5dump -a /step "$(newest one)" | grep "(0): 24" &&
	h5dump -H -d /adam_v/block1.mlp.up.weight "$(newest one)" |
		grep -A1 H5T_IEEE_F32LE | grep "( 256, 64 )"
'

test_expect_success 'the loss falls, and the log has its fields' '
	head -n 1 one.jsonl | jq -e ".loss > 5.4 and .loss < 5.7" &&
	tail -n 1 one.jsonl | jq -e ".loss < 4" &&
	tail -n 1 two.jsonl | jq -e ".tokens_per_s > 0 and .comm_share > 0 and .comm_share < 1 and .ranks == 2"
'

test_expect_success 'warned: saves, says so, and ends with 75; then goes on to the same bits' '
	write_config warned "s/steps: 24/steps: 400/" &&
	begin 2 warned && wait_for 60 at_step warned 5 && signal USR1 &&
	ends_with 75 &&
	grep "warned at step" warned.out && grep "not in a Slurm job" warned.out &&
	step=$(jq .step warned.jsonl | tail -n 1) &&
	test -s warned/step-$(printf %010d $step).h5 &&
	ranks 2 warned && grep "resumed at step $step from warned/step-" warned.out &&
	write_config straight "s/steps: 24/steps: 400/" && ranks 2 straight &&
	same_losses warned straight &&
	cmp "$(newest warned)" "$(newest straight)"
'

test_expect_success 'resume on another number of ranks: the global batch stays' '
	write_config other "s/steps: 24/steps: 400/; s/accumulation: 1/accumulation: 2/" &&
	begin 2 other && wait_for 60 at_step other 5 && signal USR2 &&
	ends_with 75 &&
	cp -r other other.kept &&
	test_expect_code 1 ranks 3 other && grep "these numbers of ranks: 1 2 4$" other.out &&
	ranks 4 other && grep "the global batch stays 8 sequences" other.out &&
	write_config whole "s/steps: 24/steps: 400/; s/accumulation: 1/accumulation: 4/" &&
	ranks 1 whole && cmp "$(newest other)" "$(newest whole)"
'

test_expect_success 'complete: started again it does nothing and is content' '
	ranks 1 one && grep "done: 24 steps" one.out
'

# A stand-in for scontrol: records its arguments, fails if refuse exists.
mkdir -p bin
cat >bin/scontrol <<'SH'
#!/bin/sh
echo "$*" >>"$RECORD"
[ ! -e "$RECORD.refuse" ] || { echo "Requested operation is presently disabled" >&2; exit 1; }
SH
chmod 755 bin/scontrol
export RECORD=$PWD/requeued

# in_job NAME SIGNAL...: warned in job 77, ends with 75
in_job() {
	local name=$1
	shift
	rm -f "$RECORD"
	PATH=$PWD/bin:$PATH JOB=77 SLURM_JOB_NAME=$name begin 2 "$name" &&
		wait_for 60 at_step "$name" 5 || return 1
	for sig; do signal "$sig"; done
	ends_with 75
}

test_expect_success 'warned in a job: requeues it' '
	write_config requeue "s/steps: 24/steps: 4000/" &&
	in_job requeue USR1 &&
	echo "requeue 77" | cmp - "$RECORD" && grep "requeued job 77" requeue.out
'

test_expect_success 'a refused requeue is said, and the exit status is not 0' '
	write_config refuse "s/steps: 24/steps: 4000/" &&
	touch "$RECORD.refuse" && test_when_finished rm -f "$RECORD.refuse" &&
	in_job refuse USR1 &&
	grep "cannot requeue job 77: scontrol said: Requested operation is presently disabled" refuse.out
'

test_expect_success 'TERM: the job is being ended, it saves and asks for nothing' '
	write_config ended "s/steps: 24/steps: 4000/" &&
	in_job ended TERM &&
	test ! -e "$RECORD" && grep "being ended" ended.out && test -n "$(newest ended)"
'

test_expect_success 'more signals while it saves do no harm' '
	write_config many "s/steps: 24/steps: 4000/; s/width: 64/width: 256/" &&
	in_job many USR1 USR1 USR2 TERM USR1 &&
	test "$(find many -name "*.tmp" | wc -l)" = 0 && test -n "$(newest many)" &&
	"$tiderun" train --check many.yaml | grep "would resume"
'

test_expect_success 'a folder in use by a live job is refused, naming that job' '
	write_config shared "s/steps: 24/steps: 4000/" &&
	JOB=5 SLURM_JOB_NAME=shared begin 1 shared &&
	wait_for 60 at_step shared 2 && cp shared.out first.out &&
	JOB=6 SLURM_JOB_NAME=shared test_expect_code 1 ranks 2 shared &&
	grep "checkpoint folder .shared.: in use by job 5 run 0" shared.out &&
	signal USR1 && ends_with 75
'

test_expect_success 'a folder belongs to one job name and one model' '
	SLURM_JOB_NAME=thief test_expect_code 1 ranks 1 one &&
	grep "belongs to job name .local., this is .thief." one.out &&
	sed "s/layers: 2/layers: 3/" one.yaml >model.yaml &&
	test_expect_code 1 ranks 1 model && grep "belongs to model .gpt layers=2" model.out
'

test_expect_success 'another text than the checkpoint was trained on is refused' '
	cp text kept && test_when_finished mv kept text && echo more >>text &&
	test_expect_code 1 ranks 1 two && grep "another text" two.out
'

test_expect_success 'a damaged checkpoint is refused by name, the one before is used' '
	write_config hurt && ranks 1 hurt && last=$(basename "$(newest hurt)") &&
	sed -i "s/steps: 24/steps: 30/" hurt.yaml && ranks 1 hurt &&
	test "$(newest hurt)" = hurt/step-0000000030.h5 &&
	printf "\377" | dd of=hurt/step-0000000030.h5 bs=1 seek=50000 conv=notrunc &&
	"$tiderun" train --check hurt.yaml | grep "at step 24 of 30" &&
	test -e hurt/step-0000000030.h5 &&
	ranks 1 hurt &&
	grep "checkpoint .step-0000000030.h5. is damaged: its bytes do not match its digest" hurt.out &&
	grep "resumed at step 24 from hurt/$last" hurt.out &&
	truncate -s 100000 hurt/step-0000000030.h5 && ranks 1 hurt &&
	grep "step-0000000030.h5. is damaged: its digest is missing" hurt.out &&
	for f in hurt/*.h5; do truncate -s -1 $f; done &&
	test_expect_code 1 ranks 1 hurt && grep "no good checkpoint is left" hurt.out
'

# A model whose save takes long enough to be met half-way.
big() {
	write_config "$1" "s/width: 64/width: 512/; s/layers: 2/layers: 3/; s/context: 64/context: 8/; s/every: 5m/every: 1s/; s/steps: 24/steps: 40000/; s/batch_size: 2/batch_size: 1/"
}

# kill_in_save NAME WHICH: kill -9 rank WHICH while a .tmp is there, after one
# checkpoint is complete
kill_in_save() {
	wait_for 60 eval 'test -n "$(newest '"$1"')" && ls '"$1"'/*.tmp' &&
		kill -9 "$(pgrep -P "$pid" -x tiderun | sed -n "$2p")"
}

for which in 1 2; do
	test_expect_success "kill -9 of rank $((which - 1)) during a save: the newest complete one loads" '
		big killed$which && begin 2 killed$which &&
		kill_in_save killed$which $which && ! ends_with 0 &&
		last=$(newest killed$which) &&
		begin 2 killed$which && wait_for 60 grep "resumed at step" killed$which.out &&
		grep "resumed at step .* from $last" killed$which.out &&
		test -z "$(find killed$which -name "step-*.tmp" ! -newer killed$which.out)" &&
		signal TERM && ends_with 75 &&
		rm -rf killed$which
	'
done

unshare -m true 2>/dev/null && test_set_prereq NAMESPACE

# In a mount namespace with a small file system; $1 is tiderun.
cat >full.sh <<'SH'
mount -t tmpfs -o size=11m none full || exit 1
mpirun --oversubscribe -np 2 "$1" train full.yaml >full.out 2>&1 &
for i in $(seq 300); do
	[ "$(grep -c 'No space left' full.out)" -ge 2 ] && break
	sleep 0.1
done
ls full >full.ls
pgrep -P $! -x tiderun | xargs kill -TERM
wait $!
echo $? >full.rc
"$1" train --check --ranks=2 full.yaml >full.check
SH

test_expect_success NAMESPACE 'disk full during a save: said, training goes on, the last good one stays' '
	write_config full "s/width: 64/width: 128/; s/every: 5m/every: 1s/; s/steps: 24/steps: 4000/" &&
	mkdir -p full && unshare -m bash full.sh "$tiderun" &&
	grep "cannot write checkpoint .*: No space left on device; training goes on" full.out &&
	grep "the last good checkpoint is of step" full.out &&
	test "$(cat full.rc)" = 75 &&
	test_must_fail grep tmp full.ls && grep "would resume" full.check
'

# The same with a log that is full for a while; pad is what filled it.
cat >logfull.sh <<'SH'
mount -t tmpfs -o size=8k none small || exit 1
head -c 4000 /dev/zero >small/pad
"$1" train logfull.yaml >logfull.out 2>&1 || exit 1
rm small/pad
sed -i "s/steps: .*/steps: 203/" logfull.yaml
"$1" train logfull.yaml >>logfull.out 2>&1 || exit 1
cp small/log logfull.jsonl
SH

test_expect_success NAMESPACE 'log full for a while: said once, and only whole lines in it' '
	write_config logfull "s|file: logfull.jsonl|file: small/log|; s/steps: 24/steps: 200/" &&
	mkdir -p small && unshare -m bash logfull.sh "$tiderun" &&
	test "$(grep -c "cannot write the log: No space left on device; training goes on" logfull.out)" = 1 &&
	jq .step logfull.jsonl >steps && test "$(tail -n 3 steps | xargs)" = "201 202 203"
'

# /dev/shm without room: a few blocks of /tmp do.
cat >noshm.sh <<'SH'
mount -t tmpfs -o size=4k none /dev/shm || exit 1
dd if=/dev/zero of=/dev/shm/full bs=4k count=2
"$1" train noshm.yaml
SH

test_expect_success NAMESPACE 'full /dev/shm: checkpoints are written all the same' '
	write_config noshm && unshare -m bash noshm.sh "$tiderun" >noshm.out 2>&1 &&
	test -n "$(newest noshm)"
'

test_expect_success 'a log whose reader has gone does not end a training' '
	write_config piped "s|file: piped.jsonl|file: pipe|; s/steps: 24/steps: 300/" && mkfifo pipe &&
	test_expect_code 1 ranks 1 piped && grep "cannot open log .pipe.: No such device" piped.out &&
	{ head -n 1 <pipe >/dev/null & } && wait_for 10 ranks 1 piped &&
	grep "done: 300 steps" piped.out
'

test_expect_success 'what one rank alone meets is told by that rank, and all end' '
	write_config alone && mkdir -p elsewhere &&
	test_expect_code 1 mpirun --oversubscribe -np 2 bash -c \
		"[ \$OMPI_COMM_WORLD_RANK = 0 ] || cd elsewhere; exec \"\$0\" train alone.yaml" \
		"$tiderun" >alone.out 2>&1 &&
	grep "rank 1 on .*: cannot open text .text.: No such file" alone.out
'

test_expect_success 'a loss that is no number ends it, before anything is spoilt' '
	write_config high "s/learning_rate: .*/learning_rate: 10/; s/every: 5m/every: 1s/; s/steps: 24/steps: 100000/; s/training:/training:\n  epsilon: 1e-30\n  weight_decay: 10/" &&
	test_expect_code 1 ranks 2 high && grep "lower training.learning_rate" high.out &&
	test "$(grep -c "lower training" high.out)" = 1
'

test_expect_success 'a log that cannot be opened is an error, at once' '
	write_config nolog "s|file: nolog.jsonl|file: none/log|" &&
	test_expect_code 1 ranks 2 nolog && grep "cannot open log .none/log.: No such file" nolog.out
'

test_expect_success 'requeued but no checkpoint there: said' '
	write_config lost && JOB=9 SLURM_RESTART_COUNT=2 ranks 1 lost &&
	grep "requeued 2 times, but .lost. holds no checkpoint" lost.out
'

test_expect_success 'ranks that cannot see each other are refused with the remedy' '
	test_must_fail env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 \
		"$tiderun" train one.yaml 2>alone.out &&
	grep "srun --mpi=pmix" alone.out
'

test_done
