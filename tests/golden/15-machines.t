#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of machines with 60 to 1,024 CPUs, made here (machines.c): which CPU is different, on one
# screen. The text is kept in machines/; of the other formats what may not grow is looked at. With
# the argument "write" the texts are written there instead.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-$here/../../build}" && pwd)
mode=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
export LC_ALL=C NO_COLOR=1
unset COLUMNS

ok() { # NAME COMMAND...
	n=$((n + 1))
	name=$1; shift
	if "$@" >"$work/why" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		head -n 30 "$work/why" | cat -v | sed 's/^/# /'
		failed=1
	fi
}

report() { # RECORDING ARGS...
	recording=$1; shift
	"$build/culprit" report "$work/$recording.rec" "$@"
}

lines() { # FILE MOST
	[ "$(wc -l <"$1")" -le "$2" ] || { wc -l "$1"; false; }
}

first_screen() { # FILE PATTERN: among its first 24 lines
	head -n 24 "$1" | grep -- "$2"
}

"$build/golden_machines" "$work" || { echo "Bail out! golden_machines failed"; exit 1; }
[ "$mode" != write ] || { rm -rf "$here/machines" && mkdir "$here/machines"; }
for machine in 60 256 1024 unlike sleeps naps feeds; do
	for width in 80 100; do
		COLUMNS=$width report "$machine" >"$work/$machine-$width" 2>&1
		if [ "$mode" = write ]; then
			[ $width = 100 ] || cp "$work/$machine-$width" "$here/machines/$machine"
			continue
		fi
		ok "$machine CPUs: at most 100 lines of $width columns" \
			lines "$work/$machine-$width" 100
	done
	case $machine in naps | feeds) # for the schema's test
		report "$machine" -f json >"$work/$machine.json"
		if [ "$mode" = write ]; then
			cp "$work/$machine.json" "$here/machines"
		else
			ok "$machine: its JSON is as it was" \
				diff "$here/machines/$machine.json" "$work/$machine.json"
		fi
	esac
	[ "$mode" = write ] ||
		ok "$machine CPUs: make golden writes it anew, for review" \
			diff "$here/machines/$machine" "$work/$machine-80"
done
[ "$mode" != write ] || exit 0

# The odd one, in the verdict and in the table, whatever the others lose.
gap='at once to the thread backup \[4711\]'
for odd in 60/34 256/100 1024/700; do
	file=$work/${odd%/*}-100 cpu=${odd#*/}
	tr '\n' ' ' <"$file" | tr -s ' ' >"$work/flat"
	ok "${odd%/*} CPUs: the first screen's verdict has the one long gap" \
		grep -q "cpu $cpu loses .*$gap" "$work/flat"
	ok "${odd%/*} CPUs: so has the table" first_screen "$file" "^  $cpu .* ms .*backup"
done
ok "60 CPUs: those that are alike have one verdict" \
	grep -c '^cpus 4-33,35-63 lose 0.466 % each to the tick' "$work/60-100"
ok "256 CPUs: two groups" grep -c '^cpus 200-203 (4 alike: isolated)' "$work/256-100"
ok "1,024 CPUs: what is not in detail is named" grep -q '^without details here: cpus' \
	"$work/1024-100"
"$build/culprit" audit "$work/256.rec" -c 0-7 >"$work/audit" 2>&1
ok "256 CPUs: those are audited, too, beside which all are isolated" \
	grep -q 'cpu 0-7 · housekeeping none' "$work/audit"
report 60 --all >"$work/all"
ok "--all shows each CPU" [ "$(grep -c '^cpu [0-9]* (isolated)' "$work/all")" = 60 ]
report 1024 --cpu 900 >"$work/one"
ok "--cpu shows any, as alone" [ "$(grep -c '^cpu 900 (isolated)' "$work/one")" = 1 ]
report 1024 -f html >"$work/html"
ok "1,024 CPUs: HTML of at most 2 MB" [ "$(wc -c <"$work/html")" -le 2000000 ]
rows=$(grep -c '^<tr><td>[0-9]*</td><td data-of="lost">\|<tbody><tr><td>[0-9]*</td>' "$work/html")
ok "...with a row for each CPU in the table" [ "$rows" = 1024 ]
ok "...and in the map, whose rings have the one long gap" \
	grep -q 'title="cpu 700: 1.90 ms at +0.970 s"' "$work/html"
