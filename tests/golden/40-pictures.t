#!/bin/sh
# The pictures of the README are what culprit prints of pictures/trade-07.rec. With the argument "write" they are drawn anew.
here=$(cd "$(dirname "$0")" && pwd)
unset COLUMNS NO_COLOR # nothing of where it runs may show
build=$(cd "${BUILD:-$here/../../build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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

mkdir "$work/drawn"
ok "pictures are drawn" "$here/../../tools/pictures" "$build/culprit" "$here/pictures/trade-07.rec" "$work/drawn"
[ "$1" != write ] || cp "$work"/drawn/* "$here/pictures"
for picture in terminal report; do
	ok "$picture.svg: make pictures draws it anew, for review" diff "$here/pictures/$picture.svg" "$work/drawn/$picture.svg"
	ok "$picture.svg: well-formed" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/drawn/$picture.svg"
	ok "$picture.svg: the README shows it" grep -q "(tests/golden/pictures/$picture.svg)\|\"tests/golden/pictures/$picture.svg\"" "$here/../../README.md"
done
# The lines between the fences, each in the report, and in its order.
sed -n '/^```$/,/^```$/{/^```$/d;/./p}' "$here/../../README.md" >"$work/readme"
"$build/culprit" report "$here/pictures/trade-07.rec" | diff - "$work/readme" | sed -n 's/^> //p' >"$work/foreign"
ok "the README's rows: $(wc -l <"$work/readme") of them" [ "$(wc -l <"$work/readme")" -gt 10 ]
ok "the README's rows are the report's" diff /dev/null "$work/foreign"
echo "1..$n"
exit $failed
