/* The cause book: what can interrupt an isolated CPU, how to make sure, and how to end it.
 *
 * The entries stand in the .cause files of src/audit/causes, one a group; tools/causes.awk turns
 * them into tables when culprit is built and refuses what is incomplete or says two things about
 * one name. All strings are static. */
#ifndef CULPRIT_BOOK_H
#define CULPRIT_BOOK_H

#include <stddef.h>
#include "model/source.h"

struct cause {
	const char *id;    /* "K01": its group's letter and a number, never given to another */
	const char *group; /* "Threads and work items" */
	const char *title;
	const char *what;
	const char *why;     /* it reaches an isolated CPU */
	const char *confirm; /* commands in backquotes, here and in fix */
	const char *fix;
	/* One line: a command, a boot parameter, or the shortest instruction; NULL: none. */
	const char *advice;
	/* What to do where `advice` cannot be filled in or cannot work; NULL: nothing. */
	const char *otherwise;
	/* The command that takes `advice` back; NULL: none is needed, or there is none. */
	const char *undo;
	const char *since;  /* from which kernel on, or "any" */
	const char *cost;   /* what the remedy costs, or one hit takes; NULL: not known */
	const char *source; /* kernel file and symbol, or document */
};
/* confirm, fix, advice, otherwise and undo hold placeholders like {cpus}: advise.h fills them in.
 */

extern const struct cause causes[]; /* by group and number; ends with a row of zeros */
extern const unsigned causes_count;

/* A name that means a cause. The kinds say what is named: a function that a timer, an IPI, an
 * irq_work, a work item or the stopper runs (hrtimer timer csd irqwork work stopper), an NMI
 * handler (nmi), a thread (comm), an IRQ's name (irq), a row of /proc/interrupts (irqrow), a
 * softirq's number (softirq), enum tlb_flush_reason (tlbreason), a bit of the tick's dependencies
 * (tickdep), a page fault (fault), a thread of user space (user), time outside the kernel by
 * evidence (outside: advise.c); and, of no source, a kind of thing (family) and a word of the
 * report in small letters (word): meaning.h. */
struct cause_match {
	const char *kind;
	const char *pattern; /* a shell glob */
	const struct cause *cause;
};

extern const struct cause_match
	cause_matches[]; /* ends with a row of zeros; no two rows have the same kind and pattern */

/* NULL: there is none of this id (letters of either case). */
const struct cause *cause_by_id(const char *id);

/* The most specific row of one kind for a name: the same text, else the longest glob. NULL: none.
 */
const struct cause *cause_match(const char *kind, const char *name);

/* What a name means whatever its kind: a function (with or without module and compiler's suffix), a
 * thread, a row of /proc/interrupts, a softirq ("TIMER"), a vector ("local_timer"). Patterns that
 * take any name are left out. NULL: none. */
const struct cause *cause_of_name(const char *name);

/* For a name that means nothing: what is near it, "vmstat_update (K01), vmstat_shepherd (K01)",
 * from rows and entries that hold it, or the row that is spelt alike; "": nothing. Returns buf. */
char *cause_near(const char *name, char *buf, size_t len);

/* What the function of a source means, whatever runs it. NULL: it has none, or the book does not
 * have it. */
const struct cause *cause_of_function(const struct source *s);

/* What a source of a report means by its names alone: its function first, then the thread, IRQ,
 * vector, softirq. A user's thread that no row names is a foreign one. NULL: the book does not have
 * it. */
const struct cause *cause_of(const struct source *s);

#endif
