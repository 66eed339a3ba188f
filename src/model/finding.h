/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of an audit: one for each check, with a list where it concerns many interrupts or
 * workqueues alike; from few checks several. Made from facts alone (audit/audit.h).
 *
 * Texts may hold names of the machine in any bytes: escape on output. A command is safe to run as
 * it is: names in it are quoted for a shell. */
#ifndef CULPRIT_FINDING_H
#define CULPRIT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"
#include "model/facts.h"
#include "model/source.h"

enum finding_level {
	FINDING_OK,
	FINDING_INFO,
	FINDING_WARN, /* a known source of noise */
	FINDING_FAIL, /* isolation is not in force */
	FINDING_LEVELS,
};

enum fix_kind {
	FIX_WORDS,   /* for a person */
	FIX_COMMAND, /* for a shell, as root */
	FIX_BOOT,    /* parameters for the kernel's command line */
};

/* One of the many that a finding is about. */
struct finding_item {
	char *name;       /* name that its driver gave it; any bytes */
	uint32_t number;  /* number of the IRQ; 0 where the list holds something else */
	struct cpus cpus; /* targets concerned; empty: all of them */
	uint64_t count;   /* interrupts on the targets since boot; 0 where nothing is counted */
	uint64_t cost_ns; /* as the finding's, of this one alone */
	char *fix, *undo; /* for this one alone; NULL: as the finding's */
};

struct finding_items { /* all zeros: none */
	struct finding_item *row;
	uint32_t count, room;
};

struct finding {
	const char *id;    /* id of the check, static */
	const char *cause; /* in the cause book, static; NULL: none */
	enum finding_level level;
	bool known;       /* false: the fact could not be read; `value` says why */
	struct cpus cpus; /* empty: the whole machine */
	/* A sentence without a full stop; without names where several are listed: readers get
	 * finding_title. */
	char *title;
	char *value;      /* as found; these and the following may be NULL */
	char *good;       /* the recommended value */
	char *fix, *undo; /* undo is a command */
	enum fix_kind fix_kind;
	char *replaced; /* as boot_replaced: by a fix of boot parameters; NULL: nothing */
	/* Static: prefix of the names, among the sources with its cause, that it explains; NULL:
	 * all of them. */
	const char *only;
	struct finding_items list; /* ranked: findings_rank */
	enum source_kind kind;     /* kind of the list's things; SOURCE_KINDS: no kind of source */
	bool about;                /* explains the sources in the list, and no others */
	/* Measured time of the sources that it explains, of all CPUs; 0: none in this run, or not
	 * known. */
	uint64_t cost_ns;
	bool costed; /* the cost is known, 0 too: traced, and it could be seen in a source */
};

struct findings { /* all zeros: none */
	struct finding *row;
	uint32_t count, room;
};

/* Adds a row with this id, known; NULL when out of memory. Valid until the next call. */
struct finding *findings_add(struct findings *f, const char *id, enum finding_level level);
void findings_free(struct findings *f);

/* Adds a copy of the name; NULL when out of memory. Valid until the next call. */
struct finding_item *finding_items_add(struct finding_items *l, const char *name, uint32_t number);
void finding_items_free(struct finding_items *l);

/* Sorts the list of each finding: by falling cost, then by falling count, then by number. */
void findings_rank(struct findings *f);

/* Writes the title with the first names of the list: "613 IRQs are delivered to cpus 4-31: the
 * busiest eth0-TxRx-10 (irq 74), ...". Unescaped. Returns buf. */
#define FINDING_TITLE 2048
char *finding_title(const struct finding *f, char *buf, size_t len);

/* The fix, and what its parameters replace: "nohz_full=2-3 in place of nohz_full=2". Unescaped.
 * Returns buf or the fix itself; NULL: there is none. */
#define FINDING_FIX 4096
const char *finding_fix(const struct finding *f, char *buf, size_t len);

/* A sentence in place of a fix that is too long. It begins with FINDING_SCRIPT, a command. */
#define FINDING_SCRIPT "culprit audit --script"
const char *finding_elsewhere(const struct finding *f);

const char *finding_level_name(enum finding_level level); /* "FAIL" */
uint32_t findings_count(const struct findings *f, enum finding_level level);

/* Writes row indices to order[count]: by falling level, then by falling cost, then as they came. */
void findings_order(const struct findings *f, uint32_t *order);

/* Warnings without a cost; failed: those of them that are FINDING_FAIL. */
struct findings_rest {
	uint32_t warnings, failed;
};

/* Writes rows that need a fix and took time in this run to order[count], by falling cost; only the
 * worst of those that explain the very same sources. Returns how many. rest[true] are those that
 * cost nothing, rest[false] those whose cost is not known. */
uint32_t findings_costly(const struct findings *f, uint32_t *order, struct findings_rest rest[2]);

/* "3 more warnings", "3 warnings, 1 of them FAIL,": others: some stand before them. Returns buf. */
#define FINDINGS_REST 64
const char *findings_rest(const struct findings_rest *r, bool others, char buf[FINDINGS_REST]);
/* Words for rest[false], behind "of 3 warnings". hidden: functions have no names. */
const char *findings_uncosted(bool traced, bool hidden);

/* The boot parameters of the FIX_BOOT rows of this level and above, each name once:
 * "isolcpus=... nohz_full=3". The caller frees it; NULL: none, or out of memory. */
char *findings_boot(const struct findings *f, enum finding_level least);

/* The same of the rows of FINDING_INFO, without parameters that rows above it have. */
char *findings_boot_wanted(const struct findings *f);

/* The words of the kernel's command line that these parameters take the place of, since they have
 * the same names: "isolcpus=2 nohz_full=2"; those that are the same stay. The caller frees *words;
 * NULL: none. 0 or -ENOMEM. */
int boot_replaced(const struct facts *facts, const char *parameters, char **words);

/* True when this finding is a reason for the time of this source on this CPU. */
bool finding_explains(const struct finding *f, unsigned cpu, const struct source *s);

/* The listed one that this source is on this CPU; NULL: none. */
struct finding_item *finding_item(const struct finding *f, unsigned cpu, const struct source *s);

#endif