report 1024 -f markdown >"$work/markdown"
ok "1,024 CPUs: Markdown of at most 200 lines" lines "$work/markdown" 200
for format in text markdown html; do
	report 1024 "$work/60.rec" -f $format >"$work/hosts"
	ok "1,024 and 60 CPUs in one $format report: one table of both, alike CPUs once" \
		[ "$(grep -c 'hpc-1024.*8-76,78-511,513-699.*1020.*local_t' \
			"$work/hosts")$(grep -c 'trade-60.*4-33,35-63.*59.*local_t' \
			"$work/hosts")" = 11 ]
done
report unlike "$work/60.rec" >"$work/hosts"
ok "CPUs of which no two are alike: no more than 8 rows of them" \
	[ "$(sed -n '/lost %.*hiccups/,/CPUs more: see each report/p' "$work/hosts" | wc -l)" = 12 ]
for odd in 'sleeps/cpu 500' 'feeds/feed-7 \[707\]'; do
	file=${odd%%/*} first=${odd#*/}
	sed -n '/in turn;/,/^$/p' "$work/$file-100" | sed -n 3p >"$work/row"
	ok "$file: the one that differs stands first, in the table and by itself" \
		[ "$(grep -c "^$first [ (]" "$work/$file-100")$(grep -c "^  ${first#cpu } " \
			"$work/row")" = 11 ]
	report "$file" -f html >"$work/html"
	ok "...in HTML of at most 2 MB" [ "$(wc -c <"$work/html")" -le 2000000 ]
	report "$file" --all >"$work/all"
	ok "...and --all shows each" [ "$(grep -c '^\(cpu [0-9]* (iso\|feed-[0-9]* \[\|gui \[\)' \
		"$work/all")" -ge 13 ]
done
report naps -f json >"$work/naps.json"
ok "the values of CPUs that are alike are those of each" python3 - "$work/naps.json" <<'END'
import json, sys

report = json.load(open(sys.argv[1]))
assert [g["cpus"] for g in report["groups"]] == [[9], [8, 10, 11]]
for group in report["groups"]:
    of = [c["series"] for c in report["cpus"] if c["cpu"] in group["cpus"]]
    for k, alike in enumerate(group["series"]):
        each = [series[k] for series in of]
        assert {s["name"] for s in each} == {alike["name"]}
        assert alike["count"] == sum(s["count"] for s in each)
        assert alike.get("longer") == (sum(s["longer"] for s in each) if k == 0 else None)
        for figure in "p50_ns", "p99_ns", "max_ns":
            values = [s[figure] for s in each]
            assert (alike[figure]["least"], alike[figure]["most"]) == (min(values), max(values))
END
report 1024 -f openmetrics --metrics-per host >"$work/host"
ok "1,024 CPUs: at most 100 series by host" [ "$(grep -vc '^#' "$work/host")" -le 100 ]
ok "...with the longest of all" \
	grep -q '^culprit_longest_hiccup_seconds 0.001900000' "$work/host"
report 1024 -f openmetrics --metrics-per group >"$work/group"
ok "...and of each group" grep -q \
	'^culprit_longest_hiccup_seconds{cpus="700"} 0.001900000' "$work/group"
report 60 -f prometheus >"$work/cpu"
report 60 -f prometheus --metrics-per host >"$work/host"
sum() { # FAMILY FILE: of all its samples; where they say nothing, no other file has the same
	awk -v f="$1" 'index($1, f) == 1 { s += $NF }
		END { if (s > 0) printf "%.9f\n", s; else print "none in", FILENAME }' "$2"
}
for family in culprit_lost_seconds_total culprit_hiccups_total culprit_observed_seconds_total \
	culprit_interruptions_total culprit_hiccup_seconds_bucket; do
	ok "$family of the host is that of its CPUs" \
		[ "$(sum $family "$work/host")" = "$(sum $family "$work/cpu")" ]
done
report 256 -f json >"$work/json"
ok "256 CPUs: JSON has each CPU in one group" python3 - "$work/json" <<'END'
import json, sys

report = json.load(open(sys.argv[1]))
groups = report["groups"]
assert sorted(c for g in groups for c in g["cpus"]) == [c["cpu"] for c in report["cpus"]]
assert [g["cpus"] for g in groups][:2] == [[200, 201, 202, 203], [100]]
of = {c["cpu"]: c for c in report["cpus"]}
for g in groups:
    hiccups = [of[c]["hiccups"] for c in g["cpus"]]
    worst = max(h["max_ns"] for h in hiccups)
    assert g["worst_ns"]["most"] == worst == of[g["worst_ns"]["cpu"]]["hiccups"]["max_ns"]
    assert sum(g["time"].values()) == sum(h["total_ns"] for h in hiccups)
    sources = sum(s["total_ns"] for s in g["sources"])
    assert sources == sum(s["total_ns"] for c in g["cpus"] for s in of[c]["sources"])
END
echo "1..$n"
exit $failed
