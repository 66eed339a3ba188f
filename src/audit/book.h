/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause book: what can interrupt an isolated CPU, how to confirm it, and how to end it.
 *
 * The entries stand in the .cause files of src/audit/causes, one for each group; tools/causes.awk
 * turns them into tables when culprit is built, and refuses incomplete entries and names with two
 * meanings. All strings are static. */
#ifndef CULPRIT_BOOK_H
#define CULPRIT_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include "model/knob.h"
#include "model/source.h"

/* The setting that a fix changes, for those who change it without a shell: advice, save and undo
 * are made from it. */
struct cause_knob {
	enum knob_kind
		kind;      /* KNOB_NONE: the fix is none that can be put in force and taken back */
	const char *path;  /* name of the file; a glob for several; "" for a thread */
	const char *value; /* to be set */
};

/* In what way a fix was proven: the command was run as it is printed; the kernel was booted so;
 * what makes the noise was ended, or moved to another CPU; or what the advice says was done where
 * it is no command. */
enum proof { PROOF_COMMAND, PROOF_BOOTED, PROOF_STOPPED, PROOF_MOVED, PROOF_ADVISED };

struct cause {
	const char *id;    /* "K01": letter of the group and a number, never given to another */
	const char *group; /* "Threads and work items" */
	const char *title;
	const char *what;
	const char *why;     /* reason why it reaches an isolated CPU */
	const char *confirm; /* commands in backquotes, here and in fix */
	const char *fix;
	/* Ways to confirm and to fix it on these architectures, beyond those above, which hold
	 * on all; NULL: nothing more. cause_on() */
	const char *x86, *arm64;
	/* One line: a command, a boot parameter, or the shortest instruction; NULL: none. */
	const char *advice;
	/* Advice for the case that `advice` cannot be filled in or cannot work; NULL: none. */
	const char *otherwise;
	/* The command that takes `advice` back; NULL: none is needed, or there is none. It puts
	 * back what `save`, a command to be run before, keeps in the shell's $old: no default is
	 * what everybody had. save NULL: undo does not need it. */
	const char *save, *undo;
	struct cause_knob knob;
	/* For so long after an undo the kernel may go on with the fix, s. 0: not for as long as a
	 * second. */
	unsigned lag_s;
	const char *since; /* first kernel that has it, or "any" */
	const char *cost;  /* cost of the remedy or of one hit; NULL: not known */
	/* Kernels, "6.12, 6.12-rt", on which `make prove` has ended the noise in this way, and had
	 * it back with the undo; NULL: none. */
	const char *proven;
	enum proof proof;
	unsigned proof_left; /* share of the noise that the proof allows to be left, % */
	/* Kernels that cannot have this proof: "; on 6.1 the file does not exist"; NULL: none said.
	 */
	const char *lacking;
	/* Reason why the lab cannot prove it; NULL: nobody has said that it cannot. */
	const char *unproven;
	const char *source; /* kernel file and symbol, or document */
};
/* Placeholders like {cpus} in confirm, fix, x86, arm64, advice, otherwise, save, undo and in the
 * knob's path and value: placeholders.h fills them in. */

extern const struct cause causes[]; /* by group and number; ends with a row of zeros */
extern const unsigned causes_count;

/* A name that means a cause. The kind says what the name names: a function that a timer, an IPI, an
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

/* Finds an entry by its id (letters of either case). NULL: none. */
const struct cause *cause_by_id(const char *id);

/* True when the advice is on one thread or interrupt, by its number. */
bool cause_names_one(const struct cause *cause);

/* The part of an entry for machines of this architecture, as uname(2) calls it: x86_64, aarch64.
 * NULL: nothing. */
const char *cause_on(const struct cause *cause, const char *arch);

/* True for an entry on what x86 alone has, as its `since` says; and whether an entry is for
 * machines of this architecture, "" for one that is not known. */
bool cause_is_x86(const struct cause *cause);
bool cause_fits(const struct cause *cause, const char *arch);

/* The most specific row of one kind for a name: the same text, else the longest glob. NULL: none.
 */
const struct cause *cause_match(const char *kind, const char *name);

/* The cause of a name of any kind: a function (with or without module and compiler's suffix), a
 * thread, a row of /proc/interrupts, a softirq ("TIMER"), a vector ("local_timer"). Patterns that
 * match any name are left out. NULL: none. */
const struct cause *cause_of_name(const char *name);

/* For an unknown name: names near it, "vmstat_update (K01), vmstat_shepherd (K01)", from rows and
 * entries that contain it, or the row with a similar spelling; "": none. Returns buf. */
char *cause_near(const char *name, char *buf, size_t len);

/* The cause of a source's function, whatever runs it. NULL: the source has no function, or the book
 * does not know it. */
const struct cause *cause_of_function(const struct source *s);

/* True when some source of a report may have this cause, other than a device's interrupt: which of
 * these a finding is about it says itself. hidden: functions have no names; then also false when
 * only a function tells some of its sources. */
bool cause_has_sources(const struct cause *cause, bool hidden);

/* The cause of a report's source by its names alone: its function first, then the thread, IRQ,
 * vector, softirq. A user's thread without a row of its own is a foreign one. NULL: the book does
 * not know it. */
const struct cause *cause_of(const struct source *s);

#endif
