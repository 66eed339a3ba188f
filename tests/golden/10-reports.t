#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of recordings that are made here, in every format, and those that `cases` lists, against
# what is kept in expected/. With the argument "write" they are written there instead, for review
# with git diff. What a report that does not end with status 0 prints has the status behind it.
# BUILD: where culprit was built.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-$here/../../build}" && pwd)
mode=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
export LC_ALL=C TZ=Asia/Kathmandu # no trace of the place where it runs
unset COLUMNS NO_COLOR            # no wish of the user who runs it
# A place whose numbers have commas, where it can be made.
mkdir "$work/places"
localedef -i de_DE -f UTF-8 "$work/places/de_DE.UTF-8" >/dev/null 2>&1

report() { # NAME ARGS...: one report, against expected/NAME
	name=$1; shift
	(cd "$work" && LOCPATH=$work/places LC_ALL=de_DE.UTF-8 "$build/culprit" report "$@") \
		>"$work/said" 2>&1 || echo "exit status $?" >>"$work/said"
	sed -e '/^<style>$/,/^<.style>$/d' \
		-e 's/,HISTF.*/,(a histogram by zlib, whose versions differ)/' \
		"$work/said" >"$work/out"
	if [ "$mode" = write ]; then
		cp "$work/out" "$here/expected/$name"
		return
	fi
	n=$((n + 1))
	if ! cmp -s "$work/out" "$here/expected/$name"; then
		echo "not ok $n - $name: make golden writes it anew, for review"
		diff "$here/expected/$name" "$work/out" 2>&1 | head -n 30 | cat -v | sed 's/^/# /'
		failed=1
	elif LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" "$work/out"; then
		echo "not ok $n - $name: has control characters"
		failed=1
	else
		echo "ok $n - $name"
	fi
}

formats=$("$build/golden" "$work") || { echo "Bail out! $build/golden failed"; exit 1; }
[ "$mode" != write ] || { rm -rf "$here/expected" && mkdir "$here/expected"; }
for recording in "$work"/*.rec; do
	base=$(basename "$recording" .rec)
	for format in $formats; do
		report "$base.$format" "$base.rec" -f "$format"
	done
done
# Recordings that released versions wrote are read for ever: their numbers, which are kept beside
# them and never written anew, and a report.
recorded=$here/../fixtures/recordings
for recording in "$recorded"/*/*.rec; do
	version=$(basename "$(dirname "$recording")")
	base=$(basename "$recording" .rec)
	if "$build/culprit" report "$recording" 2>&1 | grep -q "built without libzstd"; then
		for what in text ns; do
			n=$((n + 1))
			echo "ok $n - $version $base.$what # SKIP built without libzstd"
		done
		continue
	fi
	report "$version-$base.text" "$recording"
	[ "$mode" != write ] || continue
	n=$((n + 1))
	"$build/culprit" report "$recording" -f jsonl >"$work/jsonl" 2>/dev/null
	ended=$?
	grep -oE '"(start|duration|attributed|edge|outside|net)_ns": [0-9]*' "$work/jsonl" |
		sed 's/.*: //' >"$work/ns"
	if [ $ended = 0 ] && cmp -s "${recording%.rec}.ns" "$work/ns" && [ -s "$work/ns" ]; then
		echo "ok $n - $version $base: each nanosecond is where it was"
	else
		echo "not ok $n - $version $base: its hiccups are not those that were recorded"
		diff "${recording%.rec}.ns" "$work/ns" 2>&1 | head -n 30 | sed 's/^/# /'
		failed=1
	fi
done
while read -r name args; do
	# shellcheck disable=SC2086 # none of them has blanks
	report "$name" $args
done <"$here/cases"
if [ "$mode" != write ]; then
	n=$((n + 1))
	made=$((n - 1 - $(ls "$recorded"/*/*.rec | wc -l)))
	if [ "$(ls "$here/expected" | wc -l)" = $made ]; then ok=ok; else ok='not ok' failed=1; fi
	echo "$ok $n - nothing is kept that is made no more"
	n=$((n + 1))
	what='a place whose numbers have commas changes nothing'
	if [ "$(LOCPATH=$work/places LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ]; then
		echo "ok $n - $what"
	else
		echo "ok $n - $what # SKIP localedef cannot make one"
	fi
	echo "1..$n"
fi
exit $failed
