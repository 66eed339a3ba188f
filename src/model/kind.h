/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of sources of lost time, one row each: everything that differs by kind alone. A new kind of
 * interval in record.h is a new kind here, and does not compile until it has its row. */
#ifndef CULPRIT_KIND_H
#define CULPRIT_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record.h"

/* The intervals of record.h, those of another kernel, and time without a record, in the order of
 * reports. */
enum source_kind {
#define INTERVAL(name, number) SOURCE_##name,
#define INSTANT(name, number)
	RECORDS(INTERVAL, INSTANT)
#undef INTERVAL
#undef INSTANT
	/* time that its host had meanwhile, in a guest joined with its host's recording */
	SOURCE_HOST,
	SOURCE_LOST,    /* records are missing there: nobody knows whose time it was */
	SOURCE_OUTSIDE, /* nothing in the kernel explains it: firmware, hypervisor, hardware */
	SOURCE_KINDS,
};

#define SOURCES_MAX 1024 /* rows of a table of sources, without the row "(others)" of each kind */

#define KIND_FUNCTIONS 7

struct kind {
	const char *name; /* in reports and options: "irq" */
	/* In a sentence, with the source's name in place of %s; NULL: verdict.c has more to say. */
	const char *noun;
	/* Forms of the id in reports: after a name, and alone; NULL: not shown. Without a form of
	 * its own alone, an id of 0 is none. */
	const char *id, *id_alone;
	bool handler; /* runs in the interrupt context: only a stop of the CPU makes a run long */
	/* In the cause book, the kinds of entry for a function that it runs, best first. */
	const char *functions[KIND_FUNCTIONS];
	bool exact;        /* only entries that name the function, not patterns */
	const char *book;  /* the kind of entry for the source itself, by its name; NULL: none */
	bool by_id;        /* by its id instead */
	const char *cause; /* the entry for all of its sources; NULL: none */
};

const struct kind *kind_of(enum source_kind kind);   /* kind < SOURCE_KINDS */
const char *source_kind_name(enum source_kind kind); /* "unknown" from SOURCE_KINDS on */

#define KIND_IDS UINT32_MAX /* as an id: several, of which none is shown */

/* Writes " (irq 36)", " [812]", or alone "irq 36"; "": the kind shows none. Returns buf. */
char *kind_id(enum source_kind kind, uint32_t id, bool alone, char *buf, size_t len);

/* Rows of a table of sources; together SOURCES_MAX. */
extern const uint16_t kind_rows[SOURCE_KINDS];
/* The order in legends and stacks; SOURCE_KINDS stands for the edge of intervals. */
extern const uint8_t kind_legend[SOURCE_KINDS + 1];

/* Time that a kernel showed, this one or its host's: an interval's. */
static inline bool kind_is_interval(enum source_kind kind)
{
	return kind < SOURCE_LOST;
}

/* The kind of source of an enum record_kind; SOURCE_KINDS: it takes no time. */
enum source_kind record_source(unsigned record_kind);

/* False for instants; for a fault as well while its end is not known. */
bool record_is_interval(const struct record *r);

#endif
