# SPDX-License-Identifier: GPL-2.0-or-later
# Turns the cause book (src/audit/causes/*.cause) into C: tables for src/audit/book.c.
#
#   LC_ALL=C awk -f tools/causes.awk src/audit/causes/*.cause > causes.c
#
# A file holds entries with one blank line between them, each of `field: text` lines. A line that
# begins with two blanks continues the field above it, # begins a comment, no line is longer than
# 100 columns. Fields: id title what why confirm fix since source are required. Not required: advice
# (what to do, at most 100 columns), otherwise (the same, where advice cannot be filled in or cannot
# work), undo (how to take a command back), save (the command before it, which keeps in $old what
# undo puts back), cost, x86 and arm64 (how to confirm and to fix it there, beyond what holds
# everywhere: shown for machines of that architecture alone), and `match: KIND PATTERN`, once for
# each symbol, thread name or counter (shell globs) that means this cause. confirm, fix, x86, arm64,
# advice, otherwise, save and undo may hold placeholders like {cpus}. A knob is one of
#
#	sysctl NAME VALUE
#	file PATH VALUE		its whole text
#	feature PATH WORDS	words of a list, with NO_ before each or without
#	files GLOB VALUE	all files of these names
#	thread CPUS		where the thread {pid} may run
#
# A file called proven behind them has lines of an id, a kernel, the way in which its fix was
# proven there (command booted stopped moved advised: enum proof in src/audit/book.h), and the
# share of the noise that may be left then, in %; or of an id, a kernel, the word without, and why
# there can be no proof there. A last one called unproven has lines of an id and the reason why the
# lab cannot prove it. Every mistake is reported with file and line, all of
# them at once. Plain POSIX awk: the build needs no other language.

BEGIN {
	words("id title what why confirm fix since source", required)
	words("id title what why confirm fix since source advice otherwise save undo knob lag " \
		"cost match x86 arm64", known)
	words("confirm fix x86 arm64 advice otherwise save undo knob", filled)
	words("hrtimer timer csd irqwork work stopper nmi tlbreason softirq tickdep comm irqrow " \
		"irq fault user outside family word", kinds)
	words("cpu cpus isolate nohz housekeeping hkmask irq pid comm interface function", \
		placeholders)
	words("command booted stopped moved advised", proofs)
	split("sysctl file feature files thread", part, " ")
	for (i in part)
		knob_kinds[part[i]] = "KNOB_" toupper(part[i] == "sysctl" ? "file" : part[i])
	groups = "TIPWSKFXHG"
	nnames = split("Tick and timers|Device interrupts|IPIs|irq_work|Softirqs|" \
		"Threads and work items|By the workload itself|System-wide changes|" \
		"Hardware, firmware, hypervisor|" \
		"No causes: kinds of things, and the words of a report", names, "|")
}

function words(list, set, word, n, i)
{
	n = split(list, word, " ")
	for (i = 1; i <= n; i++)
		set[word[i]] = 1
}

function refuse(line, text)
{
	printf "%s:%d: %s\n", file, line, text > "/dev/stderr"
	bad = 1
}

# Columns of UTF-8: bytes that begin a character.
function columns(text)
{
	gsub(/[\200-\277]/, "", text)
	return length(text)
}

