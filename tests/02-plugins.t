#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every plugin against the daemons that load it. Slurm binds functions when they
# are first called, so one that a daemon does not have would end that daemon in
# the middle of its work; here all are looked up beforehand. That a plugin has
# what the loader asks for is checked when it is built.

test_description='plugins find in their daemons what they call'
# shellcheck source=tests/lib/sharness.sh
. "$(dirname "$0")/lib/sharness.sh"
skip_unless 'Slurm is not installed' which slurmctld slurmd slurmdbd slurmstepd
skip_unless 'the plugins are not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"

# needed FILE: the libraries that FILE brings along, found or in Slurm's folder.
needed() {
	ldd "$1" | awk '$3 ~ /^\// {print $3}'
}

# defined FILE...: names that the files show to others.
defined() {
	nm -D --defined-only "$@" 2>/dev/null |
		awk 'NF == 3 {sub(/@.*/, "", $3); print $3}' | sort -u
}

# wanted TYPES PLUGIN: names that the plugin takes from elsewhere.
wanted() {
	nm -D --undefined-only "$2" |
		awk -v t="$1" '$1 ~ "^[" t "]$" {sub(/@.*/, "", $2); print $2}' |
		sort -u
}

# all_found PLUGIN PROGRAM: nothing that must be there is missing.
all_found() {
	local program plugin=$1

	program=$(readlink -f "$(PATH=$PATH:/usr/sbin which "$2")") || return 1
	# shellcheck disable=SC2046 # a list of files
	defined "$plugin" "$program" $(needed "$program") \
		$(needed "$plugin") >have
	wanted U "$plugin" >want.raw
	test -s want.raw && test -s have || return 1
	comm -23 want.raw have >missing
	! test -s missing || {
		echo "$plugin wants of $2:"
		cat missing
		return 1
	}
}

cat >list <<'LIST'
gres/accel/.libs/gres_accel.so slurmctld slurmd slurmstepd
gres/dcu/.libs/gres_dcu.so slurmctld slurmd slurmstepd
gres/mlu/.libs/gres_mlu.so slurmctld slurmd slurmstepd
gres/npu/.libs/gres_npu.so slurmctld slurmd slurmstepd
select/tide/.libs/select_cons_tres.so slurmctld
job_submit/tide/.libs/job_submit_tide.so slurmctld
acct/credits/.libs/accounting_storage_credits.so slurmdbd
LIST

while read -r so programs; do
	for program in $programs; do
		test_expect_success "${so##*/} in $program" '
			all_found "$builddir/plugins/$so" "$program"
		'
	done
done <list

# A plugin of another Slurm must still be opened, to say so (compat/loaded.h):
# what that Slurm lacks may only be missed when it is called.
binds_late() {
	readelf -dW "$1" >dynamic && grep -q NEEDED dynamic &&
		! grep -wE "BIND_NOW|NOW" dynamic
}

while read -r so programs; do
	test_expect_success "${so##*/} binds functions when they are called" '
		binds_late "$builddir/plugins/$so"
	'
done <list

# Clients of 22.05 open every select plugin. Functions may be missing there, but
# an address of data is looked up at once, so it must be weak.
test_expect_success 'clients can open the select plugin' '
	cat >open.c <<-C &&
		#include <dlfcn.h>
		#include <stdio.h>

		int main(int argc, char **argv)
		{
			void *p = dlopen(argv[argc - 1], RTLD_LAZY);

			if (!p)
				fprintf(stderr, "%s\n", dlerror());
			return !p;
		}
	C
	full=$(ldd "$(which sinfo)" | sed -n "s|.*libslurmfull.so => \(/[^ ]*\) .*|\1|p") &&
	gcc -o open open.c -Wl,--no-as-needed "$full" \
		"-Wl,-rpath,${full%/*}" &&
	./open "$builddir/plugins/select/tide/.libs/select_cons_tres.so"
'

# The operations with the types that Slurm calls them by are read out of its
# source: a function of ours that differs must not compile.
source=$(sed -n 's|^#include "\(.*\)/config.h"$|\1|p' \
	"$builddir/compat/slurm/config.h")

# compiles HEADER LINE: with that header of compat/.
compiles() {
	printf '#include "compat/%s"\n%s\n' "$1" "$2" >try.c &&
		gcc -std=gnu11 -fsyntax-only -I"$TIDE_TOP" -I"$builddir" \
			-iquote "$builddir/compat/slurm" -isystem "$source" \
			-isystem "$source/slurm" try.c 2>try.err
}

while read -r header operation right; do
	test_expect_success "another $operation does not compile" '
		compiles $header "$right" || { cat try.err; false; } &&
		! compiles $header "short $operation(char, double);" &&
		grep "conflicting types for .$operation." try.err
	'
done <<'LIST'
select.h select_p_job_test int select_p_job_test(TIDE_JOB_TEST_PARAMS);
select.h select_p_job_begin int select_p_job_begin(job_record_t *job);
gres.h gres_p_task_set_env void gres_p_task_set_env(char ***, bitstr_t *, uint64_t, bitstr_t *, gres_internal_flags_t);
submit.h job_modify int job_modify(TIDE_MODIFY_PARAMS);
dbd.h jobacct_storage_p_job_complete int jobacct_storage_p_job_complete(void *, job_record_t *);
LIST

# interface FUNCTIONS SYMBOLS: what a release with these tables would give.
interface() {
	mkdir -p tree/src/interfaces &&
		printf 'typedef struct slurm_gres_ops {\n%b} slurm_gres_ops_t;\nstatic const char *syms[] = {\n%b};\n' \
			"$1" "$2" >tree/src/interfaces/gres.c &&
		"$TIDE_TOP/compat/operations.sh" gres tree >made 2>made.err
}

two='\tint (*one) (int a);\n\t/* why; (*not) this */\n\tlist_t *(*two)(void);\n'

test_expect_success 'a table of operations becomes a header' '
	interface "$two" "\t\"gres_p_one\",\n\t\"gres_p_two\",\n" &&
	grep "int  *gres_p_one (int a);" made &&
	grep "list_t \*  *gres_p_two(void);" made &&
	test "$(grep -c ";" made)" = 2 &&
	grep "OP(gres_p_two)" made
'

test_expect_success 'tables that do not go together are refused' '
	! interface "$two" "\t\"gres_p_one\",\n" &&
	grep "2 functions and 1 symbols in the tables of" made.err &&
	! interface "" "\t\"gres_p_one\",\n\t\"gres_p_two\",\n" &&
	grep "operations.sh: " made.err
'

test_expect_success 'an operation that is missing in a plugin is named' '
	interface "$two" "\t\"gres_p_get_devices\",\n\t\"gres_p_two\",\n" &&
	! "$TIDE_TOP/compat/check-symbols.sh" \
		"$builddir/plugins/gres/mlu/.libs/gres_mlu.so" gres tree \
		2>missing.err &&
	grep "lacks what Slurm gres asks for" missing.err &&
	grep -x "	gres_p_two" missing.err && ! grep get_devices missing.err
'

test_done
