/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/kind.h"

#include <stdio.h>

/* Functions that a hard or soft interrupt may run; a kernel thread mostly runs work items. */
#define IN_INTERRUPT "csd", "irqwork", "hrtimer", "timer", "work", "stopper"
#define IN_TASK      "work", "stopper", "timer", "hrtimer", "irqwork", "csd"

/* The kind's rows in a table of sources, and its place in legends; its row follows. */
#define KIND(NAME, rows, legend)                                                                   \
	enum { ROWS_##NAME = rows, LEGEND_##NAME = legend };                                       \
	static const struct kind kind_##NAME
#define LEGEND_EDGE 7

KIND(IRQ, 160, 3) = {
	.name = "irq",
	.id = " (irq %u)",
	.id_alone = "irq %u",
	.handler = true,
	.functions = {IN_INTERRUPT},
	.exact = true, /* the function is mostly its handler, which the patterns do not mean */
	.book = "irq",
};

KIND(VECTOR, 96, 4) = {
	.name = "vector",
	.noun = "%s",
	.handler = true,
	.functions = {IN_INTERRUPT},
	.book = "irqrow",
};

KIND(SOFTIRQ, 128, 2) = {
	.name = "softirq",
	.noun = "the softirq %s",
	.handler = true,
	.functions = {IN_TASK},
	.book = "softirq",
	.by_id = true,
};

KIND(NMI, 16, 5) = {
	.name = "nmi",
	.noun = "NMIs",
	.handler = true,
	.functions = {"nmi"},
	.book = "irqrow",
};

KIND(THREAD, 384, 0) = {
	.name = "thread",
	.id = " [%u]",
	.functions = {IN_TASK},
	.book = "user", /* for a kernel thread "comm": any thread may be called kswapd0 */
};

KIND(FAULT, 8, 6) = {
	.name = "fault",
	.noun = "page faults",
	.book = "fault",
};

KIND(SYSCALL, 68, 1) = {
	.name = "syscall",
	.noun = "the system call %s",
	.cause = "F08",
};

KIND(THROTTLED, 8, 10) = {
	.name = "throttled",
	.noun = "a CPU quota that is used up",
	.cause = "T09",
};

KIND(EXIT, 80, 12) = {
	.name = "exit",
	.noun = "%s",
	.book = "word",
};

KIND(HOST, 64, 11) = {
	.name = "host",
};

KIND(LOST, 4, 8) = {
	.name = "lost",
	.noun = "%s",
};

KIND(OUTSIDE, 8, 9) = {
	.name = "outside",
	.noun = "%s",
};

/* ---- all of them ---- */

#define NOTHING(name, number)
#define ALL(ROW) RECORDS(ROW, NOTHING) ROW(HOST, ) ROW(LOST, ) ROW(OUTSIDE, )

#define ROW(kind, number) +ROWS_##kind
_Static_assert(ALL(ROW) == SOURCES_MAX, "the kinds together have all rows");
#undef ROW

#define ROW(kind, number) [SOURCE_##kind] = ROWS_##kind,
const uint16_t kind_rows[SOURCE_KINDS] = {ALL(ROW)};
#undef ROW

#define ROW(kind, number) [LEGEND_##kind] = SOURCE_##kind,
const uint8_t kind_legend[SOURCE_KINDS + 1] = {ALL(ROW)[LEGEND_EDGE] = SOURCE_KINDS};
#undef ROW

const struct kind *kind_of(enum source_kind kind)
{
#define ROW(kind, number) [SOURCE_##kind] = &kind_##kind,
	static const struct kind *const kinds[SOURCE_KINDS] = {ALL(ROW)};
#undef ROW

	return kinds[kind];
}

const char *source_kind_name(enum source_kind kind)
{
	return kind < SOURCE_KINDS ? kind_of(kind)->name : "unknown";
}

char *kind_id(enum source_kind kind, uint32_t id, bool alone, char *buf, size_t len)
{
	const struct kind *k = kind_of(kind);

	if (id == KIND_IDS)
		snprintf(buf, len, "%s", alone ? k->name : "");
	else if (k->id_alone)
		snprintf(buf, len, alone ? k->id_alone : k->id, id);
	else
		snprintf(buf, len, k->id && id ? k->id : "", id);
	return buf;
}

/* ---- records ---- */

enum source_kind record_source(unsigned record_kind)
{
#define ROW(kind, number) [number] = 1 + SOURCE_##kind,
	static const uint8_t sources[] = {RECORDS(ROW, NOTHING)};
#undef ROW

	return record_kind < sizeof(sources) && sources[record_kind] ? sources[record_kind] - 1
								     : SOURCE_KINDS;
}

bool record_is_interval(const struct record *r)
{
	if (r->kind == RECORD_FAULT)
		return r->end_ns > r->start_ns;
	return record_source(r->kind) < SOURCE_KINDS;
}
