# SPDX-License-Identifier: GPL-2.0-or-later
# Turns the help topics (src/cmd/topics/*.txt) into C: the table for src/cmd/topic.c.
#
#   LC_ALL=C awk -f tools/topics.awk src/cmd/topics/*.txt > topics.c
#
# The first line of a file is `NAME(SECTION) - SUMMARY`, NAME the file's, SECTION that of its man
# page. Then a blank line, and text as `culprit help NAME` prints it, at most 80 columns wide:
# headings from the first column on, paragraphs two blanks in, items `  * ` with further lines four
# in, and whatever stands four or more in on its own is kept as it is.

function refuse(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
	bad = 1
}

# Columns of a line in UTF-8: its bytes but for those that continue a character.
function columns(s)
{
	gsub(/[\200-\277]/, "", s)
	return length(s)
}

# As a C string. By hand: awks differ in what sub() does with backslashes.
function quoted(s, out, i, c)
{
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		out = out (c == "\\" || c == "\"" ? "\\" c : c)
	}
	return "\"" out
}

BEGIN {
	print "/* Made by tools/topics.awk from src/cmd/topics. */"
	print "#include \"cmd/topic.h\"\n\nconst struct topic topics[] = {"
}

columns($0) > 80 { refuse("longer than 80 columns") }
/\t/ { refuse("a tab") }
/ $/ { refuse("ends with a blank") }
/^ [^ ]/ || /^   [^ ]/ { refuse("neither a heading nor text two or four blanks in") }

FNR == 1 {
	if (began)
		print "\t},"
	began = 1
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.txt$/, "", name)
	if ($0 !~ "^" name "\\([57]\\) - [^ ]")
		refuse("does not begin with '" name "(5 or 7) - summary'")
	if (columns($0) + 6 > 80)
		refuse("the summary does not fit beside the name")
	section = substr($0, length(name) + 2, 1)
	printf "\t{%s\", %s, %s\",\n", quoted(name), section, quoted(substr($0, length(name) + 7))
	next
}
FNR == 2 {
	if ($0 != "")
		refuse("no blank line below the first")
	next
}
{ print "\t " quoted($0) "\\n\"" }

END {
	if (bad)
		exit 1
	if (began)
		print "\t},"
	print "\t{0},\n};"
}
