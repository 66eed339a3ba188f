#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# culprit diff of recordings that were measured with different thresholds: hiccups of both count
# from the larger one on.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-$here/../../build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
cd "$work" || exit 1
"$build/golden" "$work" >/dev/null || { echo "Bail out! $build/golden failed"; exit 1; }

ok() { # NAME PATTERN: a line of the last output is the pattern
	n=$((n + 1))
	if grep -qx -e "$2" out; then echo "ok $n - $1"; else
		echo "not ok $n - $1"
		sed 's/^/# /' out
		failed=1
	fi
}

# 3 hiccups of 2.5 us with a threshold of 200 ns, and 44 with 500 ns
"$build/culprit" diff quiet.rec guest.rec >out 2>&1
ok "a lower threshold is raised, and that is said" \
	"  the thresholds differ: compared are hiccups of 500 ns and more, as in the recording .*"
ok "what was measured is said" "  threshold *200 ns (auto)  500 ns (auto)"
ok "hiccups that are longer stay" "  hiccups  *0.3  *44 .*"
# one of 4 us and 70 of 250 ns with 200 ns: the 70 are no hiccups beside the other
"$build/culprit" diff short.rec guest.rec >out 2>&1
ok "shorter ones are no hiccups" "  hiccups  *1  *44 .*"
ok "and short gaps, with those that were it before" "  short gaps, besides  26.0 us  6.00 ms"
"$build/culprit" diff -f json short.rec guest.rec >out 2>&1
ok "JSON has the threshold that holds" " *\"threshold_ns\": 500,"
"$build/culprit" diff short.rec short.rec >out 2>&1
ok "against itself they are hiccups" "  hiccups  *71  *71 .*"
"$build/culprit" diff sleep.rec sleep.rec >out 2>&1
ok "all values of a series are compared, and not only its outliers" "  latency  *count  *40  *40"
ok "by their percentiles" "  *median  *3.06 us  3.06 us  *1  .*  same"
# threads: engine lost 10.1 ms of 40 ms, rcuc/3 2 us of 2 ms; three others reported their losses,
# left a CPU unseen, or were not seen to run
"$build/culprit" diff watch.rec watch.rec >out 2>&1
ok "of watched threads those count whose loss is known" "  time lost  *241 ms   241 ms .*"
ok "the others are left out, and that is said" \
	"  watch.rec: 3 of 5 watched threads are left out, .*"
ok "with their sources" "  same  *2.48 ms  2.48 ms .* outside  *not seen"
"$build/culprit" report --rank watch.rec two.rec >out 2>&1
ok "a fleet's report says the same" "  trader  *1  24.1476 .*"
"$build/culprit" diff -f json watch.rec watch.rec >out 2>&1
ok "JSON has the CPUs that were watched, and no numbers of threads" " *\"cpus\": \[0, 3\],"
ok "JSON has their number" " *\"left_out\": 3,"
ok "and the time of the others" " *\"observed_ns\": 42000000,"
head -c $(($(wc -c <watch.rec) - 20)) watch.rec >damaged.rec
"$build/culprit" diff watch.rec damaged.rec >out 2>&1
ok "nothing that counts is refused" \
	"culprit: damaged.rec: there is nothing to compare: .* is damaged; .*"
refused() { # NAME PATTERN ARGUMENT...: its status, and the line that is all that it prints
	name=$1 line=$2
	shift 2
	"$build/culprit" diff "$@" >said 2>&1
	echo "$? $(cat said)" >out
	ok "$name" "1 culprit: $line"
}
refused "CPUs are not compared with threads" \
	"watch.rec: a recording of watch, but two.rec is one of run: they do not lose the same .*" \
	two.rec watch.rec
refused "nor where side A has several recordings" "watch.rec: a recording of watch, .*" \
	two.rec four.rec -- quiet.rec watch.rec
refused "nor gaps with a workload's windows" "sleep.rec: a recording of a workload, .*" \
	-f json guest.rec guest.rec sleep.rec
"$build/culprit" diff vm.guest vm.guest --host vm.exits --host vm.host >out 2>&1
ok "a guest's sources have their host's names" "  same .* host  *backup"
ok "its time is divided: what the host explains" "  host  *14.1 ms  14.1 ms"
ok "and the rest, which it does not" "  outside  *6.67 ms  6.67 ms"
"$build/culprit" diff vm.guest vm.guest --host watch.rec >out 2>&1
ok "a recording of another host is told of" "culprit: vm.guest: its host: not joined: .*"
echo "1..$n"
exit $failed
