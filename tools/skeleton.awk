# SPDX-License-Identifier: GPL-2.0-or-later
# bpftool's skeleton with its object packed, which is a third of a program file else: octets, as od
# prints those of what gzip made of the object, then the skeleton. src/collect/unpack.c unpacks it.
#
#   awk -f tools/skeleton.awk OCTETS SKELETON
NR == FNR {
	gsub(/[0-9]+/, "&,")
	octets[NR] = $0
	lines = NR
	next
}
/^static inline const void \*[a-z_]+__elf_bytes\(size_t \*sz\)$/ {
	print $0 "\n{\n\tstatic const unsigned char data[] = {"
	for (i = 1; i <= lines; i++)
		print octets[i]
	print "\t};\n\n\t*sz = sizeof(data);\n\treturn data;\n}"
	inside = 1
	objects++
}
!inside
/^}$/ { inside = 0 }
END {
	if (objects == 1)
		exit
	print "skeleton.awk: " FILENAME ": its object is not where it was" > "/dev/stderr"
	exit 1
}