function check_text(name, text, line, rest, word)
{
	rest = text
	if (gsub(/`/, "", rest) % 2)
		refuse(line, name ": a backquote without its partner")
	while (match(rest, /\{[a-z]+\}/)) {
		word = substr(rest, RSTART + 1, RLENGTH - 2)
		if (!(word in placeholders))
			refuse(line, name ": unknown placeholder {" word "}")
		else if (!(name in filled))
			refuse(line, name ": placeholders are filled in only in " \
				"confirm, fix, x86, arm64, advice, otherwise, save, undo and knob")
		rest = substr(rest, RSTART + RLENGTH)
	}
}

function end_field()
{
	if (field == "")
		return
	if (text == "")
		refuse(field_line, field " is empty")
	if ((field == "advice" || field == "otherwise") && columns(text) > 100)
		refuse(field_line, field " is longer than 100 columns")
	if ((field == "advice" || field == "otherwise") &&
	    (" " text " ") ~ /[^A-Za-z_](PID|TID|GROUP|FUNCTION|PRIO|MASK|COMM|N|F)[^A-Za-z_]/)
		refuse(field_line, field ": a word in capitals stands for what nobody fills in")
	check_text(field, text, field_line)
	if (entry != "")
		value[entry, field] = text
	field = ""
}

# Writes the commands of the entry's knob: one text says what culprit changes and what it prints.
function make_commands(kind, path, new, n, part, i)
{
	if (((entry, "advice") in value) || ((entry, "save") in value) || \
	    ((entry, "undo") in value))
		refuse(entry_line, entry " has a knob: advice, save and undo are made from it")
	n = split(value[entry, "knob"], part, " ")
	kind = part[1]
	path = n >= 3 ? part[2] : ""
	new = part[kind == "feature" ? 3 : n]
	for (i = 4; kind == "feature" && i <= n; i++)
		new = new " " part[i]
	if (!(kind in knob_kinds) || \
	    (kind == "feature" ? n < 3 : n != (kind == "thread" ? 2 : 3)) ||
	    (kind != "thread" && kind != "sysctl" && path !~ /^\/(sys|proc)\//)) {
		refuse(entry_line, entry ": a knob is sysctl NAME VALUE, file PATH VALUE, " \
			"feature PATH WORDS, files GLOB VALUE or thread CPUS")
		return
	}
	if (kind == "sysctl") {
		set_commands("sysctl " path "=" new, "$(sysctl -n " path ")", \
			"sysctl " path "=\"$old\"")
		gsub(/\./, "/", path)
		path = "/proc/sys/" path
	} else if (kind == "thread")
		set_commands("taskset -pc " new " {pid}", \
			"$(taskset -pc {pid} | sed 's/.*: //')", "taskset -pc \"$old\" {pid}")
	else if (kind == "files")
		set_commands("for f in " path "; do echo " new " > $f; done", \
			"$(grep -H . " path ")", \
			"echo \"$old\" | while IFS=: read -r f v; do echo \"$v\" > \"$f\"; done")
	else if (kind == "feature" && n > 3)
		set_commands("for w in " new "; do echo $w > " path "; done", \
			"$(" current(kind, path, new) ")", \
			"for w in $old; do echo $w > " path "; done")
	else
		set_commands("echo " new " > " path, "$(" current(kind, path, new) ")", \
			"echo \"$old\" > " path)
	value[entry, "knob"] = "{" knob_kinds[kind] ", " quoted(path) ", " quoted(new) "}"
}

# The command that prints what the knob is set to.
function current(kind, path, new, part, n, i, names)
{
	if (kind != "feature")
		return "cat " path
	n = split(new, part, " ")
	for (i = 1; i <= n; i++) {
		sub(/^NO_/, "", part[i])
		names = names " -e " part[i] " -e NO_" part[i]
	}
	return "xargs -n 1 < " path " | grep -x" names
}

function set_commands(advice, save, undo)
{
	value[entry, "advice"] = advice
	value[entry, "save"] = "old=" save
	value[entry, "undo"] = undo
	if (columns(advice) > 100)
		refuse(entry_line, entry ": its command is longer than 100 columns")
}

function end_entry(name)
{
	end_field()
	if (entry == "")
		return
	if ((entry, "knob") in value)
		make_commands()
	if (((entry, "lag") in value) && (!((entry, "knob") in value) ||
	    value[entry, "lag"] !~ /^[1-9][0-9]*s$/))
		refuse(entry_line, entry \
			": lag is a number of seconds, 120s, of an entry with a knob")
	for (name in required)
		if (!((entry, name) in value))
			refuse(entry_line, entry " has no " name)
	if (((entry, "undo") in value || (entry, "otherwise") in value) &&
	    !((entry, "advice") in value))
		refuse(entry_line, entry " has " ((entry, "undo") in value ? "undo" : "otherwise") \
			" without advice")
	if (((entry, "undo") in value && index(value[entry, "undo"], "$old") > 0) != \
	    ((entry, "save") in value))
		refuse(entry_line, entry " has " ((entry, "save") in value ? \
			"save, but undo does not put $old back" : "$old in undo, but no save"))
	entry = ""
}

function begin_entry(id)
{
	end_entry()
	entry_line = FNR
	if (id !~ /^[TIPWSKFXHG][0-9][0-9]$/)
		refuse(FNR, "id '" id "' is not a group's letter and two digits")
	else if ((id, "id") in value)
		refuse(FNR, "id " id " is there already: " value[id, "place"])
	else
		value[id, "place"] = file ":" FNR
	entry = id
}

function add_match(rest, n, part, key)
{
	n = split(rest, part, " ")
	if (n != 2)
		refuse(FNR, "match takes a kind and a pattern")
	else if (!(part[1] in kinds))
		refuse(FNR, "unknown match kind '" part[1] "'")
	else if ((part[1], part[2]) in matched)
		refuse(FNR, part[1] " " part[2] " belongs to another match: " \
			matched[part[1], part[2]])
	else {
		matched[part[1], part[2]] = file ":" FNR
		nmatches[entry]++
		value[entry, "match", nmatches[entry]] = part[1] " " part[2]
	}
}

FNR == 1 {
	end_entry()
	file = FILENAME
}

# Causes that cannot be proven in the lab: the id and the reason.
FILENAME ~ /unproven$/ {
	if (/^#/ || /^$/)
		next
	if (NF < 2 || !(($1, "id") in value) || ($1, "proven") in value)
		refuse(FNR, "this is the id of a cause without a proof, and a reason")
	value[$1, "unproven"] = substr($0, length($1) + 2)
	next
}

# Proofs: the id of a cause, a kernel on which its fix was proven, in what way, % that may be left.
# Or an id, a kernel, "without", and what is missing there.
FILENAME ~ /proven$/ {
	if (/^#/ || /^$/)
		next
	if ($3 == "without") {
		if (NF < 4 || !(($1, "proven") in value))
			refuse(FNR, "before what a kernel is without stands a proof, behind it why")
		text = substr($0, index($0, " without ") + length(" without "))
		value[$1, "lacking"] = value[$1, "lacking"] "; on " $2 " " text
		next
	}
	if (NF != 4 || !(($1, "advice") in value) || !($3 in proofs) || $4 !~ /^[1-9]?[0-9]$/)
		refuse(FNR, "a proof is the id of a cause with advice, a kernel, " \
			"how it was proven, and the % that may be left")
	else if (($1, "proof") in value && value[$1, "proof"] != $3 " " $4)
		refuse(FNR, $1 " was proven in another way before")
	else
		value[$1, "proof"] = $3 " " $4
	value[$1, "proven"] = value[$1, "proven"] (value[$1, "proven"] == "" ? "" : ", ") $2
	next
}

columns($0) > 100 { refuse(FNR, "longer than 100 columns") }
/\t/ { refuse(FNR, "a tab") }
/^#/ { next }
/^$/ { end_entry(); next }

/^  / {
	if (field == "" || field == "id")
		refuse(FNR, "nothing here goes on")
	sub(/^ +/, "")
	text = text " " $0
	next
}

!/^[a-z][a-z0-9]*: *[^ ]/ {
	refuse(FNR, "neither 'field: text' nor two blanks and more text")
	next
}

{
	end_field()
	name = $0
	sub(/:.*/, "", name)
	rest = $0
	sub(/^[a-z0-9]+: */, "", rest)
	if (!(name in known)) {
		refuse(FNR, "unknown field '" name "'")
		next
	}
	if (name == "id")
		begin_entry(rest)
	else if (entry == "")
		refuse(FNR, name " stands outside of an entry: id comes first")
	else if ((entry, name) in value)
		refuse(FNR, entry " has " name " already")
	if (name == "match") {
		if (entry != "")
			add_match(rest)
		next
	}
	field = name
	field_line = FNR
	text = rest
}

# As a C string. By hand: awks differ in what sub() does with backslashes.
function quoted(s, out, i, c)
{
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		out = out (c == "\\" || c == "\"" ? "\\" c : c)
	}
	return "\"" out "\""
}

function member(id, name)
{
	if ((id, name) in value)
		printf "\t .%s = %s,\n", name, quoted(value[id, name])
}

END {
	end_entry()
	if (bad)
		exit 1
	print "/* Made by tools/causes.awk from src/audit/causes. */\n#include \"audit/book.h\"\n"
	print "const struct cause causes[] = {"
	nfields = split("id title what why confirm fix x86 arm64 advice otherwise save undo " \
		"since cost source proven lacking unproven", field_order, " ")
	for (g = 1; g <= length(groups); g++)
		for (i = 0; i < 100; i++) {
			id = sprintf("%s%02d", substr(groups, g, 1), i)
			if (!((id, "id") in value))
				continue
			order[++count] = id
			printf "\t{.group = %s,\n", quoted(names[g])
			for (f = 1; f <= nfields; f++)
				member(id, field_order[f])
			if ((id, "knob") in value)
				printf "\t .knob = %s,\n", value[id, "knob"]
			if ((id, "lag") in value)
				printf "\t .lag_s = %d,\n", value[id, "lag"]
			if (split(value[id, "proof"], part, " "))
				printf "\t .proof = PROOF_%s, .proof_left = %d,\n", \
					toupper(part[1]), part[2]
			print "\t},"
		}
	printf "\t{0},\n};\n\nconst unsigned causes_count = %d;\n\n", count
	print "const struct cause_match cause_matches[] = {"
	for (i = 1; i <= count; i++)
		for (m = 1; m <= nmatches[order[i]]; m++) {
			split(value[order[i], "match", m], part, " ")
			printf "\t{%s, %s, &causes[%d]},\n", quoted(part[1]), quoted(part[2]), i - 1
		}
	print "\t{0},\n};"
}
