#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything that the README shows is culprit's own output of pictures/trade-07.rec: its two
# pictures, and rows of the report. With the argument "write" the pictures are drawn anew, for
# review with git diff.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-$here/../../build}" && pwd)
readme=$here/../../README.md kept=$here/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset COLUMNS NO_COLOR # nothing of where it runs may show
n=0 failed=0

ok() { # NAME COMMAND...
	name=$1; shift
	n=$((n + 1))
	if "$@" >"$work/said" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		head -n 20 "$work/said" | cut -c 1-200 | sed 's/^/# /'
		failed=1
	fi
}

well_formed() {
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

mkdir "$work/drawn"
ok "pictures are drawn" "$here/../../tools/pictures" "$build/culprit" "$kept/trade-07.rec" \
	"$work/drawn"
[ "$1" != write ] || cp "$work"/drawn/* "$kept"
for picture in terminal.svg report.svg; do
	ok "$picture: make pictures draws it anew" diff "$kept/$picture" "$work/drawn/$picture"
	ok "$picture: well-formed" well_formed "$work/drawn/$picture"
	ok "$picture: the README shows it" grep -q "(tests/golden/pictures/$picture)" "$readme"
done

# The lines between the fences, each in the report, and in its order.
sed -n '/^```$/,/^```$/{/^```$/d;/./p}' "$readme" >"$work/rows"
"$build/culprit" report "$kept/trade-07.rec" | diff - "$work/rows" |
	sed -n 's/^> //p' >"$work/foreign"
ok "the README has rows of the report" [ "$(wc -l <"$work/rows")" -gt 10 ]
ok "they are as the report has them" diff /dev/null "$work/foreign"
echo "1..$n"
exit $failed
