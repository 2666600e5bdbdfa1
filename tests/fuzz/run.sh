#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every fuzz target for a short, fixed number of inputs, always the same ones:
# the seeds in corpus/NAME, inputs that once broke something among them, and
# what libFuzzer makes of them.  TAP; `run.sh NAME SECONDS` looks for more in
# one target for so long, and keeps what it finds in the build tree.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
builddir=$(cd "${builddir:-build}" && pwd) || exit 1
fuzz=$builddir/tests/fuzz
export ASAN_OPTIONS=allocator_may_return_null=1

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

mkdir -p "$fuzz"
command -v clang >/dev/null || skip_all "clang is not installed"
echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' |
	clang -fsanitize=fuzzer,address --rtlib=compiler-rt -x c - \
		-o "$fuzz/probe" 2>"$fuzz/probe.log" ||
	skip_all "this clang has no libFuzzer (libclang-rt-dev)"
make -s -j"$(nproc)" -C "$builddir/tests" fuzz >"$fuzz/make.log" 2>&1 || {
	sed 's/^/# /' "$fuzz/make.log"
	echo "not ok 1 - the fuzz targets are built"
	echo 1..1
	exit 1
}

# fuzz NAME OPTION...: in a folder of its own, where a bad input is left.
fuzz()
{
	local name=$1
	shift
	mkdir -p "$fuzz/$name.found"
	cd "$fuzz/$name.found" || return 1
	"$fuzz/fuzz_$name" "$@" -max_len=4096 -rss_limit_mb=1024 -timeout=20 \
		. "$top/tests/fuzz/corpus/$name"
}

if [ $# = 2 ]; then
	fuzz "$1" -max_total_time="$2"
	exit
fi
n=0 failed=0
for target in "$fuzz"/fuzz_*; do
	[ -x "$target" ] && [ -f "tests/fuzz/${target##*/}.c" ] || continue
	name=${target##*/fuzz_}
	n=$((n + 1))
	rm -rf "$fuzz/$name.found"
	if (fuzz "$name" -runs=5000 -seed=1 -max_total_time=3 -verbosity=0) \
		>"$fuzz/$name.log" 2>&1; then
		echo "ok $n - $name"
		rm -rf "$fuzz/$name.found"
	else
		tail -n 60 "$fuzz/$name.log" | sed 's/^/# /'
		echo "not ok $n - $name: see $fuzz/$name.found"
		failed=1
	fi
done
echo "1..$n"
exit $failed
