#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each fuzzer of BUILD over its seeds and some seconds on from there: always the same way, and
# nothing is kept. With FUZZ_S=seconds, as `make fuzz` sets it, for so long, another way each time,
# and what was found stays in BUILD/fuzz for the next.
cd "$(dirname "$0")/../.." || exit 1
fuzz=${BUILD:-build}/fuzz
n=0 failed=0
[ -x "$fuzz/fuzz_recording" ] || {
	echo "1..0 # SKIP no fuzzers are built: clang's libclang_rt.fuzzer is not there" \
		"(make fuzz installs it)"
	exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/recording" && "${BUILD:-build}/golden" "$work/recording" >/dev/null || {
	echo "Bail out! golden failed"
	exit 1
}
# What they stumbled over before comes along.
cp tests/fuzz/seeds/recording/* "$work/recording"
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	seeds=tests/fixtures/$name
	[ -d "$seeds" ] || seeds=$work/$name
	found=$work/found-$name
	seed=-seed=1
	[ -z "$FUZZ_S" ] || found=$fuzz/corpus-$name seed=
	mkdir -p "$found"
	# shellcheck disable=SC2086 # an option or nothing
	if "$fuzz/fuzz_$name" -max_total_time="${FUZZ_S:-5}" $seed -max_len=8192 -timeout=60 \
		-verbosity=0 -print_final_stats=1 -close_fd_mask=2 -dict="tests/fuzz/$name.dict" \
		-artifact_prefix="$fuzz/$name-" "$found" "$seeds" >"$work/said" 2>&1; then
		ok=ok
	else
		ok='not ok' failed=1
	fi
	n=$((n + 1))
	echo "$ok $n - the reader of $name stands what fuzz_$name thinks of"
	if [ "$ok" = ok ]; then
		grep '^stat::\(number_of\|average\)' "$work/said"
	else
		tail -n 40 "$work/said"
	fi | sed 's/^/# /'
done
echo "1..$n"
exit $failed
