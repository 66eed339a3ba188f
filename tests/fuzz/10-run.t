#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each fuzzer of BUILD over its seeds and a second on from there: always the same way, and
# nothing is kept. With FUZZ_S=seconds, as `make fuzz` sets it, for so long, another way each time;
# what was found, how often each reader ran, and how much each campaign found that the ones before
# had not, stays in BUILD/fuzz for the next. With names, only these:
# FUZZ_S=600 tests/fuzz/10-run.t recording osnoise.
cd "$(dirname "$0")/../.." || exit 1
fuzz=${BUILD:-build}/fuzz
n=0 failed=0
[ -x "$fuzz/fuzz_recording" ] || {
	echo "1..0 # SKIP no fuzzers are built: clang's libclang_rt.fuzzer is not there" \
		"(make fuzz installs it)"
	exit 0
}
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) # a disk would take the time of the journal's
trap 'rm -rf "$work"' EXIT
mkdir "$work/recording" && "${BUILD:-build}/golden" "$work/recording" >/dev/null || {
	echo "Bail out! golden failed"
	exit 1
}
mkdir "$work/joined" # a guest, and its host
for guest in guest guests; do
	cat "$work/recording/vm.$guest" "$work/recording/vm.host" >"$work/joined/$guest"
done
[ $# -gt 0 ] || for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	set -- "$@" "${name%.c}"
done
# Without -entropic=0 half of the time goes into the choice of what to mutate, and a tenth into who
# asked for memory, which the same input tells when it is run again; with one place each in place of
# two, none would be a leak.
options=quarantine_size_mb=16:malloc_context_size=2
for name; do
	seeds=$work/$name
	mkdir -p "$seeds"
	# inputs to be read, inputs they stumbled over before, and inputs that lead far
	for dir in "tests/fixtures/$name" "tests/fuzz/seeds/$name"; do
		[ ! -d "$dir" ] || find "$dir" -maxdepth 1 -type f -exec cp {} "$seeds" \;
	done
	found=$work/found-$name counts=$work/counts-$name growth=$work/growth
	dict=tests/fuzz/$name.dict seed=-seed=1
	[ -z "$FUZZ_S" ] || found=$fuzz/corpus-$name counts=$fuzz/counts-$name \
		growth=$fuzz/growth-$name seed=
	if [ -f "$dict" ]; then dict=-dict=$dict; else dict=; fi
	mkdir -p "$found"
	# shellcheck disable=SC2086 # an option or nothing
	if TMPDIR=$work FUZZ_COUNTS=$counts ASAN_OPTIONS=$options "$fuzz/fuzz_$name" \
		-max_total_time="${FUZZ_S:-1}" $seed -max_len=12288 -timeout=60 -entropic=0 \
		-malloc_limit_mb=256 -rss_limit_mb=512 -print_final_stats=1 \
		-close_fd_mask=3 $dict -artifact_prefix="$fuzz/$name-" \
		"$found" "$seeds" >"$work/said" 2>&1; then
		ok=ok
	else
		ok='not ok' failed=1
	fi
	n=$((n + 1))
	echo "$ok $n - the reader of $name stands what fuzz_$name thinks of"
	if [ "$ok" = ok ]; then
		grep '^stat::\(number_of\|average\|slowest\|peak\)' "$work/said"
		awk '/INITED/ { cov = $4; ft = $6 }
			/DONE/ { print substr($1, 2) " runs: edges " cov " to " $4 ", features " \
				ft " to " $6 }' "$work/said" | tee -a "$growth"
		tests/fuzz/counts "$counts"
	else
		tail -n 40 "$work/said"
	fi | sed 's/^/# /'
done
n=$((n + 1))
if FUZZ_CPU_MS=0 "$fuzz/fuzz_osnoise" -close_fd_mask=3 -artifact_prefix="$work/" \
	tests/fuzz/10-run.t \
	2>&1 | grep -q 'longer than allowed'; then
	echo "ok $n - an input that takes longer than allowed is found"
else
	echo "not ok $n - an input that takes longer than allowed is found" && failed=1
fi
echo "1..$n"
exit $failed
