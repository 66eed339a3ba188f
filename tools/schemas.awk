# SPDX-License-Identifier: GPL-2.0-or-later
# Turns JSON Schemas into C, for src/render/schemas.h:
#
#   LC_ALL=C awk -f tools/schemas.awk tests/schema/*.json > schemas.c
#
# A file NAME.json becomes `schema_NAME`: its text with all definitions that it needs, its own
# first, so that what is printed stands alone. A definition has one name and one place in all the
# files. It begins at a line of four blanks and its name in quotes, and the last part of a file is
# "$defs".

function refuse(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
	bad = 1
}

# A piece of a string of C.
function quoted(s)
{
	gsub(/[\\"]/, "\\\\&", s)
	return "\"" s "\""
}

# Marks the definitions that this text refers to, and theirs.
function need(text, name, rest)
{
	rest = text
	while (match(rest, /#\/\$defs\/[a-z0-9_]+/)) {
		name = substr(rest, RSTART + 8, RLENGTH - 8)
		rest = substr(rest, RSTART + RLENGTH)
		if (!(name in of_file)) {
			refuse("nothing is called " name)
			return
		}
		if (!(name in needed)) {
			needed[name] = 1
			need(body[name])
		}
	}
}

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.json$/, "", name)
	file[++files] = name
	part = "head"
}

part == "defs" && /^  }/ {
	part = "tail"
}

part == "defs" && /^    "/ {
	def = $1
	gsub(/[":]/, "", def)
	if (def in of_file)
		refuse(def " stands in " of_file[def] ".json, too")
	of_file[def] = name
	order[++defs] = def
}

part == "head" { head[name] = head[name] "\n\t" quoted($0) "\"\\n\"" }
part == "head" { text[name] = text[name] $0 }
part == "defs" { body[def] = body[def] $0 "\n" }
$0 == "  \"$defs\": {" { part = "defs" }

END {
	print "#include \"render/schemas.h\"\n"
	for (i = 1; i <= defs; i++) {
		def = order[i]
		sub(/,?\n$/, "", body[def])
		n = split(body[def], line, "\n")
		printf "static const char def_%s[] =", def
		for (k = 1; k <= n; k++)
			printf "\n\t%s%s", quoted(line[k]), k < n ? "\"\\n\"" : ";\n"
	}
	for (f = 1; f <= files; f++) {
		printf "\nconst char *const schema_%s[] = {%s", file[f], head[file[f]]
		split("", needed)
		need(text[file[f]])
		comma = ""
		for (own = 1; own >= 0; own--)
			for (i = 1; i <= defs; i++)
				if ((order[i] in needed) && (of_file[order[i]] == file[f]) == own) {
					printf ",\n\t%sdef_%s", comma, order[i]
					comma = "\",\\n\", "
				}
		print ",\n\t\"\\n  }\\n}\\n\", NULL,\n};"
	}
	exit bad
}
